"""Tries mutants, one forked child for each: pytest has collected everything once, before the fork.

Owns      the pytest plugin that runs mutants instead of tests, and how a child is watched.
Promises  each mutant meets the tests that run its lines, until one fails. A test that takes much
          longer than it should ends its child. Children are ended with all that they started.
Leaves    which mutants to `__main__.py`, which gives them as a file (`TASKS`).

A function is exchanged in the imported modules; what runs at import is tried in a new process.
"""

from __future__ import annotations

import faulthandler
import json
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import pytest
from tools.mutants.mutant import MODULE, Mutant
from tools.mutants.results import Outcome, Result, Results
from tools.mutants.swapping import import_changed, swap
from tools.mutants.tested_lines import TestedLines, read_tested_lines

TASKS = "MUTANTS_TASKS"  # a file with a `Tasks`
ONE = "MUTANTS_ONE"  # a file with a `Fresh`: one mutant, tried in this process from its imports on

# How children exit; that of a test which does not end is what `faulthandler` exits with.
ALIVE, TIMED_OUT, FOUND, NOT_SWAPPED, BROKEN = 0, 1, 10, 12, 13
START_S = float(os.environ.get("MUTANTS_START_S", "10"))  # that any test is given
FRESH_START_S = 60.0  # for a new process, with its imports
SLOWER = 20  # a busy machine, and a mutant that does more work than the original
MEMORY_BYTES = 4 << 30
STDERR = 2


@dataclass(frozen=True)
class Task:
    mutant: Mutant
    source_digest: str


@dataclass(frozen=True)
class Tasks:
    tasks: list[Task]
    tests_digest: str
    tested_lines: str
    results: str
    test_folders: list[str]

    def write(self, path: Path) -> None:
        path.write_text(json.dumps(asdict(self)))

    @classmethod
    def read(cls, path: Path) -> Tasks:
        stored = json.loads(path.read_text())
        stored["tasks"] = [
            Task(mutant_of(each["mutant"]), each["source_digest"]) for each in stored["tasks"]
        ]
        return cls(**stored)


def mutant_of(stored: dict[str, Any]) -> Mutant:
    fields: dict[str, Any] = {
        name: tuple(value) if isinstance(value, list) else value for name, value in stored.items()
    }
    return Mutant(**fields)


def tests_for(mutant: Mutant, tested: TestedLines) -> list[str]:
    """The tests that might notice, quick ones first.

    What a module makes when it is imported is used by itself and by those that import it.
    """
    if is_for_import(mutant, tested):
        used = [mutant.path, *importers(mutant.path, tested.tests)]
        return tested.slowest_last(tested.tests_of_files(used))
    lines = mutant.function_lines if mutant.is_default else mutant.lines
    return tested.slowest_last(tested.tests_of(mutant.path, *lines))


def importers(path: str, others: Iterable[str]) -> list[str]:
    """Those of the files that name the module of `path` where they import."""
    module = path.removeprefix("src/").removesuffix(".py").removesuffix("/__init__")
    package, _, name = module.replace("/", ".").rpartition(".")
    direct = re.compile(
        rf"^\s*(from|import) {re.escape(package)}\.{name}\b"
        rf"|^\s*from {re.escape(package)} import (\([^)]*|[^\n]*)\b{name}\b",
        re.MULTILINE,
    )
    return [each for each in others if each != path and direct.search(Path(each).read_text())]


def is_for_import(mutant: Mutant, tested: TestedLines) -> bool:
    """Whether its effect is over once the module is imported."""
    if mutant.function == MODULE:
        return True
    lines = mutant.function_lines
    return not mutant.is_default and tested.runs_at_import(mutant.path, *lines)


def limit_s(tests: Sequence[str], tested: TestedLines) -> float:
    return START_S + SLOWER * max((tested.durations_s[each] for each in tests), default=0.0)


def total_limit_s(tests: Sequence[str], tested: TestedLines) -> float:
    return FRESH_START_S + 3 * sum(limit_s([each], tested) - START_S for each in tests)


