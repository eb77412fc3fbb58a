"""Test files that a run need not import, because it leaves out all of their tests.

`make test` runs `-m 'not java and not ci'`. Of a file whose tests all have one of these marks, it
would deselect every test, after each worker has imported the file and collected them.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

_EXCLUDING = re.compile(r"not \w+(?: and not \w+)*")
_MARKS_OF_FILE = re.compile(r"^pytestmark = (\[[^]]*\]|.*)", re.MULTILINE)
_MARK = re.compile(r"pytest\.mark\.(\w+)")


def is_left_out(path: Path, mark_expression: str) -> bool:
    """Whether the expression excludes a mark that all tests of the file have."""
    return path.suffix == ".py" and not marks_of_all(path).isdisjoint(excluded(mark_expression))


@cache
def excluded(mark_expression: str) -> frozenset[str]:
    """The marks that exclude a test, whatever others it has; none if the expression is another."""
    if _EXCLUDING.fullmatch(mark_expression) is None:
        return frozenset()
    return frozenset(mark_expression.split()) - {"not", "and"}


def marks_of_all(path: Path) -> frozenset[str]:
    """Those that a test file gives all of its tests, as its text says."""
    found = _MARKS_OF_FILE.search(path.read_text())
    return frozenset(_MARK.findall(found.group(1))) if found else frozenset()
