"""Our logs, opened and read in tests as a broker and a consumer would do it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random

from tests.compatibility.storage.kafka_workload import PLANS
from tests.support.configs import topic_config
from tests.support.java_clients import Consumed

from ottla.base.clock import Clock, SystemClock
from ottla.base.files.disk import DiskFileSystem
from ottla.base.files.readers import BLOCKING
from ottla.base.scheduling.steps import run_blocking
from ottla.config.layers import BrokerLayers
from ottla.config.topic_options import TopicConfig
from ottla.protocol.records.batch import BatchHeader, iterate_headers
from ottla.protocol.records.control import read_end_marker
from ottla.protocol.records.reading import iterate_records
from ottla.storage.directories.directory_loading import load_logs
from ottla.storage.directories.directory_ownership import Owner
from ottla.storage.directories.log_directory import LogDirectory
from ottla.storage.files.meta_properties import read_meta_properties
from ottla.storage.log.log import Log
from ottla.storage.log.read_range import ReadRange
from ottla.testing.log_listener import IgnoringListener

FETCH_BYTES = 700  # small, so that a partition is read in many fetches


def config_of(topic: str) -> TopicConfig:
    plan = PLANS.get(topic)
    return topic_config(plan.configs if plan else {}, BrokerLayers())


@contextmanager
def open_directory(path: Path, clock: Clock | None = None) -> Iterator[LogDirectory]:
    """A log directory as a broker that starts finds it. It is left as if the process were killed,
    unless it is closed before."""
    files = DiskFileSystem()
    properties = read_meta_properties(files, str(path / "meta.properties"))
    cluster_id, node_id = "interop", 1
    if properties is not None:
        cluster_id, node_id = properties.cluster_id or cluster_id, properties.node_id or node_id
    directory = LogDirectory(
        files, clock or SystemClock(), Random(1), str(path), IgnoringListener(), lambda _path: None
    )
    directory.open(Owner(cluster_id, node_id))
    try:
        for _ in load_logs(directory, config_of):
            pass
        for log in directory.logs.values():
            log.update_high_watermark(log.log_end_offset)  # the only replica decides alone
        yield directory
    finally:
        directory.release()


def consume(log: Log, *, is_committed: bool, fetch_bytes: int = FETCH_BYTES) -> list[Consumed]:
    """Everything that a consumer of this isolation level receives, fetch by fetch."""
    end_offset = log.last_stable_offset(BLOCKING) if is_committed else log.high_watermark
    offset, found = log.log_start_offset, []
    while offset < end_offset:
        fetched = log.read(BLOCKING, offset, fetch_bytes, end_offset, with_aborted=is_committed)
        data = checked_bytes(fetched)
        if not data:
            break  # compaction has taken everything up to the end
        dropped = Aborted(fetched)
        for position, header in iterate_headers(data):
            if not dropped.drops(data, position, header):
                found += as_consumed(data, position, header, offset)
            offset = max(offset, header.next_offset)
    return found


def checked_bytes(fetched: ReadRange) -> bytes:
    if fetched.check is not None:
        fetched.check.run()
        assert fetched.check.confirm()
    return fetched.records.read()


class Aborted:
    """What a consumer of committed records does with the list of aborted transactions."""

    def __init__(self, fetched: ReadRange) -> None:
        self._waiting = sorted(fetched.aborted or (), key=lambda each: each.first_offset)
        self._open: set[int] = set()

    def drops(self, data: bytes, position: int, header: BatchHeader) -> bool:
        while self._waiting and self._waiting[0].first_offset <= header.last_offset:
            self._open.add(self._waiting.pop(0).producer_id)
        if not header.is_control:
            return header.is_transactional and header.producer_id in self._open
        marker = read_end_marker(data, position)
        if marker is not None and not marker.is_commit:
            self._open.discard(header.producer_id)
        return True


def as_consumed(data: bytes, position: int, header: BatchHeader, offset: int) -> list[Consumed]:
    return [
        Consumed(
            record.offset,
            record.timestamp,
            "LogAppendTime" if header.is_log_append_time else "CreateTime",
            record.key,
            record.value,
            record.headers,
            header.partition_leader_epoch,
        )
        for record in iterate_records(data, position)
        if record.offset >= offset
    ]


def offset_for_time(log: Log, timestamp: int) -> tuple[int, int] | None:
    found = run_blocking(log.finding_by_timestamp(timestamp))
    return None if found is None else (found.offset, found.timestamp)


def newest_values(records: list[Consumed]) -> dict[bytes | None, bytes]:
    """What a reader of a whole compacted topic ends up with: the last value of every key."""
    found: dict[bytes | None, bytes] = {}
    for record in records:
        if record.value is None:
            found.pop(record.key, None)
        else:
            found[record.key] = record.value
    return found
