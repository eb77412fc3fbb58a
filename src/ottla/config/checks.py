"""Value constraints of settings: each check returns Kafka's error message, or None."""

from __future__ import annotations

from typing import Any

from ottla.config.options import Check, invalid


def anything(_name: str, _value: Any) -> str | None:
    return None


def at_least(minimum: int) -> Check:
    def check(name: str, value: Any) -> str | None:
        if value is None or value >= minimum:
            return None
        return invalid(name, value, f"Value must be at least {minimum}")

    return check


def between(minimum: int, maximum: int) -> Check:
    def check(name: str, value: Any) -> str | None:
        if value > maximum:
            return invalid(name, value, f"Value must be no more than {maximum}")
        return at_least(minimum)(name, value)

    return check


def between_or(minimum: int, maximum: int, other: int) -> Check:
    def check(name: str, value: Any) -> str | None:
        if minimum <= value <= maximum or value == other:
            return None
        what = f"Value must be between {minimum} and {maximum} or equal to {other}"
        return invalid(name, value, what)

    return check


def one_of(*allowed: str) -> Check:
    def check(name: str, value: Any) -> str | None:
        if value is None or value in allowed:
            return None
        return invalid(name, value, f"String must be one of: {', '.join(allowed)}")

    return check


def one_of_any_case(*allowed: str) -> Check:
    def check(name: str, value: str) -> str | None:
        if value.lower() in allowed:
            return None
        what = f"String must be one of (case insensitive): {', '.join(allowed).upper()}"
        return invalid(name, value, what)

    return check


def no_blanks(name: str, values: tuple[str, ...] | None) -> str | None:
    if values is None or all(values):
        return None
    return f"Configuration '{name}' values must not be empty."


def each_of(*allowed: str) -> Check:
    def check(name: str, values: tuple[str, ...]) -> str | None:
        if (wrong := no_blanks(name, values)) is not None:
            return wrong
        faults = (one_of(*allowed)(name, value) for value in values)
        return next((fault for fault in faults if fault is not None), None)

    return check


def throttled_replicas(name: str, values: tuple[str, ...]) -> str | None:
    if "".join(values) == "*" or all(map(_is_replica, values)):
        return None
    what = (
        f"{name} must be the literal '*' or a list of replicas in the following format: "
        "[partitionId]:[brokerId],[partitionId]:[brokerId],..."
    )
    return invalid(name, values, what)


def _is_replica(text: str) -> bool:
    """`partition:broker`, or empty."""
    partition, colon, broker = text.partition(":")
    return not text or (bool(colon) and all(map(_is_digits, (partition, broker))))


def _is_digits(text: str) -> bool:
    return text.isascii() and text.isdigit()
