"""Plain Python values as nodes, for declarations in Python.

Promises  errors name the file and line of the call that declared the value. A function is declared
          by its name, `module:function`, as in YAML: tasks and later runs must find it again.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import PurePath
from typing import Any

from ottla.pipelines.declaration.nodes import Node, Problem, SourceLocation
from ottla.pipelines.errors import DeclarationError


def caller(depth: int) -> SourceLocation:
    """The location of the call `depth` frames above this function's caller."""
    frame = sys._getframe(depth + 1)
    return SourceLocation(frame.f_code.co_filename, frame.f_lineno)


def python_node(value: Any, location: SourceLocation) -> Node:
    if isinstance(value, Node):  # of a nested call, with its own location
        return value
    if isinstance(value, Mapping):
        # from_ is from, which is a keyword of Python
        return Node(
            {str(k).rstrip("_"): python_node(v, location) for k, v in value.items()}, location
        )
    if isinstance(value, list | tuple):
        return Node([python_node(each, location) for each in value], location)
    if isinstance(value, PurePath):
        return Node(str(value), location)
    if callable(value):
        return Node(_function_name(value, location), location)
    if value is not None and not isinstance(value, str | int | float | bool):
        message = f"{value!r} is neither a text, a number, a list nor a mapping"
        raise DeclarationError(str(Problem(location, message)))
    return Node(value, location)


def _function_name(function: Any, location: SourceLocation) -> str:
    name = getattr(function, "__qualname__", "")
    if "<" in name or "." in name or not name:
        message = f"{function!r} must be a function of a module: give it a name at the top level"
        raise DeclarationError(str(Problem(location, message)))
    return f"{function.__module__}:{name}"
