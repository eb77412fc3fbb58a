"""A pipeline file, in YAML or Python, to a checked declaration.

A Python file assigns the result of `declare` to the name `pipelines`:

    from ottla.pipelines.declaration.loading import declare
    pipelines = declare(clusters={"main": "localhost:9092"}, pipelines={"orders_lake": {
        "from": {"topics": ["orders"]}, "to": {"lake": "./lake/orders"}}})

Promises  paths that are relative in a file are relative to the file.
"""

from __future__ import annotations

import runpy
import sys
import traceback
from dataclasses import replace
from pathlib import Path
from typing import Any

from ottla.pipelines.declaration.checking import find_problems
from ottla.pipelines.declaration.locations import absolute
from ottla.pipelines.declaration.nodes import Node
from ottla.pipelines.declaration.python_nodes import caller, python_node
from ottla.pipelines.declaration.section_reader import raise_problems, read_declaration
from ottla.pipelines.declaration.tree import Declaration, Lake
from ottla.pipelines.declaration.yaml_nodes import parse_yaml
from ottla.pipelines.errors import DeclarationError, reason_of

PYTHON_NAME = "pipelines"


def load(path: str) -> Declaration:
    """DeclarationError if the file cannot be read, or declares something that cannot be."""
    found = Path(path)
    if found.suffix == ".py":
        declared = _from_python(found)
    else:
        declared = checked(parse_yaml(_text_of(found), path), path)
    return with_absolute_paths(declared, found.resolve().parent)


def declare(**sections: Any) -> Declaration:
    """The keys of a pipeline file, with plain Python values."""
    location = caller(1)
    return checked(python_node(sections, location), location.file)


def checked(node: Node, file: str) -> Declaration:
    declared = read_declaration(node, file)
    raise_problems(find_problems(declared))
    return declared


def _text_of(path: Path) -> str:
    try:
        return path.read_text()
    except FileNotFoundError as error:
        raise DeclarationError(
            f"{path}: {error.strerror}: `ottla pipeline init {path}` makes a file to begin with"
        ) from None
    except OSError as error:
        raise DeclarationError(f"{path}: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise DeclarationError(f"{path}: this is no text in UTF-8: {error}") from None


def _from_python(path: Path) -> Declaration:
    """The file's directory comes first in the path of modules, as for a program. The functions of
    the file belong to a module of its name, under which a later run finds them."""
    _text_of(path)
    sys.path.insert(0, str(path.resolve().parent))
    try:
        found = runpy.run_path(str(path), run_name=path.stem).get(PYTHON_NAME)
    except DeclarationError:
        raise
    except Exception as error:
        what = f"{type(error).__name__}: {reason_of(error)}"
        raise DeclarationError(f"{path}:{_line_of(error, path)}: {what}") from error
    finally:
        sys.path.remove(str(path.resolve().parent))
    if not isinstance(found, Declaration):
        raise DeclarationError(f"{path}: {PYTHON_NAME} must be the result of declare(...)")
    return replace(found, file=str(path))


def _line_of(error: Exception, path: Path) -> int:
    """The last line of the file that was running; of a syntax error the line with the error."""
    if isinstance(error, SyntaxError) and error.filename == str(path):
        return error.lineno or 1
    lines = [
        each.lineno or 1
        for each in traceback.extract_tb(error.__traceback__)
        if each.filename == str(path)
    ]
    return lines[-1] if lines else 1


def with_absolute_paths(declared: Declaration, base: Path) -> Declaration:
    pipelines = {
        name: replace(each, to=replace(each.to, lake=absolute(each.to.lake, base)))
        if isinstance(each.to, Lake)
        else each
        for name, each in declared.pipelines.items()
    }
    return replace(declared, state=absolute(declared.state, base), pipelines=pipelines)
