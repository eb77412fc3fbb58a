"""What only the real disk does: descriptors, kernel errors, other processes."""

from __future__ import annotations

import errno
import os
import resource
import shutil
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from random import Random

import pytest

from ottla.base.files.disk import DiskFileSystem, default_open_files_max
from ottla.base.files.disk_file import DiskFile


def numbered_files(files: DiskFileSystem, directory: Path, count: int) -> list[DiskFile]:
    """Files that each hold their own number."""
    handles = [files.open(str(directory / f"{n}"), create=True) for n in range(count)]
    for n, file in enumerate(handles):
        file.write_at(0, b"%08d" % n)
    return handles


def test_a_file_used_lately_keeps_its_descriptor(tmp_path: Path) -> None:
    files = DiskFileSystem(open_files_max=3)
    handles = numbered_files(files, tmp_path, 3)
    files.open(str(tmp_path / "fourth"), create=True)  # every file loses its first chance
    handles[1].read_at(0, 1)
    before = handles[1]._descriptor
    handles[0].read_at(0, 1)
    assert handles[1]._descriptor == before
    assert files.open_files == 3


def test_a_descriptor_in_use_is_never_closed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = DiskFileSystem(open_files_max=1)
    synced = files.open(str(tmp_path / "synced"), create=True)
    is_syncing, may_finish = threading.Event(), threading.Event()

    def slow_fsync(descriptor: int) -> None:
        is_syncing.set()
        assert may_finish.wait(120)
        os.fstat(descriptor)  # EBADF if it was closed

    monkeypatch.setattr(os, "fsync", slow_fsync)
    with ThreadPoolExecutor(1) as pool:
        sync = pool.submit(synced.sync)
        assert is_syncing.wait(120)
        others = numbered_files(files, tmp_path, 5)
        synced.close()
        may_finish.set()
        sync.result(120)
    assert [file.read_at(0, 8) for file in others] == [b"%08d" % n for n in range(5)]
    assert files.open_files == 1


def test_threads_share_few_descriptors_and_never_read_another_file(tmp_path: Path) -> None:
    files = DiskFileSystem(open_files_max=4)
    handles = numbered_files(files, tmp_path, 40)

    def read_at_random(seed: int) -> None:
        rng = Random(seed)
        for _ in range(2000):
            n = rng.randrange(len(handles))
            assert handles[n].read_at(0, 8) == b"%08d" % n

    with ThreadPoolExecutor(8) as pool:
        for result in [pool.submit(read_at_random, seed) for seed in range(8)]:
            result.result()
    handles[0].read_at(0, 8)
    assert files.open_files <= 4 + 8  # what eight threads may have in use at once


def test_many_files_need_no_more_descriptors_than_allowed(tmp_path: Path) -> None:
    files = DiskFileSystem(open_files_max=100)
    handles = numbered_files(files, tmp_path, 1000)
    assert files.open_files == 100
    links = [entry for entry in Path("/proc/self/fd").iterdir() if entry.is_symlink()]
    assert (
        sum(os.readlink(link).startswith(str(tmp_path)) for link in links if link.exists()) == 100
    )
    assert all(file.read_at(0, 8) == b"%08d" % n for n, file in enumerate(handles))
    assert files.open_files == 100
    for file in handles:
        file.close()
    assert files.open_files == 0


