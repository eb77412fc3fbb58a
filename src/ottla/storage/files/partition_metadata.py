"""The file `partition.metadata`: which topic id the files of a partition directory belong to.

It distinguishes a topic from a later one of the same name, which must not contain old records.
"""

from __future__ import annotations

from ottla.base.files.filesystem import FileSystem, replace_file
from ottla.base.files.readers import Reader
from ottla.base.ids import NO_TOPIC_ID, TopicId
from ottla.base.uuids import uuid_from_text, uuid_to_text
from ottla.storage.errors import CorruptLogError

VERSION = 0


def read_topic_id(reader: Reader, files: FileSystem, path: str) -> TopicId | None:
    """The topic id; None where there is no such file."""
    try:
        content = reader.read_file(files, path)
    except FileNotFoundError:
        return None
    lines = content.split(b"\n")
    version = _value(path, lines, 0, b"version:")
    if not version.isdigit():  # later versions keep these two lines
        raise CorruptLogError(path, 0, f"line 1: version {version[:40]!r}")
    text = _value(path, lines, 1, b"topic_id:")
    try:
        topic_id = TopicId(uuid_from_text(text.decode()))
    except ValueError as error:
        raise CorruptLogError(path, len(lines[0]) + 1, f"line 2: {error}") from error
    if topic_id == NO_TOPIC_ID:
        raise CorruptLogError(path, len(lines[0]) + 1, "line 2: the topic id is zero")
    return topic_id


def write_topic_id(files: FileSystem, path: str, topic_id: TopicId) -> None:
    """Replace the file, durably."""
    replace_file(files, path, _content(path, topic_id))


def write_unsynced_topic_id(files: FileSystem, path: str, topic_id: TopicId) -> None:
    """For a new directory, which is synced as a whole with the log's first sync."""
    content = _content(path, topic_id)
    file = files.open(path, create=True)
    try:
        file.write_at(0, content)
    finally:
        file.close()


def _content(path: str, topic_id: TopicId) -> bytes:
    if topic_id == NO_TOPIC_ID or len(topic_id) != len(NO_TOPIC_ID):
        raise ValueError(f"{path}: invalid topic id: {topic_id!r}")
    return f"version: {VERSION}\ntopic_id: {uuid_to_text(topic_id)}".encode("ascii")


def _value(path: str, lines: list[bytes], number: int, key: bytes) -> bytes:
    fields = lines[number].split() if number < len(lines) else []
    if len(fields) != 2 or fields[0] != key:
        position = sum(len(line) + 1 for line in lines[:number])
        raise CorruptLogError(
            path, position, f"line {number + 1}: expected {key.decode()} and a value"
        )
    return fields[1]
