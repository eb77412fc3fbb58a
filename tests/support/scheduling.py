"""Which worker of pytest-xdist runs which tests, and in what order.

    xdist_group("...") in a file    all tests of the files that name the same group go to one worker
    pytest.mark.slow in a file      each of its tests is a unit of its own
    other files                     up to `UNIT_TESTS_MAX` neighbours are a unit; a test with a
                                    parameter of `PARAMETER_GROUPS` goes to the group of that name

What takes longest comes first (`LONGEST`), then other groups, other slow tests and the rest: at the
end only short units are left, so that all workers end at about the same time.

`--dist loadgroup` passes groups to its scheduler by changing test ids, and pytest 9.2 no longer
allows it: tests are then distributed silently, and every worker starts what one should start for
all. So the group is read from the file that a test id names, and from the parameters in the id:
the mark of a parameter is often in a conftest.py. And what xdist's scheduler does for a
report grows with the number of tests: with seventeen thousand it took more CPU time than many of
their folders. Here it is the same for each report.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from xdist.scheduler import LoadGroupScheduling  # type: ignore[import-untyped, unused-ignore]

UNIT_TESTS_MAX = 12
# Groups, and files of slow tests, by how long they take (`make test-times` shows it).
LONGEST = (
    "spark",
    "apache-kafka",
    "spark-examples",
    "chaos",
    "tests/integration/demo/test_whole_run.py",
    "examples",
    "tests/integration/spark/sink/test_crashes.py",
    "differential",
    "cluster-differential",
    "cluster-chaos",
    "command-line",
    "pytest-plugin",
    "cluster-command",
    "restarts",
    "tests/integration/client/test_leader_changes.py",
)
# Parameters of tests that share what the group of the same name shares.
PARAMETER_GROUPS = ("apache-kafka",)
# The ranks of what `LONGEST` does not name.
GROUPS, SLOW_TESTS, NEIGHBOURS = range(len(LONGEST), len(LONGEST) + 3)
_GROUP = re.compile(r"""pytest\.mark\.xdist_group\(["']([\w-]+)["']\)""")
_SLOW = re.compile(r"pytest\.mark\.slow\b")
_PARAMETER = re.compile(rf"[\[-]({'|'.join(PARAMETER_GROUPS)})[]-]")


class FileMarks(NamedTuple):
    """What the text of a test file says about its tests."""

    group: str | None
    is_slow: bool


@cache
def file_at(path: Path) -> FileMarks:
    try:
        text = path.read_text()
    except OSError:
        return FileMarks(None, False)
    found = _GROUP.search(text)
    return FileMarks(found.group(1) if found else None, bool(_SLOW.search(text)))


def units_of(test_ids: Iterable[str], root: Path) -> dict[str, list[str]]:
    """Units of work by name, in the order in which they should start."""
    units: dict[tuple[int, str], list[str]] = {}
    counts: dict[str, int] = {}
    for test_id in test_ids:
        path, _, _ = test_id.partition("::")
        file = file_at(root / path)
        group = _group_of(test_id, file)
        if group is not None:
            units.setdefault((_rank(group, GROUPS), group), []).append(test_id)
        elif file.is_slow:
            units[_rank(path, SLOW_TESTS), test_id] = [test_id]
        else:
            number = counts[path] = counts.get(path, -1) + 1
            name = f"{path} {number // UNIT_TESTS_MAX}"
            units.setdefault((NEIGHBOURS, name), []).append(test_id)
    ordered = sorted(units.items(), key=lambda unit: unit[0][0])
    return {name: tests for (_, name), tests in ordered}


def _group_of(test_id: str, file: FileMarks) -> str | None:
    """A slow test with such a parameter starts what it needs itself."""
    if file.group is not None or file.is_slow:
        return file.group
    found = _PARAMETER.search(test_id)
    return found.group(1) if found else None


def _rank(name: str, otherwise: int) -> int:
    return LONGEST.index(name) if name in LONGEST else otherwise


class GroupScheduling(LoadGroupScheduling):  # type: ignore[misc, unused-ignore]
    """xdist's own, but for how units are made and how it is known what is left of them."""

    def __init__(self, config: Any, log: Any = None) -> None:
        super().__init__(config, log)
        self._unit_of: dict[str, str] = {}
        self._position_of: dict[str, int] = {}

    def schedule(self) -> None:
        """Give every worker its first units; later, those that have few tests left their next."""
        if self.collection is None:
            self._make_units()
            for node in self.nodes[: len(self.workqueue)]:
                self._assign_work_unit(node)
        for node in self.nodes:
            self._reschedule(node)

    def _make_units(self) -> None:
        if not self._check_nodes_have_same_collection():
            return
        self.collection = list(next(iter(self.registered_collections.values())))
        self._position_of = {test: position for position, test in enumerate(self.collection)}
        for name, tests in units_of(self.collection, self.config.rootpath).items():
            self.workqueue[name] = dict.fromkeys(tests, False)
            self._unit_of.update(dict.fromkeys(tests, name))

    def mark_test_complete(self, node: Any, item_index: int, duration: float = 0) -> None:
        """A unit is forgotten with its last test, so that few are looked at for each report."""
        test = self.collection[item_index]
        unit = self._unit_of[test]
        tests = self.assigned_work[node][unit]
        tests[test] = True
        if all(tests.values()):
            del self.assigned_work[node][unit]
        self._reschedule(node)

    def remove_node(self, node: Any) -> str | None:
        """The test in which a worker died, if it did: not run again, it would end the next one."""
        units = self.assigned_work.pop(node)
        left = (test for tests in units.values() for test, is_done in tests.items() if not is_done)
        crashed: str | None = next(left, None)
        if crashed is not None:
            units[self._unit_of[crashed]][crashed] = True
            self.workqueue.update({n: each for n, each in units.items() if not all(each.values())})
            for other in self.nodes:
                self._reschedule(other)
        return crashed

    def _assign_work_unit(self, node: Any) -> None:
        name, tests = self.workqueue.popitem(last=False)
        self.assigned_work[node][name] = tests
        left = [self._position_of[test] for test, is_done in tests.items() if not is_done]
        node.send_runtest_some(left)
