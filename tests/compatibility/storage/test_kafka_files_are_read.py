"""Every file that Apache Kafka writes beside its records says here what Kafka says it says.

The reference is Kafka's dump tool, and for the small files the classes of its broker.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.compatibility.storage.conftest import KafkaFiles
from tests.compatibility.storage.kafka_workload import PLANS
from tests.support.dump_log_segments import DumpLogSegments, segment_files
from tests.support.kafka_small_files import KafkaSmallFiles

from ottla.base.files.disk import DiskFileSystem
from ottla.base.files.readers import BLOCKING
from ottla.base.ids import TopicPartition
from ottla.base.uuids import uuid_to_text
from ottla.storage.directories.checkpoints import OffsetCheckpoint
from ottla.storage.files.clean_shutdown import read_clean_shutdown
from ottla.storage.files.meta_properties import read_meta_properties
from ottla.storage.files.partition_metadata import read_topic_id
from ottla.storage.indexes.offset_index import OffsetIndex
from ottla.storage.indexes.time_index import TimeIndex
from ottla.storage.indexes.transaction_index import TransactionIndex
from ottla.storage.log.leader_epochs import LeaderEpochs
from ottla.storage.producers.producer_snapshot import read_snapshot

pytestmark = [pytest.mark.java, pytest.mark.xdist_group("apache-kafka")]

ENDINGS = pytest.mark.parametrize("ending", ["killed", "stopped"])
TOPICS = pytest.mark.parametrize("topic", PLANS)
CHECKPOINTS = (
    "recovery-point-offset-checkpoint",
    "log-start-offset-checkpoint",
    "replication-offset-checkpoint",
    "cleaner-offset-checkpoint",
)
INDEX_BYTES = 4096

files = DiskFileSystem()


def partition_files(kafka_files: KafkaFiles, ending: str, topic: str, suffix: str) -> list[Path]:
    return list(segment_files(kafka_files.log_directory(ending) / f"{topic}-0", suffix))


@ENDINGS
@TOPICS
def test_offset_indexes(
    kafka_files: KafkaFiles, dump: DumpLogSegments, ending: str, topic: str
) -> None:
    paths = partition_files(kafka_files, ending, topic, ".index")
    assert paths
    for path in paths:
        index = OffsetIndex.open(files, str(path), int(path.stem), INDEX_BYTES)
        entries = dump.offset_entries(path)
        assert index.count(BLOCKING) == len(entries)
        assert [tuple(index.lookup(BLOCKING, offset)) for offset, _ in entries] == entries
        assert [tuple(index.lookup(BLOCKING, offset + 1)) for offset, _ in entries] == entries
        index.check_entries(BLOCKING, path.with_suffix(".log").stat().st_size)
        index.close()


@ENDINGS
@TOPICS
def test_time_indexes(
    kafka_files: KafkaFiles, dump: DumpLogSegments, ending: str, topic: str
) -> None:
    for path in partition_files(kafka_files, ending, topic, ".timeindex"):
        index = TimeIndex.open(files, str(path), int(path.stem), INDEX_BYTES)
        entries = dump.time_entries(path)
        assert index.count(BLOCKING) == len(entries)
        assert [tuple(index.lookup(BLOCKING, timestamp)) for timestamp, _ in entries] == entries
        index.check_entries(BLOCKING, kafka_files.topics[topic].end_offset)
        index.close()


@ENDINGS
def test_transaction_indexes(kafka_files: KafkaFiles, dump: DumpLogSegments, ending: str) -> None:
    count = 0
    for topic in ("transactions", "compacted-transactions"):
        for path in partition_files(kafka_files, ending, topic, ".txnindex"):
            index = TransactionIndex.open(files, str(path), int(path.stem))
            entries = [tuple(entry) for entry in index.iterate(BLOCKING)]
            assert entries == dump.aborted_transactions(path)
            count += len(entries)
            index.close()
    assert count > 5


@ENDINGS
@TOPICS
def test_producer_snapshots(
    kafka_files: KafkaFiles, dump: DumpLogSegments, ending: str, topic: str
) -> None:
    for path in partition_files(kafka_files, ending, topic, ".snapshot"):
        ours = {
            str(producer_id): (
                f"{entry.epoch} {entry.coordinator_epoch} {entry.last_timestamp} "
                f"{entry.last_sequence} {entry.last_offset} {entry.last_offset_delta} "
                f"{entry.transaction_first_offset}"
            )
            for producer_id, entry in read_snapshot(files, str(path)).items()
        }
        assert ours == {each["producerId"]: snapshot_line(each) for each in dump.producers(path)}


def snapshot_line(fields: dict[str, str]) -> str:
    first = fields["currentTxnFirstOffset"]
    offset = "-1" if first == "OptionalLong.empty" else first[len("OptionalLong[") : -1]
    return (
        f"{fields['producerEpoch']} {fields['coordinatorEpoch']} {fields['lastTimestamp']} "
        f"{fields.get('lastSequence', -1)} {fields.get('lastOffset', -1)} "
        f"{fields.get('offsetDelta', 0)} {offset}"
    )


@ENDINGS
@TOPICS
def test_leader_epochs_and_topic_ids(
    kafka_files: KafkaFiles, small_files: KafkaSmallFiles, ending: str, topic: str
) -> None:
    directory = kafka_files.log_directory(ending) / f"{topic}-0"
    epochs_path, metadata_path = (
        directory / "leader-epoch-checkpoint",
        directory / "partition.metadata",
    )
    epochs = [
        tuple(entry) for entry in LeaderEpochs.open(BLOCKING, files, str(epochs_path)).entries
    ]
    assert epochs == small_files.leader_epochs(epochs_path)
    assert epochs
    topic_id = read_topic_id(BLOCKING, files, str(metadata_path))
    assert topic_id == small_files.topic_id(metadata_path) == kafka_files.topics[topic].topic_id


@ENDINGS
@pytest.mark.parametrize("name", CHECKPOINTS)
def test_checkpoints(
    kafka_files: KafkaFiles, small_files: KafkaSmallFiles, ending: str, name: str
) -> None:
    path = kafka_files.log_directory(ending) / name
    ours = OffsetCheckpoint(files, str(path)).read()
    assert ours == small_files.offset_checkpoint(path)
    if ending == "stopped" and name.startswith("recovery"):
        assert ours[TopicPartition("plain", 0)] == kafka_files.topics["plain"].end_offset


@ENDINGS
def test_meta_properties(
    kafka_files: KafkaFiles, small_files: KafkaSmallFiles, ending: str
) -> None:
    path = kafka_files.log_directory(ending) / "meta.properties"
    ours, theirs = read_meta_properties(files, str(path)), small_files.meta_properties(path)
    assert ours is not None
    assert ours.directory_id is not None
    assert (ours.version, ours.cluster_id, ours.node_id, uuid_to_text(ours.directory_id)) == (
        theirs.version,
        theirs.cluster_id,
        theirs.node_id,
        theirs.directory_id,
    )


def test_the_mark_of_an_orderly_stop(kafka_files: KafkaFiles, small_files: KafkaSmallFiles) -> None:
    name = ".kafka_cleanshutdown"
    assert read_clean_shutdown(files, str(kafka_files.killed / name)) is None
    ours = read_clean_shutdown(files, str(kafka_files.stopped / name))
    assert ours is not None
    assert ours.broker_epoch == small_files.clean_shutdown_epoch(kafka_files.stopped / name)
    assert ours.broker_epoch > 0
