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
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

Header = tuple[str, bytes | None]
Row = Any  # one of the forms above
Rows = Any  # several of them; or a single one that is no list


@dataclass(frozen=True, slots=True)
class Record:
    """A record: one to write, one that was read, or one that is expected.

    As an expectation it says nothing about the fields that are left out.
    """

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
        """The value, decoded from JSON."""
        return json.loads(self.value or b"null")


def rows_of(rows: Rows) -> list[Row]:
    """The rows, as a list. What cannot hold several rows, such as text, is a single row."""
    __tracebackhide__ = True
    if rows is None:
        raise TypeError("None may be a tombstone, or no rows at all: put rows in a list")
    if isinstance(rows, tuple):
        raise TypeError(
            f"{rows!r} may be one row, (key, value), or several rows: put rows in a list"
        )
    is_single = isinstance(rows, str | bytes | bytearray | memoryview | Mapping | Record)
    found = [rows] if is_single or not isinstance(rows, Iterable) else list(rows)
    for row in found:
        if isinstance(row, Record):
            require_valid_numbers(row)
    return found


def as_record(row: Row) -> Record:
    """The record to send for a row of a test."""
    __tracebackhide__ = True
    if isinstance(row, Record):
        encoded = tuple((name, as_bytes(value)) for name, value in header_pairs(row.headers))
        return replace(row, value=as_bytes(row.value), key=as_bytes(row.key), headers=encoded)
    if isinstance(row, tuple):
        key, value = key_and_value(row)
        return Record(as_bytes(value), as_bytes(key))
    return Record(as_bytes(row))


def require_valid_numbers(record: Record) -> None:
    """TypeError or ValueError for a partition, an offset or a timestamp that cannot be one."""
    __tracebackhide__ = True
    for name, greatest in (("partition", 2**31), ("offset", 2**63), ("timestamp_ms", 2**63)):
        number = getattr(record, name)
        if not isinstance(number, int) or isinstance(number, bool):
            raise TypeError(f"Record: {name}={number!r} is not a whole number")
        if not -1 <= number < greatest:
            raise ValueError(f"Record: {name}={number}: it is 0 or more, or left out")


def header_pairs(headers: Any) -> list[tuple[str, Any]]:
    """The headers in a mapping or a list of pairs; TypeError for anything else."""
    __tracebackhide__ = True
    pairs = headers.items() if isinstance(headers, Mapping) else headers
    if isinstance(pairs, Iterable) and not isinstance(pairs, str | bytes):
        pairs = list(pairs)
        if all(isinstance(each, tuple | list) and len(each) == 2 for each in pairs) and all(
            isinstance(name, str) for name, _ in pairs
        ):
            return [(name, value) for name, value in pairs]
    raise TypeError(f"headers={headers!r}: expected {{name: value}} or [(name, value)]")


def key_and_value(row: tuple[Any, ...]) -> tuple[Any, Any]:
    """A row that is a tuple; TypeError if it has not two parts."""
    __tracebackhide__ = True
    if len(row) != 2:
        raise TypeError(f"{row!r} has {len(row)} parts: a row that is a tuple is (key, value)")
    return row


def as_bytes(part: Any) -> bytes | None:
    """A key, value or header as bytes: text in UTF-8, everything else as JSON."""
    __tracebackhide__ = True
    if part is None or isinstance(part, bytes):
        return part
    if isinstance(part, bytearray | memoryview):
        return bytes(part)
    if isinstance(part, str):
        return part.encode()
    try:
        return json.dumps(part, allow_nan=False).encode()
    except (TypeError, ValueError) as error:
        raise TypeError(f"{part!r} is no key, value or header: {error}") from None


def matches(record: Record, expected: Row) -> bool:
    """Whether a record has everything that the test says about it."""
    if isinstance(expected, Record):
        return record_matches(record, expected)
    if isinstance(expected, tuple):
        key, value = key_and_value(expected)
        return part_matches(record.key, key) and part_matches(record.value, value)
    return part_matches(record.value, expected)


def record_matches(record: Record, expected: Record) -> bool:
    """A key, headers and a partition or an offset that are omitted match any."""
    headers = as_record(expected).headers
    return (
        part_matches(record.value, expected.value)
        and (expected.key is None or part_matches(record.key, expected.key))
        and (not headers or record.headers == headers)
        and expected.topic in ("", record.topic)
        and expected.partition in (-1, record.partition)
        and expected.offset in (-1, record.offset)
        and expected.timestamp_ms in (-1, record.timestamp_ms)
    )


def part_matches(part: bytes | None, expected: Any) -> bool:
    """JSON is compared as values, so that spaces and the order of keys do not count."""
    if expected is None or isinstance(expected, str | bytes | bytearray | memoryview):
        return part == as_bytes(expected)
    try:
        return json_matches(json.loads(part or b""), expected)
    except ValueError:
        return False


def json_matches(found: Any, expected: Any) -> bool:
    """To Python True equals 1, and a tuple, which is written as a list, equals no list."""
    match found, expected:
        case bool(), int() | float():
            return found is expected
        case int() | float(), bool():
            return False
        case list(), list() | tuple():
            return len(found) == len(expected) and all(map(json_matches, found, expected))
        case dict(), dict():
            named = {json_name(name): each for name, each in expected.items()}
            return found.keys() == named.keys() and all(
                json_matches(found[name], each) for name, each in named.items()
            )
    return bool(found == expected)


def json_name(name: Any) -> Any:
    """The key of a dictionary as it is written: 1 as "1", True as "true"."""
    return json.dumps(name) if name is None or isinstance(name, int | float) else name
