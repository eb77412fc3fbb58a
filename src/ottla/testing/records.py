"""Records as tests write and compare them.

A test says no more than it cares about:

    "text"  b"bytes"       the value
    {"a": 1}  [1, 2]  5    the value, as JSON
    None                   a tombstone
    ("key", value)         key and value, the value being any of these
    Record(...)            headers, partition, timestamp as well; its parts may be any of these
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

Header = tuple[str, bytes | None]
Row = Any  # one of the forms above


@dataclass(frozen=True, slots=True)
class Record:
    value: bytes | None
    key: bytes | None = None
    headers: tuple[Header, ...] = ()
    topic: str = ""
    partition: int = -1
    offset: int = -1
    timestamp_ms: int = -1

    @property
    def text(self) -> str:
        """The value as text."""
        return (self.value or b"").decode()

    @property
    def json(self) -> Any:
        """The value as what its JSON stands for."""
        return json.loads(self.value or b"null")


def as_record(row: Row) -> Record:
    """What a test wrote, as a record to be sent."""
    if isinstance(row, Record):
        headers = tuple((name, as_bytes(value)) for name, value in row.headers)
        return replace(row, value=as_bytes(row.value), key=as_bytes(row.key), headers=headers)
    if isinstance(row, tuple):
        key, value = row
        return Record(as_bytes(value), as_bytes(key))
    return Record(as_bytes(row))


def as_bytes(part: Any) -> bytes | None:
    if part is None or isinstance(part, bytes):
        return part
    return part.encode() if isinstance(part, str) else json.dumps(part).encode()


def matches(record: Record, expected: Row) -> bool:
    """Whether a record is what the test expects, in what it says about it."""
    if isinstance(expected, Record):
        headers = as_record(expected).headers
        return matches(record, (expected.key, expected.value)) and (
            not headers or record.headers == headers
        )
    if isinstance(expected, tuple):
        key, value = expected
        return part_matches(record.key, key) and part_matches(record.value, value)
    return part_matches(record.value, expected)


def part_matches(part: bytes | None, expected: Any) -> bool:
    """JSON is compared by what it means, not by its spaces."""
    if expected is None or isinstance(expected, str | bytes):
        return part == as_bytes(expected)
    try:
        return bool(json.loads(part or b"") == expected)
    except ValueError:
        return False


def difference(
    records: Sequence[Record], expected: Sequence[Row], *, any_order: bool
) -> str | None:
    """What is missing or too much, in words; None if all is as expected."""
    if not any_order:
        pairs = zip(records, expected, strict=False)
        wrong = next((i for i, (each, row) in enumerate(pairs) if not matches(each, row)), None)
        if wrong is None and len(records) == len(expected):
            return None
    missing = list(expected)
    unexpected = []
    for record in records:
        found = next((i for i, row in enumerate(missing) if matches(record, row)), None)
        if found is None:
            unexpected.append(record)
        else:
            del missing[found]
    if any_order and not missing and not unexpected:
        return None
    return told(records, expected, missing, unexpected)


def told(
    records: Sequence[Record],
    expected: Sequence[Row],
    missing: Sequence[Row],
    unexpected: Sequence[Record],
) -> str:
    lines = [f"expected {counted(len(expected))}, found {len(records)}"]
    lines += [f"  missing     {row!r}" for row in missing]
    lines += [f"  unexpected  {shown(record)}" for record in unexpected]
    if not missing and not unexpected:
        lines.append("  all are there, but in another order:")
    lines += ["found, in order:", *(f"  {shown(record)}" for record in records)]
    return "\n".join(lines)


def counted(records: int) -> str:
    return f"{records} record" if records == 1 else f"{records} records"


def shown(record: Record) -> str:
    key = "" if record.key is None else f"{readable(record.key)}: "
    return f"[{record.partition}@{record.offset}] {key}{readable(record.value)}"


def readable(part: bytes | None) -> str:
    if part is None:
        return "None"
    try:
        return repr(part.decode())
    except UnicodeDecodeError:
        return repr(part)
