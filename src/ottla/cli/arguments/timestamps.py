"""Points in time as options and templates take them.

1700000000000          milliseconds since 1970 (13 digits)
1700000000             seconds since 1970 (9 or 10 digits)
2024-02-14             the start of a day, UTC
2024-02-14T09:30:00Z   RFC 3339; without a zone it is UTC, fractions of seconds are kept
-48h                   a duration before now
"""

from __future__ import annotations

from datetime import UTC, datetime

from ottla.config.durations import parse_duration

# A regular expression, because a colon separates the ends of a range and occurs in times too.
TIMESTAMP = (
    r"\d{13}|\d{9,10}(?!\d)"
    r"|\d{4}-\d{2}-\d{2}(?:[Tt ]\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:[Zz]|[+-]\d{2}:\d{2})?)?"
    r"|-?(?:\d+(?:\.\d+)?(?:us|ms|min|[smhdw]))+"
)


def parse_timestamp(text: str, now_ms: int) -> int | None:
    """In milliseconds since 1970; None if it is not a time. A duration is relative to `now_ms`."""
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


def format_timestamp(timestamp_ms: int) -> str:
    """RFC 3339 in UTC, to the millisecond; the number itself after the year 9999."""
    try:
        text = datetime.fromtimestamp(timestamp_ms / 1000, UTC).isoformat(timespec="milliseconds")
    except (ValueError, OverflowError, OSError):
        return str(timestamp_ms)
    return text.replace("+00:00", "Z")
