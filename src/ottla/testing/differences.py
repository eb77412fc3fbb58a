"""How the records of a topic differ from what a test expects, as text for a failure report."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ottla.testing.records import Record, Row, as_record, matches

SHOWN_RECORDS = 20  # of each list
SHOWN_CHARACTERS = 200  # of a key, value or header
MORE_FIELDS = ("topic", "timestamp_ms")  # shown if the test expects something of them
HALF = SHOWN_CHARACTERS // 2


def difference(
    records: Sequence[Record], expected: Sequence[Row], *, any_order: bool
) -> str | None:
    """What is missing or unexpected, as text; None if all records are as expected."""
    missing, unexpected = unmatched(records, expected)
    if missing or unexpected:
        return describe(records, expected, missing, unexpected)
    is_in_order = all(map(matches, records, expected))
    return None if any_order or is_in_order else describe_order(records, expected)


def unmatched(records: Sequence[Record], expected: Sequence[Row]) -> tuple[list[Row], list[Record]]:
    """Expected rows that no record matches, and records that match no row."""
    missing = list(expected)
    unexpected = []
    for record in records:
        found = next((i for i, row in enumerate(missing) if matches(record, row)), None)
        if found is None:
            unexpected.append(record)
        else:
            del missing[found]
    return missing, unexpected


def describe(
    records: Sequence[Record],
    expected: Sequence[Row],
    missing: Sequence[Row],
    unexpected: Sequence[Record],
) -> str:
    if len(records) == len(expected):
        verb = "differs" if len(missing) == 1 else "differ"
        head = f"{len(missing)} of {counted(len(records))} {verb} from what is expected"
    else:
        head = f"expected {counted(len(expected))}, found {len(records)}"
    lines = [head, *listed([f"  missing     {shown_row(row)}" for row in missing])]
    wanted = [row for row in expected if isinstance(row, Record)]
    names = [name for name in MORE_FIELDS if any(is_given(each, name) for each in wanted)]
    lines += listed([f"  unexpected  {shown(record, names)}" for record in unexpected])
    if len(records) > len(unexpected):  # otherwise all were listed
        lines += ["found, in order:", *listed([f"  {shown(record, names)}" for record in records])]
    return "\n".join(lines)


def describe_order(records: Sequence[Record], expected: Sequence[Row]) -> str:
    lines = [
        f"{counted(len(records))} as expected, but in another order (any_order=True allows it)"
    ]
    if len({record.partition for record in records}) > 1:
        lines.append("  several partitions are compared one after the other, from partition 0 on")
    lines += ["expected, in order:", *listed([f"  {shown_row(row)}" for row in expected])]
    lines += ["found, in order:", *listed([f"  {shown(record)}" for record in records])]
    return "\n".join(lines)


def listed(lines: Sequence[str]) -> list[str]:
    """The lines, or the first of very many."""
    left_out = len(lines) - SHOWN_RECORDS
    return [*lines[:SHOWN_RECORDS], *([f"  ... and {left_out} more"] if left_out > 0 else [])]


def counted(records: int) -> str:
    return f"{records} record" if records == 1 else f"{records} records"


def shown(record: Record, names: Sequence[str] = ()) -> str:
    """A record in one line: where it is, key, value and headers, and other fields by name."""
    more = "".join(f" {name}={getattr(record, name)}" for name in names)
    return f"[{record.partition}@{record.offset}] {content(record)}{more}"


def shown_row(row: Row) -> str:
    """An expected row, as `shown` would show its record."""
    try:
        record = as_record(row)
    except TypeError:  # such as {"id": unittest.mock.ANY}
        return repr(row)
    given = [
        f" {name}={getattr(record, name)}"
        for name in ("topic", "partition", "offset", "timestamp_ms")
        if is_given(record, name)
    ]
    return content(record) + "".join(given)


def is_given(record: Record, name: str) -> bool:
    return getattr(record, name) not in ("", -1)


def content(record: Record) -> str:
    key = "" if record.key is None else f"{readable(record.key)}: "
    headers = [f"{name}={readable(value)}" for name, value in record.headers]
    return f"{key}{readable(record.value)}" + (f" headers {', '.join(headers)}" if headers else "")


def readable(part: Any) -> str:
    """Bytes as text if they are, and only the two ends of long ones."""
    if part is None:
        return "None"
    try:
        text = repr(part.decode())
    except UnicodeDecodeError:
        text = repr(part)
    if len(text) <= SHOWN_CHARACTERS:
        return text
    return f"{text[:HALF]} ... {text[-HALF:]} ({len(part)} bytes)"
