"""Documents name what exists: links, modules and identifiers in code marks."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

import pytest
from tests.architecture.sources import ROOT, SOURCE, nodes_of

pytestmark = pytest.mark.xdist_group("architecture")

FOLDERS = "|".join(path.name for path in SOURCE.iterdir() if path.is_dir())
LINK = re.compile(r"\]\(([^)#]+?)(?:#[^)]*)?\)")
MODULE = re.compile(rf"`((?:{FOLDERS}|tests|tools|benchmarks|demo)/[\w/]+\.py)`")
DOCUMENTS = sorted(
    path
    for pattern in ("*.md", "docs/**/*.md", "demo/*.md", "benchmarks/*.md", "examples/*.md")
    for path in ROOT.glob(pattern)
)


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_what_a_document_names_exists(path: Path) -> None:
    text = path.read_text()
    links = [each for each in LINK.findall(text) if "://" not in each]
    assert [each for each in links if not (path.parent / each).exists()] == []
    modules = MODULE.findall(text)
    missing = [e for e in modules if not (SOURCE / e).exists() and not (ROOT / e).exists()]
    assert missing == []


# Identifiers and files in code marks: `Class`, `CONSTANT`, `some_function`, `Class.method`,
# `some_module.py`. A plain lower-case word may be a setting or a command.
IDENTIFIER = re.compile(r"`((?:[A-Z]\w*|\w+_\w+)(?:\.\w+)?)(?:\(\))?`")
INTERNALS = sorted(
    path
    for pattern in ("ARCHITECTURE.md", "docs/internals/*.md", "docs/decisions/*.md")
    for path in ROOT.glob(pattern)
)
# Of Java, Arrow and Spark, of the compiled decoder, and topics.
NOT_IN_OUR_PYTHON = {
    "None",
    "DataFrame",
    "String.hashCode",
    "binary_view",
    "read_record",
    "__consumer_offsets",
    "__transaction_state",
}


@cache
def members_by_name() -> dict[str, set[str]]:
    """What is defined in the source: each name, with the members of classes of that name."""
    defined: dict[str, set[str]] = {}
    for path in [*SOURCE.parent.rglob("*.py"), *(ROOT / "tools").rglob("*.py")]:
        nodes = nodes_of(path)
        for name in (path.stem, path.parent.name, *names_in(nodes)):
            defined.setdefault(name, set())
        for node in nodes:
            if isinstance(node, ast.ClassDef):
                defined[node.name].update(names_in(ast.walk(node)))
    return defined


def names_in(nodes: Iterable[ast.AST]) -> Iterator[str]:
    return (name for each in nodes for name in names_of(each))


def names_of(node: ast.AST) -> Iterator[str]:
    match node:
        case ast.ClassDef(name=name) | ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
            yield name
        case ast.Name(id=name, ctx=ast.Store()) | ast.Attribute(attr=name, ctx=ast.Store()):
            yield name
        case ast.arg(arg=name) | ast.alias(name=name):
            yield name


@pytest.mark.parametrize("path", INTERNALS, ids=lambda path: str(path.relative_to(ROOT)))
def test_an_identifier_in_a_document_is_defined_in_the_source(path: Path) -> None:
    missing, defined = [], members_by_name()
    for found in IDENTIFIER.findall(path.read_text()):
        name, _, member = found.partition(".")
        is_defined = name in defined and (member in ("", "py") or member in defined[name])
        if not is_defined and found not in NOT_IN_OUR_PYTHON:
            missing.append(found)
    assert missing == []
