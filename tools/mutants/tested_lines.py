"""Which tests run which lines: the tests of a part run once, with coverage by test.

Owns      the file of one such run, and the pytest plugin that makes it (`python -m pytest -p
          tools.mutants.tested_lines`).
Promises  tests that fail, or are skipped, are not in it: they can notice nothing.
Leaves    choosing among the tests to `worker.py`.
"""

from __future__ import annotations

import json
import os
from collections.abc import Generator, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import coverage
import pytest

TARGET = "MUTANTS_TESTED_LINES"  # the file to write
SOURCES = "MUTANTS_SOURCES"  # the folder whose lines count
AT_IMPORT = ""  # the "test" that runs what modules run when they are imported
SHARED = "shared fixture of "  # and the module whose tests share what it ran


@dataclass(frozen=True)
class TestedLines:
    __test__ = False

    durations_s: dict[str, float]  # by test
    tests: dict[str, dict[int, frozenset[str]]]  # by path below the root, and line

    def tests_of(self, path: str, first: int, last: int) -> set[str]:
        """Tests that run one of these lines, and were well."""
        lines = self.tests.get(path, {})
        found = (lines.get(line, frozenset()) for line in range(first, last + 1))
        return set().union(*found) & self.durations_s.keys()

    def tests_of_files(self, paths: Iterable[str]) -> set[str]:
        """Tests that run any line of these files, and were well."""
        lines = (self.tests.get(path, {}).values() for path in paths)
        found: set[str] = set().union(*(tests for each in lines for tests in each))
        return found & self.durations_s.keys()

    def runs_at_import(self, path: str, first: int, last: int) -> bool:
        lines = self.tests.get(path, {})
        return any(AT_IMPORT in lines.get(line, ()) for line in range(first, last + 1))

    def slowest_last(self, tests: set[str]) -> list[str]:
        return sorted(tests, key=lambda test: (self.durations_s[test], test))


def read_tested_lines(path: Path) -> TestedLines:
    stored = json.loads(path.read_text())
    names: list[str] = stored["names"]
    return TestedLines(
        stored["durations_s"],
        {
            file: {int(line): frozenset(names[at] for at in tests) for line, tests in lines.items()}
            for file, lines in stored["tests"].items()
        },
    )


# The plugin


class LineRecorder:
    def __init__(self, target: Path, sources: Path) -> None:
        self._target = target
        self._sources = sources.resolve()
        self._coverage = coverage.Coverage(
            data_file=None, config_file=False, source=[str(self._sources)], messages=False
        )
        self._coverage.start()
        self._durations_s: dict[str, float] = {}
        self._unwell: set[str] = set()
        self._contexts = [AT_IMPORT]

    @contextmanager
    def _context(self, name: str) -> Iterator[None]:
        self._contexts.append(name)
        self._coverage.switch_context(name)
        try:
            yield
        finally:
            self._contexts.pop()
            self._coverage.switch_context(self._contexts[-1])

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        with self._context(item.nodeid):
            return (yield)

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(
        self, fixturedef: pytest.FixtureDef[object], request: pytest.FixtureRequest
    ) -> Generator[None, object, object]:
        """What a fixture of several tests runs, the first of them runs for all: any may notice."""
        if fixturedef.scope == "function":
            return (yield)
        module = request.node.nodeid.partition("::")[0]
        with self._context(SHARED + module):
            return (yield)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        spent_s = self._durations_s.get(report.nodeid, 0.0)
        self._durations_s[report.nodeid] = spent_s + report.duration
        if not report.passed:
            self._unwell.add(report.nodeid)

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        self._coverage.stop()
        data = self._coverage.get_data()
        names: dict[str, int] = {}
        tests = {
            str(Path(file).relative_to(session.config.rootpath)): {
                line: [names.setdefault(each, len(names)) for each in self._tests_in(contexts)]
                for line, contexts in data.contexts_by_lineno(file).items()
            }
            for file in data.measured_files()
        }
        durations_s = {k: v for k, v in self._durations_s.items() if k not in self._unwell}
        stored = {"durations_s": durations_s, "names": list(names), "tests": tests}
        self._target.write_text(json.dumps(stored))

    def _tests_in(self, contexts: Iterable[str]) -> set[str]:
        found = set()
        for each in contexts:
            if each.startswith(SHARED):
                module = each.removeprefix(SHARED)  # empty for a fixture of the whole session
                found |= {test for test in self._durations_s if test.startswith(module)}
            else:
                found.add(each)
        return found


def pytest_configure(config: pytest.Config) -> None:
    # Only where it was asked for, so that importing this module changes nothing.
    if TARGET in os.environ:
        recorder = LineRecorder(Path(os.environ[TARGET]), Path(os.environ[SOURCES]))
        config.pluginmanager.register(recorder, "tested-lines")
