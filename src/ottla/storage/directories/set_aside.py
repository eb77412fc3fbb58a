"""Partition directories that are out of use: set aside, or on their way to be deleted.

`<topic>-<partition>.<unique id>-stray` holds the files of a partition that the metadata does not
place here. Nobody deletes them. If the metadata has the topic, by its id, again, the directory gets
its name back and serves. `-delete` directories that a stop has left are looked at in the same way.

Owns      what such a directory says of itself: the topic id, and in the file `set-aside` the
          offsets that the checkpoints of the log directory had. The file is written before the
          checkpoints forget the log, and removed when they have it again: in between it counts.
Leaves    renaming to `directory_strays.py`, deciding to the replica manager.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from typing import NamedTuple

from ottla.base.files.filesystem import FileSystem, read_file, replace_file
from ottla.base.files.readers import WAIT
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
    """A directory that is not in use. Without a mark, or with that of a future log, it was found by
    a start and not even opened, because the metadata does not place it here."""

    path: str
    partition: TopicPartition  # whose topic may have been cut short to fit the name
    mark: DirectoryMark
    topic_id: TopicId | None  # None where it does not say, or nobody can read it
    is_damaged: bool = False  # nobody can read it


class SetAsideTable:
    """Those of one log directory, found by topic id and partition."""

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


def look_at(
    files: FileSystem, path: str, partition: TopicPartition, mark: DirectoryMark
) -> SetAside:
    try:
        topic_id = read_topic_id(WAIT, files, f"{path}/{PARTITION_METADATA_NAME}")
    except StorageError as error:
        logger.error("%s: nobody can tell whose records these are: %s", path, error)
        return SetAside(path, partition, mark, None, is_damaged=True)
    return SetAside(path, partition, mark, topic_id)


def has_records(files: FileSystem, path: str) -> bool:
    return any(files.size(f"{path}/{name}") for name, _ in _record_files(files, path))


def begins_at(files: FileSystem, path: str, offset: int) -> bool:
    """Whether a segment begins at this offset or behind it: retention leaves an empty one there
    when it deletes all records before."""
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
    """Before a log is set aside: what its checkpoints say would be forgotten."""
    content = {
        "version": VERSION,
        "recoveryPoint": recovery_point,
        "logStartOffset": log_start_offset,
        "highWatermark": high_watermark,
    }
    replace_file(files, f"{path}/{SET_ASIDE_NAME}", json.dumps(content).encode("ascii"))


def read_offsets(files: FileSystem, path: str) -> tuple[Checkpoint, int] | None:
    """For opening the log again, with its high watermark; None where there is nothing to read."""
    try:
        fields = json.loads(read_file(files, f"{path}/{SET_ASIDE_NAME}"))
        point, start, mark = (
            fields[name] for name in ("recoveryPoint", "logStartOffset", "highWatermark")
        )
    except FileNotFoundError:
        return None
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        logger.warning("%s/%s is damaged, and says nothing: %s", path, SET_ASIDE_NAME, error)
        return None
    if not all(type(each) is int and 0 <= each <= OFFSET_MAX for each in (point, start, mark)):
        logger.warning("%s/%s is damaged, and says nothing", path, SET_ASIDE_NAME)
        return None
    return Checkpoint(point, start), mark


def remove_offsets(files: FileSystem, path: str) -> None:
    try:
        files.remove(f"{path}/{SET_ASIDE_NAME}")
    except FileNotFoundError:
        pass
