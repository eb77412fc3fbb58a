"""The file of a test: for each pipeline records that are produced, and rows that must come out.

    orders_lake:
      in:                                   # a list of such mappings is several runs
        orders:
        - {key: k1, value: {id: 1, at: "2026-03-01T10:00:00Z"}}
        - {value: not JSON, headers: {source: web}, partition: 1, timestamp: "2026-03-01T10:00:00Z"}
      out:
      - {id: 1}
      bad: 1                                # a number, or rows
      late: 0

Owns      that form. Promises errors with file and line.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from ottla.pipelines.declaration.nodes import Node, Problem, did_you_mean, kind_of
from ottla.pipelines.declaration.tree import Declaration
from ottla.pipelines.declaration.yaml_nodes import parse_yaml
from ottla.pipelines.errors import DeclarationError

RECORD_KEYS = ("key", "value", "headers", "partition", "timestamp")
KEYS = ("in", "out", "bad", "late")


@dataclass(frozen=True)
class FixtureRecord:
    value: bytes | None = None
    key: bytes | None = None
    headers: tuple[tuple[str, bytes | None], ...] = ()
    partition: int = 0
    timestamp_ms: int | None = None


Rows = list[dict[str, Any]]


@dataclass(frozen=True)
class Fixture:
    """`runs` are records by topic, run by run. `bad` and `late` are rows, or only their number."""

    runs: list[dict[str, list[FixtureRecord]]] = field(default_factory=list)
    out: Rows = field(default_factory=list)
    bad: Rows | int = 0
    late: Rows | int = 0


def default_path(file: str) -> Path:
    """`orders.test.yaml` beside `orders.yaml`."""
    path = Path(file)
    return path.with_name(f"{path.stem}.test.yaml")


def load_fixtures(path: Path, declared: Declaration) -> dict[str, Fixture]:
    try:
        text = path.read_text()
    except (OSError, UnicodeDecodeError) as error:
        message = error.strerror if isinstance(error, OSError) else error
        raise DeclarationError(
            f"{path}: {message}: write there what goes in and what must come out, as "
            "docs/guides/pipelines.md shows"
        ) from None
    root = parse_yaml(text, str(path))
    found = {}
    for name, node in root.mapping().items():
        if name not in declared.pipelines:
            message = f"no pipeline {name}: {did_you_mean(name, declared.pipelines)}"
            raise problem(Node(None, root.location_of(name)), message)
        found[name] = read_fixture(node)
    return found


def problem(node: Node, message: str) -> DeclarationError:
    return DeclarationError(str(Problem(node.location, message)))


def read_fixture(node: Node) -> Fixture:
    sections = section(node, KEYS)
    if "in" not in sections:
        raise problem(node, "the key in is missing: records by topic")
    given = sections["in"]
    runs = given.value if isinstance(given.value, list) else [given]
    return Fixture(
        [read_run(each) for each in runs],
        rows(sections["out"]) if "out" in sections else [],
        rows_or_number(sections.get("bad")),
        rows_or_number(sections.get("late")),
    )


def section(node: Node, known: tuple[str, ...]) -> Mapping[str, Node]:
    if not node.is_mapping:
        raise problem(node, f"must be a mapping, and is {kind_of(node)}")
    for name in node.mapping():
        if name not in known:
            message = f"unknown key {name}: {did_you_mean(name, known)}"
            raise problem(Node(None, node.location_of(name)), message)
    return node.mapping()


def read_run(node: Node) -> dict[str, list[FixtureRecord]]:
    if not node.is_mapping:
        raise problem(node, f"must be topics with their records, and is {kind_of(node)}")
    return {topic: [read_record(each) for each in items(inner)]
            for topic, inner in node.mapping().items()}  # fmt: skip


def items(node: Node) -> list[Node]:
    if not isinstance(node.value, list):
        raise problem(node, f"must be a list, and is {kind_of(node)}")
    return node.value


def read_record(node: Node) -> FixtureRecord:
    fields = section(node, RECORD_KEYS)
    plain = {name: plain_value(each) for name, each in fields.items()}
    partition = plain.get("partition", 0)
    if not isinstance(partition, int) or partition < 0:
        raise problem(fields["partition"], f"partition {partition!r} is no number of one")
    headers = plain.get("headers") or {}
    if not isinstance(headers, dict):
        raise problem(fields["headers"], "headers must be a mapping of names to texts")
    return FixtureRecord(
        as_bytes(plain.get("value")),
        as_bytes(plain.get("key")),
        tuple((name, as_bytes(value)) for name, value in headers.items()),
        partition,
        time_ms(fields["timestamp"]) if "timestamp" in fields else None,
    )


def plain_value(node: Node) -> Any:
    if node.is_mapping:
        return {name: plain_value(each) for name, each in node.mapping().items()}
    if isinstance(node.value, list):
        return [plain_value(each) for each in node.value]
    return node.value


def as_bytes(value: Any) -> bytes | None:
    """Texts as they are, anything else as JSON."""
    if value is None:
        return None
    return value.encode() if isinstance(value, str) else json.dumps(value).encode()


def time_ms(node: Node) -> int:
    if isinstance(node.value, int) and not isinstance(node.value, bool):
        return node.value
    try:
        return int(datetime.fromisoformat(str(node.value)).timestamp() * 1000)
    except ValueError:
        message = f"timestamp {node.value!r} is no time, such as 2026-03-01T10:00:00Z"
        raise problem(node, message) from None


def rows(node: Node) -> Rows:
    found = []
    for each in items(node):
        if not each.is_mapping:
            raise problem(each, f"a row must be a mapping of columns, and is {kind_of(each)}")
        found.append(plain_value(each))
    return found


def rows_or_number(node: Node | None) -> Rows | int:
    if node is None:
        return 0
    if isinstance(node.value, int) and not isinstance(node.value, bool) and node.value >= 0:
        return node.value
    return rows(node)
