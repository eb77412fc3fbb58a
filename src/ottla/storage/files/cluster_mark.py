"""The file `ottla.properties` at the top of a log directory: what the directory has seen.

Owns      the cluster, the metadata log up to which offset and controller epoch, and the ids of all
          log directories of the broker, this one included.
Promises  the file is never ahead of the metadata log: it is written behind it. So a log that ends
          before the mark is an older copy, and one that is empty was lost.
Leaves    comparing to `broker/first_start.py`. Without the file (a new directory, Apache Kafka's,
          or one of an earlier version) nothing is known.
"""

from __future__ import annotations

from typing import NamedTuple

from ottla.base.files.filesystem import FileSystem, read_file, replace_file
from ottla.base.java.properties import format_properties, parse_properties
from ottla.base.uuids import uuid_from_text, uuid_to_text
from ottla.storage.errors import CorruptLogError

VERSION = "0"
_NUMBER_MAX = 2**63 - 1


class ClusterMark(NamedTuple):
    cluster_id: str
    metadata_offset: int
    controller_epoch: int
    directory_id: bytes
    directory_ids: tuple[bytes, ...] = ()  # of the broker, sorted


def read_cluster_mark(files: FileSystem, path: str) -> ClusterMark | None:
    """The file; None if there is none. CorruptLogError if it is damaged."""
    try:
        content = read_file(files, path)
    except FileNotFoundError:
        return None
    try:
        return _from_properties(parse_properties(content))
    except (ValueError, KeyError) as error:
        raise CorruptLogError(path, 0, str(error)) from error


def write_cluster_mark(files: FileSystem, path: str, mark: ClusterMark) -> None:
    """Replace the file, durably."""
    replace_file(files, path, format_properties(_to_properties(mark)))


def _from_properties(values: dict[str, str]) -> ClusterMark:
    if values["version"] != VERSION:
        raise ValueError(f"unknown version {values['version'][:40]!r}")
    ids = values["directory.ids"].split(",")
    return ClusterMark(
        values["cluster.id"],
        _number(values, "metadata.offset"),
        _number(values, "controller.epoch"),
        uuid_from_text(values["directory.id"]),
        tuple(uuid_from_text(each) for each in ids if each),
    )


def _to_properties(mark: ClusterMark) -> dict[str, str]:
    return {
        "version": VERSION,
        "cluster.id": mark.cluster_id,
        "metadata.offset": str(mark.metadata_offset),
        "controller.epoch": str(mark.controller_epoch),
        "directory.id": uuid_to_text(mark.directory_id),
        "directory.ids": ",".join(map(uuid_to_text, mark.directory_ids)),
    }


def _number(values: dict[str, str], name: str) -> int:
    text = values[name]
    if not (text.isascii() and text.isdigit() and len(text) <= 19):
        raise ValueError(f"{name} is no number: {text[:40]!r}")
    if (value := int(text)) > _NUMBER_MAX:
        raise ValueError(f"{name} is out of range: {value}")
    return value
