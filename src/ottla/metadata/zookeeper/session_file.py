"""The ZooKeeper session and the incarnation of this broker, and the last batch of the metadata log
that it has seen, in a file of its data directory.

A process that was killed leaves a session behind, and its ephemeral znodes with it, until the
session times out. Its successor, which holds the lock of the data directory and so knows that it
has ended, takes over that session and closes it: the znodes are removed at once. If the process had
a later session, which it had no time to store, its own znode is known by the incarnation.

In a copy of the directory the file has no effect: its lock says nothing about the process that uses
the original, whose session must not be closed. A copy is known by the inode of the directory.
"""

from __future__ import annotations

import json
from typing import Any

from ottla.base.files.filesystem import FileSystem, read_file, replace_file
from ottla.base.uuids import uuid_from_text, uuid_to_text
from ottla.metadata.zookeeper.json_data import decode_object
from ottla.metadata.zookeeper.log_comparison import SeenEnd
from ottla.metadata.zookeeper.service import ZooKeeperSession

SESSION_NAME = ".zookeeper-session"
FILE_BYTES_MAX = 4096
SEEN = "seen"
INODE = "inode"  # of the directory; files of earlier versions have none
NOTHING_SEEN = SeenEnd()
ID_BYTES = 8  # of a session, in requests


def read_session(files: FileSystem, directory: str, connect: str) -> ZooKeeperSession | None:
    """The session of the last process; None if there is none, or it was in another ensemble."""
    fields = _read_own(files, directory)
    try:
        if fields is None or fields["connect"] != connect:
            return None
        session = ZooKeeperSession(int(fields["id"]), bytes.fromhex(fields["password"]))
        session.id.to_bytes(ID_BYTES, "big", signed=True)
        return session
    except (ValueError, KeyError, TypeError, OverflowError):
        return None  # the session times out instead


def read_incarnation(files: FileSystem, directory: str) -> bytes | None:
    """The incarnation of the last process; None if it was not registered, or is not known."""
    text = (_read_own(files, directory) or {}).get("incarnation")
    try:
        return uuid_from_text(text) if text else None
    except (ValueError, TypeError, AttributeError):
        return None


def read_seen_end(files: FileSystem, directory: str) -> SeenEnd:
    """What the last process has seen of the metadata log. Also in a copy of the directory."""
    seen = (_read(files, directory) or {}).get(SEEN)
    try:
        offset, base_offset, nonce = seen or (0, 0, "")
        return SeenEnd(int(offset), int(base_offset), str(nonce))
    except (ValueError, TypeError, OverflowError):
        return NOTHING_SEEN


def session_owner(files: FileSystem, directory: str) -> str | None:
    """The `zookeeper.connect` of the cluster that the directory belongs to; None if there is no
    session."""
    fields = _read(files, directory)
    return None if fields is None else str(fields.get("connect", "?"))


def _read_own(files: FileSystem, directory: str) -> dict[str, Any] | None:
    """None in a copy of the directory for which it was written."""
    fields = _read(files, directory)
    if fields is None or fields.get(INODE, files.inode(directory)) != files.inode(directory):
        return None
    return fields


def _read(files: FileSystem, directory: str) -> dict[str, Any] | None:
    path = f"{directory}/{SESSION_NAME}"
    if not files.exists(path):
        return None
    try:
        return decode_object(read_file(files, path, FILE_BYTES_MAX))
    except ValueError:
        return {}  # the session times out instead


def write_session(
    files: FileSystem,
    directory: str,
    connect: str,
    session: ZooKeeperSession,
    incarnation_id: bytes | None,
    seen: SeenEnd = NOTHING_SEEN,
) -> None:
    """`incarnation_id` is None until this process announces itself."""
    fields = {
        "connect": connect,
        "id": session.id,
        "password": session.password.hex(),
        "incarnation": "" if incarnation_id is None else uuid_to_text(incarnation_id),
        INODE: files.inode(directory),
        SEEN: seen if seen.nonce else None,
    }
    replace_file(files, f"{directory}/{SESSION_NAME}", json.dumps(fields).encode())
