"""Partition directories that are out of use: set aside, or being deleted.

`<topic>-<partition>.<unique id>-stray` holds the files of a partition that the metadata does not
place here. They are never deleted. Once the metadata has the topic, by id, again, the directory is
renamed and used. `-delete` directories that a stop has left are treated in the same way.

Owns      the table of such directories, and the file `set-aside` in them: the offsets that the
          checkpoints of the log directory had. It is written before the checkpoints drop the log,
          and removed when they have it again: in between it is used.
Leaves    renaming to `directory_strays.py`, deciding to the replica manager.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from typing import NamedTuple

from ottla.base.files.filesystem import FileSystem, read_file, replace_file
from ottla.base.files.readers import BLOCKING
from ottla.base.ids import TopicId, TopicPartition
from ottla.storage.errors import StorageError
from ottla.storage.files.file_names import (
    LOG_SUFFIX,
    OFFSET_MAX,
    PARTITION_METADATA_NAME,
    SET_ASIDE_NAME,
    DirectoryMark,
    SegmentFileName,
    parse_segment_file_name,
)
from ottla.storage.files.partition_metadata import read_topic_id
from ottla.storage.log.recovery import Checkpoint

logger = logging.getLogger(__name__)

VERSION = 0


class SetAside(NamedTuple):
    """A directory that is not in use. Without a mark, or with that of a future log, it was found at
    start and not opened, because the metadata does not place it here."""

    path: str
    partition: TopicPartition  # its topic may be truncated to fit into the name
    mark: DirectoryMark
    topic_id: TopicId | None  # None if there is none, or it is damaged
    is_damaged: bool = False  # the topic id cannot be read


class SetAsideTable:
    """The directories set aside in one log directory, by topic id and partition."""

    def __init__(self) -> None:
        self._by_path: dict[str, SetAside] = {}
        self._by_topic: dict[tuple[TopicId | None, int], list[SetAside]] = {}

    def __iter__(self) -> Iterator[SetAside]:
        return iter(list(self._by_path.values()))

    def __bool__(self) -> bool:
        return bool(self._by_path)

    def add(self, found: SetAside) -> None:
        self._by_path[found.path] = found
        self._by_topic.setdefault((found.topic_id, found.partition.partition), []).append(found)

    def remove(self, found: SetAside) -> None:
        del self._by_path[found.path]
        self._by_topic[found.topic_id, found.partition.partition].remove(found)

    def of(self, topic_id: TopicId | None, partition: int) -> list[SetAside]:
        return self._by_topic.get((topic_id, partition), [])


def describe(
    files: FileSystem, path: str, partition: TopicPartition, mark: DirectoryMark
) -> SetAside:
    try:
        topic_id = read_topic_id(BLOCKING, files, f"{path}/{PARTITION_METADATA_NAME}")
    except StorageError as error:
        logger.error("%s: the topic id cannot be read: %s", path, error)
        return SetAside(path, partition, mark, None, is_damaged=True)
    return SetAside(path, partition, mark, topic_id)


def has_records(files: FileSystem, path: str) -> bool:
    return any(files.size(f"{path}/{name}") for name, _ in _record_files(files, path))


def begins_at(files: FileSystem, path: str, offset: int) -> bool:
    """Whether a segment begins at this offset or after it: retention leaves an empty one there when
    it deletes all records."""
    return any(
        parsed.offset >= offset and not parsed.state for _, parsed in _record_files(files, path)
    )


def _record_files(files: FileSystem, path: str) -> list[tuple[str, SegmentFileName]]:
    names = [(name, parse_segment_file_name(name)) for name in files.list_directory(path)]
    return [
        (name, parsed)
        for name, parsed in names
        if parsed is not None and parsed.suffix == LOG_SUFFIX
    ]


def write_offsets(
    files: FileSystem, path: str, recovery_point: int, log_start_offset: int, high_watermark: int
) -> None:
    """Before a log is set aside: the checkpoints will drop its offsets."""
    content = {
        "version": VERSION,
        "recoveryPoint": recovery_point,
        "logStartOffset": log_start_offset,
        "highWatermark": high_watermark,
    }
    replace_file(files, f"{path}/{SET_ASIDE_NAME}", json.dumps(content).encode("ascii"))


def read_offsets(files: FileSystem, path: str) -> tuple[Checkpoint, int] | None:
    """The offsets for opening the log again, with its high watermark; None if there is no valid
    file."""
    try:
        fields = json.loads(read_file(files, f"{path}/{SET_ASIDE_NAME}"))
        point, start, mark = (
            fields[name] for name in ("recoveryPoint", "logStartOffset", "highWatermark")
        )
    except FileNotFoundError:
        return None
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        logger.warning("%s/%s is damaged, and ignored: %s", path, SET_ASIDE_NAME, error)
        return None
    if not all(type(each) is int and 0 <= each <= OFFSET_MAX for each in (point, start, mark)):
        logger.warning("%s/%s is damaged, and ignored", path, SET_ASIDE_NAME)
        return None
    return Checkpoint(point, start), mark


def remove_offsets(files: FileSystem, path: str) -> None:
    try:
        files.remove(f"{path}/{SET_ASIDE_NAME}")
    except FileNotFoundError:
        pass
