from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from ottla.base.files.disk import DiskFileSystem
from ottla.base.files.filesystem import replace_file
from ottla.metadata.zookeeper.log_comparison import SeenEnd
from ottla.metadata.zookeeper.service import ZooKeeperSession
from ottla.metadata.zookeeper.session_file import (
    SESSION_NAME,
    read_incarnation,
    read_seen_end,
    read_session,
    session_owner,
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
    assert read_seen_end(disk, "/d") == SeenEnd()


def test_the_end_of_the_metadata_log_is_read_again() -> None:
    disk = MemoryDisk()
    disk.make_directory("/d")
    assert read_seen_end(disk, "/d") == SeenEnd()
    end = SeenEnd(7, 5, "nonce")
    write_session(disk, "/d", "host:2181/x", SESSION, None, end)
    assert read_seen_end(disk, "/d") == end
    write_session(disk, "/d", "host:2181/x", SESSION, None, SeenEnd(7))  # only a snapshot was read
    assert read_seen_end(disk, "/d") == SeenEnd()
    for seen in (b"[7]", b'"x"', b'["a", 5, ""]', b"[1e999, 5, 5]", b"7"):
        replace_file(disk, f"/d/{SESSION_NAME}", b'{"seen": ' + seen + b"}")
        assert read_seen_end(disk, "/d") == SeenEnd()


def test_a_session_in_another_ensemble_is_not_taken_over() -> None:
    disk = MemoryDisk()
    disk.make_directory("/d")
    write_session(disk, "/d", "host:2181/x", SESSION, b"1" * 16)
    assert read_session(disk, "/d", "host:2181/y") is None


def test_a_copy_of_the_directory_takes_nothing_over(tmp_path: Path) -> None:
    """The process that uses the original may run, and its session would be closed."""
    disk, original, copy = DiskFileSystem(), tmp_path / "original", tmp_path / "copy"
    original.mkdir()
    write_session(disk, str(original), "c", SESSION, b"1" * 16)
    shutil.copytree(original, copy)
    assert read_session(disk, str(copy), "c") is None
    assert read_incarnation(disk, str(copy)) is None
    assert session_owner(disk, str(copy)) == "c"
    original.rename(tmp_path / "moved")
    assert read_session(disk, str(tmp_path / "moved"), "c") == SESSION


def test_the_file_of_an_earlier_version_is_read() -> None:
    disk = MemoryDisk()
    disk.make_directory("/d")
    replace_file(disk, f"/d/{SESSION_NAME}", b'{"connect": "c", "id": 1, "password": "00"}')
    assert read_session(disk, "/d", "c") == ZooKeeperSession(1, b"\0")


@pytest.mark.parametrize(
    "content",
    [
        b'{"connect": "c", "id": 1e999, "password": ""}',
        b'{"connect": "c", "id": 9999999999999999999999, "password": ""}',
        b"",
        b"{",
        b"[]",
        b'{"connect": "c"}',
        b"\xff",
    ],
)
def test_a_damaged_file_is_ignored(content: bytes) -> None:
    disk = MemoryDisk()
    disk.make_directory("/d")
    replace_file(disk, f"/d/{SESSION_NAME}", content)
    assert read_session(disk, "/d", "c") is None
    assert read_incarnation(disk, "/d") is None
