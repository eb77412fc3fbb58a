"""What a setting is: Kafka's name for it, its type, default, check and explanation.

Settings are fields of frozen dataclasses made with `option`, so that code reads a typed attribute
(`config.segment_bytes`) while the reference page, DescribeConfigs and the parser read the same
declaration.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar, cast

KIB = 1024
MIB = 1024 * KIB
GIB = 1024 * MIB
SECOND_MS = 1000
MINUTE_MS = 60 * SECOND_MS
HOUR_MS = 60 * MINUTE_MS
DAY_MS = 24 * HOUR_MS
INT32_MAX = 2**31 - 1
INT64_MAX = 2**63 - 1

T = TypeVar("T")
Check = Callable[[Any], str | None]


class InvalidOption(ValueError):
    """A setting that cannot be used: names the setting, the value and what would be right."""


@dataclass(frozen=True, slots=True)
class Option(Generic[T]):
    name: str
    default: T
    kind: Kind[T]
    check: Check
    doc: str

    def parse(self, text: str) -> T:
        """The value that `text` stands for; InvalidOption when it is no such value."""
        try:
            value = self.kind.parse(text.strip())
        except ValueError:
            raise InvalidOption(f"{self.name}={text}: expected {self.kind.name}") from None
        if (wrong := self.check(value)) is not None:
            raise InvalidOption(f"{self.name}={text}: {wrong}")
        return value

    def format(self, value: T) -> str:
        return self.kind.format(value)


@dataclass(frozen=True, slots=True)
class Kind(Generic[T]):
    """A type of value: how it is read from text and written back, under Kafka's name for it."""

    name: str
    parse: Callable[[str], T]
    format: Callable[[T], str]


def _parse_bounded(bits: int) -> Callable[[str], int]:
    def parse(text: str) -> int:
        value = int(text)
        if not -(2 ** (bits - 1)) <= value < 2 ** (bits - 1):
            raise ValueError
        return value

    return parse


def _parse_boolean(text: str) -> bool:
    match text.lower():
        case "true":
            return True
        case "false":
            return False
    raise ValueError


def _parse_list(text: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.split(",") if part.strip())


INT = Kind[int]("a whole number of 32 bits", _parse_bounded(32), str)
LONG = Kind[int]("a whole number of 64 bits", _parse_bounded(64), str)
DOUBLE = Kind[float]("a number", float, str)
BOOLEAN = Kind[bool]("true or false", _parse_boolean, lambda value: str(value).lower())
STRING = Kind[str]("a text", str, str)
LIST = Kind[tuple[str, ...]]("a list with commas between", _parse_list, ",".join)


def anything(_value: Any) -> str | None:
    return None


def at_least(minimum: float) -> Check:
    return lambda value: None if value >= minimum else f"must be at least {minimum}"


def between(minimum: float, maximum: float) -> Check:
    return lambda value: (
        None if minimum <= value <= maximum else f"must be between {minimum} and {maximum}"
    )


def one_of(*allowed: object) -> Check:
    names = ", ".join(map(str, allowed))
    return lambda value: None if value in allowed else f"must be one of {names}"


def each_of(*allowed: str) -> Check:
    names = ", ".join(allowed)

    def check(values: tuple[str, ...]) -> str | None:
        if len(set(values)) != len(values):
            return "must not name a value twice"
        return None if set(values) <= set(allowed) else f"may only hold {names}"

    return check


def either(*checks: Check) -> Check:
    def check(value: Any) -> str | None:
        answers = [wrong(value) for wrong in checks]
        return None if None in answers else " or ".join(filter(None, answers))

    return check


def option(name: str, default: T, kind: Kind[T], check: Check, doc: str) -> T:
    """Declare a setting as a dataclass field (typed as its value, as `dataclasses.field` is)."""
    declared = Option(name, default, kind, check, doc)
    return dataclasses.field(default=default, metadata={"option": declared})


def options_of(config_type: type[Any]) -> dict[str, Option[Any]]:
    """Kafka's name to declaration, in the order of declaration."""
    declared = [field.metadata["option"] for field in dataclasses.fields(config_type)]
    return {each.name: each for each in declared}


C = TypeVar("C")


def parse_config(config_type: type[C], values: Mapping[str, str]) -> C:
    """A config object from texts under Kafka's names; InvalidOption names what is wrong."""
    fields = {f.metadata["option"].name: f for f in dataclasses.fields(cast(Any, config_type))}
    unknown = sorted(values.keys() - fields.keys())
    if unknown:
        raise InvalidOption(f"unknown setting: {', '.join(unknown)}")
    parsed = {fields[n].name: fields[n].metadata["option"].parse(v) for n, v in values.items()}
    return config_type(**parsed)
