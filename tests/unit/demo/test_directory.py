"""The directory of the story is emptied, and no other one."""

from pathlib import Path

import pytest
from demo.directory import DemoDirectory, NotADemoDirectory


def test_a_run_starts_in_an_empty_directory(tmp_path: Path) -> None:
    directory = DemoDirectory(tmp_path / "demo")
    directory.prepare()
    (directory.root / "old").touch()
    directory.prepare()
    assert not (directory.root / "old").exists()
    assert directory.logs.is_dir()


def test_git_does_not_see_it(tmp_path: Path) -> None:
    directory = DemoDirectory(tmp_path)
    directory.prepare()
    assert (tmp_path / ".gitignore").read_text() == "*\n"


def test_a_directory_with_other_files_is_not_cleared(tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").touch()
    with pytest.raises(NotADemoDirectory, match="was not made by the demo"):
        DemoDirectory(tmp_path).prepare()
    assert (tmp_path / "thesis.txt").exists()


def test_nothing_is_left_after_cleaning(tmp_path: Path) -> None:
    directory = DemoDirectory(tmp_path / "demo")
    directory.prepare()
    directory.clean()
    directory.clean()
    assert list(tmp_path.iterdir()) == []


def test_a_directory_in_use_is_not_cleared(tmp_path: Path) -> None:
    first, second = DemoDirectory(tmp_path), DemoDirectory(tmp_path)
    first.prepare()
    for attempt in (second.prepare, second.clean):
        with pytest.raises(NotADemoDirectory, match="a demo is running in"):
            attempt()
    assert first.logs.is_dir()


def test_the_files_of_the_last_run_are_kept_for_a_repair(tmp_path: Path) -> None:
    directory = DemoDirectory(tmp_path)
    with pytest.raises(NotADemoDirectory, match="has no finished run"):
        directory.reopen()
    directory.prepare()
    directory.recording.touch()
    directory.release()
    again = DemoDirectory(tmp_path)
    again.reopen()
    assert again.recording.exists()
    with pytest.raises(NotADemoDirectory, match="a demo is running in"):
        DemoDirectory(tmp_path).reopen()
