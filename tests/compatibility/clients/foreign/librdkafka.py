"""confluent-kafka: librdkafka, which the clients of most languages are made from."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from confluent_kafka import Consumer, KafkaException, Producer, TopicPartition
from tests.compatibility.clients.foreign.client import (
    FAR_AWAY,
    ORDINARY,
    PATIENCE_S,
    How,
    Record,
    Stored,
)

QUIET = {"log_level": 0}  # exceptions report what goes wrong


class Librdkafka:
    def __init__(self, bootstrap: str) -> None:
        self._bootstrap = bootstrap

    def produce(self, topic: str, records: Sequence[Record], how: How = ORDINARY) -> list[int]:
        offsets: list[int] = []
        failures: list[KafkaException] = []

        def delivered(error: Any, message: Any) -> None:
            if error is not None:
                failures.append(KafkaException(error))
            offsets.append(-1 if message.offset() is None else max(-1, message.offset()))

        settings = {"compression.type": how.codec, "acks": how.acks, "linger.ms": 1, **how.extra}
        producer = Producer({"bootstrap.servers": self._bootstrap, **QUIET, **settings})
        for record in records:
            producer.produce(
                topic, record.value, record.key, how.partition, on_delivery=delivered,
                headers=list(record.headers), timestamp=max(0, record.timestamp_ms),
            )  # fmt: skip
        left = producer.flush(PATIENCE_S)
        if failures:
            raise failures[0]
        assert not left, f"{left} records were not sent"
        return offsets

    def consume(self, topic: str, count: int, partition: int = 0, start: int = 0) -> list[Stored]:
        with consumer(self._bootstrap) as reader:
            reader.assign([TopicPartition(topic, partition, start)])
            return [Stored(each.offset(), as_record(each)) for each in read(reader, count)]

    def bounds(self, topic: str, partition: int = 0) -> tuple[int, int]:
        with consumer(self._bootstrap) as reader:
            where = TopicPartition(topic, partition)
            first, end = reader.get_watermark_offsets(where, timeout=PATIENCE_S)
            return first, end

    def offset_for_time(self, topic: str, timestamp_ms: int, partition: int = 0) -> int | None:
        with consumer(self._bootstrap) as reader:
            where = TopicPartition(topic, partition, timestamp_ms)
            (found,) = reader.offsets_for_times([where], timeout=PATIENCE_S)
            return found.offset if found.offset >= 0 else None

    def read_at(self, topic: str, offsets: Sequence[int]) -> list[int]:
        with consumer(self._bootstrap) as reader:
            reader.assign([TopicPartition(topic, 0, offsets[0])])
            found = [read(reader, 1)[0].offset()]
            for offset in offsets[1:]:
                reader.seek(TopicPartition(topic, 0, offset))
                found.append(read(reader, 1)[0].offset())
            return found

    def position_after_reset(self, topic: str, reset: str) -> int:
        settings = {"auto.offset.reset": reset, "enable.partition.eof": True}
        with consumer(self._bootstrap, **settings) as reader:
            reader.assign([TopicPartition(topic, 0, FAR_AWAY)])
            message = reader.poll(PATIENCE_S)  # a record, or the end
            assert message is not None
            offset: int = message.offset()
            return offset


@contextmanager
def consumer(bootstrap: str, **settings: Any) -> Iterator[Consumer]:
    defaults = {
        "bootstrap.servers": bootstrap, "group.id": "unused", "enable.auto.commit": False,
        "auto.offset.reset": "error", "fetch.wait.max.ms": 50, **QUIET,
    }  # fmt: skip
    reader = Consumer(defaults | settings)
    try:
        yield reader
    finally:
        reader.close()


def read(reader: Consumer, count: int) -> list[Any]:
    """So many messages, or as many as come in time; an error is raised."""
    found: list[Any] = []
    deadline_s = time.monotonic() + PATIENCE_S
    while len(found) < count and time.monotonic() < deadline_s:
        for message in reader.consume(count - len(found), 1.0):
            if message.error() is not None:
                raise KafkaException(message.error())
            found.append(message)
    return found


def as_record(message: Any) -> Record:
    headers = tuple(message.headers() or ())
    return Record(message.value(), message.key(), headers, message.timestamp()[1])
