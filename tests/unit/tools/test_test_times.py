"""Times of a test run: recorded by the plugin, summed up by the tool."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from tools.test_times import Cost, costs, folder_of, program_of, read, report

ROOT = Path(__file__).parents[3]
TESTS = """
import subprocess
import sys
import time
import pytest

def spend(seconds):
    end = time.process_time() + seconds
    while time.process_time() < end:
        pass

@pytest.fixture(scope="module")
def costly():
    spend(0.2)

def test_own(costly):
    spend(0.1)

def test_started():
    program = "import time\\nwhile time.process_time() < 0.3: pass"
    subprocess.run([sys.executable, "-c", program], check=True)

def test_waiting():
    time.sleep(0.3)
"""


@pytest.mark.parametrize("options", [(), ("-n2",)], ids=["one process", "workers"])
def test_cpu_time_is_counted_where_it_was_used(tmp_path: Path, options: tuple[str, ...]) -> None:
    (tmp_path / "test_some.py").write_text(TESTS)
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "tests.support.recorded_times", "--test-times=times",
         "--rootdir=.", *options, "test_some.py"],
        cwd=tmp_path, env=os.environ | {"PYTHONPATH": str(ROOT)}, capture_output=True, text=True,
        check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    names = {path.stem for path in (tmp_path / "times").iterdir()}
    assert names == ({"main", "gw0", "gw1"} if options else {"main"})
    lines = read(tmp_path / "times")
    found = costs(lines, "test", lambda name: name.partition("::")[2])
    assert found["test_own"].own_s >= 0.3
    assert found["test_started"].started_s >= 0.25  # a tick may be missing
    assert found["test_started"].own_s < 0.25
    assert found["test_waiting"].waiting_s >= 0.2
    assert costs(lines, "fixture")["test_some.py::costly"].own_s >= 0.2
    text = "\n".join(report(lines, depth=1, rows=3))
    assert "     1  Python program" in text
    assert "test_some.py::costly" in text


def test_costs_are_added_by_folder() -> None:
    lines = [
        {"kind": "test", "name": f"{path}::test", "cpu_s": 1.0, "started_s": 2.0, "wall_s": 4.0}
        for path in ("a/b/c/test_1.py", "a/b/d/test_2.py", "a/e/test_3.py")
    ]
    found = costs(lines, "test", lambda name: folder_of(name, 2))
    assert found == {"a/b": Cost(2, 2.0, 4.0, 8.0), "a/e": Cost(1, 1.0, 2.0, 4.0)}
    assert (found["a/b"].cpu_s, found["a/b"].waiting_s) == (6.0, 2.0)


def test_programs_are_named_by_what_they_run() -> None:
    assert program_of(["java", "-cp", "x", "interop.KafkaNode"]) == "Apache Kafka node"
    assert program_of([sys.executable, "-m", "ottla.cli.main", "up"]) == "Ottla broker"
    assert program_of(["initdb", "-D", "x"]) == "initdb"
