"""What every file system promises, whichever disk is below: the same tests for both."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable

import pytest
from tests.support.volumes import Volume

from ottla.base.files.disk import DiskFileSystem
from ottla.base.files.filesystem import parent_directory, read_file, replace_file
from ottla.testing.filesystem import MemoryDisk


def test_what_was_written_is_read_back(volume: Volume) -> None:
    file = volume.files.open(volume.path("a"), create=True)
    file.write_at(0, b"hello world")
    file.write_at(6, bytearray(b"there"))
    file.write_at(11, memoryview(b"!"))
    assert file.read_at(0, 100) == b"hello there!"
    assert file.read_at(6, 5) == b"there"
    assert file.size() == 12


def test_reading_past_the_end_gives_what_there_is(volume: Volume) -> None:
    file = volume.files.open(volume.put("a", b"abc"))
    assert file.read_at(2, 10) == b"c"
    assert file.read_at(3, 10) == b""
    assert file.read_at(100, 1) == b""
    assert file.read_at(0, 0) == b""


def test_writing_past_the_end_leaves_zeros_between(volume: Volume) -> None:
    file = volume.files.open(volume.put("a", b"abc"))
    file.write_at(5, b"x")
    assert file.read_at(0, 10) == b"abc\0\0x"


def test_a_file_that_was_just_written_can_be_read_without_waiting(volume: Volume) -> None:
    file = volume.files.open(volume.put("a", b"abcdef"))
    assert file.read_cached(1, 3) == b"bcd"
    assert file.read_cached(4, 10) == b"ef"
    assert file.read_cached(6, 10) == b""


def test_truncating_cuts_and_extends(volume: Volume) -> None:
    file = volume.files.open(volume.put("a", b"abcdef"))
    file.truncate(3)
    assert file.read_at(0, 10) == b"abc"
    file.truncate(5)
    assert file.read_at(0, 10) == b"abc\0\0"


def test_extending_never_shortens(volume: Volume) -> None:
    file = volume.files.open(volume.put("a", b"abcdef"))
    file.extend(3)
    assert file.size() == 6
    file.extend(8)
    assert file.read_at(0, 10) == b"abcdef\0\0"
    file.extend(0)
    assert file.size() == 8


def test_opening_creates_only_when_asked(volume: Volume) -> None:
    with pytest.raises(FileNotFoundError):
        volume.files.open(volume.path("a"))
    volume.files.open(volume.path("a"), create=True)
    assert volume.files.open(volume.path("a")).size() == 0


def test_opening_for_creation_keeps_what_is_there(volume: Volume) -> None:
    path = volume.put("a", b"abc")
    assert volume.files.open(path, create=True).read_at(0, 10) == b"abc"


def test_a_file_cannot_be_created_where_there_is_no_directory(volume: Volume) -> None:
    with pytest.raises(FileNotFoundError):
        volume.files.open(volume.path("no/a"), create=True)
    volume.put("a", b"")
    with pytest.raises(NotADirectoryError):
        volume.files.open(volume.path("a/b"), create=True)


def test_a_directory_cannot_be_opened(volume: Volume) -> None:
    with pytest.raises(IsADirectoryError):
        volume.files.open(volume.root)


def test_two_handles_see_one_file(volume: Volume) -> None:
    path = volume.put("a", b"abc")
    one, two = volume.files.open(path), volume.files.open(path)
    one.write_at(1, b"B")
    assert two.read_at(0, 3) == b"aBc"


def test_a_closed_handle_raises(volume: Volume) -> None:
    file = volume.files.open(volume.put("a", b"abc"))
    file.close()
    file.close()
    uses: list[Callable[[], object]] = [
        file.size,
        file.sync,
        lambda: file.read_at(0, 1),
        lambda: file.write_at(0, b"x"),
        lambda: file.truncate(0),
    ]
    for use in uses:
        with pytest.raises(OSError, match="closed") as raised:
            use()
        assert raised.value.errno == errno.EBADF
    assert volume.get("a") == b"abc"


def test_a_handle_stays_good_when_its_file_is_renamed(volume: Volume) -> None:
    file = volume.files.open(volume.put("a", b"abc"))
    volume.files.rename(volume.path("a"), volume.path("b"))
    file.renamed(volume.path("b"))
    for other in range(4):
        volume.put(f"other{other}", b"")
    file.write_at(0, b"A")
    assert file.path == volume.path("b")
    assert volume.get("b") == b"Abc"


def test_a_handle_stays_good_when_its_directory_is_renamed(volume: Volume) -> None:
    volume.files.make_directory(volume.path("t-0"))
    file = volume.files.open(volume.put("t-0/a", b"abc"))
    volume.files.rename(volume.path("t-0"), volume.path("t-0.x-delete"))
    file.renamed(volume.path("t-0.x-delete/a"))
    for other in range(4):
        volume.put(f"other{other}", b"")
    assert file.read_at(0, 3) == b"abc"


def test_renaming_replaces_a_file(volume: Volume) -> None:
    volume.put("a", b"new")
    volume.put("b", b"old")
    volume.files.rename(volume.path("a"), volume.path("b"))
    assert volume.files.list_directory(volume.root) == ["b"]
    assert volume.get("b") == b"new"


def test_renaming_what_is_not_there_fails(volume: Volume) -> None:
    with pytest.raises(FileNotFoundError):
        volume.files.rename(volume.path("a"), volume.path("b"))


def test_renaming_into_a_missing_directory_fails(volume: Volume) -> None:
    volume.put("a", b"")
    with pytest.raises(FileNotFoundError):
        volume.files.rename(volume.path("a"), volume.path("no/b"))


def test_a_directory_replaces_only_an_empty_one(volume: Volume) -> None:
    for name in ("a", "empty", "full"):
        volume.files.make_directory(volume.path(name))
    volume.put("full/x", b"")
    with pytest.raises(OSError) as raised:
        volume.files.rename(volume.path("a"), volume.path("full"))
    assert raised.value.errno == errno.ENOTEMPTY
    volume.files.rename(volume.path("a"), volume.path("empty"))
    assert volume.files.list_directory(volume.root) == ["empty", "full"]


def test_files_and_directories_do_not_replace_each_other(volume: Volume) -> None:
    volume.files.make_directory(volume.path("directory"))
    volume.put("file", b"")
    with pytest.raises(IsADirectoryError):
        volume.files.rename(volume.path("file"), volume.path("directory"))
    with pytest.raises(NotADirectoryError):
        volume.files.rename(volume.path("directory"), volume.path("file"))


def test_directories_are_made_with_their_parents(volume: Volume) -> None:
    volume.files.make_directory(volume.path("x/y/z"))
    volume.files.make_directory(volume.path("x/y/z"))
    assert volume.files.is_directory(volume.path("x/y"))
    assert volume.files.list_directory(volume.path("x/y")) == ["z"]


def test_a_directory_is_not_made_where_a_file_is(volume: Volume) -> None:
    volume.put("a", b"")
    with pytest.raises(FileExistsError):
        volume.files.make_directory(volume.path("a"))
    with pytest.raises(NotADirectoryError):
        volume.files.make_directory(volume.path("a/b"))


def test_names_are_listed_in_order(volume: Volume) -> None:
    for name in ("b", "a", "c"):
        volume.put(name, b"")
    assert volume.files.list_directory(volume.root) == ["a", "b", "c"]
    with pytest.raises(FileNotFoundError):
        volume.files.list_directory(volume.path("no"))
    with pytest.raises(NotADirectoryError):
        volume.files.list_directory(volume.path("a"))


def test_existence_of_files_and_directories(volume: Volume) -> None:
    volume.put("a", b"abc")
    assert volume.files.exists(volume.path("a"))
    assert not volume.files.is_directory(volume.path("a"))
    assert volume.files.exists(volume.root)
    assert volume.files.is_directory(volume.root)
    assert not volume.files.exists(volume.path("b"))
    assert volume.files.size(volume.path("a")) == 3
    with pytest.raises(FileNotFoundError):
        volume.files.size(volume.path("b"))


def test_the_time_of_the_last_change_is_known(volume: Volume) -> None:
    volume.put("a", b"abc")
    assert volume.files.modified_ms(volume.path("a")) > 1_600_000_000_000
    with pytest.raises(FileNotFoundError):
        volume.files.modified_ms(volume.path("b"))


def test_files_are_removed(volume: Volume) -> None:
    volume.files.remove(volume.put("a", b""))
    assert volume.files.list_directory(volume.root) == []
    with pytest.raises(FileNotFoundError):
        volume.files.remove(volume.path("a"))
    volume.files.make_directory(volume.path("d"))
    with pytest.raises(IsADirectoryError):
        volume.files.remove(volume.path("d"))


def test_a_directory_is_removed_with_everything_in_it(volume: Volume) -> None:
    volume.files.make_directory(volume.path("d/e"))
    volume.put("d/e/a", b"")
    volume.put("d/b", b"")
    volume.files.remove_directory(volume.path("d"))
    assert not volume.files.exists(volume.path("d"))
    with pytest.raises(FileNotFoundError):
        volume.files.remove_directory(volume.path("d"))


def test_files_and_directories_can_be_synced(volume: Volume) -> None:
    file = volume.files.open(volume.put("a", b"abc"))
    file.sync()
    volume.files.sync_directory(volume.root)
    with pytest.raises(FileNotFoundError):
        volume.files.sync_directory(volume.path("no"))


def test_free_space_is_reported(volume: Volume) -> None:
    space = volume.files.space(volume.root)
    assert 0 < space.free_bytes <= space.total_bytes
    with pytest.raises(FileNotFoundError):
        volume.files.space(volume.path("no"))


def test_a_lock_is_held_by_one_until_it_is_closed(volume: Volume) -> None:
    first = volume.files.lock(volume.path(".lock"))
    with pytest.raises(BlockingIOError):
        volume.files.lock(volume.path(".lock"))
    with pytest.raises(BlockingIOError):
        volume.files.lock(volume.path(".lock"))
    first.close()
    first.close()
    second = volume.files.lock(volume.path(".lock"))
    first.close()
    with pytest.raises(BlockingIOError):
        volume.files.lock(volume.path(".lock"))
    second.close()


def test_a_descriptor_reads_the_file_or_is_refused(volume: Volume) -> None:
    file = volume.files.open(volume.put("a", b"abc"))
    if isinstance(volume.files, MemoryDisk):
        with pytest.raises(OSError):
            file.descriptor()
        return
    descriptor = file.descriptor()
    file.close()
    assert os.pread(descriptor, 10, 0) == b"abc"
    os.close(descriptor)


def test_a_file_that_is_too_large_is_not_read_whole(volume: Volume) -> None:
    path = volume.put("a", b"abcdef")
    assert read_file(volume.files, path, bytes_max=6) == b"abcdef"
    with pytest.raises(OSError, match="6 bytes") as raised:
        read_file(volume.files, path, bytes_max=5)
    assert raised.value.errno == errno.EFBIG


def test_a_small_file_is_replaced_as_a_whole(volume: Volume) -> None:
    path = volume.put("a", b"the old content, which is longer")
    volume.put("a.tmp", b"left behind by a process that was killed while it replaced the file")
    replace_file(volume.files, path, b"new")
    assert read_file(volume.files, path) == b"new"
    assert volume.files.list_directory(volume.root) == ["a"]


@pytest.mark.parametrize(
    ("path", "parent"), [("/a/b", "/a"), ("/a", "/"), ("a/b/c", "a/b"), ("a", ".")]
)
def test_every_path_has_a_parent(path: str, parent: str) -> None:
    assert parent_directory(path) == parent


def test_many_files_share_few_descriptors(volume: Volume) -> None:
    files = [volume.files.open(volume.path(f"f{n}"), create=True) for n in range(50)]
    for n, file in enumerate(files):
        file.write_at(0, b"%d" % n)
    for n, file in reversed(list(enumerate(files))):
        assert file.read_at(0, 9) == b"%d" % n
    if isinstance(volume.files, DiskFileSystem):
        assert volume.files.open_files == 2


def test_a_file_is_in_place_until_it_is_removed_renamed_or_replaced(
    volume: Volume,
) -> None:
    files, path = volume.files, volume.put("a", b"abc")
    file = files.open(path)
    assert file.is_in_place()
    files.rename(path, volume.path("b"))
    assert not file.is_in_place()
    file.renamed(volume.path("b"))
    assert file.is_in_place()
    volume.put("c", b"abc")
    files.rename(volume.path("c"), volume.path("b"))
    assert not file.is_in_place()
    files.remove(volume.path("b"))
    assert not file.is_in_place()


def test_the_size_of_a_file_is_known_while_it_is_in_place(volume: Volume) -> None:
    file = volume.files.open(volume.put("a", b"abc"))
    assert file.size_in_place() == 3
    file.write_at(3, b"de")
    assert file.size_in_place() == 5
    volume.put("b", b"abcde")
    volume.files.rename(volume.path("b"), volume.path("a"))
    assert file.size_in_place() is None
    volume.files.remove(volume.path("a"))
    assert file.size_in_place() is None


def test_a_file_whose_directory_is_gone_is_not_in_its_place(volume: Volume) -> None:
    volume.files.make_directory(volume.path("d"))
    file = volume.files.open(volume.put("d/a", b"abc"))
    volume.files.rename(volume.path("d"), volume.path("e"))
    assert not file.is_in_place()
    volume.put("d", b"a file")
    assert not file.is_in_place()


def test_a_directory_is_in_place_until_it_is_renamed_or_replaced(volume: Volume) -> None:
    files, path = volume.files, volume.path("d")
    files.make_directory(path)
    held = files.hold_directory(path)
    assert held.is_in_place()
    files.rename(path, volume.path("e"))
    assert not held.is_in_place()
    files.make_directory(path)
    assert not held.is_in_place()
    files.remove_directory(path)
    files.rename(volume.path("e"), path)
    assert held.is_in_place()
    held.close()
    held.close()


def test_only_directories_are_held(volume: Volume) -> None:
    with pytest.raises(NotADirectoryError):
        volume.files.hold_directory(volume.put("a", b""))
    with pytest.raises(FileNotFoundError):
        volume.files.hold_directory(volume.path("b"))
