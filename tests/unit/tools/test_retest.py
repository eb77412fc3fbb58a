"""A second try is for a few failed tests, and for nothing else."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tools.retest import FEW, failed_tests, status_of_run, trouble


def test_a_few_failed_tests_are_tried_again(tmp_path: Path) -> None:
    (tmp_path / "lastfailed").write_text(json.dumps({"tests/b.py::two": True, "a.py::one": True}))
    tests = failed_tests(tmp_path / "lastfailed")
    assert tests == ["a.py::one", "tests/b.py::two"]
    assert trouble("1", tests) is None


@pytest.mark.parametrize(
    ("status", "tests", "reason"),
    [
        ("1", [], "did not say"),
        ("1", ["tests/broken.py"], "cannot be loaded: tests/broken.py"),
        ("1", [f"t.py::{number}" for number in range(FEW + 1)], "6 tests failed"),
        ("3", ["t.py::one"], "did not come to its end"),
        ("unknown", ["t.py::one"], "did not come to its end"),
    ],
)
def test_everything_else_has_failed(status: str, tests: list[str], reason: str) -> None:
    assert reason in str(trouble(status, tests))


def test_a_run_that_left_nothing_has_failed(tmp_path: Path) -> None:
    assert failed_tests(tmp_path / "lastfailed") == []
    assert status_of_run(tmp_path / "status") == "unknown"
