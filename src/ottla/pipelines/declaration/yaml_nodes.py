"""YAML read into nodes with line numbers.

Promises  a key that is there twice, a document that is no mapping and text that is no YAML are
          errors with their line. Only plain YAML: no tags, no Python objects.
"""

from __future__ import annotations

from typing import Any

import yaml

from ottla.pipelines.declaration.nodes import Node, Problem, SourceLocation
from ottla.pipelines.errors import DeclarationError


def parse_yaml(text: str, file: str) -> Node:
    try:
        root = yaml.compose(text, Loader=yaml.SafeLoader)
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        message = f"this is no YAML: {error.problem or error.context}"
        raise DeclarationError(str(Problem(SourceLocation(file, line), message))) from None
    except yaml.YAMLError as error:
        raise DeclarationError(
            str(Problem(SourceLocation(file, 1), f"this is no YAML: {error}"))
        ) from None
    if not isinstance(root, yaml.MappingNode):
        raise DeclarationError(f"{file}:1: the file must be a mapping with the key pipelines")
    return _node(root, file)


def _node(found: Any, file: str) -> Node:
    location = SourceLocation(file, found.start_mark.line + 1)
    if isinstance(found, yaml.MappingNode):
        return _mapping(found, file, location)
    if isinstance(found, yaml.SequenceNode):
        return Node([_node(each, file) for each in found.value], location)
    return Node(_scalar(found, location), location)


def _mapping(found: Any, file: str, location: SourceLocation) -> Node:
    values: dict[str, Node] = {}
    locations: dict[str, SourceLocation] = {}
    for key, value in found.value:
        at = SourceLocation(file, key.start_mark.line + 1)
        if not isinstance(key, yaml.ScalarNode):
            raise DeclarationError(str(Problem(at, "a key must be a text")))
        if key.value in values:
            first = locations[key.value].line
            message = f"the key {key.value} is there twice; the first is in line {first}"
            raise DeclarationError(str(Problem(at, message)))
        values[key.value] = _node(value, file)
        locations[key.value] = at
    return Node(values, location, locations)


def _scalar(found: Any, location: SourceLocation) -> Any:
    """A date or a number with colons stays the text that was written."""
    try:
        value = yaml.SafeLoader("").construct_object(found)
    except yaml.YAMLError as error:
        raise DeclarationError(str(Problem(location, f"{found.value}: {error}"))) from None
    is_plain = value is None or isinstance(value, str | bool | float | int)
    if not is_plain or (isinstance(value, int) and ":" in found.value):
        return found.value
    return value
