"""Batches in both directions: Kafka's classes read what we build, and we read what they build."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest
from tests.compatibility.records.cases import (
    NOW_MS,
    RECORD_SETS,
    as_java_reads,
    from_java,
    random_records,
    shifted,
    to_java,
)
from tests.support.oracle import Oracle
from tests.support.records_oracle import BatchSettings, JavaBatch, RecordsOracle

from ottla.protocol.records.batch import (
    BatchHeader,
    has_valid_checksum,
    read_header,
    stamp_log_append_time,
    stamp_offset_and_epoch,
)
from ottla.protocol.records.building import build_batch, build_emptied_batch
from ottla.protocol.records.compression import Codec
from ottla.protocol.records.reading import iterate_records
from ottla.protocol.records.record import Record

pytestmark = pytest.mark.java

CODECS = pytest.mark.parametrize("codec", Codec, ids=lambda codec: codec.name.lower())
SETS = pytest.mark.parametrize("records", RECORD_SETS.values(), ids=RECORD_SETS.keys())


@pytest.fixture(scope="session")
def java(oracle: Oracle) -> RecordsOracle:
    return RecordsOracle(oracle)


def checked_header(data: bytes) -> BatchHeader:
    header = read_header(data)
    assert header.size_bytes == len(data)
    assert has_valid_checksum(data, 0, header)
    return header


def only_batch(batches: list[JavaBatch]) -> JavaBatch:
    (batch,) = batches
    return batch


@CODECS
@SETS
def test_kafka_reads_what_we_build(
    java: RecordsOracle, codec: Codec, records: list[Record]
) -> None:
    data = build_batch(shifted(records, 77), base_offset=77, codec=codec, leader_epoch=3)
    batch = only_batch(java.read(data))
    assert from_java(batch.records) == shifted(records, 77)
    assert [batch] == as_java_reads(data)


@CODECS
@SETS
def test_we_read_what_kafka_builds(
    java: RecordsOracle, codec: Codec, records: list[Record]
) -> None:
    settings = BatchSettings(codec=codec.name.lower(), base_offset=77, leader_epoch=3)
    data = java.build(to_java(shifted(records, 77)), settings)
    checked_header(data)
    assert list(iterate_records(data)) == shifted(records, 77)
    assert java.read(data) == as_java_reads(data)


@SETS
def test_uncompressed_batches_are_the_same_bytes(
    java: RecordsOracle, records: list[Record]
) -> None:
    settings = BatchSettings(
        producer_id=9, producer_epoch=2, base_sequence=5, is_transactional=True
    )
    ours = build_batch(
        records, producer_id=9, producer_epoch=2, base_sequence=5, is_transactional=True
    )
    assert java.build(to_java(records), settings) == ours


@CODECS
def test_random_batches_agree_both_ways(java: RecordsOracle, codec: Codec) -> None:
    generator = random.Random(codec)
    sets = [random_records(generator) for _ in range(150)]
    ours = [build_batch(records, codec=codec, base_sequence=1, producer_id=1) for records in sets]
    assert java.read_many(ours) == [as_java_reads(data) for data in ours]
    settings = BatchSettings(codec=codec.name.lower())
    theirs = java.build_many((to_java(records), settings) for records in sets)
    assert [list(iterate_records(data)) for data in theirs] == sets


@CODECS
def test_sequences_wrap_as_in_kafka(java: RecordsOracle, codec: Codec) -> None:
    records = [Record(i, NOW_MS, None, b"v") for i in range(4)]
    data = build_batch(
        records, codec=codec, producer_id=1, producer_epoch=0, base_sequence=2**31 - 2
    )
    batch = only_batch(java.read(data))
    assert [record.sequence for record in batch.records] == [2**31 - 2, 2**31 - 1, 0, 1]
    assert batch.last_sequence == read_header(data).last_sequence == 1


@CODECS
def test_log_append_time_counts_for_every_record(java: RecordsOracle, codec: Codec) -> None:
    records = [Record(i, NOW_MS + i, None, b"v") for i in range(3)]
    stamped = build_batch(records, codec=codec)
    stamp_log_append_time(stamped, 0, read_header(stamped), NOW_MS + 500)
    built = build_batch(records, codec=codec, log_append_time_ms=NOW_MS + 500)
    settings = BatchSettings(
        codec=codec.name.lower(), timestamp_type="LogAppendTime", log_append_time=NOW_MS + 500
    )
    theirs = java.build(to_java(records), settings)
    for data in (stamped, built, theirs):
        batch = only_batch(java.read(data))
        assert [batch] == as_java_reads(data)
        assert {record.timestamp for record in batch.records} == {NOW_MS + 500}


@CODECS
def test_stamping_offsets_and_epoch_leaves_the_batch_valid(
    java: RecordsOracle, codec: Codec
) -> None:
    settings = BatchSettings(
        codec=codec.name.lower(), producer_id=4, producer_epoch=0, base_sequence=0
    )
    data = bytearray(java.build(to_java(RECORD_SETS["headers"]), settings))
    stamp_offset_and_epoch(data, 0, 123_456_789_012, 42)
    batch = only_batch(java.read(data))
    assert (batch.base_offset, batch.leader_epoch) == (123_456_789_012, 42)
    assert [record.offset for record in batch.records] == [123_456_789_012, 123_456_789_013]


@CODECS
def test_a_batch_with_a_delete_horizon_keeps_its_times(java: RecordsOracle, codec: Codec) -> None:
    records = [Record(5, NOW_MS, b"k", None), Record(8, NOW_MS + 7, b"l", None)]
    data = build_batch(
        records, base_offset=2, last_offset_delta=9, codec=codec, delete_horizon_ms=NOW_MS + 90_000
    )
    batch = only_batch(java.read(data))
    assert from_java(batch.records) == records
    assert (batch.delete_horizon_ms, batch.base_offset, batch.last_offset) == (
        NOW_MS + 90_000,
        2,
        11,
    )
    assert [batch] == as_java_reads(data)


@CODECS
def test_an_emptied_batch_keeps_its_place_and_producer(java: RecordsOracle, codec: Codec) -> None:
    full = build_batch(
        [Record(i, NOW_MS, None, b"v") for i in range(3)],
        codec=codec,
        producer_id=7,
        producer_epoch=1,
        base_sequence=40,
        leader_epoch=6,
    )
    batch = only_batch(java.read(build_emptied_batch(read_header(full))))
    before = only_batch(java.read(full))
    emptied = replace(before, records=(), count=0, codec="none", size_bytes=61)
    assert batch == replace(emptied, crc=batch.crc)


def test_several_batches_in_a_row_are_read_as_kafka_does(java: RecordsOracle) -> None:
    data = b"".join(
        build_batch(
            shifted(RECORD_SETS["headers"], 10 * codec), base_offset=10 * codec, codec=codec
        )
        for codec in Codec
    )
    assert java.read(data) == as_java_reads(data)
