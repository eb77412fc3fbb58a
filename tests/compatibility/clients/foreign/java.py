"""Apache Kafka's own Java clients, in the oracle's JVM."""

from __future__ import annotations

from collections.abc import Sequence

from tests.compatibility.clients.foreign.client import FAR_AWAY, ORDINARY, How, Record, Stored
from tests.support.java_clients import CLOSE, FLUSH, JavaClients, send


class Java:
    def __init__(self, clients: JavaClients) -> None:
        self._clients = clients
        self._producers = 0

    def produce(self, topic: str, records: Sequence[Record], how: How = ORDINARY) -> list[int]:
        self._producers += 1
        name = f"{topic}-{self._producers}"
        configs = {
            "compression.type": how.codec, "acks": how.acks, "linger.ms": "1", **how.extra,
        }  # fmt: skip
        steps = [
            send(
                topic, record.value, key=record.key, headers=record.headers,
                timestamp=None if record.timestamp_ms < 0 else record.timestamp_ms,
                partition=how.partition,
            )
            for record in records
        ]  # fmt: skip
        try:
            return [offset for _, offset in self._clients.produce(name, [*steps, FLUSH], configs)]
        finally:
            self._clients.produce(name, [CLOSE])

    def consume(self, topic: str, count: int, partition: int = 0, start: int = 0) -> list[Stored]:
        return [
            Stored(each.offset, Record(each.value, each.key, each.headers, each.timestamp))
            for each in self._clients.consume(topic, partition, start=start)[:count]
        ]

    def bounds(self, topic: str, partition: int = 0) -> tuple[int, int]:
        return self._clients.offsets(topic, partition)

    def offset_for_time(self, topic: str, timestamp_ms: int, partition: int = 0) -> int | None:
        (found,) = self._clients.offsets_for_times(topic, [timestamp_ms], partition)
        return None if found is None else found[0]

    def read_at(self, topic: str, offsets: Sequence[int]) -> list[int]:
        return self._clients.read_at(topic, offsets)

    def position_after_reset(self, topic: str, reset: str) -> int:
        return self._clients.position_after_reset(topic, FAR_AWAY, reset)
