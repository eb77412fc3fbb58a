"""Points in time as people write them.

1700000000000          milliseconds since 1970 (13 digits)
1700000000             seconds since 1970 (9 or 10 digits)
2024-02-14             a day's beginning, UTC
2024-02-14T09:30:00Z   RFC 3339; without a zone it is UTC, fractions of seconds are kept
-48h                   so long before now
"""

from __future__ import annotations

from datetime import UTC, datetime

from ottla.cli.durations import parse_duration

# As a pattern, because the two ends of a range are parted by a colon, which times hold too.
MOMENT = (
    r"\d{13}|\d{9,10}(?!\d)"
    r"|\d{4}-\d{2}-\d{2}(?:[Tt ]\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:[Zz]|[+-]\d{2}:\d{2})?)?"
    r"|-?(?:\d+(?:\.\d+)?(?:ms|[smhdw]))+"
)


def parse_moment(text: str, now_ms: int) -> int | None:
    """In milliseconds since 1970; None if it is no moment. A duration counts from `now_ms`."""
    if not text.isascii():
        return None
    if text.isdigit():
        return {13: int(text), 10: int(text) * 1000, 9: int(text) * 1000}.get(len(text))
    duration_ms = parse_duration(text)
    if duration_ms is not None:
        return now_ms + duration_ms
    try:
        found = datetime.fromisoformat(text.upper())
    except ValueError:
        return None
    return round((found if found.tzinfo else found.replace(tzinfo=UTC)).timestamp() * 1000)


def format_moment(moment_ms: int) -> str:
    """RFC 3339 in UTC, to the millisecond."""
    text = datetime.fromtimestamp(moment_ms / 1000, UTC).isoformat(timespec="milliseconds")
    return text.replace("+00:00", "Z")
