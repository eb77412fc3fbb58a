"""The ZooKeeper session of this broker, in a file of its data directory.

A process that was killed leaves a session behind, and its ephemeral znodes with it, until the
session times out. Its successor, which holds the lock of the data directory and so knows that it
has ended, takes over that session and closes it: the znodes are removed at once.
"""

from __future__ import annotations

import json

from ottla.base.files.filesystem import FileSystem, read_file, replace_file
from ottla.metadata.zookeeper.service import ZooKeeperSession

NAME = ".zookeeper-session"
FILE_BYTES_MAX = 4096


def read_session(files: FileSystem, directory: str, connect: str) -> ZooKeeperSession | None:
    """The session of the last process; None if there is none, or it was in another ensemble."""
    fields = _read(files, directory)
    try:
        if fields is None or fields["connect"] != connect:
            return None
        return ZooKeeperSession(int(fields["id"]), bytes.fromhex(fields["password"]))
    except (ValueError, KeyError, TypeError):
        return None  # the session times out instead


def session_owner(files: FileSystem, directory: str) -> str | None:
    """The `zookeeper.connect` of the cluster that the directory belongs to; None if there is no
    session."""
    fields = _read(files, directory)
    return None if fields is None else str(fields.get("connect", "?"))


def _read(files: FileSystem, directory: str) -> dict[str, str] | None:
    path = f"{directory}/{NAME}"
    if not files.exists(path):
        return None
    try:
        fields = json.loads(read_file(files, path, FILE_BYTES_MAX))
    except ValueError:
        fields = {}
    return fields if isinstance(fields, dict) else {}


def write_session(
    files: FileSystem, directory: str, connect: str, session: ZooKeeperSession
) -> None:
    fields = {"connect": connect, "id": session.id, "password": session.password.hex()}
    replace_file(files, f"{directory}/{NAME}", json.dumps(fields).encode())
