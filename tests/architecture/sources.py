"""The modules of the source, parsed once for all rules."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "ottla"
FILES = sorted(SOURCE.rglob("*.py"))


@cache
def tree_of(path: Path) -> ast.Module:
    """`conftest.py` clears the cache after the last test of this folder."""
    return ast.parse(path.read_text())


@cache
def nodes_of(path: Path) -> tuple[ast.AST, ...]:
    """All nodes of a module. Most rules look at all of them."""
    return tuple(ast.walk(tree_of(path)))


def name_of(path: Path) -> str:
    return path.relative_to(SOURCE).as_posix()


def folder_of(path: Path) -> str:
    parts = path.relative_to(SOURCE).parts
    return parts[0] if len(parts) > 1 else ""


def by_folder(paths: Iterable[Path]) -> dict[str, list[Path]]:
    """For tests that check the modules of one folder after another."""
    found: dict[str, list[Path]] = {}
    for path in paths:
        found.setdefault(folder_of(path), []).append(path)
    return found


@cache
def imported_modules(path: Path) -> tuple[str, ...]:
    return tuple(_imports_of(path))


def _imports_of(path: Path) -> Iterator[str]:
    for node in nodes_of(path):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            yield node.module or ""
