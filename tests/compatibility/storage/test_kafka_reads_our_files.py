"""Kafka's dump tool and record classes accept every file that we write, and say what we say."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from tests.compatibility.records.cases import as_java_reads
from tests.compatibility.storage.kafka_workload import NOW_MS
from tests.compatibility.storage.our_logs import open_directory
from tests.compatibility.storage.our_workload import OUR_PLANS, write_partition
from tests.support.dump_log_segments import DumpedBatch, DumpLogSegments, segment_files
from tests.support.oracle import Oracle
from tests.support.records_oracle import JavaBatch, RecordsOracle

from ottla.base.files.disk import DiskFileSystem
from ottla.base.files.readers import BLOCKING
from ottla.base.uuids import random_uuid
from ottla.protocol.records.batch import BatchHeader, iterate_headers
from ottla.storage.indexes.offset_index import OffsetIndex
from ottla.storage.indexes.time_index import TimeIndex
from ottla.storage.indexes.transaction_index import TransactionIndex
from ottla.storage.producers.producer_snapshot import read_snapshot
from ottla.testing.clock import ManualClock

pytestmark = pytest.mark.java

TOPICS = pytest.mark.parametrize("topic", OUR_PLANS)
CODEC_NAMES = ("none", "gzip", "snappy", "lz4", "zstd")
INDEX_BYTES = 4096

files = DiskFileSystem()


@pytest.fixture(scope="module", params=["closed", "killed"])
def ours(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Every kind of log that we write: closed in order, or as a killed process leaves it."""
    path = tmp_path_factory.mktemp("ours") / "logs"
    with open_directory(path, ManualClock(NOW_MS)) as directory:
        for topic, plan in OUR_PLANS.items():
            write_partition(directory, topic, plan, random_uuid())
        if request.param == "closed":
            directory.close()
    return path


def partition_files(ours: Path, topic: str, suffix: str) -> list[Path]:
    return list(segment_files(ours / f"{topic}-0", suffix))


def logs_of(ours: Path, topic: str) -> list[Path]:
    """The record files, except one that ends in room for more: what a killed process has
    preallocated is no batch, and Kafka's tool refuses it after Kafka itself was killed too."""
    paths = partition_files(ours, topic, ".log")
    return [path for path in paths if not path.read_bytes().endswith(bytes(100))]


@TOPICS
def test_logs(ours: Path, dump: DumpLogSegments, topic: str) -> None:
    paths = logs_of(ours, topic)
    assert len(paths) > 2
    for path in paths:
        data = path.read_bytes()
        dumped = dump.batches(path)
        assert [batch.fields for batch in dumped] == [
            dumped_fields(position, header) for position, header in iterate_headers(data)
        ]
        assert [dumped_records(batch) for batch in dumped] == [
            expected_records(batch) for batch in as_java_reads(data)
        ]


def dumped_fields(position: int, header: BatchHeader) -> dict[str, str]:
    horizon = header.delete_horizon_ms
    fields = {
        "baseOffset": header.base_offset,
        "lastOffset": header.last_offset,
        "count": header.records_count,
        "baseSequence": header.base_sequence,
        "lastSequence": header.last_sequence,
        "producerId": header.producer_id,
        "producerEpoch": header.producer_epoch,
        "partitionLeaderEpoch": header.partition_leader_epoch,
        "isTransactional": str(header.is_transactional).lower(),
        "isControl": str(header.is_control).lower(),
        "deleteHorizonMs": "OptionalLong.empty" if horizon is None else f"OptionalLong[{horizon}]",
        "position": position,
        "LogAppendTime" if header.is_log_append_time else "CreateTime": header.max_timestamp,
        "size": header.size_bytes,
        "magic": 2,
        "compresscodec": CODEC_NAMES[header.codec],
        "crc": header.crc,
        "isvalid": "true",
    }
    return {name: str(value) for name, value in fields.items()}


def dumped_records(batch: DumpedBatch) -> list[tuple[object, ...]]:
    is_control = batch.fields["isControl"] == "true"
    return [
        (
            record.offset,
            record.timestamp,
            record.key_bytes,
            record.value_bytes,
            record.sequence,
            record.header_keys,
            "" if is_control else record.rest,
        )
        for record in batch.records
    ]


def expected_records(batch: JavaBatch) -> list[tuple[object, ...]]:
    return [
        (
            record.offset,
            record.timestamp,
            -1 if record.key is None else len(record.key),
            -1 if record.value is None else len(record.value),
            record.sequence,
            tuple(name for name, _ in record.headers),
            "" if batch.is_control else texts(record.key, record.value),
        )
        for record in batch.records
    ]


def texts(key: bytes | None, value: bytes | None) -> str:
    shown = "" if key is None else f" key: {key.decode()}"
    return shown if value is None else f"{shown} payload: {value.decode()}"


@TOPICS
def test_batches_record_for_record(ours: Path, oracle: Oracle, topic: str) -> None:
    java = RecordsOracle(oracle)
    for path in logs_of(ours, topic):
        data = path.read_bytes()
        found = [without_markers(batch) for batch in java.read(data)]
        assert found == as_java_reads(data)


def without_markers(batch: JavaBatch) -> JavaBatch:
    """Only Java decodes the meaning of a control record; the bytes of its key and value stay."""
    records = (replace(r, control_type=None, coordinator_epoch=None) for r in batch.records)
    return replace(batch, records=tuple(records))


@TOPICS
def test_offset_indexes(ours: Path, dump: DumpLogSegments, topic: str) -> None:
    count = 0
    for path in partition_files(ours, topic, ".index"):
        dump.check_index(path)
        index = OffsetIndex.open(files, str(path), int(path.stem), INDEX_BYTES)
        entries = dump.offset_entries(path)
        assert [tuple(index.lookup(BLOCKING, offset)) for offset, _ in entries] == entries
        assert index.count(BLOCKING) == len(entries)
        count += len(entries)
        index.close()
    assert count > 1


@TOPICS
def test_time_indexes(ours: Path, dump: DumpLogSegments, topic: str) -> None:
    for path in partition_files(ours, topic, ".timeindex"):
        dump.check_index(path)
        index = TimeIndex.open(files, str(path), int(path.stem), INDEX_BYTES)
        entries = dump.time_entries(path)
        assert [tuple(index.lookup(BLOCKING, timestamp)) for timestamp, _ in entries] == entries
        assert index.count(BLOCKING) == len(entries)
        index.close()


def test_transaction_indexes(ours: Path, dump: DumpLogSegments) -> None:
    count = 0
    for topic in ("transactions", "compacted-transactions"):
        for path in partition_files(ours, topic, ".txnindex"):
            index = TransactionIndex.open(files, str(path), 0)
            entries = [tuple(each) for each in index.iterate(BLOCKING)]
            assert dump.aborted_transactions(path) == entries
            count += len(entries)
    assert count > 5


@TOPICS
def test_producer_snapshots(ours: Path, dump: DumpLogSegments, topic: str) -> None:
    for path in partition_files(ours, topic, ".snapshot"):
        expected = {
            producer_id: (entry.epoch, entry.last_sequence, entry.last_offset)
            for producer_id, entry in read_snapshot(files, str(path)).items()
        }
        assert {
            int(each["producerId"]): (
                int(each["producerEpoch"]),
                int(each.get("lastSequence", -1)),
                int(each.get("lastOffset", -1)),
            )
            for each in dump.producers(path)
        } == expected
