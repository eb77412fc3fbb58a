"""Two answers to the same request, field by field."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from tests.compatibility.differential.plain import Plain
from tests.compatibility.differential.scripting import Run
from tests.compatibility.differential.session import Answers

# Lists that are read by name, and the field that names their items.
BY_NAME = {
    "api_keys": "api_key",
    "supported_features": "name",
    "finalized_features": "name",
}
MISSING = "(nothing)"  # left out: the default, or a version that has no such field


class Difference(NamedTuple):
    """A field in which two brokers answered a request differently."""

    run: Run
    label: str
    path: str  # "" for the answer as a whole
    kafka: Plain
    ours: Plain

    def __str__(self) -> str:
        where = f"{self.run.name} | {self.label} | {self.path or 'answer'}"
        return f"{where}: Kafka {self.kafka!r}, ours {self.ours!r}"


def compare(run: Run, kafkas: Answers, ours: Answers) -> Iterator[Difference]:
    for label in dict.fromkeys([*kafkas, *ours]):
        kafka, our = kafkas.get(label, MISSING), ours.get(label, MISSING)
        if isinstance(kafka, dict) and isinstance(our, dict):
            for path, one, other in compare_fields(kafka, our):
                yield Difference(run, label, path, one, other)
        elif kafka != our:
            yield Difference(run, label, "", kafka, our)


def compare_fields(kafka: Plain, ours: Plain) -> Iterator[tuple[str, Plain, Plain]]:
    one, other = dict(leaves("", kafka)), dict(leaves("", ours))
    for path in dict.fromkeys([*one, *other]):
        if one.get(path, MISSING) != other.get(path, MISSING):
            yield path, one.get(path, MISSING), other.get(path, MISSING)


def leaves(path: str, value: Plain, name: str = "") -> Iterator[tuple[str, Plain]]:
    """(path, value) of everything that is not a struct or a list of structs."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from leaves(f"{path}.{key}" if path else key, inner, key)
        if not value:
            yield path, {}
    elif isinstance(value, list) and any(isinstance(item, dict) for item in value):
        yield f"{path}.length", len(value)
        for at, item in enumerate(value):
            yield from leaves(f"{path}[{item_name(name, item, at)}]", item)
    else:
        yield path, value


def item_name(list_name: str, item: Plain, at: int) -> str:
    named_by = BY_NAME.get(list_name)
    if named_by is not None and isinstance(item, dict):
        return str(item.get(named_by, at))
    return str(at)
