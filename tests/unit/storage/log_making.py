"""Logs and batches for tests of one log."""

from __future__ import annotations

from dataclasses import dataclass, field

from ottla.base.files.filesystem import FileSystem
from ottla.base.files.readers import BLOCKING
from ottla.base.ids import TopicPartition
from ottla.base.scheduling.steps import Start, run_blocking
from ottla.config.topic_options import TopicConfig
from ottla.protocol.records.batch import iterate_headers, stamp_offset_and_epoch
from ottla.protocol.records.building import build_batch
from ottla.protocol.records.control import build_end_marker
from ottla.protocol.records.reading import iterate_records
from ottla.protocol.records.record import Record
from ottla.storage.log.append import Appended, ProducedBy
from ottla.storage.log.log import Log
from ottla.storage.log.recovery import Checkpoint, open_log
from ottla.storage.producers.append_decisions import AppendOrigin
from ottla.storage.producers.producer_bound import UNBOUNDED, ProducerBound
from ottla.testing.clock import ManualClock
from ottla.testing.filesystem import MemoryDisk
from ottla.testing.log_listener import RecordingCheckpoints, RecordingListener, log_context

PARTITION = TopicPartition("t", 0)
PATH = "/data/t-0"
COORDINATOR = ProducedBy(AppendOrigin.COORDINATOR)
SMALL = TopicConfig(segment_bytes=1000, index_interval_bytes=100)
EVERYTHING = 1 << 40


@dataclass
class Place:
    """A disk, a clock, and what the log directory would know about the log."""

    disk: MemoryDisk = field(default_factory=MemoryDisk)
    clock: ManualClock = field(default_factory=ManualClock)
    config: TopicConfig = SMALL
    path: str = PATH
    files: FileSystem | None = None  # the disk in memory, unless another is given
    listener: RecordingListener = field(default_factory=RecordingListener)
    checkpoint_writer: RecordingCheckpoints = field(default_factory=RecordingCheckpoints)
    start: Start = run_blocking
    producers: ProducerBound = UNBOUNDED

    def __post_init__(self) -> None:
        self.files = self.files or self.disk
        self.files.make_directory(self.path)
        if self.files is self.disk:
            self.disk.sync_directory("/")
            self.disk.sync_directory("/data")

    def open(self, checkpoint: Checkpoint = Checkpoint()) -> Log:  # noqa: B008
        assert self.files is not None
        context = log_context(
            self.files,
            self.clock,
            "/data",
            listener=self.listener,
            checkpoints=self.checkpoint_writer,
            start=self.start,
            producers=self.producers,
        )
        log = open_log(context, PARTITION, self.path, self.config, checkpoint)
        log.update_high_watermark(log.log_end_offset)
        return log

    @property
    def checkpoints(self) -> list[int]:
        """Recovery points, each as it was written."""
        return self.checkpoint_writer.recovery_points

    def reopen_clean(self, log: Log) -> Log:
        """After an orderly stop."""
        log.close()
        return self.open(Checkpoint(log.log_end_offset, log.log_start_offset, is_clean=True))

    def reopen_killed(self, recovery_point: int = 0) -> Log:
        self.disk.kill()
        return self.open(Checkpoint(recovery_point))


def batch_of(
    *values: bytes,
    timestamp: int | None = None,
    key: bytes | None = b"k",
    codec: int = 0,
    producer: tuple[int, int, int] | None = None,
    is_transactional: bool = False,
) -> bytearray:
    """One batch. `producer` is its id, epoch and first sequence."""
    time_ms = ManualClock().now_ms() if timestamp is None else timestamp
    producer_id, epoch, sequence = producer or (-1, -1, -1)
    return build_batch(
        [Record(at, time_ms, key, value) for at, value in enumerate(values)],
        codec=codec,
        producer_id=producer_id,
        producer_epoch=epoch,
        base_sequence=sequence,
        is_transactional=is_transactional,
    )


def marker_of(producer_id: int, epoch: int = 0, *, is_commit: bool = False) -> bytearray:
    return build_end_marker(
        is_commit,
        0,
        producer_id=producer_id,
        producer_epoch=epoch,
        timestamp_ms=ManualClock().now_ms(),
    )


def append(log: Log, *values: bytes, epoch: int = 0, timestamp: int | None = None) -> Appended:
    appended = log.append_as_leader(batch_of(*values, timestamp=timestamp), epoch)
    log.update_high_watermark(log.log_end_offset)
    return appended


def append_many(log: Log, count: int, epoch: int = 0) -> None:
    """Batches of one record whose value is its offset."""
    for _ in range(count):
        append(log, b"%d" % log.log_end_offset, epoch=epoch)


def placed(batch: bytearray, offset: int, epoch: int = 0) -> bytes:
    """As a leader sends it to a follower."""
    stamp_offset_and_epoch(batch, 0, offset, epoch)
    return bytes(batch)


def read_records(log: Log, offset: int | None = None, end_offset: int = EVERYTHING) -> list[Record]:
    """All records from an offset on, verified as a broker would."""
    at = log.log_start_offset if offset is None else offset
    records: list[Record] = []
    while at < min(end_offset, log.log_end_offset):
        found = log.read(BLOCKING, at, 1 << 20, end_offset)
        if found.check is not None:
            found.check.run()
            assert found.check.confirm()
        data = found.records.read()
        for position, header in iterate_headers(data):
            records += [each for each in iterate_records(data, position) if each.offset >= at]
            at = header.next_offset
        if not data:
            break
    return records


def values_of(log: Log, offset: int | None = None, end_offset: int = EVERYTHING) -> list[bytes]:
    return [record.value or b"" for record in read_records(log, offset, end_offset)]


def names_in(disk: MemoryDisk, suffix: str = "") -> list[str]:
    return [name for name in disk.list_directory(PATH) if name.endswith(suffix)]
