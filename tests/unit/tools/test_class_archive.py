"""Class archives of JVMs: one is made when it is missing, and tests run without one."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.support import class_archive
from tests.support.class_archive import TrainingFailed, archive_of


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(class_archive, "FOLDER", tmp_path)
    monkeypatch.setattr(class_archive, "_java_version", lambda: "17")


def train(option: str) -> None:
    Path(option.partition("=")[2]).write_bytes(b"classes")


def fail(option: str) -> None:
    train(option)
    raise TrainingFailed("no worker")


def test_an_archive_is_made_once() -> None:
    assert archive_of("name", ["a.jar"], train).read_bytes() == b"classes"
    assert archive_of("name", ["a.jar"], fail).read_bytes() == b"classes"


def test_a_failed_training_leaves_no_archive_and_is_repeated_by_the_next() -> None:
    assert not archive_of("name", ["a.jar"], fail).exists()
    assert archive_of("name", ["a.jar"], train).read_bytes() == b"classes"
