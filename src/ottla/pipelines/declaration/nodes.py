"""Values of a declaration, each with its file and line, for error messages.

Owns      the node: a mapping, a list, or a scalar (text, number, boolean, nothing).
Leaves    where nodes come from to `yaml_nodes.py` and `python_nodes.py`.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

Scalar = str | int | float | bool | None


class SourceLocation(NamedTuple):
    file: str
    line: int  # from 1

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"


@dataclass(frozen=True)
class Node:
    value: Mapping[str, Node] | list[Node] | Scalar
    location: SourceLocation
    key_locations: Mapping[str, SourceLocation] | None = None  # of a mapping: where each key is

    @property
    def is_mapping(self) -> bool:
        return isinstance(self.value, Mapping)

    def mapping(self) -> Mapping[str, Node]:
        assert isinstance(self.value, Mapping)
        return self.value

    def location_of(self, key: str) -> SourceLocation:
        return (self.key_locations or {}).get(key, self.location)


class Problem(NamedTuple):
    location: SourceLocation
    message: str

    def __str__(self) -> str:
        return f"{self.location}: {self.message}"


def nearest(word: str, known: Iterable[str]) -> str | None:
    found = difflib.get_close_matches(word, list(known), n=1, cutoff=0.6)
    return found[0] if found else None


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """The beginning of an answer to an unknown name: the nearest one, or all there are."""
    known = list(known)
    near = nearest(word, known)
    return f"did you mean {near}?" if near else f"there is {', '.join(known)}"


def kind_of(node: Node) -> str:
    """A description for error messages."""
    if node.value is None or node.value in ("", {}, []):
        return "empty"
    if isinstance(node.value, Mapping):
        return "a mapping"
    return "a list" if isinstance(node.value, list) else repr(node.value)