# In the child


def run_items(items: Sequence[pytest.Item], tested: TestedLines, progress: int) -> int:
    """Run tests until one fails; its name is written to the descriptor `progress`."""
    config = items[0].config
    failures: list[str] = []

    class Failures:
        def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
            if report.failed:
                failures.append(report.nodeid)

    config.pluginmanager.register(Failures())
    for at, item in enumerate(items):
        os.lseek(progress, 0, os.SEEK_SET)
        os.write(progress, f"{at + 1} {item.nodeid}\n".encode())
        # A thread of its own, since tests use SIGALRM themselves.
        limit = limit_s([item.nodeid], tested)
        faulthandler.dump_traceback_later(limit, exit=True, file=STDERR)
        following = items[at + 1] if at + 1 < len(items) else None
        item.ihook.pytest_runtest_protocol(item=item, nextitem=following)
        if failures:
            return FOUND
    return ALIVE


def prepare_child() -> None:
    os.setsid()  # so that all it starts can be ended with it
    silence = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, STDERR):
        os.dup2(silence, descriptor)
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


# In the parent


class MutantRun:
    """The plugin: instead of running its tests, a session tries mutants on them."""

    def __init__(self, tasks: Tasks, root: Path) -> None:
        self._tasks = tasks
        self._root = root
        self._tested = read_tested_lines(Path(tasks.tested_lines))
        self._results = Results(Path(tasks.results))

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        items = {item.nodeid: item for item in session.items}
        for task in self._tasks.tasks:
            result = self._try(task, items)
            self._results.add(result)
            print(f"{result.outcome:10} {result.seconds:6.1f} s  {task.mutant}", flush=True)
        return True

    def _try(self, task: Task, items: dict[str, pytest.Item]) -> Result:
        mutant = task.mutant
        began_s = time.monotonic()
        tests = [each for each in tests_for(mutant, self._tested) if each in items]
        outcome, test, count = Outcome.UNCOVERED, "", 0
        if tests:
            outcome, test, count = self._outcome(mutant, tests, items)
        return Result(
            mutant.key,
            outcome,
            task.source_digest,
            self._tasks.tests_digest,
            test,
            round(time.monotonic() - began_s, 2),
            count,
        )

    def _outcome(
        self, mutant: Mutant, tests: list[str], items: dict[str, pytest.Item]
    ) -> tuple[Outcome, str, int]:
        status = NOT_SWAPPED
        with open(self._notes, "w+b", buffering=0) as progress:
            if not is_for_import(mutant, self._tested):
                status = self._in_a_fork(mutant, [items[each] for each in tests], progress.fileno())
            if status == NOT_SWAPPED:
                status = self._in_a_new_process(mutant, tests)
            progress.seek(0)
            count, _, test = progress.read().decode().partition("\n")[0].partition(" ")
        outcomes = {ALIVE: Outcome.SURVIVED, FOUND: Outcome.FOUND, TIMED_OUT: Outcome.TIMED_OUT}
        outcome = outcomes.get(status, Outcome.BROKEN)
        return outcome, "" if outcome is Outcome.SURVIVED else test, int(count or 0)

    @property
    def _notes(self) -> str:
        return f"{self._tasks.results}.{os.getpid()}"

    def _in_a_fork(self, mutant: Mutant, items: list[pytest.Item], progress: int) -> int:
        child = os.fork()
        if child == 0:
            try:
                prepare_child()
                try:
                    swap(mutant, self._root)
                except LookupError:
                    os._exit(NOT_SWAPPED)
                os._exit(run_items(items, self._tested, progress))
            finally:
                os._exit(BROKEN)
        return wait_for(child, total_limit_s([each.nodeid for each in items], self._tested))

    def _in_a_new_process(self, mutant: Mutant, tests: list[str]) -> int:
        fresh = Path(f"{self._notes}.task")
        fresh.write_text(
            json.dumps({"mutant": asdict(mutant), "tests": tests, "progress": self._notes})
        )
        environment = {**os.environ, ONE: str(fresh), TASKS_FILE: os.environ[TASKS]}
        environment.pop(TASKS)
        child = subprocess.Popen(
            session_command(self._tasks.test_folders, __name__, Path(f"{self._notes}.fresh")),
            env=environment,
        )
        try:
            return wait_for(child.pid, total_limit_s(tests, self._tested))
        finally:
            child.returncode = 0  # it was waited for already
            fresh.unlink()

    def close(self) -> None:
        Path(self._notes).unlink(missing_ok=True)
        shutil.rmtree(f"{self._notes}.fresh", ignore_errors=True)


