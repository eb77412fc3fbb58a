from __future__ import annotations

import pytest

from ottla.base.files.filesystem import replace_file
from ottla.metadata.zookeeper.service import ZooKeeperSession
from ottla.metadata.zookeeper.session_file import (
    NAME,
    read_incarnation,
    read_session,
    write_session,
)
from ottla.testing.filesystem import MemoryDisk

SESSION = ZooKeeperSession(0x1000_0000_0000_0007, b"\x00secret\xff")


def test_the_last_session_is_read_again() -> None:
    disk = MemoryDisk()
    disk.make_directory("/d")
    assert read_session(disk, "/d", "host:2181/x") is None
    write_session(disk, "/d", "host:2181/x", ZooKeeperSession(1, b"p"), None)
    write_session(disk, "/d", "host:2181/x", SESSION, b"1" * 16)
    assert read_session(disk, "/d", "host:2181/x") == SESSION
    assert read_incarnation(disk, "/d") == b"1" * 16


def test_a_session_in_another_ensemble_is_not_taken_over() -> None:
    disk = MemoryDisk()
    disk.make_directory("/d")
    write_session(disk, "/d", "host:2181/x", SESSION, b"1" * 16)
    assert read_session(disk, "/d", "host:2181/y") is None


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b'{"connect": "c"}', b"\xff"])
def test_a_damaged_file_is_ignored(content: bytes) -> None:
    disk = MemoryDisk()
    disk.make_directory("/d")
    replace_file(disk, f"/d/{NAME}", content)
    assert read_session(disk, "/d", "c") is None
    assert read_incarnation(disk, "/d") is None
