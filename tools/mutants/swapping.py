"""Puts a mutant into modules that are already imported, or into those that are still to be.

Owns      the exchange of code objects: a function that is known in many places is changed in all
          of them at once, since they all hold the same object.
Promises  LookupError where that cannot be done, before anything is changed.
Leaves    deciding which of the two ways fits to `worker.py`.
"""

from __future__ import annotations

import ast
import gc
import sys
from collections.abc import Iterator, Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from pathlib import Path
from types import CodeType, FunctionType, ModuleType

from tools.mutants.mutant import MODULE, Mutant, mutated_tree


def swap(mutant: Mutant, root: Path) -> None:
    """Change the function in this process. The module must have been imported."""
    if mutant.function == MODULE:
        raise LookupError("not in a function")
    path = (root / mutant.path).resolve()
    tree = mutated_tree(path.read_text(), mutant)
    functions = list(_functions(path, mutant.function))
    if not functions:
        raise LookupError(f"{mutant.path} is not imported")
    module = compile(tree, str(path), "exec", dont_inherit=True)
    code = _code_named(module, mutant.function, functions[0].__code__.co_firstlineno)
    if any(each.__code__.co_freevars != code.co_freevars for each in functions):
        raise LookupError("it closes over other variables")
    defaults = _defaults(tree, mutant, functions[0]) if mutant.is_default else None
    for function in functions:
        function.__code__ = code
        if defaults is not None:
            function.__defaults__, function.__kwdefaults__ = defaults


def _functions(path: Path, name: str) -> Iterator[FunctionType]:
    gc.unfreeze()  # frozen objects, as after a collection of tests, are not listed
    for each in gc.get_objects():
        if type(each) is FunctionType:
            code = each.__code__
            if code.co_qualname == name and Path(code.co_filename).resolve() == path:
                yield each


def _code_named(module: CodeType, name: str, first_line: int) -> CodeType:
    for each in _codes(module):
        if each.co_qualname == name and each.co_firstlineno == first_line:
            return each
    raise LookupError(f"no {name} in line {first_line}")


def _codes(code: CodeType) -> Iterator[CodeType]:
    for each in code.co_consts:
        if isinstance(each, CodeType):
            yield each
            yield from _codes(each)


Defaults = tuple[tuple[object, ...] | None, dict[str, object] | None]


def _defaults(tree: ast.Module, mutant: Mutant, function: FunctionType) -> Defaults:
    """As the changed source gives them, evaluated where the function was made."""
    node = _node_named(tree, mutant.function)
    names = function.__globals__

    def value(expression: ast.expr) -> object:
        code = compile(ast.Expression(expression), mutant.path, "eval")
        try:
            return eval(code, names)
        except NameError as error:  # a name of the class around it
            raise LookupError(str(error)) from error

    keywords = zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True)
    return (
        tuple(value(each) for each in node.args.defaults) or None,
        {name.arg: value(each) for name, each in keywords if each is not None} or None,
    )


def _node_named(tree: ast.Module, name: str) -> ast.FunctionDef | ast.AsyncFunctionDef:
    body: list[ast.stmt] = tree.body
    for part in name.split("."):
        found = [
            each
            for each in body
            if isinstance(each, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
            and each.name == part
        ]
        if not found:
            raise LookupError(name)
        body, node = found[-1].body, found[-1]
    if isinstance(node, ast.ClassDef):
        raise LookupError(name)
    return node


# Modules that are still to be imported


class MutantLoader(SourceFileLoader):
    def __init__(self, name: str, path: str, tree: ast.Module) -> None:
        super().__init__(name, path)
        self._tree = tree

    def exec_module(self, module: ModuleType) -> None:
        exec(compile(self._tree, self.path, "exec", dont_inherit=True), module.__dict__)


class MutantFinder(MetaPathFinder):
    """Imports one file changed, and leaves all others to the finders that follow."""

    def __init__(self, mutant: Mutant, root: Path) -> None:
        self._path = (root / mutant.path).resolve()
        self._tree = mutated_tree(self._path.read_text(), mutant)

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, _target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname.rpartition(".")[2] not in (self._path.stem, self._path.parent.name):
            return None
        spec = PathFinder.find_spec(fullname, path)
        if spec is None or spec.origin is None or Path(spec.origin).resolve() != self._path:
            return None
        spec.loader = MutantLoader(fullname, str(self._path), self._tree)
        return spec


def import_changed(mutant: Mutant, root: Path) -> None:
    """From now on the mutant's file is imported with its change."""
    sys.meta_path.insert(0, MutantFinder(mutant, root))
