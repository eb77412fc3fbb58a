"""What the disk in memory does beyond an ordinary one: lose, tear, rot and refuse."""

from __future__ import annotations

import errno
from random import Random

import pytest

from ottla.base.files.filesystem import read_file, replace_file
from ottla.testing.disk_faults import ANY, CHANGES
from ottla.testing.disk_handles import MemoryFile
from ottla.testing.filesystem import MemoryDisk

PATH = "/data/a"


def durable_file(disk: MemoryDisk, content: bytes = b"") -> MemoryFile:
    file = disk.open(PATH, create=True)
    file.write_at(0, content)
    file.sync()
    disk.sync_directory("/data")
    return file


def after_crashes(content: bytes, *writes: tuple[int, bytes]) -> set[bytes]:
    """All that may be left of a durable content and writes after it."""
    left = set()
    for seed in range(300):
        disk = MemoryDisk()
        disk.make_directory("/data")
        disk.sync_directory("/")
        file = durable_file(disk, content)
        for position, data in writes:
            file.write_at(position, data)
        disk.crash(Random(seed))
        left.add(read_file(disk, PATH))
    return left


def test_what_was_synced_survives_a_crash(disk: MemoryDisk) -> None:
    for seed in range(50):
        file = durable_file(disk, b"content %d" % seed)
        file.truncate(6)
        file.sync()
        disk.crash(Random(seed))
        assert read_file(disk, PATH) == b"conten"


def test_a_crash_may_lose_all_some_or_none_of_what_was_not_synced() -> None:
    left = after_crashes(b"old|", (4, b"first|"), (10, b"second|"))
    assert {b"old|", b"old|first|", b"old|first|second|"} <= left
    assert any(content.startswith(b"old|fi") and len(content) < 9 for content in left)
    assert b"old|" + bytes(6) + b"second|" in left, "a later write may survive an earlier one"
    assert all(content.startswith(b"old|") for content in left)


@pytest.mark.parametrize("seed", range(60))
def test_a_crash_touches_no_byte_that_was_not_changed_since_the_last_sync(
    disk: MemoryDisk, seed: int
) -> None:
    rng = Random(seed)
    file = durable_file(disk)
    durable, changed = b"", set[int]()
    for _ in range(rng.randrange(40)):
        position, size = rng.randrange(3000), rng.randrange(1500)
        match rng.choice(("write", "write", "truncate", "sync")):
            case "write":
                file.write_at(position, rng.randbytes(size))
                changed |= set(range(position, position + size))
            case "truncate":
                file.truncate(position)
                changed |= set(range(position, 5000))
            case "sync":
                file.sync()
                durable, changed = file.read_at(0, 9999), set()
    disk.crash(rng)
    left = read_file(disk, PATH)
    assert [n for n, byte in enumerate(durable) if n not in changed and left[n] != byte] == []
    if not changed:
        assert left == durable


def test_a_crash_may_tear_an_overwrite() -> None:
    left = after_crashes(b"0123456789", (0, b"abcdefghij"))
    assert b"0123456789" in left
    assert b"abcdefghij" in left
    assert any(b"a" in content and b"9" in content for content in left)


def test_a_crash_may_lose_sectors_in_the_middle_of_a_write() -> None:
    left = after_crashes(b"", (0, b"x" * 2048))
    assert any(b"x\0" in content and content.endswith(b"x") for content in left)


def test_a_crash_may_undo_a_truncation(disk: MemoryDisk) -> None:
    left = set()
    for seed in range(100):
        file = durable_file(disk, b"0123456789")
        file.truncate(4)
        file.write_at(4, b"x")
        disk.crash(Random(seed))
        left.add(read_file(disk, PATH))
        disk.open(PATH).truncate(0)
    assert left == {b"0123456789", b"0123", b"0123x", b"0123x56789"}


def test_names_may_be_undone_until_their_directory_is_synced() -> None:
    left = set()
    for seed in range(100):
        disk = MemoryDisk()
        disk.make_directory("/data")
        disk.sync_directory("/")
        durable_file(disk, b"")
        disk.open("/data/b", create=True)
        disk.rename("/data/b", "/data/c")
        disk.remove("/data/a")
        disk.crash(Random(seed))
        left.add(tuple(disk.list_directory("/data")))
    assert left == {("a",), ("a", "b"), ("a", "c"), ("c",)}


