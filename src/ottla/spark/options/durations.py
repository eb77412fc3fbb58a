"""Lengths of time as Spark's options write them: `15m`, `500ms`, `2h`; a bare number is ms."""

from __future__ import annotations

import re

from ottla.config.kinds import Kind

_TEXT = re.compile(r"([0-9]{1,18})\s*(us|ms|s|m|min|h|d)?")
_MICROSECONDS = {
    "us": 1, "ms": 1000, "s": 1_000_000, "m": 60_000_000, "min": 60_000_000,
    "h": 3_600_000_000, "d": 86_400_000_000,
}  # fmt: skip


def parse_duration_ms(text: str) -> int:
    match = _TEXT.fullmatch(text.strip().lower())
    if match is None:
        raise ValueError("must be a number with a unit: us, ms, s, m, h or d, such as 15m")
    return int(match[1]) * _MICROSECONDS[match[2] or "ms"] // 1000


DURATION: Kind[int] = Kind("duration", 2, parse_duration_ms, lambda value: f"{value}ms")
