"""Finds the mutants of a file, names them, and makes the changed tree of one.

Owns      the walk over a module, and the name of a mutant: where it is and what it changes, without
          line numbers, so that it stays the same while the file around it is edited.
Promises  the same source has the same mutants in the same order; a sample of a seed is the same
          however many other mutants there are, and a larger sample contains the smaller one.
Leaves    what may be changed to `operators.py`, running tests to `worker.py`.
"""

from __future__ import annotations

import ast
import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from tools.mutants.operators import OPERATORS, Surroundings, is_for_people

FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef
MODULE = "<module>"
TEXT_MAX = 100


@dataclass(frozen=True)
class Mutant:
    path: str  # below the root of the repository
    function: str  # qualified name of the outermost function, or MODULE
    operator: str
    change: str  # "before -> after"
    number: int  # among those that are the same in all of the above
    lines: tuple[int, int]  # first and last line of the statement that is changed
    function_lines: tuple[int, int]
    is_default: bool  # changes how the function is called, not what it does

    @property
    def key(self) -> str:
        return "::".join((self.path, self.function, self.operator, self.change, str(self.number)))

    def __str__(self) -> str:
        return f"{self.path}:{self.lines[0]} {self.function} [{self.operator}] {self.change}"


@dataclass
class _Site:
    """A place in a tree: `parent.field`, or `parent.field[at]`."""

    parent: ast.AST
    field: str
    at: int | None
    node: ast.AST

    def put(self, node: ast.AST) -> None:
        if self.at is None:
            setattr(self.parent, self.field, node)
        else:
            getattr(self.parent, self.field)[self.at] = node


@dataclass
class _Scope:
    """The outermost function that a node is in, and the class path before it."""

    name: str
    function: FunctionNode | None
    around: Surroundings
    statement: ast.AST | None = None
    is_default: bool = False


def find_mutants(path: Path, root: Path) -> list[Mutant]:
    """All mutants of a file."""
    return [mutant for mutant, _ in _all_changes(path.read_text(), str(path.relative_to(root)))]


def mutated_tree(source: str, mutant: Mutant) -> ast.Module:
    """The tree of the file with the one change; LookupError where the source no longer has it."""
    for found, (tree, site, replacement) in _all_changes(source, mutant.path):
        if found.key == mutant.key:
            site.put(_placed(replacement, site.node))
            return tree
    raise LookupError(mutant.key)


def sample(mutants: Iterable[Mutant], count: int | None, seed: int) -> list[Mutant]:
    """The `count` mutants that the seed puts first; all of them without a count."""

    def rank(mutant: Mutant) -> bytes:
        return hashlib.sha256(f"{seed} {mutant.key}".encode()).digest()

    return sorted(mutants, key=rank)[:count]


Change = tuple[ast.Module, _Site, ast.AST]


def _all_changes(source: str, path: str) -> Iterator[tuple[Mutant, Change]]:
    tree = ast.parse(source)
    seen: Counter[tuple[str, str, str]] = Counter()
    top = _Scope(MODULE, None, Surroundings(attributes=_attributes_read(tree)))
    for site, scope in _sites(tree, top, ""):
        for name, operator in OPERATORS.items():
            for replacement in operator(site.node, scope.around):
                change = f"{_text(site.node)} -> {_text(replacement)}"
                kind = (scope.name, name, change)
                yield _mutant(path, site, scope, kind, seen[kind]), (tree, site, replacement)
                seen[kind] += 1


def _mutant(
    path: str, site: _Site, scope: _Scope, kind: tuple[str, str, str], number: int
) -> Mutant:
    statement = scope.statement or site.node
    function = scope.function
    return Mutant(
        path,
        *kind,
        number,
        _header_lines(statement, site.node),
        (0, 0) if function is None else (function.body[0].lineno, function.end_lineno or 0),
        scope.is_default,
    )


def _header_lines(statement: ast.AST, node: ast.AST) -> tuple[int, int]:
    """The lines that run when the changed code does; of a block only its head."""
    first = getattr(node, "lineno", 0) or getattr(statement, "lineno", 0)
    last = getattr(node, "end_lineno", first)
    body = getattr(node, "body", None)
    if isinstance(body, list) and body and isinstance(node, ast.stmt | ast.ExceptHandler):
        last = max(first, body[0].lineno - 1)
    return min(first, getattr(statement, "lineno", first)), last


def _sites(node: ast.AST, scope: _Scope, prefix: str) -> Iterator[tuple[_Site, _Scope]]:
    for name, value in ast.iter_fields(node):
        if name in ("annotation", "returns", "decorator_list", "type_params", "bases"):
            continue
        children = value if isinstance(value, list) else [value]
        for at, child in enumerate(children):
            if not isinstance(child, ast.AST) or is_for_people(child):
                continue
            yield from _child_sites(
                _Site(node, name, at if isinstance(value, list) else None, child), scope, prefix
            )


def _child_sites(site: _Site, scope: _Scope, prefix: str) -> Iterator[tuple[_Site, _Scope]]:
    child, inner = site.node, scope
    if isinstance(child, ast.ClassDef):
        prefix += f"{child.name}."
    elif isinstance(child, FunctionNode) and scope.function is None:
        inner = _Scope(prefix + child.name, child, _surroundings(child, scope.around))
    elif isinstance(child, ast.stmt):
        inner = _Scope(scope.name, scope.function, scope.around, child)
    elif isinstance(child, ast.arguments) and site.parent is scope.function:
        inner = _Scope(scope.name, scope.function, scope.around, child, is_default=True)
    yield site, inner
    yield from _sites(child, inner, prefix)


def _surroundings(function: FunctionNode, outer: Surroundings) -> Surroundings:
    args = function.args
    names = {each.arg for each in (*args.posonlyargs, *args.args, *args.kwonlyargs)}
    names |= {
        each.id
        for each in ast.walk(function)
        if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)
    }
    returns = "" if function.returns is None else ast.unparse(function.returns)
    return Surroundings(returns, frozenset(names), outer.attributes)


def _attributes_read(tree: ast.Module) -> Mapping[str, frozenset[str]]:
    found: dict[str, set[str]] = {}
    called = {id(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and id(node) not in called:
            found.setdefault(ast.unparse(node.value), set()).add(node.attr)
    return {name: frozenset(attributes) for name, attributes in found.items()}


def _text(node: ast.AST) -> str:
    """One line of source. Of a block its head."""
    if isinstance(node, ast.If):
        return f"if {ast.unparse(node.test)}:"
    text = ast.unparse(node).replace("\n", " ")
    return text if len(text) <= TEXT_MAX else text[: TEXT_MAX - 3] + "..."


def _placed(replacement: ast.AST, old: ast.AST) -> ast.AST:
    """With the position of what it replaces, so that lines in tracebacks stay right."""
    for node in ast.walk(replacement):
        if "lineno" in node._attributes and not hasattr(node, "lineno"):
            ast.copy_location(node, old)
    return ast.fix_missing_locations(replacement)
