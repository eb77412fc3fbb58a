"""Which small faults a piece of code may have: one function per kind, from a node to replacements.

Owns      the list of operators. Each knows one kind of mistake that compiles and looks right.
Promises  nothing is replaced that only people read: messages, logging, annotations, assertions.
Leaves    finding the nodes, and putting the replacements in, to `mutant.py`.

The mistakes follow those that reviews and post-mortems of brokers name: an offset compared with the
wrong end, a guard left out, the neighbouring field of the same unit, a step forgotten.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

# Names that end in the same word have one unit, and are easily confused: first_offset, end_offset.
SAME_UNIT_MAX = 2


@dataclass(frozen=True)
class Surroundings:
    """What a replacement may need to know of the function around the node."""

    returns: str = ""  # its annotation
    names: frozenset[str] = frozenset()  # its arguments and locals
    # Attributes that the module reads, by the object they are read from.
    attributes: Mapping[str, frozenset[str]] = field(default_factory=dict)


Operator = Callable[[ast.AST, Surroundings], Iterator[ast.AST]]


BOUNDARIES: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
}


def compare_boundary(node: ast.AST, _around: Surroundings) -> Iterator[ast.AST]:
    """`<` for `<=` and back."""
    if not isinstance(node, ast.Compare):
        return
    for at, op in enumerate(node.ops):
        if type(op) in BOUNDARIES:
            ops = [*node.ops[:at], BOUNDARIES[type(op)](), *node.ops[at + 1 :]]
            yield ast.Compare(node.left, ops, node.comparators)


def negate(node: ast.AST, _around: Surroundings) -> Iterator[ast.AST]:
    """A condition that means the opposite."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        yield node.operand
    elif isinstance(node, ast.Compare) and len(node.ops) == 1:
        yield ast.UnaryOp(ast.Not(), node)


def condition(node: ast.AST, _around: Surroundings) -> Iterator[ast.AST]:
    """A guard that always or never holds."""
    if isinstance(node, ast.If) and not _is_for_type_checkers(node):
        for value in (True, False):
            yield ast.If(ast.Constant(value), node.body, node.orelse)
    elif isinstance(node, ast.IfExp):
        yield node.body
        yield node.orelse


def boolean(node: ast.AST, _around: Surroundings) -> Iterator[ast.AST]:
    """`and` for `or`, or one of the operands forgotten."""
    if not isinstance(node, ast.BoolOp):
        return
    yield ast.BoolOp(ast.Or() if isinstance(node.op, ast.And) else ast.And(), node.values)
    for at in range(len(node.values)):
        rest = node.values[:at] + node.values[at + 1 :]
        yield rest[0] if len(rest) == 1 else ast.BoolOp(node.op, rest)


ARITHMETIC: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.FloorDiv,
    ast.FloorDiv: ast.Mult,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
    ast.LShift: ast.RShift,
    ast.RShift: ast.LShift,
}


def arithmetic(node: ast.AST, _around: Surroundings) -> Iterator[ast.AST]:
    """The other operation, or only one of the operands."""
    if isinstance(node, ast.BinOp) and type(node.op) in ARITHMETIC and not _is_text(node):
        yield ast.BinOp(node.left, ARITHMETIC[type(node.op)](), node.right)
        if isinstance(node.op, ast.BitAnd | ast.Add | ast.Sub):
            yield node.left
    elif isinstance(node, ast.AugAssign) and type(node.op) in ARITHMETIC:
        yield ast.AugAssign(node.target, ARITHMETIC[type(node.op)](), node.value)


def constant(node: ast.AST, _around: Surroundings) -> Iterator[ast.AST]:
    """One more, one less, or the other truth."""
    if not isinstance(node, ast.Constant):
        return
    if isinstance(node.value, bool):
        yield ast.Constant(not node.value)
    elif isinstance(node.value, int):
        yield ast.Constant(node.value + 1)
        yield ast.Constant(node.value - 1)


