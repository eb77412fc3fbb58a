"""Records that are worth a batch: what both sides must write and read equally."""

from __future__ import annotations

import random
from collections.abc import Iterable
from dataclasses import replace

from tests.support.records_oracle import JavaBatch, JavaRecord

from ottla.protocol.records.batch import BatchHeader, Buffer, iterate_headers
from ottla.protocol.records.reading import iterate_records
from ottla.protocol.records.record import Record

NOW_MS = 1_760_000_000_000
RANDOM = random.Random(20_260_101)

RECORD_SETS: dict[str, list[Record]] = {
    "one record": [Record(0, NOW_MS, b"key", b"value")],
    "nulls": [
        Record(0, NOW_MS, None, None),
        Record(1, NOW_MS, b"k", None),
        Record(2, 0, None, b"v"),
    ],
    "empty but not null": [Record(0, NOW_MS, b"", b"", (("", b""),))],
    "headers": [
        Record(0, NOW_MS, None, b"v", (("a", b"1"), ("a", None), ("naïve-ключ", b"\x00\xff"))),
        Record(1, NOW_MS, None, b"v", tuple((f"h{i}", bytes([i])) for i in range(130))),
    ],
    "times that go back": [Record(i, NOW_MS - i * 1_000_003, None, b"v") for i in range(5)],
    "times before 1970 and none": [Record(0, -1, None, b"v"), Record(1, 5, None, b"v")],
    "gaps in the offsets": [Record(i * i * 1000, NOW_MS + i, b"%d" % i, b"v") for i in range(50)],
    "lengths around the varint steps": [
        Record(i, NOW_MS, b"k" * size, b"v" * (size + 1))
        for i, size in enumerate((62, 63, 64, 65, 127, 128, 8190, 8191, 8192, 8193, 16384))
    ],
    "many alike": [
        Record(i, NOW_MS + i, b"user-%d" % (i % 7), b'{"clicks": %d}' % (i % 100))
        for i in range(3000)
    ],
    "large and random": [Record(0, NOW_MS, RANDOM.randbytes(100), RANDOM.randbytes(300_000))],
    "large and alike": [Record(0, NOW_MS, None, bytes(2_000_000))],
}


def random_records(generator: random.Random) -> list[Record]:
    """A batch of the ordinary kind: small random records, some with headers, some null."""
    offset, records = 0, []
    for _ in range(generator.randint(1, 30)):
        value = generator.choice((None, b"", generator.randbytes(generator.randint(1, 200))))
        key = generator.choice((None, b"k%d" % generator.randint(0, 5)))
        headers = tuple(
            (f"h{i}", generator.choice((None, generator.randbytes(3))))
            for i in range(generator.choice((0, 0, 1, 3)))
        )
        records.append(Record(offset, NOW_MS + generator.randint(-5000, 5000), key, value, headers))
        offset += generator.choice((1, 1, 1, 2, 100))
    return records


def shifted(records: Iterable[Record], base_offset: int) -> list[Record]:
    return [record._replace(offset=record.offset + base_offset) for record in records]


def to_java(records: Iterable[Record]) -> list[JavaRecord]:
    return [JavaRecord(r.timestamp, r.key, r.value, r.headers, r.offset) for r in records]


def from_java(records: Iterable[JavaRecord]) -> list[Record]:
    return [Record(r.offset or 0, r.timestamp, r.key, r.value, r.headers) for r in records]


def as_java_reads(data: Buffer) -> list[JavaBatch]:
    """What Kafka should say about `data`, from our own reading of it. Control records keep only
    what every record has."""
    return [as_java_batch(data, position, header) for position, header in iterate_headers(data)]


def as_java_batch(data: Buffer, position: int, header: BatchHeader) -> JavaBatch:
    records = [
        replace(record, sequence=sequence_of(header, record.offset or 0))
        for record in to_java(iterate_records(data, position))
    ]
    return JavaBatch(
        base_offset=header.base_offset,
        last_offset=header.last_offset,
        size_bytes=header.size_bytes,
        count=header.records_count,
        leader_epoch=header.partition_leader_epoch,
        crc=header.crc,
        codec=("none", "gzip", "snappy", "lz4", "zstd")[header.codec],
        timestamp_type="LogAppendTime" if header.is_log_append_time else "CreateTime",
        max_timestamp=header.max_timestamp,
        producer_id=header.producer_id,
        producer_epoch=header.producer_epoch,
        base_sequence=header.base_sequence,
        last_sequence=header.last_sequence,
        is_transactional=header.is_transactional,
        is_control=header.is_control,
        records=tuple(records),
        delete_horizon_ms=header.delete_horizon_ms,
    )


def sequence_of(header: BatchHeader, offset: int) -> int:
    """Java gives each record the sequence of its place in the batch."""
    if header.base_sequence < 0:
        return -1
    return (header.base_sequence + offset - header.base_offset) & 0x7FFFFFFF
