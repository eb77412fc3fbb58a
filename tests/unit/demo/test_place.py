"""The directory of the story is emptied, and no other one."""

from pathlib import Path

import pytest
from demo.place import NotADemoDirectory, Place


def test_a_story_begins_in_an_empty_directory(tmp_path: Path) -> None:
    place = Place(tmp_path / "demo")
    place.prepare()
    (place.root / "old").touch()
    place.prepare()
    assert not (place.root / "old").exists()
    assert place.checkpoints.is_dir()


def test_git_does_not_see_it(tmp_path: Path) -> None:
    place = Place(tmp_path)
    place.prepare()
    assert (tmp_path / ".gitignore").read_text() == "*\n"


def test_a_directory_with_other_things_in_it_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").touch()
    with pytest.raises(NotADemoDirectory, match="was not made by the demo"):
        Place(tmp_path).prepare()
    assert (tmp_path / "thesis.txt").exists()


def test_nothing_is_left_after_cleaning(tmp_path: Path) -> None:
    place = Place(tmp_path / "demo")
    place.prepare()
    place.clean()
    place.clean()
    assert list(tmp_path.iterdir()) == []


def test_a_directory_in_which_a_story_is_told_is_left_alone(tmp_path: Path) -> None:
    first, second = Place(tmp_path), Place(tmp_path)
    first.prepare()
    for attempt in (second.prepare, second.clean):
        with pytest.raises(NotADemoDirectory, match="a demo is running in"):
            attempt()
    assert first.checkpoints.is_dir()
