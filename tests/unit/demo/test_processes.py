"""Nothing that a process started is left when it is killed."""

import subprocess
import sys
from pathlib import Path

import pytest
from demo.processes import Child, session_of
from tests.support.waiting import wait_until

PARENT = """
import subprocess, sys
subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
print("started", flush=True)
sys.stdin.read()
print("ended", flush=True)
"""


@pytest.fixture
def child(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Child:
    (tmp_path / "parent.py").write_text(PARENT)
    monkeypatch.setattr("demo.processes.PACKAGE_PARENT", tmp_path)
    child = Child("parent", [], tmp_path / "log")
    wait_until(lambda: child.said("started"), "the process and its child run")
    return child


def test_a_killed_process_takes_its_children_along(child: Child) -> None:
    assert len(session_of(child.pid)) == 2
    child.kill()
    wait_until(lambda: session_of(child.pid) == [], "both are gone")
    assert not child.said("ended")


def test_a_process_that_is_ended_may_finish_its_work(child: Child) -> None:
    assert child.end() == 0
    wait_until(lambda: session_of(child.pid) == [], "both are gone")
    assert child.said("ended")


def test_a_process_can_be_found_by_its_name(child: Child) -> None:
    name = Path(f"/proc/{child.pid}/comm").read_text().strip()
    assert child.find(name) in session_of(child.pid)
    assert child.find("java") is None
    child.kill()


def test_the_error_has_the_end_of_the_log(child: Child) -> None:
    child.end()
    assert child.last_words(1) == "ended"


def test_a_module_that_does_not_exist_says_so(tmp_path: Path) -> None:
    child = Child("demo.nothing", [], tmp_path / "log")
    wait_until(lambda: child.poll() is not None, "it has ended")
    child.kill()
    assert "No module named demo.nothing" in child.last_words()


def test_a_generator_ends_with_its_standard_input(tmp_path: Path) -> None:
    done = subprocess.run(
        [
            sys.executable, "-m", "demo.generator", "--bootstrap", "127.0.0.1:1",
            "--progress", str(tmp_path / "progress"), "--seconds", "60",
        ],
        stdin=subprocess.DEVNULL, cwd=Path(__file__).parents[3], timeout=300, check=False,
    )  # fmt: skip
    assert done.returncode == 1
