"""Tests of one group run in one worker, whatever pytest and xdist make of test ids."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tests.support.scheduling import group_of

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


def test_a_file_names_the_group_of_its_tests() -> None:
    assert group_of(ROOT / "tests" / "integration" / "test_apache_kafka.py") == "apache-kafka"
    assert group_of(Path(__file__)) is None
    assert group_of(ROOT / "nowhere.py") is None


def test_grouped_tests_run_in_one_worker(tmp_path: Path) -> None:
    conftest = "from tests.conftest import pytest_xdist_make_scheduler\n"
    (tmp_path / "conftest.py").write_text(conftest)
    for name in ("test_first.py", "test_second.py"):
        (tmp_path / name).write_text(GROUPED)
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-n2", "--dist=loadgroup", "-rP", "--rootdir=.", "."],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert "8 passed" in done.stdout, done.stdout + done.stderr
    workers = {line for line in done.stdout.splitlines() if line.startswith("ran in")}
    assert len(workers) == 1
