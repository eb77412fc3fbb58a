"""Test files that a run need not import, because it leaves out all of their tests."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.support.left_out_files import is_left_out

ORDINARY = "not java and not ci"


@pytest.mark.parametrize(
    "marks",
    [
        "pytest.mark.java",
        'pytest.mark.ci, pytest.mark.xdist_group("a")',
        '[pytest.mark.slow, pytest.mark.xdist_group("a"), pytest.mark.ci]',
        '[\n    pytest.mark.xdist_group("a"),\n    pytest.mark.java,\n]',
    ],
)
def test_a_file_with_an_excluded_mark_is_left_out(marks: str, tmp_path: Path) -> None:
    path = tmp_path / "test_it.py"
    path.write_text(f"import pytest\n\npytestmark = {marks}\n\ndef test_it(): ...\n")
    assert is_left_out(path, ORDINARY)
    assert not is_left_out(path, "java or ci")
    assert not is_left_out(path, "")
    assert not is_left_out(path, "not fast")


@pytest.mark.parametrize(
    "text",
    [
        "@pytest.mark.java\ndef test_it(): ...\n",
        "pytestmark = pytest.mark.slow\n\n@pytest.mark.ci\ndef test_it(): ...\n",
        "pytestmark = [\n    pytest.mark.slow,\n]\nJAVA = [pytest.mark.java]\n",
        "class TestIt:\n    pytestmark = pytest.mark.java\n",
    ],
)
def test_marks_of_single_tests_leave_no_file_out(text: str, tmp_path: Path) -> None:
    path = tmp_path / "test_it.py"
    path.write_text(text)
    assert not is_left_out(path, ORDINARY)
