"""aiokafka, for programs on asyncio. It speaks old versions of most requests."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Coroutine, Sequence
from typing import Any, TypeVar

from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, TopicPartition
from tests.compatibility.clients.foreign.client import (
    FAR_AWAY,
    ORDINARY,
    PATIENCE_S,
    How,
    Record,
    Stored,
)
from tests.compatibility.clients.foreign.kafka_python import as_record

T = TypeVar("T")


class AioKafka:
    def __init__(self, bootstrap: str) -> None:
        self._bootstrap = bootstrap

    def produce(self, topic: str, records: Sequence[Record], how: How = ORDINARY) -> list[int]:
        return run(self._produce(topic, records, how))

    async def _produce(self, topic: str, records: Sequence[Record], how: How) -> list[int]:
        producer = AIOKafkaProducer(
            bootstrap_servers=self._bootstrap,
            compression_type=None if how.codec == "none" else how.codec,
            acks=how.acks if how.acks == "all" else int(how.acks),
            **how.extra,
        )
        async with producer:
            futures = [
                await producer.send(
                    topic, record.value, record.key, how.partition,
                    None if record.timestamp_ms < 0 else record.timestamp_ms, list(record.headers),
                )
                for record in records
            ]  # fmt: skip
            done = await asyncio.gather(*futures)
        return [-1 if each is None else each.offset for each in done]

    def consume(self, topic: str, count: int, partition: int = 0, start: int = 0) -> list[Stored]:
        return run(self._consume(topic, count, partition, start))

    async def _consume(self, topic: str, count: int, partition: int, start: int) -> list[Stored]:
        where = TopicPartition(topic, partition)
        async with consumer(self._bootstrap) as reader:
            reader.assign([where])
            reader.seek(where, start)
            return [Stored(each.offset, as_record(each)) for each in await read(reader, count)]

    def bounds(self, topic: str, partition: int = 0) -> tuple[int, int]:
        return run(self._bounds(TopicPartition(topic, partition)))

    async def _bounds(self, where: TopicPartition) -> tuple[int, int]:
        async with consumer(self._bootstrap) as reader:
            first = await reader.beginning_offsets([where])
            end = await reader.end_offsets([where])
            return first[where], end[where]

    def offset_for_time(self, topic: str, timestamp_ms: int, partition: int = 0) -> int | None:
        return run(self._offset_for_time(TopicPartition(topic, partition), timestamp_ms))

    async def _offset_for_time(self, where: TopicPartition, timestamp_ms: int) -> int | None:
        async with consumer(self._bootstrap) as reader:
            found = (await reader.offsets_for_times({where: timestamp_ms}))[where]
            return None if found is None else found.offset

    def read_at(self, topic: str, offsets: Sequence[int]) -> list[int]:
        return run(self._read_at(TopicPartition(topic, 0), offsets))

    async def _read_at(self, where: TopicPartition, offsets: Sequence[int]) -> list[int]:
        async with consumer(self._bootstrap) as reader:
            reader.assign([where])
            found = []
            for offset in offsets:
                reader.seek(where, offset)
                found.append((await read(reader, 1))[0].offset)
            return found

    def position_after_reset(self, topic: str, reset: str) -> int:
        return run(self._position_after_reset(TopicPartition(topic, 0), reset))

    async def _position_after_reset(self, where: TopicPartition, reset: str) -> int:
        async with consumer(self._bootstrap, auto_offset_reset=reset) as reader:
            reader.assign([where])
            reader.seek(where, FAR_AWAY)
            position: int = FAR_AWAY
            while position == FAR_AWAY:
                records = (await reader.getmany(timeout_ms=100, max_records=1)).get(where)
                position = records[0].offset if records else await reader.position(where)
            return position


def consumer(bootstrap: str, **settings: Any) -> AIOKafkaConsumer:
    defaults = {"auto_offset_reset": "none", "fetch_max_wait_ms": 50}
    return AIOKafkaConsumer(bootstrap_servers=bootstrap, **defaults | settings)


async def read(reader: AIOKafkaConsumer, count: int) -> list[Any]:
    """So many records, or as many as come in time."""
    found: list[Any] = []
    deadline_s = time.monotonic() + PATIENCE_S
    while len(found) < count and time.monotonic() < deadline_s:
        got = await reader.getmany(timeout_ms=1000, max_records=count - len(found))
        for records in got.values():
            found += records
    return found


def run(work: Coroutine[Any, Any, T]) -> T:
    return asyncio.run(asyncio.wait_for(work, 2 * PATIENCE_S))
