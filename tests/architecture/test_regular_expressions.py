"""Regular expressions stay away from what clients send.

Python's `re` backtracks: a pattern with two repetitions next to each other takes time that grows
with the square of the text, or doubles with each character, and the event loop waits for it. In the
broker texts are read with methods of `str`, and patterns from outside by `ottla.base.patterns`.
"""

from __future__ import annotations

import ast
import importlib
import re
from re import _constants as constants  # type: ignore[attr-defined]
from re import _parser as parser  # type: ignore[attr-defined]
from typing import Any

import pytest
from tests.architecture.sources import FILES, SOURCE, folder_of, imported_modules, name_of, tree_of

pytestmark = pytest.mark.xdist_group("architecture")

BROKER = {
    "base", "broker", "config", "controller", "coordinators", "handlers", "metadata", "network",
    "protocol", "replication", "security", "storage",
}  # fmt: skip
# Modules that may import `re`, and why. Their patterns are constants, checked below.
ALLOWED = {
    "metadata/journal.py": "names of files",
    "protocol/primitives.py": "three bytes that stand for half a surrogate pair",
    "storage/files/file_names.py": "names of files",
}
ENGINES = {"re", "re2", "regex", "fnmatch", "glob", "sre_parse"}
RE2_MODULE = "base/patterns.py"
WIDTH_MAX = 1000


def engines_used() -> dict[str, set[str]]:
    used = {}
    for path in FILES:
        engines = {name.split(".")[0] for name in imported_modules(path)} & ENGINES
        if folder_of(path) in BROKER and engines:
            used[name_of(path)] = engines
    return used


def test_only_listed_modules_of_the_broker_use_regular_expressions() -> None:
    expected = {name: {"re"} for name in ALLOWED} | {RE2_MODULE: {"re2"}}
    assert engines_used() == expected


@pytest.mark.parametrize("name", ALLOWED)
def test_patterns_in_the_broker_are_constants_of_their_module(name: str) -> None:
    tree = tree_of(SOURCE / name)
    at_top = {id(node.value) for node in tree.body if isinstance(node, ast.Assign)}
    for call in ast.walk(tree):
        if isinstance(call, ast.Call) and ast.unparse(call.func).startswith("re."):
            assert ast.unparse(call.func) == "re.compile"
            assert id(call) in at_top, f"{name}: {ast.unparse(call)}"


@pytest.mark.parametrize("name", ALLOWED)
def test_patterns_in_the_broker_take_bounded_time_for_each_place_in_the_text(name: str) -> None:
    module = importlib.import_module(f"ottla.{name.removesuffix('.py').replace('/', '.')}")
    patterns = [value for value in vars(module).values() if isinstance(value, re.Pattern)]
    assert patterns
    for pattern in patterns:
        assert is_bounded(pattern.pattern, pattern.flags), f"{name}: {pattern.pattern!r}"


@pytest.mark.parametrize(
    "pattern", [r"\s*,\s*", "[0-9]+x", "(a|b*)c", "(?:a{1,9}){1,9}", "a{1,1001}", "(?:a{2})+"]
)
def test_repetitions_without_an_end_or_in_each_other_are_not_bounded(pattern: str) -> None:
    assert not is_bounded(pattern, 0)


def is_bounded(pattern: str | bytes, flags: int) -> bool:
    """A match looks at few characters, and no repetition is inside another."""
    # The flag that Python adds to a pattern of text cannot be given for one of bytes.
    parsed = parser.parse(pattern, flags & ~re.UNICODE if isinstance(pattern, bytes) else flags)
    return parsed.getwidth()[1] <= WIDTH_MAX and repetition_depth(parsed) <= 1


def repetition_depth(parsed: Any) -> int:
    """How many repetitions are inside each other; what is optional repeats nothing."""
    deepest = 0
    for kind, content in parsed:
        below = max((repetition_depth(each) for each in parts_of(content)), default=0)
        repeats = (constants.MAX_REPEAT, constants.MIN_REPEAT, constants.POSSESSIVE_REPEAT)
        deepest = max(deepest, below + (kind in repeats and content[1] > 1))
    return deepest


def parts_of(content: Any) -> list[Any]:
    """The patterns inside a part of a pattern."""
    if isinstance(content, parser.SubPattern):
        return [content]
    if isinstance(content, list | tuple):
        return [part for each in content for part in parts_of(each)]
    return []