TASKS_FILE = "MUTANTS_TASKS_OF_PARENT"


class FreshRun:
    """The plugin of a new process: the module is imported changed, then its tests run."""

    def __init__(self, stored: dict[str, Any], tasks: Tasks) -> None:
        self._tests: list[str] = stored["tests"]
        self._progress = str(stored["progress"])
        self._tested = read_tested_lines(Path(tasks.tested_lines))

    @pytest.hookimpl(wrapper=True)
    def pytest_collection(self) -> object:
        try:
            return (yield)
        except BaseException:
            os._exit(BROKEN)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed:  # the changed module, or one that uses it, cannot be imported
            os._exit(BROKEN)

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        items = {item.nodeid: item for item in session.items}
        progress = os.open(self._progress, os.O_RDWR)
        chosen = [items[each] for each in self._tests if each in items]
        os._exit(run_items(chosen, self._tested, progress) if chosen else BROKEN)


def wait_for(child: int, seconds: float) -> int:
    """How a child ended; after `seconds` it is ended, with everything it started."""
    deadline_s = time.monotonic() + seconds
    pause_s = 0.001
    while True:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            _end_group(child)
            return os.waitstatus_to_exitcode(status)
        if time.monotonic() > deadline_s:
            _end_group(child)
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            return TIMED_OUT
        time.sleep(pause_s)
        pause_s = min(pause_s * 1.5, 0.05)


def _end_group(group: int) -> None:
    try:
        os.killpg(group, signal.SIGKILL)
    except ProcessLookupError:
        pass


def session_command(folders: Sequence[str], plugin: str, basetemp: Path) -> list[str]:
    return [
        *(sys.executable, "-m", "pytest", "-qq", "-s", "--no-header", "--no-summary"),
        *("-p", plugin, "-p", "no:cacheprovider", "-p", "no:faulthandler"),
        *("-o", "addopts=--import-mode=importlib", "-m", "not java"),
        *("--basetemp", str(basetemp), *folders),
    ]


@pytest.hookimpl(trylast=True)
def pytest_configure(config: pytest.Config) -> None:
    if TASKS not in os.environ and ONE not in os.environ:
        return
    _do_not_shrink()
    if ONE in os.environ:
        tasks = Tasks.read(Path(os.environ[TASKS_FILE]))
        config.pluginmanager.register(FreshRun(_the_one(), tasks), "mutants")
        return
    run = MutantRun(Tasks.read(Path(os.environ[TASKS])), config.rootpath)
    config.pluginmanager.register(run, "mutants")
    config.add_cleanup(run.close)


def _the_one() -> dict[str, Any]:
    stored: dict[str, Any] = json.loads(Path(os.environ[ONE]).read_text())
    return stored


def _do_not_shrink() -> None:
    """One failing example is enough; a smaller one would only take time."""
    from hypothesis import Phase, settings

    phases = (Phase.explicit, Phase.generate)
    settings.register_profile("mutants", settings.default, phases=phases)
    settings.load_profile("mutants")


if ONE in os.environ:
    # Plugins are imported before anything else: before other plugins import what is changed.
    prepare_child()
    import_changed(mutant_of(_the_one()["mutant"]), Path.cwd())
