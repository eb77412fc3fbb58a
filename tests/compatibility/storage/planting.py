"""Our partitions put in the place of a stopped Kafka's, and how both sides describe them."""

from __future__ import annotations

import shutil
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from tests.compatibility.storage.kafka_workload import (
    NOW_MS,
    Written,
    as_consumed,
    times_to_look_up,
)
from tests.compatibility.storage.our_logs import consume, offset_for_time, open_directory
from tests.compatibility.storage.our_workload import OUR_PLANS, write_partition
from tests.support.dump_log_segments import segment_files
from tests.support.java_clients import JavaClients

from ottla.base.files.disk import DiskFileSystem
from ottla.base.files.readers import BLOCKING
from ottla.base.ids import TopicPartition
from ottla.storage.directories.checkpoints import OffsetCheckpoint
from ottla.storage.log.log import Log
from ottla.testing.clock import ManualClock

INDEX_SUFFIXES = (".index", ".timeindex", ".txnindex")
RECOVERY_POINTS = "recovery-point-offset-checkpoint"
LOG_STARTS = "log-start-offset-checkpoint"
HIGH_WATERMARKS = "replication-offset-checkpoint"


@dataclass(frozen=True, slots=True)
class Planted:
    """One of our partitions: as our own consumers see it, and later as Kafka's do."""

    ours: Written
    plan: str


def create_topics(
    clients: JavaClients, kind: str, plans: Iterable[str], dirty_ratio: str
) -> dict[str, bytes]:
    """Topics of Kafka for these plans of ours; their ids. Its cleaner does not come for a dirty
    ratio of 1."""
    ratio = {"min.cleanable.dirty.ratio": dirty_ratio}
    return {
        f"{kind}-{name}": clients.create_topic(
            f"{kind}-{name}", configs=OUR_PLANS[name].configs | ratio
        )
        for name in plans
    }


def write_ours(path: Path, kind: str, ids: dict[str, bytes], *, is_closed: bool) -> list[Planted]:
    """Our plans under the names that Kafka knows; left open, as by a killed process, or not."""
    with open_directory(path, ManualClock(NOW_MS)) as directory:
        planted = []
        for topic, topic_id in ids.items():
            name = topic.removeprefix(f"{kind}-")
            log = write_partition(directory, topic, OUR_PLANS[name], topic_id)
            planted.append(Planted(as_we_see(log), name))
        if is_closed:
            directory.close()
        else:
            directory.table.write_checkpoints()  # as a broker does every minute
    return planted


def as_we_see(log: Log) -> Written:
    records = consume(log, is_committed=False)
    times = times_to_look_up(records)
    return Written(
        log.partition.topic,
        log.topic_id.load(BLOCKING) or b"",
        uncommitted=records,
        committed=consume(log, is_committed=True),
        start_offset=log.log_start_offset,
        end_offset=log.log_end_offset,
        stable_offset=log.last_stable_offset(BLOCKING),
        times={time: offset_for_time(log, time) for time in times},
    )


def as_kafka_sees(clients: JavaClients, planted: Iterable[Planted]) -> dict[str, Written]:
    return {
        each.ours.topic: as_consumed(clients, each.ours.topic, each.ours.topic_id)
        for each in planted
    }


def plant(ours: Path, log_directory: Path, planted: Iterable[Planted]) -> None:
    """Replace Kafka's partitions by ours, and let its checkpoints say so."""
    for each in planted:
        name = f"{each.ours.topic}-0"
        shutil.rmtree(log_directory / name)
        shutil.copytree(ours / name, log_directory / name)
    for checkpoint in (RECOVERY_POINTS, LOG_STARTS, HIGH_WATERMARKS):
        merge_checkpoint(ours / checkpoint, log_directory / checkpoint, planted)


def merge_checkpoint(ours: Path, theirs: Path, planted: Iterable[Planted]) -> None:
    files = DiskFileSystem()
    offsets = OffsetCheckpoint(files, str(theirs)).read()
    for each in planted:
        offsets.pop(TopicPartition(each.ours.topic, 0), None)
    OffsetCheckpoint(files, str(theirs)).write(offsets | OffsetCheckpoint(files, str(ours)).read())


def remove_indexes(log_directory: Path, planted: Iterable[Planted]) -> None:
    for each in planted:
        for suffix in INDEX_SUFFIXES:
            for path in segment_files(log_directory / f"{each.ours.topic}-0", suffix):
                path.unlink()


def tear_ends(log_directory: Path, planted: Iterable[Planted]) -> None:
    """Half a batch behind the last one of every log, as a crash in a write leaves it."""
    for each in planted:
        paths = segment_files(log_directory / f"{each.ours.topic}-0", ".log")
        filled = [path for path in paths if path.stat().st_size]
        with paths[-1].open("ab") as file:
            file.write(filled[-1].read_bytes()[:100])
