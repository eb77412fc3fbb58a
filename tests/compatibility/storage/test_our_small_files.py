"""The small files that we write, read by the classes that Kafka's broker reads them with."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.support.dump_log_segments import DumpLogSegments
from tests.support.kafka_small_files import JavaMetaProperties, KafkaSmallFiles

from ottla.base.files.disk import DiskFileSystem
from ottla.base.ids import TopicId, TopicPartition
from ottla.base.uuids import random_uuid, uuid_to_text
from ottla.storage.directories.checkpoints import OffsetCheckpoint
from ottla.storage.files.clean_shutdown import write_clean_shutdown
from ottla.storage.files.meta_properties import MetaProperties, write_meta_properties
from ottla.storage.files.partition_metadata import write_topic_id
from ottla.storage.log.leader_epochs import EpochEntry, LeaderEpochs
from ottla.storage.producers.producer_entry import ProducerEntry
from ottla.storage.producers.producer_snapshot import write_snapshot

pytestmark = pytest.mark.java

files = DiskFileSystem()


@pytest.mark.parametrize("count", [0, 1, 100])
def test_offset_checkpoints(tmp_path: Path, small_files: KafkaSmallFiles, count: int) -> None:
    path = tmp_path / "recovery-point-offset-checkpoint"
    offsets = {TopicPartition(f"topic.{i}_a-b", i): 2**62 + i for i in range(count)}
    OffsetCheckpoint(files, str(path)).write(offsets)
    assert small_files.offset_checkpoint(path) == offsets


def test_leader_epochs(tmp_path: Path, small_files: KafkaSmallFiles) -> None:
    path = tmp_path / "leader-epoch-checkpoint"
    entries = [EpochEntry(0, 0), EpochEntry(3, 12), EpochEntry(2**31 - 1, 2**62)]
    LeaderEpochs(files, str(path)).assign_all(entries)
    assert small_files.leader_epochs(path) == entries


def test_topic_ids(tmp_path: Path, small_files: KafkaSmallFiles) -> None:
    path = tmp_path / "partition.metadata"
    topic_id = TopicId(random_uuid())
    write_topic_id(files, str(path), topic_id)
    assert small_files.topic_id(path) == topic_id


def test_meta_properties(tmp_path: Path, small_files: KafkaSmallFiles) -> None:
    path = tmp_path / "meta.properties"
    directory_id, cluster_id = random_uuid(), "my=cluster: \\ #1"
    write_meta_properties(files, str(path), MetaProperties(cluster_id, 7, directory_id))
    assert small_files.meta_properties(path) == JavaMetaProperties(
        1, cluster_id, 7, uuid_to_text(directory_id)
    )


def test_the_mark_of_an_orderly_stop(tmp_path: Path, small_files: KafkaSmallFiles) -> None:
    path = tmp_path / ".kafka_cleanshutdown"
    write_clean_shutdown(files, str(path), 987_654_321)
    assert small_files.clean_shutdown_epoch(path) == 987_654_321


def test_producer_snapshots(tmp_path: Path, dump: DumpLogSegments) -> None:
    path = tmp_path / f"{77:020d}.snapshot"
    idle, busy = ProducerEntry(5), ProducerEntry(2**15 - 1, 9, transaction_first_offset=60)
    busy.add_batch(2**15 - 1, 2**31 - 1, 76, 3, 1_760_000_000_000)
    write_snapshot(files, str(path), {2**40: busy, 3: idle})
    first, second = dump.producers(path)
    assert (first["producerId"], first["producerEpoch"], first["coordinatorEpoch"]) == (
        "3",
        "5",
        "-1",
    )
    assert "lastSequence" not in first
    assert second == {
        "producerId": str(2**40),
        "producerEpoch": str(2**15 - 1),
        "coordinatorEpoch": "9",
        "currentTxnFirstOffset": "OptionalLong[60]",
        "lastTimestamp": "1760000000000",
        "firstSequence": str(2**31 - 4),
        "lastSequence": str(2**31 - 1),
        "lastOffset": "76",
        "offsetDelta": "3",
        "timestamp": "1760000000000",
    }
