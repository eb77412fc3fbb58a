"""Which part of a partition is meant: the syntax of `--offset` and `--to`.

    start, end       the first record, or only new records
    :end             from the start to the end as it is now
    17, 17:          from offset 17 on            17:20   offsets 17, 18 and 19
    :20              from the start up to, not including, offset 20
    +5, -5           five after the start, five before the end
    @T, @T:          from a time on               @T1:T2  between two times
    @:T              from the start to a time     @T:end  from a time to the end as it is now

The syntax is rpk's. A time is what `timestamps.py` parses; as T2 a duration is relative to T1, and
with a minus sign to now: `@2024-02-14:1h`, `@-48h:-24h`.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from ottla.cli.arguments.numbers import INT64_MAX
from ottla.cli.arguments.timestamps import TIMESTAMP, parse_timestamp
from ottla.config.durations import parse_duration

START_WORDS = ("start", "beginning", "earliest")
END_WORDS = ("end", "latest")


class BadRange(ValueError):
    """The text is neither an offset, a time nor a range of them."""


class Position:
    """A position in every partition. Not a dataclass: loading those takes longer than a command."""

    __slots__ = ("value",)
    __match_args__ = ("value",)

    def __init__(self, value: int = 0) -> None:
        self.value = value

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self.value == getattr(other, "value", None)

    def __hash__(self) -> int:
        return hash((type(self), self.value))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.value})"


class Start(Position):
    """This number of offsets after the log start offset."""


class End(Position):
    """This number of offsets before the end offset."""


class At(Position):
    """An offset."""


class AtTime(Position):
    """The first record with this timestamp (in ms) or a later one."""


class OffsetRange(NamedTuple):
    """From `start` up to, and not including, `end`; without an end it includes new records."""

    start: Position
    end: Position | None = None


_TIMES = re.compile(rf"(?P<first>{TIMESTAMP})?(?P<colon>:)?(?P<second>{TIMESTAMP}|end)?")
_OFFSETS = re.compile(r"(?P<first>\d+)?:(?P<second>\d+|end)?")


def parse_range(text: str, now_ms: int) -> OffsetRange:
    """BadRange has examples of what is accepted."""
    found = find_range(text, now_ms)
    if found is None:
        raise BadRange(
            f"{text!r} is not an offset range: try start, end, 17, 17:20, -10 (the last ten), "
            "@-1h (the last hour), @2024-02-14:1h"
        )
    if is_reversed(found):
        raise BadRange(f"{text!r} ends before it starts")
    return found


def is_reversed(found: OffsetRange) -> bool:
    match found:
        case OffsetRange(At(first), At(end)) | OffsetRange(AtTime(first), AtTime(end)):
            return end < first
    return False


def find_range(text: str, now_ms: int) -> OffsetRange | None:
    return parse_times(text[1:], now_ms) if text.startswith("@") else parse_offsets(text)


def parse_position(text: str, now_ms: int) -> Position:
    """A range without an end: what a group can be set to."""
    found = find_range(text, now_ms)
    if found is None:
        raise BadRange(
            f"{text!r} is not a position: try start, end, 17, -10 (ten before the end), "
            "@-1h (an hour ago), @2024-02-14"
        )
    if found.end is not None:
        raise BadRange(f"{text!r} is a range, but one position is expected")
    return found.start


def parse_offsets(text: str) -> OffsetRange | None:
    if text in START_WORDS:
        return OffsetRange(Start())
    if text in END_WORDS:
        return OffsetRange(End())
    sign, digits = text[:1], text[1:]
    if sign in ("+", "-") and is_number(digits):
        count = int(digits)
        return OffsetRange(Start(count) if sign == "+" else End(count))
    if is_number(text):
        return OffsetRange(At(int(text)))
    match = _OFFSETS.fullmatch(text)
    if match is None or text == ":":
        return None
    start = At(int(match["first"])) if match["first"] else Start()
    return OffsetRange(start, end_offset(match["second"]))


def end_offset(text: str | None) -> Position | None:
    if text is None:
        return None
    return End() if text == "end" else At(int(text))


def parse_times(text: str, now_ms: int) -> OffsetRange | None:
    match = _TIMES.fullmatch(text)
    if match is None or not (match["first"] or match["second"]):
        return None
    if match["second"] and not match["colon"]:
        return None
    if (parse_duration(match["first"] or "") or 0) > 0:
        raise BadRange(f"'@{text}' begins in the future; did you mean @-{text}?")
    try:
        first_ms = require_timestamp(match["first"], now_ms) if match["first"] else None
        end = end_time(match["second"], first_ms, now_ms)
    except ValueError:  # such as February 30
        return None
    return OffsetRange(Start() if first_ms is None else AtTime(first_ms), end)


def end_time(text: str | None, first_ms: int | None, now_ms: int) -> Position | None:
    if text is None:
        return None
    if text == "end":
        return End()
    duration_ms = parse_duration(text)
    if duration_ms is not None and duration_ms >= 0 and first_ms is not None:
        return AtTime(first_ms + duration_ms)
    return AtTime(require_timestamp(text, now_ms))


def require_timestamp(text: str, now_ms: int) -> int:
    timestamp_ms = parse_timestamp(text, now_ms)
    if timestamp_ms is None:
        raise ValueError(text)
    return max(0, min(timestamp_ms, INT64_MAX))


def is_number(text: str) -> bool:
    return text.isascii() and text.isdigit()
