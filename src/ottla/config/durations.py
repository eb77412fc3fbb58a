"""Durations as options take them: `500ms`, `90s`, `1h30m`, `2d`, `-48h`."""

from __future__ import annotations

from fractions import Fraction

MICROSECONDS = {
    "us": 1,
    "ms": 1_000,
    "s": 1_000_000,
    "m": 60_000_000,
    "min": 60_000_000,
    "h": 3_600_000_000,
    "d": 86_400_000_000,
    "w": 604_800_000_000,
}
DIGITS = "0123456789"
DIGITS_MAX = 40  # of one number; more would make the arithmetic slow


def parse_duration(text: str) -> int | None:
    """In milliseconds, negative with a minus sign; None if it is not a duration."""
    rest = text.removeprefix("-")
    if not rest:
        return None
    total_ms = Fraction(0)
    while rest:
        part = first_part(rest)
        if part is None:
            return None
        part_ms, rest = part
        total_ms += part_ms
    return -int(total_ms) if text.startswith("-") else int(total_ms)


def first_part(text: str) -> tuple[Fraction, str] | None:
    """The first number with its unit, in milliseconds, and the text after it."""
    after_number = text.lstrip(DIGITS + ".")
    number = text[: len(text) - len(after_number)]
    rest = after_number.lstrip("abcdefghijklmnopqrstuvwxyz")
    unit = after_number[: len(after_number) - len(rest)]
    whole, point, fraction = number.partition(".")
    if unit not in MICROSECONDS or not whole or len(number) > DIGITS_MAX:
        return None
    if "." in fraction or bool(point) != bool(fraction):
        return None
    return Fraction(number) * MICROSECONDS[unit] / 1000, rest


def format_duration(duration_ms: int) -> str:
    """The two largest units that matter: `2d3h`, `1h30m`, `4.2s`, `17ms`."""
    if duration_ms < 1_000:
        return f"{duration_ms}ms"
    if duration_ms < 60_000:
        return f"{duration_ms / 1000:.1f}".removesuffix(".0") + "s"
    for large, small in (("d", "h"), ("h", "m"), ("m", "s")):
        if duration_ms * 1000 >= MICROSECONDS[large]:
            whole, rest_us = divmod(duration_ms * 1000, MICROSECONDS[large])
            rest = rest_us // MICROSECONDS[small]
            return f"{whole}{large}{rest}{small}" if rest else f"{whole}{large}"
    raise AssertionError(duration_ms)
