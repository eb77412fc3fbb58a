"""The marker `.kafka_cleanshutdown`: the last file that a clean stop writes.

Promises  the marker is there after a stop only if everything else was written before it, and it
          is removed, durably, before anything changes again: a power failure cannot restore it.
Leaves    what to do without it (recover the logs) to the log manager; the broker epoch in it lets
          a broker show at its registration that it lost nothing (KIP-966).
"""

from __future__ import annotations

import json
from typing import NamedTuple

from ottla.base.files.filesystem import FileSystem, parent_directory, read_file, replace_file
from ottla.base.ids import NO_BROKER_EPOCH

VERSION = 0


class CleanShutdown(NamedTuple):
    broker_epoch: int  # NO_BROKER_EPOCH if the marker has none


def read_clean_shutdown(files: FileSystem, path: str) -> CleanShutdown | None:
    """The marker; None if there is none. Its content is only a hint: a marker
    that cannot be read (older ones are empty) counts, without a broker epoch."""
    try:
        content = read_file(files, path)
    except FileNotFoundError:
        return None
    return CleanShutdown(_broker_epoch(content))


def write_clean_shutdown(files: FileSystem, path: str, broker_epoch: int) -> None:
    content = json.dumps({"version": VERSION, "brokerEpoch": broker_epoch}, separators=(",", ":"))
    replace_file(files, path, content.encode("ascii"))


def remove_clean_shutdown(files: FileSystem, path: str) -> None:
    """Remove the marker, durably. No error where there is none."""
    try:
        files.remove(path)
    except FileNotFoundError:
        pass
    files.sync_directory(parent_directory(path))


def _broker_epoch(content: bytes) -> int:
    try:
        fields = json.loads(content)
    except (ValueError, RecursionError):
        return NO_BROKER_EPOCH
    epoch = fields.get("brokerEpoch") if isinstance(fields, dict) else None
    if isinstance(epoch, int) and not isinstance(epoch, bool) and 0 <= epoch < 2**63:
        return epoch
    return NO_BROKER_EPOCH
