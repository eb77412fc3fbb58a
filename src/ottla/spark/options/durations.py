"""Durations as Spark's options write them: `15m`, `500ms`, `2h`; a number alone is milliseconds."""

from __future__ import annotations

from ottla.config.durations import parse_duration
from ottla.config.kinds import Kind


def parse_duration_ms(text: str) -> int:
    plain = "".join(text.lower().split())
    duration_ms = parse_duration(f"{plain}ms" if plain.isdigit() else plain)
    if duration_ms is None or duration_ms < 0:
        raise ValueError("must be a number with a unit: us, ms, s, m, h or d, such as 15m")
    return duration_ms


DURATION: Kind[int] = Kind("duration", 2, parse_duration_ms, lambda value: f"{value}ms")