def drop_statement(node: ast.AST, _around: Surroundings) -> Iterator[ast.AST]:
    """A step forgotten: a call, a stored value, a way out."""
    if isinstance(node, ast.Expr):
        if isinstance(node.value, ast.Call | ast.Await | ast.Yield | ast.YieldFrom):
            yield ast.Pass()
    elif isinstance(node, ast.Assign | ast.AnnAssign | ast.AugAssign):
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        is_stored = all(isinstance(each, ast.Attribute | ast.Subscript) for each in targets)
        if node.value is not None and (is_stored or isinstance(node, ast.AugAssign)):
            yield ast.Pass()
    elif isinstance(node, ast.Delete | ast.Raise | ast.Break | ast.Continue) or (
        isinstance(node, ast.Return) and node.value is None
    ):
        yield ast.Pass()


def returned(node: ast.AST, around: Surroundings) -> Iterator[ast.AST]:
    """A function that answers the same whatever happened."""
    if not isinstance(node, ast.Return) or node.value is None:
        return
    if around.returns == "bool":
        for value in (True, False):
            if not _is_constant(node.value, value):
                yield ast.Return(ast.Constant(value))
    elif around.returns in ("int", "Offset"):
        yield ast.Return(ast.Constant(0))
    elif not isinstance(node.value, ast.Constant):
        yield ast.Return(ast.Constant(None))


def swap_arguments(node: ast.AST, _around: Surroundings) -> Iterator[ast.AST]:
    """Two neighbours in the wrong order."""
    if not isinstance(node, ast.Call) or any(isinstance(each, ast.Starred) for each in node.args):
        return
    if _name_of(node.func) in ("min", "max"):
        return  # which do not mind
    for at in range(len(node.args) - 1):
        first, second = node.args[at : at + 2]
        if _is_plain(first) and _is_plain(second) and ast.dump(first) != ast.dump(second):
            args = [*node.args[:at], second, first, *node.args[at + 2 :]]
            yield ast.Call(node.func, args, node.keywords)


def drop_keyword(node: ast.AST, _around: Surroundings) -> Iterator[ast.AST]:
    """An argument by name forgotten, so that its default counts."""
    if isinstance(node, ast.Call):
        is_task = _name_of(node.func) in TASK_STARTERS  # whose names are for people
        for at, keyword in enumerate(node.keywords):
            if keyword.arg is not None and not (is_task and keyword.arg == "name"):
                rest = node.keywords[:at] + node.keywords[at + 1 :]
                yield ast.Call(node.func, node.args, rest)


OTHER_FUNCTIONS = {
    "min": "max",
    "max": "min",
    "any": "all",
    "all": "any",
    "popleft": "pop",
    "append": "appendleft",
    "bisect_left": "bisect_right",
    "bisect_right": "bisect_left",
}


def other_function(node: ast.AST, _around: Surroundings) -> Iterator[ast.AST]:
    """`min` for `max`, and the like; or one of the two compared alone."""
    if not isinstance(node, ast.Call):
        return
    name = _name_of(node.func)
    if name in OTHER_FUNCTIONS and not (name == "append" and not _is_queue(node.func)):
        yield ast.Call(_renamed(node.func, OTHER_FUNCTIONS[name]), node.args, node.keywords)
    if name in ("min", "max") and len(node.args) == 2 and not node.keywords:
        yield from node.args


def bounds(node: ast.AST, _around: Surroundings) -> Iterator[ast.AST]:
    """The other end of a list, or a slice without one of its ends."""
    if not isinstance(node, ast.Subscript):
        return
    where = node.slice
    if isinstance(where, ast.Slice):
        if where.lower is not None:
            yield ast.Subscript(node.value, ast.Slice(None, where.upper, where.step), node.ctx)
        if where.upper is not None:
            yield ast.Subscript(node.value, ast.Slice(where.lower, None, where.step), node.ctx)
    elif _is_constant(where, 0):
        yield ast.Subscript(node.value, ast.UnaryOp(ast.USub(), ast.Constant(1)), node.ctx)
    elif isinstance(where, ast.UnaryOp) and _is_constant(where.operand, 1):
        yield ast.Subscript(node.value, ast.Constant(0), node.ctx)


