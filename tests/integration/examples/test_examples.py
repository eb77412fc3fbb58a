"""Every program in `examples/` runs, and says what it should."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest
from tests.integration.cli.ottla_command import clean_environment

from ottla.testing.broker import RunningBroker

EXAMPLES = Path(__file__).parents[3] / "examples"
PROGRAMS = sorted(EXAMPLES.glob("*_orders.py"))
PATIENCE_S = 600

pytestmark = pytest.mark.xdist_group("examples")


def environment(broker: RunningBroker) -> dict[str, str]:
    """With the `ottla` command of this installation in reach."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}"
    return {**clean_environment(), "PATH": path, "OTTLA_BOOTSTRAP": broker.bootstrap_servers}


def run(words: list[str], broker: RunningBroker, variables: Mapping[str, str] | None = None) -> str:
    done = subprocess.run(
        words,
        env={**environment(broker), **(variables or {})},
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_every_example_is_run_by_a_test() -> None:
    files = {path for path in EXAMPLES.rglob("*.*") if "__pycache__" not in path.parts}
    here = {*PROGRAMS, EXAMPLES / "command_line.sh", *(EXAMPLES / "with_pytest").glob("*.py")}
    tests = "".join(path.read_text() for path in Path(__file__).parents[1].rglob("test_*.py"))
    assert [path for path in files - here if path.name not in tests] == []


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda path: path.stem)
def test_orders_are_written_and_read(program: Path) -> None:
    with RunningBroker(config={"num.partitions": "1"}) as broker:
        reported = run([sys.executable, str(program), broker.bootstrap_servers], broker)
    assert reported.splitlines() == [
        "order 1: tea (offset 0)",
        "order 2: coffee (offset 1)",
        "order 3: tea (offset 2)",
    ]


def test_the_walk_through_the_command_line() -> None:
    with RunningBroker() as broker:
        reported = run(["sh", str(EXAMPLES / "command_line.sh")], broker)
    lines = reported.splitlines()
    assert lines[0] == "created orders"
    assert sum('"key": "tea"' in line for line in lines) == 2
    assert sum(line == '{"id": 3}' for line in lines) == 1  # after the reset, not before
    assert "deleted orders-copy" in lines
    assert "health      good" in lines


def test_the_example_for_pytest() -> None:
    with RunningBroker() as broker:
        words = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-c", os.devnull]
        where = [f"--rootdir={EXAMPLES}/with_pytest", str(EXAMPLES / "with_pytest")]
        reported = run([*words, f"--kafka=external:{broker.bootstrap_servers}", *where], broker)
    assert "3 passed" in reported