def test_a_directory_is_removed_though_files_come_and_go_in_it_meanwhile(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    directory_to_delete = tmp_path / "doomed"
    directory_to_delete.mkdir()
    (directory_to_delete / "first").touch()
    (directory_to_delete / "second").touch()
    late = iter(["third", "fourth"])
    remove_directory, remove = os.rmdir, os.unlink

    def busy_rmdir(name: str, *, dir_fd: int | None = None) -> None:
        if file := next(late, None):
            (directory_to_delete / file).touch()
        remove_directory(name, dir_fd=dir_fd)

    def busy_unlink(name: str, *, dir_fd: int | None = None) -> None:
        remove(name, dir_fd=dir_fd)
        (directory_to_delete / "second").unlink(missing_ok=True)

    monkeypatch.setattr(os, "rmdir", busy_rmdir)
    monkeypatch.setattr(os, "unlink", busy_unlink)
    DiskFileSystem().remove_directory(str(directory_to_delete))
    assert not directory_to_delete.exists()
    with pytest.raises(FileNotFoundError):
        DiskFileSystem().remove_directory(str(directory_to_delete))


def test_descriptors_are_not_inherited(tmp_path: Path) -> None:
    file = DiskFileSystem().open(str(tmp_path / "a"), create=True)
    duplicate = file.descriptor()
    assert not os.get_inheritable(file._descriptor)
    assert not os.get_inheritable(duplicate)
    os.close(duplicate)


def test_the_bound_leaves_room_for_connections(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resource, "getrlimit", lambda _: (1024, 4096))
    assert default_open_files_max() == 512
    monkeypatch.setattr(resource, "getrlimit", lambda _: (1_000_000, 1_000_000))
    assert default_open_files_max() == 4096


def test_a_failed_sync_is_raised_and_never_tried_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = DiskFileSystem().open(str(tmp_path / "a"), create=True)
    calls = []

    def failing_fsync(descriptor: int) -> None:
        calls.append(descriptor)
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr(os, "fsync", failing_fsync)
    for _ in range(2):
        with pytest.raises(OSError) as raised:
            file.sync()
        assert raised.value.errno == errno.EIO
    assert len(calls) == 1


def test_short_writes_and_reads_are_completed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = DiskFileSystem().open(str(tmp_path / "a"), create=True)
    pwrite, pread = os.pwrite, os.pread
    monkeypatch.setattr(os, "pwrite", lambda fd, data, at: pwrite(fd, bytes(data)[:3], at))
    monkeypatch.setattr(os, "pread", lambda fd, size, at: pread(fd, min(size, 2), at))
    file.write_at(1, b"abcdefgh")
    assert file.read_at(0, 100) == b"\0abcdefgh"


def test_a_full_disk_is_reported() -> None:
    file = DiskFileSystem().open("/dev/full")
    with pytest.raises(OSError) as raised:
        file.write_at(0, b"x")
    assert raised.value.errno == errno.ENOSPC


def test_a_cold_file_is_not_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = DiskFileSystem().open(str(tmp_path / "a"), create=True)
    file.write_at(0, b"abcdef")

    def would_block(*_: object) -> int:
        raise BlockingIOError(errno.EAGAIN, "would block")

    monkeypatch.setattr(os, "preadv", would_block)
    assert file.read_cached(0, 6) is None
    monkeypatch.setattr(os, "preadv", lambda *_: 2)  # only the beginning is in memory
    assert file.read_cached(0, 6) is None


def test_a_file_system_without_such_reads_is_simply_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = DiskFileSystem().open(str(tmp_path / "a"), create=True)
    file.write_at(0, b"abcdef")

    def unsupported(*_: object) -> int:
        raise OSError(errno.EOPNOTSUPP, "not supported")

    monkeypatch.setattr(os, "preadv", unsupported)
    assert file.read_cached(0, 6) == b"abcdef"


def test_a_file_removed_while_its_descriptor_was_closed_is_missed(tmp_path: Path) -> None:
    files = DiskFileSystem(open_files_max=1)
    handles = numbered_files(files, tmp_path, 2)
    os.unlink(tmp_path / "0")
    with pytest.raises(FileNotFoundError):
        handles[0].read_at(0, 8)
    handles[0].close()
    assert handles[1].read_at(0, 8) == b"00000001"


def test_a_lock_keeps_another_process_out(tmp_path: Path) -> None:
    path = tmp_path / ".lock"
    attempt = (
        "import fcntl, sys\n"
        "with open(sys.argv[1], 'r+b') as file:\n"
        "    fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)\n"
    )
    command = [sys.executable, "-c", attempt, str(path)]
    lock = DiskFileSystem().lock(str(path))
    with pytest.raises(BlockingIOError):  # which must not end the lock that is held
        DiskFileSystem().lock(str(path))
    assert subprocess.run(command, capture_output=True, check=False).returncode == 1
    lock.close()
    assert subprocess.run(command, capture_output=True, check=False).returncode == 0


def test_another_process_keeps_us_out(tmp_path: Path) -> None:
    path = tmp_path / ".lock"
    holder = (
        "import fcntl, sys\n"
        "file = open(sys.argv[1], 'wb')\n"
        "fcntl.lockf(file, fcntl.LOCK_EX)\n"
        "print('held', flush=True)\n"
        "sys.stdin.read()\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", holder, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"held\n"
        with pytest.raises(BlockingIOError):
            DiskFileSystem().lock(str(path))
        process.communicate()
    DiskFileSystem().lock(str(path)).close()


def all_descriptors() -> list[int]:
    taken = []
    with suppress(OSError):
        while True:
            taken.append(os.dup(0))
    return taken


def test_files_make_room_for_each_other_where_the_process_has_no_descriptor_left(
    tmp_path: Path,
) -> None:
    files = DiskFileSystem(open_files_max=100)
    paths = [str(tmp_path / str(number)) for number in range(8)]
    handles = [files.open(path, create=True) for path in paths]
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    taken = [os.dup(0)]
    resource.setrlimit(resource.RLIMIT_NOFILE, (taken[0] + 3, hard))
    try:
        taken += all_descriptors()
        handles.append(files.open(str(tmp_path / "new"), create=True))
        files.sync_directory(str(tmp_path))
        for handle in handles:
            handle.write_at(0, b"there")
        assert {handle.read_at(0, 9) for handle in handles} == {b"there"}
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
        for descriptor in taken:
            os.close(descriptor)
        for handle in handles:
            handle.close()


def test_files_make_room_where_the_machine_has_no_descriptor_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = DiskFileSystem(open_files_max=100)
    handles = [files.open(str(tmp_path / str(number)), create=True) for number in range(8)]
    really_open = os.open

    def open_if_few(path: str, flags: int, mode: int = 0) -> int:
        if len(files._descriptors) > 4:
            raise OSError(errno.ENFILE, os.strerror(errno.ENFILE), path)
        return really_open(path, flags, mode)

    monkeypatch.setattr(os, "open", open_if_few)
    files.sync_directory(str(tmp_path))
    assert len(files._descriptors) <= 4
    for handle in handles:
        handle.close()


def test_a_file_that_was_replaced_while_its_descriptor_was_closed_is_not_written_to(
    tmp_path: Path,
) -> None:
    files = DiskFileSystem(open_files_max=1)
    path, other = tmp_path / "a", tmp_path / "b"
    path.write_bytes(b"old")
    file = files.open(str(path))
    files.open(str(other), create=True).write_at(0, b"this takes the only descriptor")
    files.open(str(other)).size()
    (tmp_path / "c").write_bytes(b"new")
    os.replace(tmp_path / "c", path)
    with pytest.raises(OSError, match="another file has the name now") as raised:
        file.write_at(0, b"x")
    assert raised.value.errno == errno.ESTALE
    assert path.read_bytes() == b"new"


def test_a_file_that_has_another_number_after_its_descriptor_was_closed_is_the_same(
    tmp_path: Path,
) -> None:
    """As file systems of users and networks may do it: size and time show it."""
    files = DiskFileSystem(open_files_max=1)
    path = tmp_path / "a"
    path.write_bytes(b"old")
    file = files.open(str(path))
    files.open(str(tmp_path / "b"), create=True).write_at(0, b"this takes the only descriptor")
    files.open(str(tmp_path / "b")).size()
    shutil.copy2(path, tmp_path / "c")
    os.replace(tmp_path / "c", path)
    assert file.is_in_place()
    file.write_at(0, b"new")
    assert path.read_bytes() == b"new"


def test_a_directory_is_held_once_though_its_lock_file_is_removed(tmp_path: Path) -> None:
    files = DiskFileSystem()
    held = files.hold_directory(str(tmp_path))
    with pytest.raises(BlockingIOError, match="another process holds the directory"):
        files.hold_directory(str(tmp_path))
    held.close()
    files.hold_directory(str(tmp_path)).close()
