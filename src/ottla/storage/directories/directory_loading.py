"""Opening the logs of a log directory at start, one at a time.

Owns      what each partition directory is: a log, a future log, or one that is out of use.
Promises  a log that cannot be opened does not affect the others; the clean-shutdown marker is
          removed, durably, before the first log is opened. Other names are ignored.
Leaves    threads and progress messages to the broker, which runs the steps.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from typing import NamedTuple

from ottla.base.files.filesystem import replace_file
from ottla.base.ids import TopicId, TopicPartition
from ottla.config.topic_options import TopicConfig
from ottla.storage.directories.checkpoints import OffsetCheckpoint
from ottla.storage.directories.directory_checkpoints import SavedOffsets
from ottla.storage.directories.log_directory import LogDirectory
from ottla.storage.directories.set_aside import (
    SetAside,
    begins_at,
    describe,
    has_records,
    read_offsets,
)
from ottla.storage.errors import CorruptLogError, StorageError
from ottla.storage.files.clean_shutdown import read_clean_shutdown, remove_clean_shutdown
from ottla.storage.files.directory_health import StorageUnavailable
from ottla.storage.files.file_names import (
    CLEAN_SHUTDOWN_NAME,
    CLEANER_OFFSETS_NAME,
    OTTLA_MARK_NAME,
    DirectoryMark,
    PartitionDirectoryName,
    parse_directory_name,
)
from ottla.storage.log.log import Log
from ottla.storage.log.recovery import Checkpoint, open_log

logger = logging.getLogger(__name__)

ConfigOf = Callable[[str], TopicConfig]  # the settings of a topic
IsPlaced = Callable[[TopicPartition, TopicId | None], bool]  # whether the metadata places it here


def everything(_partition: TopicPartition, _topic_id: TopicId | None) -> bool:
    """Every log is placed here: for a start without metadata."""
    return True


class LoadStep(NamedTuple):
    """One partition directory was read. `log` is None if it is not in use."""

    path: str
    log: Log | None
    loaded: int
    total: int
    bytes_read: int  # to check records, because the last stop was not clean


def load_logs(
    directory: LogDirectory, config_of: ConfigOf, is_placed: IsPlaced = everything
) -> Iterator[LoadStep]:
    """Open every log, one a step. A disk that fails takes the directory offline.

    A log that the metadata does not place here is not opened: its settings are not known.
    """
    try:
        yield from _load(directory, config_of, is_placed)
    except OSError as error:
        directory.health.failed(f"loading {directory.path}", error)
    except StorageUnavailable:
        pass  # reported already: the directory is offline


def _load(directory: LogDirectory, config_of: ConfigOf, is_placed: IsPlaced) -> Iterator[LoadStep]:
    marker = f"{directory.path}/{CLEAN_SHUTDOWN_NAME}"
    directory.loading_begins(read_clean_shutdown(directory.files, marker))
    if directory.last_shutdown is not None:
        remove_clean_shutdown(directory.files, marker)
    mark_path = f"{directory.path}/{OTTLA_MARK_NAME}"
    is_foreign = not directory.files.exists(mark_path)
    offsets = directory.checkpoints.read()
    cleaned = {} if is_foreign else _read_cleaned(directory)
    found = _partition_directories(directory)
    for number, (path, name) in enumerate(found, 1):
        bytes_read: list[int] = []
        log = None
        aside = describe(directory.files, path, name.partition, name.mark)
        if _is_aside(aside, is_placed):
            directory.strays.table.add(aside)
        else:
            config = config_of(aside.partition.topic)
            if config.is_compacted:
                _pass_cleaned(offsets, aside.partition, cleaned)
            log = _load_one(directory, aside, offsets, is_foreign, config, bytes_read.append)
        yield LoadStep(path, log, number, len(found), sum(bytes_read))
    if is_foreign:
        replace_file(directory.files, mark_path, b"")
    directory.loading_ended()


def _read_cleaned(directory: LogDirectory) -> dict[TopicPartition, int]:
    try:
        return OffsetCheckpoint(directory.files, f"{directory.path}/{CLEANER_OFFSETS_NAME}").read()
    except CorruptLogError:
        return {}  # compaction reports it


def _pass_cleaned(
    offsets: SavedOffsets, partition: TopicPartition, cleaned: dict[TopicPartition, int]
) -> None:
    """Records are synced before they are compacted. A smaller recovery point is of an older copy of
    the file, and gaps that compaction has left would be taken for lost ends of segments."""
    point = offsets.recovery_points.get(partition)
    if point is not None and point < (passed := cleaned.get(partition, 0)):
        logger.warning("%s: recovery point %d is older than compaction", partition, point)
        offsets.recovery_points[partition] = passed


def _partition_directories(directory: LogDirectory) -> list[tuple[str, PartitionDirectoryName]]:
    found = []
    for entry in directory.files.list_directory(directory.path):
        path = f"{directory.path}/{entry}"
        name = parse_directory_name(entry)
        if name is not None and directory.files.is_directory(path):
            found.append((path, name))
    return found


def _is_aside(found: SetAside, is_placed: IsPlaced) -> bool:
    """Whether it is decided later, when the topics are known, what happens to it."""
    if found.mark in (DirectoryMark.DELETE, DirectoryMark.STRAY):
        return True
    return not found.is_damaged and not is_placed(found.partition, found.topic_id)


def _load_one(
    directory: LogDirectory,
    found: SetAside,
    offsets: SavedOffsets,
    is_foreign: bool,
    config: TopicConfig,
    progress: Callable[[int], None],
) -> Log | None:
    path, partition = found.path, found.partition
    _restore_offsets(directory, found, offsets)
    is_clean = directory.last_shutdown is not None
    checkpoint = _checkpoint(offsets, partition, is_clean, is_foreign)
    try:
        _check_records(directory, found, checkpoint)
        log = open_log(directory.context, partition, path, config, checkpoint, progress)
    except StorageUnavailable:
        raise
    except StorageError as error:
        logger.error("%s cannot be opened: %s", path, error)
        directory.table.unreadable[partition] = error
        return None
    log.update_high_watermark(offsets.high_watermarks.get(partition, 0))
    log.topic_id.set_known(found.topic_id)
    directory.table.add(log, is_future=found.mark is DirectoryMark.FUTURE)
    directory.checkpoints.forget(partition)
    return log


def _restore_offsets(directory: LogDirectory, found: SetAside, offsets: SavedOffsets) -> None:
    """A log that was to be set aside, or was just taken back, has its offsets in a file. Some
    of the checkpoints may have it again; none of its offsets is lowered."""
    saved = read_offsets(directory.files, found.path)
    if saved is None:
        return
    checkpoint, high_watermark = saved
    for known, offset in (
        (offsets.recovery_points, checkpoint.recovery_point or 0),
        (offsets.log_starts, checkpoint.log_start_offset),
        (offsets.high_watermarks, high_watermark),
    ):
        known[found.partition] = max(offset, known.get(found.partition, 0))
    directory.strays.note_taken_back(found.path)


def _check_records(directory: LogDirectory, found: SetAside, checkpoint: Checkpoint) -> None:
    """StorageError if all records are missing: the operator decides whether to continue."""
    synced = checkpoint.recovery_point or 0
    is_future = found.mark is DirectoryMark.FUTURE
    if synced <= checkpoint.log_start_offset or is_future:
        return
    if has_records(directory.files, found.path):
        return
    # A log that starts with its first segment has no checkpoint of its start, only the segment.
    if not begins_at(directory.files, found.path, synced):
        what = f"no record is left, though offset {synced} was synced"
        raise CorruptLogError(found.path, 0, what)


def _checkpoint(
    offsets: SavedOffsets, partition: TopicPartition, is_clean: bool, is_foreign: bool
) -> Checkpoint:
    log_start = offsets.log_starts.get(partition, 0)
    if not is_foreign and log_start > offsets.high_watermarks.get(partition, log_start):
        # This broker never writes that, so one of the files is damaged. A log start that is too
        # high would delete records; one that is too low only makes some visible again.
        logger.error("%s: log start %d is above the high watermark", partition, log_start)
        log_start = 0
    point = offsets.recovery_points.get(partition)
    return Checkpoint(point, max(0, log_start), is_clean, is_foreign)
