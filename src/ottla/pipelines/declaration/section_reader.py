"""Nodes to the tree.

Promises  all problems are found in one go, each with file, line, reason and what to write; an
          unknown key is named with the nearest known one.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping
from typing import Any

from ottla.pipelines.declaration import keys
from ottla.pipelines.declaration.keys import KEY, REQUIRED
from ottla.pipelines.declaration.nodes import Node, Problem, did_you_mean, kind_of
from ottla.pipelines.declaration.tree import (
    ClusterAddress,
    Declaration,
    Lake,
    Pipeline,
    Table,
    ToTopic,
)
from ottla.pipelines.errors import DeclarationError

WRONG: Any = object()  # stands for a value that had a problem


class SectionReader:
    """Reads sections and collects what is wrong with them."""

    def __init__(self) -> None:
        self.problems: list[Problem] = []

    def section(
        self, kind: type, node: Node, key: str, more: Mapping[str, Any] | None = None
    ) -> Any:
        """WRONG if there was a problem. `key` is for messages."""
        if not node.is_mapping:
            return self._wrong(node, f"{key} must be a mapping, and is {kind_of(node)}")
        declared = {each.metadata[KEY]: each for each in _fields(kind)}
        given = node.mapping()
        before = len(self.problems)
        for unknown in given.keys() - declared.keys():
            message = f"unknown key {unknown}: {did_you_mean(unknown, declared)}"
            self.problems.append(Problem(node.location_of(unknown), message))
        values = dict(more or {})
        for name, each in declared.items():
            if name in given:
                values[each.name] = self._value(kind, each, given[name])
            elif each.default is REQUIRED:
                self._wrong(node, f"the key {name} is missing: {each.metadata['doc']}")
        return kind(**values) if len(self.problems) == before else WRONG

    def _value(self, kind: type, each: dataclasses.Field[Any], node: Node) -> Any:
        name, reads = each.metadata[KEY], each.metadata["reads"]
        special = SPECIAL.get((kind, name))
        if special is not None:
            return special(self, node, name)
        if isinstance(reads, type):
            return self.section(reads, node, name)
        try:
            return reads(node)
        except ValueError as error:
            return self._wrong(node, f"{name} {error}")

    def _wrong(self, node: Node, message: str) -> Any:
        self.problems.append(Problem(node.location, message))
        return WRONG

    def target(self, node: Node, key: str) -> Any:
        """`to` is a lake if it has the key lake, else a topic."""
        if node.is_mapping and not node.mapping().keys() & {"lake", "topic"}:
            return self._wrong(node, "to needs the key lake, for a table, or the key topic")
        is_lake = node.is_mapping and "lake" in node.mapping()
        return self.section(Lake if is_lake else ToTopic, node, key)

    def named(self, kind: type, node: Node, key: str) -> Any:
        """A mapping of names to sections."""
        if not node.is_mapping or not node.mapping():
            return self._wrong(node, f"{key} must be a mapping of names, and is {kind_of(node)}")
        found: dict[str, Any] = {}
        for each, inner in node.mapping().items():
            location = node.location_of(each)
            if not keys.NAME.fullmatch(each):
                self.problems.append(
                    Problem(location, f"{each!r}: names are letters, digits, dots, - and _")
                )
            more = {"name": each, "location": location} if kind is Pipeline else {}
            if kind is ClusterAddress:
                more = {"location": location}
            found[each] = self.section(kind, inner, each, more)
        return found

    def clusters(self, node: Node, key: str) -> Any:
        """A text is the same as {servers: text}."""
        if not node.is_mapping:
            return self.named(ClusterAddress, node, key)
        whole = {
            each: Node({"servers": inner}, inner.location)
            if isinstance(inner.value, str)
            else inner
            for each, inner in node.mapping().items()
        }
        return self.named(ClusterAddress, Node(whole, node.location, node.key_locations), key)


SPECIAL: Mapping[tuple[type, str], Any] = {
    (Pipeline, "to"): SectionReader.target,
    (Pipeline, "tables"): lambda reader, node, key: reader.named(Table, node, key),
    (Declaration, "clusters"): SectionReader.clusters,
    (Declaration, "pipelines"): lambda reader, node, key: reader.named(Pipeline, node, key),
}


def read_declaration(node: Node, file: str) -> Declaration:
    """DeclarationError has all problems, in the order of their lines."""
    reader = SectionReader()
    found: Declaration = reader.section(Declaration, node, "the file", {"file": file})
    raise_problems(reader.problems)
    return found


def raise_problems(problems: Iterable[Problem]) -> None:
    if found := sorted(problems):
        raise DeclarationError(*map(str, found))


def _fields(kind: type) -> list[dataclasses.Field[Any]]:
    return [each for each in dataclasses.fields(kind) if KEY in each.metadata]
