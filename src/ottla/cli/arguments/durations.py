"""Durations: `500ms`, `90s`, `1h30m`, `2d`, `-48h`."""

from __future__ import annotations

import re

UNITS_MS = {
    "ms": 1,
    "s": 1_000,
    "m": 60_000,
    "h": 3_600_000,
    "d": 86_400_000,
    "w": 604_800_000,
}
_PART = re.compile(r"([0-9]+(?:\.[0-9]+)?)(ms|[smhdw])")
_WHOLE = re.compile(rf"(-?)((?:{_PART.pattern})+)")


def parse_duration(text: str) -> int | None:
    """In milliseconds, negative with a minus sign; None if it is not a duration."""
    match = _WHOLE.fullmatch(text)
    if match is None:
        return None
    total_ms = sum(float(number) * UNITS_MS[unit] for number, unit in _PART.findall(match[2]))
    return round(-total_ms if match[1] else total_ms)


def format_duration(duration_ms: int) -> str:
    """The two largest units that matter: `2d3h`, `1h30m`, `4.2s`, `17ms`."""
    if duration_ms < 1_000:
        return f"{duration_ms}ms"
    if duration_ms < 60_000:
        return f"{duration_ms / 1000:.1f}".removesuffix(".0") + "s"
    for large, small in (("d", "h"), ("h", "m"), ("m", "s")):
        if duration_ms >= UNITS_MS[large]:
            whole, rest_ms = divmod(duration_ms, UNITS_MS[large])
            rest = rest_ms // UNITS_MS[small]
            return f"{whole}{large}{rest}{small}" if rest else f"{whole}{large}"
    raise AssertionError(duration_ms)
