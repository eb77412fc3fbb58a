"""Expected rows against found ones.

Promises  only the columns that a row names are compared, and the order of rows does not matter;
          each found row stands for one expected row. Pure.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from ottla.pipelines.trials.fixtures import Rows


def differences(what: str, expected: Rows | int, found: Sequence[dict[str, Any]]) -> list[str]:
    """The differences, one a line."""
    if isinstance(expected, int):
        if len(found) == expected:
            return []
        lines = [f"{what}: {len(found)} found, {expected} expected"]
        return lines + [f"  found    {text_of(row)}" for row in found]
    left = list(found)
    missing = []
    # Rows with more columns are matched first, so that others do not match the rows they need.
    for row in sorted(expected, key=len, reverse=True):
        match = next((each for each in left if matches(row, each)), None)
        if match is None:
            missing.append(row)
        else:
            left.remove(match)
    return [
        *(f"{what}: missing    {text_of(row)}" for row in missing),
        *(f"{what}: unexpected {text_of(row)}" for row in left),
    ]


def matches(expected: dict[str, Any], found: dict[str, Any]) -> bool:
    return all(name in found and is_equal(each, found[name]) for name, each in expected.items())


def is_equal(expected: Any, found: Any) -> bool:
    """Times are equal in whatever zone; bytes are texts; a mapping may be compared with JSON."""
    if isinstance(found, bytes):
        found = found.decode("utf-8", "replace")
    if isinstance(found, datetime):
        return isinstance(expected, str) and _instant(expected) == _in_utc(found)
    if isinstance(expected, dict):
        found = _parsed(found) if isinstance(found, str) else found
        return (
            isinstance(found, dict)
            and expected.keys() == found.keys()
            and all(is_equal(each, found[name]) for name, each in expected.items())
        )
    if isinstance(expected, list):
        return (
            isinstance(found, list)
            and len(expected) == len(found)
            and all(is_equal(*each) for each in zip(expected, found, strict=True))
        )
    if isinstance(expected, bool) or isinstance(found, bool):
        return expected is found
    if isinstance(expected, int | float) and not isinstance(found, int | float | str | None):
        return str(expected) == str(found)  # a decimal
    return bool(expected == found)


def _instant(text: str) -> datetime | None:
    try:
        return _in_utc(datetime.fromisoformat(text))
    except ValueError:
        return None


def _in_utc(at: datetime) -> datetime:
    return at.replace(tzinfo=UTC) if at.tzinfo is None else at.astimezone(UTC)


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text


def text_of(row: dict[str, Any]) -> str:
    return json.dumps(row, default=_plain, ensure_ascii=False)


def _plain(value: Any) -> str:
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    if isinstance(value, datetime):
        return _in_utc(value).isoformat().replace("+00:00", "Z")
    return str(value)
