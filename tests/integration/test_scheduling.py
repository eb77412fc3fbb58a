"""Tests of one group run in one worker, and what takes long starts first."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.support import scheduling
from tests.support.scheduling import LONGEST, UNIT_TESTS_MAX, file_at, units_of

pytestmark = pytest.mark.ci

ROOT = Path(__file__).parents[2]
# In two parts, so that this file does not name a group itself.
GROUPED = """
import os
import pytest

pytestmark = pytest.mark.xdist{}("together")

@pytest.mark.parametrize("number", range(4))
def test_where(number):
    print("ran in", os.environ["PYTEST_XDIST_WORKER"])
""".format("_group")


CONFTEST = "from tests.conftest import pytest_xdist_make_scheduler\n"
QUICK = """
import os
import pytest

@pytest.mark.parametrize("number", range(40))
def test_number(number):
    if number == 17:
        os._exit(1)
"""


def run(directory: Path, *options: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "pytest", "--dist=loadgroup", "-rP", "--rootdir=.", *options, "."],
        cwd=directory,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )


def test_a_file_names_the_group_of_its_tests() -> None:
    assert file_at(ROOT / "tests" / "integration" / "test_apache_kafka.py").group == "apache-kafka"
    assert file_at(Path(__file__)).group is None
    assert file_at(ROOT / "nowhere.py").group is None


def test_what_takes_longest_comes_first_then_groups_slow_tests_and_neighbours(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scheduling, "LONGEST", ("spark", "test_e_slowest.py"))
    texts = {
        "test_a_quick.py": "",
        "test_b_slow.py": "pytest.mark.slow",
        "test_c_last.py": GROUPED,
        "test_d_first.py": GROUPED.replace("together", "spark"),
        "test_e_slowest.py": "pytest.mark.slow",
    }
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    tests = [f"{name}::test[{number}]" for name in texts for number in range(UNIT_TESTS_MAX + 1)]
    units = units_of(tests, tmp_path)
    slow, slowest = ([test for test in tests if test.startswith(f"test_{x}")] for x in "be")
    quick = ["test_a_quick.py 0", "test_a_quick.py 1"]
    assert list(units) == ["spark", *slowest, "together", *slow, *quick]
    assert len(units["spark"]) == UNIT_TESTS_MAX + 1
    assert len(units["test_a_quick.py 0"]) == UNIT_TESTS_MAX
    assert sorted(test for unit in units.values() for test in unit) == sorted(tests)


def test_a_parameter_names_the_group_of_a_test_unless_its_file_does(tmp_path: Path) -> None:
    (tmp_path / "test_neither.py").write_text("")
    (tmp_path / "test_grouped.py").write_text(GROUPED)
    (tmp_path / "test_slow.py").write_text("pytest.mark.slow")
    shared = ["test_neither.py::test[apache-kafka]", "test_neither.py::test[1-apache-kafka-x]"]
    others = ["test_neither.py::test[docs/apache-kafka.md]", "test_neither.py::test[ottla]"]
    slow, grouped = "test_slow.py::test[apache-kafka]", "test_grouped.py::test[apache-kafka]"
    units = units_of([*others, *shared, slow, grouped], tmp_path)
    assert units["apache-kafka"] == shared
    assert units["together"] == [grouped]
    assert units[slow] == [slow]
    assert units["test_neither.py 0"] == others


@pytest.mark.parametrize("name", LONGEST)
def test_what_takes_longest_exists(name: str) -> None:
    files = [file_at(path) for path in (ROOT / "tests").rglob("test_*.py")]
    assert name in {file.group for file in files} or file_at(ROOT / name).is_slow


@pytest.mark.parametrize("workers", [2, 3])
def test_every_test_runs_once_though_a_worker_dies(tmp_path: Path, workers: int) -> None:
    (tmp_path / "conftest.py").write_text(CONFTEST)
    (tmp_path / "test_quick.py").write_text(QUICK)
    done = run(tmp_path, f"-n{workers}")
    assert "1 failed, 39 passed" in done.stdout, done.stdout + done.stderr
    assert "crashed while running 'test_quick.py::test_number[17]'" in done.stdout


def test_grouped_tests_run_in_one_worker(tmp_path: Path) -> None:
    (tmp_path / "conftest.py").write_text(CONFTEST)
    for name in ("test_first.py", "test_second.py"):
        (tmp_path / name).write_text(GROUPED)
    done = run(tmp_path, "-n2")
    assert "8 passed" in done.stdout, done.stdout + done.stderr
    workers = {line for line in done.stdout.splitlines() if line.startswith("ran in")}
    assert len(workers) == 1


def test_a_test_that_never_ends_fails_and_the_next_one_runs(tmp_path: Path) -> None:
    (tmp_path / "conftest.py").write_text(
        "import tests.conftest\n"
        "tests.conftest.limit_s = lambda: 0.5\n"
        "from tests.conftest import pytest_runtest_call\n"
    )
    (tmp_path / "test_endless.py").write_text(
        "import time\n\n"
        "def test_endless():\n    while True:\n        time.sleep(0.01)\n\n"
        "def test_next(): ...\n"
    )
    done = run(tmp_path)
    assert "1 failed, 1 passed" in done.stdout, done.stdout + done.stderr
    assert "has not ended in 0.5 s" in done.stdout