def test_names_survive_once_their_directory_is_synced(disk: MemoryDisk) -> None:
    durable_file(disk)
    disk.open("/data/b", create=True)
    disk.rename("/data/b", "/data/c")
    disk.remove("/data/a")
    disk.sync_directory("/data")
    for seed in range(50):
        disk.crash(Random(seed))
        assert disk.list_directory("/data") == ["c"]


def test_a_directory_that_was_not_synced_into_its_parent_may_vanish_with_its_files() -> None:
    left = set()
    for seed in range(50):
        disk = MemoryDisk()
        disk.make_directory("/data/t-0")
        file = disk.open("/data/t-0/a", create=True)
        file.sync()
        disk.sync_directory("/data/t-0")
        disk.crash(Random(seed))
        left.add(disk.exists("/data/t-0/a"))
    assert left == {True, False}


def test_a_renamed_file_that_was_not_synced_may_be_empty() -> None:
    left = set()
    for seed in range(100):
        disk = MemoryDisk()
        disk.make_directory("/data")
        disk.sync_directory("/")
        durable_file(disk, b"old")
        temporary = disk.open("/data/a.tmp", create=True)
        temporary.write_at(0, b"new")
        disk.rename("/data/a.tmp", PATH)
        disk.sync_directory("/data")
        disk.crash(Random(seed))
        left.add(read_file(disk, PATH))
    assert {b"", b"new"} <= left


def test_replacing_a_file_leaves_the_old_or_the_new_wherever_the_power_goes() -> None:
    left = set()
    for stop in range(12):
        for seed in range(20):
            disk = MemoryDisk()
            disk.make_directory("/data")
            disk.sync_directory("/")
            durable_file(disk, b"old")
            disk.fail(ANY, skip=stop, times=None)
            try:
                replace_file(disk, PATH, b"the new one")
            except OSError:
                pass
            disk.heal()
            disk.crash(Random(seed))
            left.add(read_file(disk, PATH))
    assert left == {b"old", b"the new one"}


def test_the_same_seed_loses_the_same_bytes() -> None:
    def run(seed: int) -> dict[str, bytes]:
        disk = MemoryDisk()
        disk.make_directory("/data")
        for n in range(20):
            disk.open(f"/data/{n}", create=True).write_at(0, bytes([n]) * 3000)
        disk.crash(Random(seed))
        if not disk.exists("/data"):
            return {}
        return {name: read_file(disk, f"/data/{name}") for name in disk.list_directory("/data")}

    assert [run(seed) for seed in range(20)] == [run(seed) for seed in range(20)]


def test_a_killed_process_leaves_all_it_wrote(disk: MemoryDisk) -> None:
    file = disk.open(PATH, create=True)
    file.write_at(0, b"abc")
    disk.kill()
    assert read_file(disk, PATH) == b"abc"


def test_what_a_killed_process_did_not_sync_can_still_be_lost_to_a_power_cut() -> None:
    left = set()
    for seed in range(50):
        disk = MemoryDisk()
        disk.make_directory("/data")
        disk.sync_directory("/")
        durable_file(disk, b"a").write_at(1, b"b")
        disk.kill()
        disk.crash(Random(seed))
        left.add(read_file(disk, PATH))
    assert left == {b"a", b"ab"}


@pytest.mark.parametrize("end", ["crash", "kill"])
def test_handles_and_locks_die_with_the_process(disk: MemoryDisk, end: str) -> None:
    file = durable_file(disk, b"abc")
    lock = disk.lock("/data/.lock")
    disk.crash(Random(1)) if end == "crash" else disk.kill()
    with pytest.raises(OSError, match="lost"):
        file.read_at(0, 1)
    with pytest.raises(OSError, match="lost"):
        file.write_at(0, b"x")
    disk.lock("/data/.lock")
    lock.close()  # that of the dead process: has no say any more
    with pytest.raises(BlockingIOError):
        disk.lock("/data/.lock")


def test_the_last_write_can_be_torn(disk: MemoryDisk) -> None:
    file = durable_file(disk, b"0123456789")
    file.write_at(2, b"abcdef")
    file.sync()
    disk.tear_last_write(keep_bytes=2)
    assert read_file(disk, PATH) == b"01ab456789"


def test_a_torn_append_leaves_the_file_shorter(disk: MemoryDisk) -> None:
    file = durable_file(disk, b"0123")
    file.write_at(4, b"abcdef")
    disk.tear_last_write(keep_bytes=1)
    assert read_file(disk, PATH) == b"0123a"


