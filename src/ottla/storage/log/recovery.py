"""Opening a log: quickly after a clean stop, by reading its records after any other.

Owns      the steps from the files of a partition directory to a `Log`: finish or undo interrupted
          swaps, remove orphans, rebuild missing indexes; then either read the end of the log, or
          check every record from the recovery point on (`segment_recovery.py`).
Promises  the log ends with a complete batch. After a clean stop only the end of the last segment is
          read, whatever the size of the log.
Leaves    whether the stop was clean, and the checkpoints, to `directory_loading.py`.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from typing import NamedTuple

from ottla.base.files.readers import BLOCKING
from ottla.base.ids import TopicPartition
from ottla.config.topic_options import TopicConfig
from ottla.storage.errors import CorruptLogError
from ottla.storage.files.file_names import LEADER_EPOCHS_NAME
from ottla.storage.log.epoch_replay import checked_epochs, stored_epochs
from ottla.storage.log.flushing import flush
from ottla.storage.log.leader_epochs import EpochEntry, LeaderEpochs
from ottla.storage.log.log import Log
from ottla.storage.log.log_context import LogContext
from ottla.storage.log.log_offsets import LogOffsets
from ottla.storage.log.partition_files import PartitionFiles
from ottla.storage.log.segment_recovery import Recovered, recover_segments
from ottla.storage.log.unsynced import Unsynced
from ottla.storage.producers.producer_replay import SnapshotFiles, load_states
from ottla.storage.segments.segment import Segment
from ottla.storage.segments.segment_search import read_next_offset
from ottla.storage.segments.segments import Segments

logger = logging.getLogger(__name__)


class Checkpoint(NamedTuple):
    """A log in the checkpoints of the log directory."""

    recovery_point: int | None = None  # None if the log is new, or the checkpoint was lost
    log_start_offset: int = 0
    is_clean: bool = False  # the last stop was clean
    is_foreign: bool = False  # Apache Kafka wrote it, whose compaction does not wait for syncs


def open_log(
    context: LogContext,
    partition: TopicPartition,
    path: str,
    config: TopicConfig,
    checkpoint: Checkpoint,
    progress: Callable[[int], None] = lambda _bytes: None,
) -> Log:
    """The log in this directory, created if there is none. OSError if the disk fails.

    `progress` is called with the size of every segment that had to be read.
    """
    files = PartitionFiles(context, path, config)
    files.finish_swaps()
    segments = files.open_segments()
    damaged_from = files.first_damaged_transactions(segments)
    if checkpoint.is_clean and segments and damaged_from is None:
        end_offset = _clean_end(segments, checkpoint)
        if end_offset is not None:
            files.rebuild_missing_indexes(segments)
            return _clean_log(files, partition, Segments(segments), end_offset, checkpoint)
    recovery_point = checkpoint.recovery_point or 0
    if not segments:
        return _empty_log(files, partition, checkpoint)
    from_offset = recovery_point if damaged_from is None else min(damaged_from, recovery_point)
    try:
        log = _recover(files, partition, segments, from_offset, checkpoint, progress)
        if log.log_end_offset >= recovery_point or from_offset <= segments[0].base_offset:
            return log
        logger.error(
            "%s ends at offset %d, before %d: records are missing; reading the whole log",
            path, log.log_end_offset, recovery_point,
        )  # fmt: skip
    except CorruptLogError as error:
        logger.error("reading the whole log, because of %s", error)
    # Records below the recovery point are missing or cannot be read: check the whole log.
    for segment in segments:
        segment.close()
    files = PartitionFiles(context, path, config)
    return _recover(files, partition, files.open_segments(), 0, checkpoint, progress)


def _clean_end(segments: list[Segment], checkpoint: Checkpoint) -> int | None:
    """The end of the log; None if a clean stop would have left another one."""
    try:
        end_offset = read_next_offset(BLOCKING, segments[-1])
    except CorruptLogError as error:
        logger.warning("a clean stop, but %s", error)
        return None
    is_expected = end_offset == checkpoint.recovery_point
    return end_offset if is_expected and end_offset >= checkpoint.log_start_offset else None


def _clean_log(
    files: PartitionFiles,
    partition: TopicPartition,
    segments: Segments,
    end_offset: int,
    checkpoint: Checkpoint,
) -> Log:
    return Log(
        files.context,
        partition,
        files.path,
        files.config,
        segments,
        LogOffsets(
            max(checkpoint.log_start_offset, segments[0].base_offset), end_offset, end_offset
        ),
        files.snapshots(),
        Unsynced(files.context.clock.now_ms()),
    )


def _recover(
    files: PartitionFiles,
    partition: TopicPartition,
    segments: list[Segment],
    from_offset: int,
    checkpoint: Checkpoint,
    progress: Callable[[int], None],
) -> Log:
    """Read everything from `from_offset` on, and keep complete batches."""
    recovery_point = checkpoint.recovery_point or 0
    known = Segments(segments)
    unread = known.reaching(from_offset)
    trusted = [segment for segment in segments if segment not in unread]
    files.rebuild_missing_indexes(trusted)
    snapshots = files.snapshots()
    recovered = _read_again(files, snapshots, known, trusted, unread, checkpoint, progress)
    files.drop(recovered.dropped)
    lost = recovered.end_offset < recovery_point
    if lost:
        recovered.damage.append(_lost_end(recovered, recovery_point))
    if recovered.end_offset < checkpoint.log_start_offset:
        return _start_over(files, partition, [*trusted, *recovered.kept], recovered, checkpoint)
    log = Log(
        files.context,
        partition,
        files.path,
        files.config,
        Segments([*trusted, *recovered.kept]),
        LogOffsets(
            max(checkpoint.log_start_offset, segments[0].base_offset),
            recovered.end_offset,
            recovery_point if not lost else unread[0].base_offset,
            recovery_point,
        ),
        snapshots,
        Unsynced.everything(files.context.clock.now_ms(), recovered.kept[:-1]),
        states=recovered.states,
        leader_epochs=_unwritten(files, recovered.epochs),
        damage=recovered.damage,
    )
    log.epochs.truncate_from_start(log.log_start_offset)
    if from_offset < recovery_point:
        flush(log)  # so that the next recovery need not rebuild it
    if recovered.has_gaps:
        # Accepted only this time: write a recovery point after them.
        flush(log)
        files.context.checkpoints.write_with(log)
    return log


def _read_again(
    files: PartitionFiles,
    snapshots: SnapshotFiles,
    known: Segments,
    trusted: list[Segment],
    unread: list[Segment],
    checkpoint: Checkpoint,
    progress: Callable[[int], None],
) -> Recovered:
    first_offset = unread[0].base_offset
    # Later ones may include records that were truncated, and that a power failure has restored.
    snapshots.remove(offset for offset in snapshots.offsets() if offset > first_offset)
    states = load_states(BLOCKING, snapshots, known, first_offset, files.context.producers)
    if trusted and first_offset not in snapshots:
        snapshots.write(states, first_offset, sync=False)
    before = _epochs_before(files, trusted, checkpoint.log_start_offset, first_offset)
    # Compaction leaves gaps between segments; ours only below the recovery point.
    is_unknown = checkpoint.recovery_point is None
    may_have_gaps = checkpoint.is_foreign or (files.config.is_compacted and is_unknown)
    recovered = recover_segments(
        unread, checkpoint.recovery_point or 0, files.config.is_compacted, may_have_gaps,
        states, before, snapshots, progress,
    )  # fmt: skip
    return recovered


def _epochs_before(
    files: PartitionFiles, trusted: list[Segment], start_offset: int, first_offset: int
) -> list[EpochEntry]:
    """The epochs of the records before `first_offset`, which are not read again."""
    if first_offset == 0:
        return []  # without reading the file: of ten thousand partitions, most are small
    path = f"{files.path}/{LEADER_EPOCHS_NAME}"
    stored = stored_epochs(BLOCKING, files.context.files, path)
    return checked_epochs(BLOCKING, path, stored, trusted, start_offset, first_offset)


def _unwritten(files: PartitionFiles, entries: list[EpochEntry]) -> LeaderEpochs:
    """The epochs of the records, to be written with the next sync."""
    epochs = LeaderEpochs(files.context.files, f"{files.path}/{LEADER_EPOCHS_NAME}")
    for entry in entries:
        epochs.announce(*entry)
    return epochs


def _start_over(
    files: PartitionFiles,
    partition: TopicPartition,
    segments: list[Segment],
    recovered: Recovered,
    checkpoint: Checkpoint,
) -> Log:
    """The rest ends before the log start: files were lost. Continue, empty, at the log start."""
    start = checkpoint.log_start_offset
    logger.error("%s: all remaining records are before the log start, %d", files.path, start)
    files.drop(segments)
    return _empty_log(files, partition, checkpoint, recovered.damage)


def _empty_log(
    files: PartitionFiles,
    partition: TopicPartition,
    checkpoint: Checkpoint,
    damage: Sequence[CorruptLogError] = (),
) -> Log:
    start, recovery_point = checkpoint.log_start_offset, checkpoint.recovery_point or 0
    if recovery_point > start and not damage:
        damage = [CorruptLogError(files.path, 0, f"no segment, though {recovery_point} was synced")]
    log = Log(
        files.context,
        partition,
        files.path,
        files.config,
        Segments([files.new_segment(start)]),
        LogOffsets(start, start, min(recovery_point, start), recovery_point),
        files.snapshots(),
        Unsynced.everything(files.context.clock.now_ms(), ()),
        damage=damage,
    )
    log.snapshots.remove(log.snapshots.offsets())
    epochs = log.epochs.load(BLOCKING)
    if epochs.entries:
        epochs.clear()
    if start:
        # Only the name of the segment holds the start.
        files.context.files.sync_directory(files.path)
    return log


def _lost_end(recovered: Recovered, recovery_point: int) -> CorruptLogError:
    last = recovered.kept[-1]
    return CorruptLogError(
        last.path,
        last.size,
        f"the log ends at offset {recovered.end_offset}, {recovery_point} was synced",
    )
