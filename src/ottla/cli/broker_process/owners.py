"""Which process holds a port or a file lock, from Linux's /proc; for error messages only.

Promises  never fails: the result is None on other systems and for processes of other users.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

PROC = Path("/proc")
LISTENING = "0A"  # the state of a socket in /proc/net/tcp
COMMAND_CHARACTERS = 60


class Process(NamedTuple):
    pid: int
    command: str

    def __str__(self) -> str:
        return f"process {self.pid} ({self.command})" if self.command else f"process {self.pid}"


def port_owner(port: int) -> Process | None:
    """The process that listens on the port, on any address."""
    tables = [read_text(PROC / "net" / name) for name in ("tcp", "tcp6")]
    sockets = {f"socket:[{inode}]" for table in tables for inode in listening_inodes(table, port)}
    return next(map(describe, holders(sockets)), None) if sockets else None


def lock_owner(path: str) -> Process | None:
    """The process that holds a record lock on the file."""
    with suppress(OSError):
        found = os.stat(path)
        device = f"{os.major(found.st_dev):02x}:{os.minor(found.st_dev):02x}"
        pid = locking_pid(read_text(PROC / "locks"), f"{device}:{found.st_ino}")
        return None if pid is None else describe(pid)
    return None


def listening_inodes(table: str, port: int) -> list[str]:
    """The sockets that listen on the port, from the text of /proc/net/tcp or tcp6."""
    rows = [line.split() for line in table.splitlines()[1:]]
    suffix = f":{port:04X}"
    return [
        row[9] for row in rows if len(row) > 9 and row[1].endswith(suffix) and row[3] == LISTENING
    ]


def locking_pid(table: str, file: str) -> int | None:
    """The process that locks `device:inode`, from /proc/locks; lines of waiters have an arrow."""
    for line in table.splitlines():
        words = line.split()
        if len(words) > 5 and words[1] == "POSIX" and words[5] == file and words[4].isdigit():
            return int(words[4])
    return None


def holders(links: Iterable[str]) -> Iterator[int]:
    """Processes with a descriptor that links to one of these, as far as we may inspect them."""
    wanted = set(links)
    for pid in (int(name) for name in names_in(PROC) if name.isdigit()):
        directory = PROC / str(pid) / "fd"
        if any(link_of(directory / name) in wanted for name in names_in(directory)):
            yield pid


def describe(pid: int) -> Process:
    words = read_text(PROC / str(pid) / "cmdline").replace("\0", " ").strip()
    if len(words) > COMMAND_CHARACTERS:
        words = words[:COMMAND_CHARACTERS] + "..."
    return Process(pid, words)


def names_in(directory: Path) -> list[str]:
    try:
        return os.listdir(directory)
    except OSError:
        return []


def link_of(path: Path) -> str:
    try:
        return os.readlink(path)
    except OSError:
        return ""


def read_text(path: Path) -> str:
    try:
        return path.read_text(errors="replace")
    except OSError:
        return ""
