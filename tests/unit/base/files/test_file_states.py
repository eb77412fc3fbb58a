"""The states of many files, compiled and plain."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from ottla.base.files import _plain_file_states
from ottla.base.files.disk import DiskFileSystem
from ottla.base.files.filesystem import ExpectedFile

try:
    from ottla.base.files import _file_states as compiled

    IMPLEMENTATIONS: list[Any] = [_plain_file_states, compiled]
except ImportError:
    IMPLEMENTATIONS = [_plain_file_states]

NO_FILE = -1


@pytest.fixture(params=IMPLEMENTATIONS, ids=lambda each: each.__name__.rpartition(".")[2])
def states(request: pytest.FixtureRequest) -> Any:
    return request.param.file_states


def test_each_path_has_its_identity_and_size(states: Any, tmp_path: Path) -> None:
    paths = [tmp_path / f"file-{n}" for n in range(3)]
    for n, path in enumerate(paths):
        path.write_bytes(bytes(n))
    found = states([os.fsencode(path) for path in paths], [NO_FILE] * 3, [0] * 3)
    expected = [(path.stat().st_dev, path.stat().st_ino, n, True) for n, path in enumerate(paths)]
    assert found == expected


def test_a_path_that_does_not_exist_has_no_state(states: Any, tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"x")
    names = (b"missing", b"file", b"file/below", b"n" * 5000)
    found = states([os.fsencode(tmp_path) + b"/" + name for name in names], [NO_FILE] * 4, [0] * 4)
    assert [state is not None for state in found] == [False, True, False, False]


@pytest.mark.parametrize(
    ("position", "has_data"),
    [(0, False), (1, True), (4, True), (5, True), (8, True), (9, False), (10**9, False)],
)
def test_zeros_and_the_end_of_the_file_are_no_data(
    states: Any, tmp_path: Path, position: int, has_data: bool
) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"\0\0\0\0\x01\0\0\0\x01")
    descriptor = os.open(path, os.O_RDONLY)
    try:
        [state] = states([os.fsencode(path)], [descriptor], [position])
    finally:
        os.close(descriptor)
    assert state[3] is has_data


def test_a_descriptor_that_cannot_be_read_has_no_data(states: Any, tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"data")
    assert states([os.fsencode(path)], [2**31 - 1], [0])[0][3] is False


def test_nothing_asked_is_nothing_found(states: Any) -> None:
    assert states([], [], []) == []


def test_lists_of_different_lengths_are_refused(states: Any) -> None:
    with pytest.raises(ValueError):
        states([b"/"], [], [0])


def test_files_as_expected_are_distinguished_from_changed_ones(tmp_path: Path) -> None:
    files = DiskFileSystem()
    opened = {}
    for name in ("good", "removed", "replaced", "moved", "short", "zeroed"):
        opened[name] = files.open(str(tmp_path / name), create=True)
        opened[name].write_at(0, b"12345678")
    files.remove(str(tmp_path / "removed"))
    (tmp_path / "other").write_bytes(b"12345678")
    files.rename(str(tmp_path / "other"), str(tmp_path / "replaced"))
    files.rename(str(tmp_path / "moved"), str(tmp_path / "elsewhere"))
    opened["short"].truncate(7)
    opened["zeroed"].truncate(2)
    opened["zeroed"].write_at(8, b"9")
    expected = [ExpectedFile(file.path, 8, file, 4) for file in opened.values()]
    found = files.are_as_expected(expected)
    assert dict(zip(opened, found, strict=True)) == dict.fromkeys(opened, False) | {"good": True}


def test_a_file_that_is_not_open_is_compared_by_its_size(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"1234")
    path = str(tmp_path / "file")
    expected = [ExpectedFile(path, 4), ExpectedFile(path, 5), ExpectedFile(path + "-", 0)]
    assert DiskFileSystem().are_as_expected(expected) == [True, False, False]


def test_files_whose_descriptors_were_closed_are_opened_again(tmp_path: Path) -> None:
    files = DiskFileSystem(open_files_max=2)
    opened = [files.open(str(tmp_path / f"{n}"), create=True) for n in range(10)]
    for file in opened:
        file.write_at(0, b"12345678")
    expected = [ExpectedFile(file.path, 8, file, 0) for file in opened]
    assert files.are_as_expected(expected) == [True] * 10


def test_a_closed_file_is_not_as_expected(tmp_path: Path) -> None:
    files = DiskFileSystem()
    file = files.open(str(tmp_path / "file"), create=True)
    file.write_at(0, b"12345678")
    file.close()
    assert files.are_as_expected([ExpectedFile(file.path, 8, file, 0)]) == [False]
