"""The file `meta.properties` of a log directory: the cluster and broker that own it.

Owns      both versions of the file (0: broker.id, all optional; 1: node.id and cluster.id).
Leaves    comparing the ids with the broker's own, and with those of the other directories, to
          `directory_ownership.py`; the syntax to `ottla.base.java.properties`.
"""

from __future__ import annotations

from typing import NamedTuple

from ottla.base.files.filesystem import FileSystem, read_file, replace_file
from ottla.base.java.properties import format_properties, parse_properties
from ottla.base.uuids import uuid_from_text, uuid_to_text
from ottla.storage.errors import CorruptLogError


class MetaProperties(NamedTuple):
    cluster_id: str | None
    node_id: int | None
    directory_id: bytes | None = None  # the 16 raw bytes of a UUID
    version: int = 1


def read_meta_properties(files: FileSystem, path: str) -> MetaProperties | None:
    """The file; None if there is none. CorruptLogError names the wrong property."""
    try:
        content = read_file(files, path)
    except FileNotFoundError:
        return None
    try:
        return _from_properties(parse_properties(content))
    except ValueError as error:
        raise CorruptLogError(path, 0, str(error)) from error


def write_meta_properties(files: FileSystem, path: str, properties: MetaProperties) -> None:
    """Replace the file, durably."""
    replace_file(files, path, format_properties(_to_properties(properties)))


def _from_properties(values: dict[str, str]) -> MetaProperties:
    version = _integer(values, "version") if "version" in values else 0
    if version not in (0, 1):
        raise ValueError(f"unknown version {version}")
    id_name = "node.id" if version else "broker.id"
    for name in ("node.id", "cluster.id") if version else ():
        if name not in values:
            raise ValueError(f"{name} is missing")
    return MetaProperties(
        cluster_id=values.get("cluster.id"),
        node_id=_integer(values, id_name) if id_name in values else None,
        directory_id=uuid_from_text(values["directory.id"]) if "directory.id" in values else None,
        version=version,
    )


def _to_properties(properties: MetaProperties) -> dict[str, str]:
    if properties.version and (properties.node_id is None or properties.cluster_id is None):
        raise ValueError(f"version 1 needs node id and cluster id: {properties}")
    values = {"version": str(properties.version)}
    if properties.cluster_id is not None:
        values["cluster.id"] = properties.cluster_id
    if properties.node_id is not None:
        values["node.id" if properties.version else "broker.id"] = str(properties.node_id)
    if properties.directory_id is not None:
        values["directory.id"] = uuid_to_text(properties.directory_id)
    return values


def _integer(values: dict[str, str], name: str) -> int:
    text = values[name].strip()
    digits = text.removeprefix("-")
    if not (digits.isascii() and digits.isdigit() and len(digits) <= 10):
        raise ValueError(f"{name} is no number: {text[:40]!r}")
    if not -(2**31) <= (value := int(text)) < 2**31:
        raise ValueError(f"{name} is out of range: {value}")
    return value
