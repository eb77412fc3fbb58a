"""Where the time of a test run goes: CPU time and waiting of tests and fixtures.

    make test-times        # runs the tests with this plugin, then prints tables

Owns      `.cache/test-times/`: one file of JSON lines for each process that runs tests.
Promises  CPU time includes that of the processes that a test started, and counts for the test
          during which it was used; for tests shorter than `SHORT_S`, for the next longer one. What
          a process uses after its parent has ended is not known.
Leaves    sums and tables to `tools/test_times.py`.
"""

from __future__ import annotations

import json
import os
import resource
import shutil
import sys
import time
from collections import defaultdict
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

FOLDER = Path(__file__).parents[2] / ".cache" / "test-times"
MAIN = "main"  # the process that starts workers, or runs the tests itself
TICKS_A_SECOND = os.sysconf("SC_CLK_TCK")
SHORT_S = 0.05  # looking at all processes takes a few milliseconds


def started_s() -> float:
    """CPU time of all processes that this one started, and of those that they started."""
    ended = resource.getrusage(resource.RUSAGE_CHILDREN)
    return ended.ru_utime + ended.ru_stime + _running_s()


def _running_s() -> float:
    children: dict[int, list[tuple[int, float]]] = defaultdict(list)
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/stat", "rb") as file:
                fields = file.read().rpartition(b")")[2].split()
        except OSError:
            continue  # it has ended
        # Its own time, and that of its children for which it has waited.
        used_s = sum(map(int, fields[11:15])) / TICKS_A_SECOND
        children[int(fields[1])].append((int(pid), used_s))

    def below(pid: int) -> float:
        return sum(used_s + below(child) for child, used_s in children[pid])

    return below(os.getpid())


class Moment:
    """What the clocks show; the last look at other processes, if that is not long ago."""

    def __init__(self, last: Moment | None = None) -> None:
        self.wall_s = time.monotonic()
        self.cpu_s = time.process_time()
        is_recent = last is not None and self.wall_s - last.looked_s < SHORT_S
        self.looked_s: float = last.looked_s if last and is_recent else self.wall_s
        self.started_s: float = last.started_s if last and is_recent else started_s()


class Recorder:
    def __init__(self, path: Path) -> None:
        self._file = path.open("w", buffering=1 << 14)
        self._test = ""
        self._last = Moment()

    def _now(self) -> Moment:
        self._last = Moment(self._last)
        return self._last

    def _note(self, kind: str, name: str, began: Moment) -> None:
        now = self._now()
        self._write(
            kind=kind,
            name=name,
            began_s=round(began.wall_s, 4),
            wall_s=round(now.wall_s - began.wall_s, 5),
            cpu_s=round(now.cpu_s - began.cpu_s, 5),
            started_s=round(now.started_s - began.started_s, 3),
        )

    def _write(self, **line: Any) -> None:
        if not self._file.closed:
            self._file.write(json.dumps(line) + "\n")

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_collection(self) -> Generator[None, object, object]:
        began = self._now()
        result = yield
        self._note("collection", "", began)
        return result

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, object, object]:
        began = self._now()
        self._test = item.nodeid
        result = yield
        self._note("test", item.nodeid, began)
        return result

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_fixture_setup(self, fixturedef: Any) -> Generator[None, object, object]:
        began = self._now()
        try:
            return (yield)
        finally:
            self._note("fixture", f"{fixturedef.baseid}::{fixturedef.argname}", began)

    def audit(self, event: str, arguments: tuple[Any, ...]) -> None:
        if event == "subprocess.Popen":
            words = arguments[1] if isinstance(arguments[1], list | tuple) else [arguments[1]]
            self._write(kind="process", name=self._test, command=[*map(os.fsdecode, words)])

    def pytest_unconfigure(self) -> None:
        self._write(kind="end", name="", cpu_s=time.process_time(), started_s=started_s())
        self._file.close()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--test-times", type=Path, default=FOLDER, help="where times are recorded")


def pytest_configure(config: pytest.Config) -> None:
    folder = Path(config.getoption("--test-times"))
    # Not by the environment, which a run inside of a test inherits.
    worker = getattr(config, "workerinput", {"workerid": MAIN})["workerid"]
    if worker == MAIN:
        shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True, exist_ok=True)
    recorder = Recorder(folder / f"{worker}.jsonl")
    config.pluginmanager.register(recorder, "ottla-test-times")
    sys.addaudithook(recorder.audit)
