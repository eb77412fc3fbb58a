"""kafka-python, all of it in Python. It is loaded here first: that warns of what it uses itself."""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from tests.compatibility.clients.foreign.client import (
    FAR_AWAY,
    ORDINARY,
    PATIENCE_S,
    How,
    Record,
    Stored,
)

with warnings.catch_warnings():
    warnings.simplefilter("ignore", DeprecationWarning)  # while it is loaded
    from kafka import KafkaAdminClient, KafkaConsumer, KafkaProducer, TopicPartition, codec

__all__ = [
    "KafkaAdminClient",
    "KafkaConsumer",
    "KafkaPython",
    "TopicPartition",
    "as_record",
    "consumer",
    "missing_codecs",
    "read",
]


class KafkaPython:
    def __init__(self, bootstrap: str) -> None:
        self._bootstrap = bootstrap

    def produce(self, topic: str, records: Sequence[Record], how: How = ORDINARY) -> list[int]:
        producer = KafkaProducer(
            bootstrap_servers=self._bootstrap,
            compression_type=None if how.codec == "none" else how.codec,
            acks=how.acks if how.acks == "all" else int(how.acks),
            **how.extra,
        )
        try:
            futures = [
                producer.send(
                    topic, record.value, record.key, list(record.headers), how.partition,
                    None if record.timestamp_ms < 0 else record.timestamp_ms,
                )
                for record in records
            ]  # fmt: skip
            producer.flush(PATIENCE_S)
            return [future.get(PATIENCE_S).offset for future in futures]
        finally:
            producer.close(PATIENCE_S)

    def consume(self, topic: str, count: int, partition: int = 0, start: int = 0) -> list[Stored]:
        where = TopicPartition(topic, partition)
        with consumer(self._bootstrap) as reader:
            reader.assign([where])
            reader.seek(where, start)
            return [Stored(each.offset, as_record(each)) for each in read(reader, count)]

    def bounds(self, topic: str, partition: int = 0) -> tuple[int, int]:
        where = TopicPartition(topic, partition)
        with consumer(self._bootstrap) as reader:
            return reader.beginning_offsets([where])[where], reader.end_offsets([where])[where]

    def offset_for_time(self, topic: str, timestamp_ms: int, partition: int = 0) -> int | None:
        where = TopicPartition(topic, partition)
        with consumer(self._bootstrap) as reader:
            found = reader.offsets_for_times({where: timestamp_ms})[where]
            return None if found is None else found.offset

    def read_at(self, topic: str, offsets: Sequence[int]) -> list[int]:
        where = TopicPartition(topic, 0)
        with consumer(self._bootstrap) as reader:
            reader.assign([where])
            found = []
            for offset in offsets:
                reader.seek(where, offset)
                found.append(read(reader, 1)[0].offset)
            return found

    def position_after_reset(self, topic: str, reset: str) -> int:
        where = TopicPartition(topic, 0)
        with consumer(self._bootstrap, auto_offset_reset=reset) as reader:
            reader.assign([where])
            reader.seek(where, FAR_AWAY)
            position: int = FAR_AWAY
            while position == FAR_AWAY:
                records = reader.poll(100, max_records=1).get(where)
                position = records[0].offset if records else reader.position(where)
            return position


@contextmanager
def consumer(bootstrap: str, **settings: Any) -> Iterator[KafkaConsumer]:
    defaults = {"auto_offset_reset": "none", "fetch_max_wait_ms": 50, "group_id": None}
    reader = KafkaConsumer(bootstrap_servers=bootstrap, **defaults | settings)
    try:
        yield reader
    finally:
        reader.close()


def read(reader: KafkaConsumer, count: int) -> list[Any]:
    """So many records, or as many as come in time."""
    found: list[Any] = []
    deadline_s = time.monotonic() + PATIENCE_S
    while len(found) < count and time.monotonic() < deadline_s:
        for records in reader.poll(1000, count - len(found)).values():
            found += records
    return found


def as_record(record: Any) -> Record:
    return Record(record.value, record.key, tuple(record.headers), record.timestamp)


def missing_codecs() -> list[str]:
    """Those for which it found no library here."""
    has = {"snappy": codec.has_snappy(), "lz4": codec.has_lz4(), "zstd": codec.has_zstd()}
    return [name for name, is_there in has.items() if not is_there]
