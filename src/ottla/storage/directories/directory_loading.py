"""Finding and opening the logs of a log directory at start, one at a time.

Owns      what each partition directory is: a log, a future log, or one that is out of use.
Promises  one log that cannot be opened leaves the others alone; the clean-shutdown marker is gone,
          durably, before the first log is touched. Names that are no partition's are left alone.
Leaves    threads and showing the progress to the broker: it takes the steps.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from typing import NamedTuple

from ottla.base.filesystem import replace_file
from ottla.base.ids import TopicPartition
from ottla.config.topic_options import TopicConfig
from ottla.storage.directories.directory_checkpoints import SavedOffsets
from ottla.storage.directories.log_directory import LogDirectory
from ottla.storage.directories.set_aside import look_at
from ottla.storage.errors import StorageError
from ottla.storage.files.clean_shutdown import read_clean_shutdown, remove_clean_shutdown
from ottla.storage.files.directory_health import StorageUnavailable
from ottla.storage.files.file_names import (
    CLEAN_SHUTDOWN_NAME,
    OWN_NAME,
    DirectoryMark,
    PartitionDirectoryName,
    parse_directory_name,
)
from ottla.storage.log.log import Log
from ottla.storage.log.recovery import Checkpoint, open_log

logger = logging.getLogger(__name__)

ConfigOf = Callable[[str], TopicConfig]  # the settings of a topic


class LoadStep(NamedTuple):
    """One partition directory was looked at. `log` is None where there is none to use."""

    path: str
    log: Log | None
    loaded: int
    total: int
    bytes_read: int  # to check records, because the last stop was not orderly


def load_logs(directory: LogDirectory, config_of: ConfigOf) -> Iterator[LoadStep]:
    """Open every log, one a step. A disk that refuses takes the directory offline."""
    try:
        yield from _load(directory, config_of)
    except OSError as error:
        directory.health.failed(f"loading {directory.path}", error)
    except StorageUnavailable:
        pass  # noted already, and nothing here can be used


def _load(directory: LogDirectory, config_of: ConfigOf) -> Iterator[LoadStep]:
    marker = f"{directory.path}/{CLEAN_SHUTDOWN_NAME}"
    directory.last_shutdown = read_clean_shutdown(directory.files, marker)
    if directory.last_shutdown is not None:
        remove_clean_shutdown(directory.files, marker)
    own = f"{directory.path}/{OWN_NAME}"
    is_foreign = not directory.files.exists(own)
    offsets = directory.checkpoints.read()
    found = _partition_directories(directory)
    for number, (path, name) in enumerate(found, 1):
        bytes_read: list[int] = []
        log = _load_one(directory, path, name, offsets, is_foreign, config_of, bytes_read.append)
        yield LoadStep(path, log, number, len(found), sum(bytes_read))
    if is_foreign:
        replace_file(directory.files, own, b"")
    directory.is_loaded = True


def _partition_directories(directory: LogDirectory) -> list[tuple[str, PartitionDirectoryName]]:
    found = []
    for entry in directory.files.list_directory(directory.path):
        path = f"{directory.path}/{entry}"
        name = parse_directory_name(entry)
        if name is not None and directory.files.is_directory(path):
            found.append((path, name))
    return found


def _load_one(
    directory: LogDirectory,
    path: str,
    name: PartitionDirectoryName,
    offsets: SavedOffsets,
    is_foreign: bool,
    config_of: ConfigOf,
    progress: Callable[[int], None],
) -> Log | None:
    if name.mark in (DirectoryMark.DELETE, DirectoryMark.STRAY):
        # What becomes of it is decided when it is known which topics there are.
        found = look_at(directory.files, path, name.partition, name.mark)
        directory.set_aside.add(found)
        return None
    partition = name.partition
    is_clean = directory.last_shutdown is not None
    checkpoint = _checkpoint(offsets, partition, is_clean, is_foreign)
    config = config_of(partition.topic)
    try:
        log = open_log(directory.context, partition, path, config, checkpoint, progress)
    except StorageUnavailable:
        raise
    except StorageError as error:
        logger.error("%s cannot be opened: %s", path, error)
        directory.unreadable[partition] = error
        return None
    log.update_high_watermark(offsets.high_watermarks.get(partition, 0))
    known = directory.future_logs if name.mark is DirectoryMark.FUTURE else directory.logs
    known[partition] = log
    directory.checkpoints.forget(partition)
    return log


def _checkpoint(
    offsets: SavedOffsets, partition: TopicPartition, is_clean: bool, is_foreign: bool
) -> Checkpoint:
    log_start = offsets.log_starts.get(partition, 0)
    if not is_foreign and log_start > offsets.high_watermarks.get(partition, log_start):
        # We never write it so, which means that one of them is damaged. A log start that is too
        # high would delete records; one that is too low only shows some again.
        logger.error("%s: log start %d is above the high watermark", partition, log_start)
        log_start = 0
    point = offsets.recovery_points.get(partition)
    return Checkpoint(point, max(0, log_start), is_clean, is_foreign)