def test_a_bit_can_be_flipped(disk: MemoryDisk) -> None:
    durable_file(disk, b"\x00\x00")
    disk.flip_bit(PATH, 1, bit=3)
    disk.crash(Random(1))
    assert read_file(disk, PATH) == b"\x00\x08"


def test_an_operation_fails_as_requested_and_only_then(disk: MemoryDisk) -> None:
    file = durable_file(disk)
    disk.fail("write", "*/a", error=errno.EROFS, skip=1, times=2)
    other = disk.open("/data/b", create=True)
    other.write_at(0, b"x")
    file.write_at(0, b"1")
    for _ in range(2):
        with pytest.raises(OSError) as raised:
            file.write_at(1, b"2")
        assert raised.value.errno == errno.EROFS
    file.write_at(1, b"3")
    assert file.read_at(0, 10) == b"13"


def test_a_failing_write_may_have_written_a_part(disk: MemoryDisk) -> None:
    file = durable_file(disk)
    disk.fail("write", keep_bytes=3)
    with pytest.raises(OSError):
        file.write_at(0, b"abcdef")
    assert file.read_at(0, 10) == b"abc"


def test_a_read_only_disk_can_be_read(disk: MemoryDisk) -> None:
    durable_file(disk, b"abc")
    disk.fail(CHANGES, error=errno.EROFS, times=None)
    assert read_file(disk, PATH) == b"abc"
    for attempt in (
        lambda: disk.open("/data/b", create=True),
        lambda: disk.rename(PATH, "/data/b"),
        lambda: disk.remove(PATH),
        lambda: disk.make_directory("/data/d"),
    ):
        with pytest.raises(OSError) as raised:
            attempt()
        assert raised.value.errno == errno.EROFS
    disk.heal()
    disk.remove(PATH)


def test_an_unknown_kind_of_operation_is_refused(disk: MemoryDisk) -> None:
    with pytest.raises(ValueError, match="fsinc"):
        disk.fail("fsinc")


def test_a_full_disk_takes_what_fits_and_then_refuses(disk: MemoryDisk) -> None:
    file = durable_file(disk, b"0123")
    disk.space_bytes = 6
    with pytest.raises(OSError) as raised:
        file.write_at(4, b"4567")
    assert raised.value.errno == errno.ENOSPC
    assert file.read_at(0, 10) == b"012345"
    file.write_at(0, b"abcdef")
    assert disk.space("/data") == (6, 0)
    disk.space_bytes = 7
    file.write_at(6, b"g")


def test_a_hole_takes_no_room_until_it_is_written(disk: MemoryDisk) -> None:
    file = durable_file(disk, b"0123")
    disk.space_bytes = 6
    file.extend(1000)
    assert (file.size(), disk.space("/data").free_bytes) == (1000, 2)
    file.write_at(4, b"45")
    with pytest.raises(OSError) as raised:
        file.write_at(6, b"6")
    assert raised.value.errno == errno.ENOSPC
    file.truncate(5)
    assert disk.space("/data").free_bytes == 1


def test_after_a_failed_sync_nothing_before_it_is_ever_durable() -> None:
    left = set()
    for seed in range(50):
        disk = MemoryDisk()
        disk.make_directory("/data")
        disk.sync_directory("/")
        file = durable_file(disk, b"old|")
        file.write_at(4, b"lost|")
        disk.fail("sync")
        for _ in range(2):
            with pytest.raises(OSError):
                file.sync()
        again = disk.open(PATH)
        again.write_at(9, b"new|")
        again.sync()  # says yes, as a real kernel does, and means the last write only
        assert again.read_at(0, 100) == b"old|lost|new|"
        disk.crash(Random(seed))
        left.add(read_file(disk, PATH))
    assert left == {b"old|lost|new|", b"old|\0\0\0\0\0new|"}


def test_a_file_is_cold_after_a_crash_and_warm_once_read(disk: MemoryDisk) -> None:
    durable_file(disk, b"abc")
    disk.crash(Random(1))
    file = disk.open(PATH)
    assert file.read_cached(0, 3) is None
    assert file.read_at(0, 1) == b"a"
    assert file.read_cached(0, 3) == b"abc"
    disk.drop_caches()
    assert file.read_cached(0, 3) is None


def test_operations_are_counted(disk: MemoryDisk) -> None:
    file = durable_file(disk, b"abc")
    before = disk.operations["sync"]
    file.sync()
    assert disk.operations["sync"] == before + 1