def same_unit(node: ast.AST, around: Surroundings) -> Iterator[ast.AST]:
    """The neighbouring field or variable of the same unit."""
    if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load):
        known = around.attributes.get(ast.unparse(node.value), frozenset())
        for name in _similar(node.attr, known):
            yield ast.Attribute(node.value, name, node.ctx)
    elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
        for name in _similar(node.id, around.names):
            yield ast.Name(name, node.ctx)


def handler(node: ast.AST, _around: Surroundings) -> Iterator[ast.AST]:
    """An error that is no longer dealt with here."""
    if isinstance(node, ast.ExceptHandler) and not (
        len(node.body) == 1 and isinstance(node.body[0], ast.Raise) and node.body[0].exc is None
    ):
        yield ast.ExceptHandler(node.type, node.name, [ast.Raise()])


OPERATORS: dict[str, Operator] = {
    each.__name__.replace("_", "-"): each
    for each in (
        compare_boundary,
        negate,
        condition,
        boolean,
        arithmetic,
        constant,
        drop_statement,
        returned,
        swap_arguments,
        drop_keyword,
        other_function,
        bounds,
        same_unit,
        handler,
    )
}


# What is not worth a mutant

TASK_STARTERS = {"create_task", "start"}
LOGGERS = {"log", "logger", "logging"}
LOG_LEVELS = {"debug", "info", "warning", "error", "exception", "critical"}


def is_for_people(node: ast.AST) -> bool:
    """Messages, logging and what type checkers read: tests need not depend on them. Nor may they
    depend on how long a pause is, or where long work yields to other tasks."""
    if isinstance(node, ast.JoinedStr | ast.Assert):
        return True
    if isinstance(node, ast.Call):
        return _name_of(node.func) == "sleep"
    if isinstance(node, ast.Expr):
        return (
            isinstance(node.value, ast.Constant)
            or _is_logging(node.value)
            or (isinstance(node.value, ast.Yield) and isinstance(node.value.value, ast.Constant))
        )
    if isinstance(node, ast.FunctionDef):
        return node.name in ("__repr__", "__str__")
    if isinstance(node, ast.Assign):
        return any(isinstance(each, ast.Name) and each.id == "__slots__" for each in node.targets)
    return isinstance(node, ast.If) and _is_for_type_checkers(node)


def _is_logging(node: ast.AST) -> bool:
    return (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr in LOG_LEVELS
        and isinstance(node.func.value, ast.Name)
        and node.func.value.id in LOGGERS
    )


def _is_for_type_checkers(node: ast.If) -> bool:
    return "TYPE_CHECKING" in ast.unparse(node.test)


# Small questions


def _is_text(node: ast.BinOp) -> bool:
    sides = (node.left, node.right)
    return any(
        isinstance(each, ast.JoinedStr)
        or (isinstance(each, ast.Constant) and isinstance(each.value, str | bytes))
        for each in sides
    )


def _is_constant(node: ast.AST, value: object) -> bool:
    return (
        isinstance(node, ast.Constant) and node.value == value and type(node.value) is type(value)
    )


def _is_plain(node: ast.AST) -> bool:
    return isinstance(node, ast.Name | ast.Attribute)


def _name_of(func: ast.AST) -> str:
    if isinstance(func, ast.Name):
        return func.id
    return func.attr if isinstance(func, ast.Attribute) else ""


def _renamed(func: ast.expr, name: str) -> ast.expr:
    if isinstance(func, ast.Attribute):
        return ast.Attribute(func.value, name, func.ctx)
    return ast.Name(name, ast.Load())


def _is_queue(func: ast.AST) -> bool:
    words = ("queue", "waiting", "waiters", "deque")
    return isinstance(func, ast.Attribute) and any(w in ast.unparse(func.value) for w in words)


def _similar(name: str, known: frozenset[str]) -> list[str]:
    """Names that end in the same word; the ones most similar first."""
    word = name.rpartition("_")[2]
    others = [each for each in known if each != name and each.rpartition("_")[2] == word]
    return sorted(others, key=lambda each: (-_common(each, name), each))[:SAME_UNIT_MAX]


def _common(one: str, other: str) -> int:
    return len(set(one.split("_")) & set(other.split("_")))
