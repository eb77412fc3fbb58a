"""The types of settings: parsing, formatting, and their names in the protocol.

Promises  text is parsed as in Kafka: numbers are ASCII digits within their range, `true` and
          `false` in any case, lists separated by commas. Invalid text raises ValueError with
          Kafka's message.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Generic, TypeVar, cast

T = TypeVar("T")

# Values come from clients: parsed in linear time, without regular expressions.
DIGITS_MAX = 40
DOUBLE_CHARS_MAX = 1000
_DOUBLE_CHARS = frozenset("0123456789+-.eE")  # Python would also accept `inf`, `nan` and `_`
_SPACES = " \t\n\v\f\r"


@dataclass(frozen=True, slots=True)
class Kind(Generic[T]):
    """A type of value, with Kafka's name and its number in DescribeConfigs."""

    name: str
    wire_type: int
    parse: Callable[[str], T]
    format: Callable[[T], str]
    is_sensitive: bool = False


def optional(kind: Kind[T]) -> Kind[T | None]:
    """The same for a setting that may be unset: an empty text is None."""
    return cast("Kind[T | None]", kind)


def format_double(value: float) -> str:
    """As in Java: decimal notation between 10^-3 and 10^7, otherwise with an exponent."""
    if value == 0 or 1e-3 <= abs(value) < 1e7:
        return str(float(value))
    sign, digits, exponent = Decimal(repr(value)).as_tuple()
    significant = "".join(map(str, digits)).rstrip("0")
    power = int(exponent) + len(digits) - 1
    return f"{'-' * sign}{significant[0]}.{significant[1:] or '0'}E{power}"


def shown(value: Any) -> str:
    """A value in an error message, as Java formats it."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        return format_double(value)
    if isinstance(value, tuple):
        return f"[{', '.join(value)}]"
    return str(value)


def _parse_whole(type_name: str, bits: int) -> Callable[[str], int]:
    def parse(text: str) -> int:
        if is_whole(text) and -(2 ** (bits - 1)) <= int(text) < 2 ** (bits - 1):
            return int(text)
        raise ValueError(f"Not a number of type {type_name}")

    return parse


def is_whole(text: str) -> bool:
    """ASCII digits with an optional sign."""
    digits = text[1:] if text[:1] in ("+", "-") else text
    return 0 < len(digits) <= DIGITS_MAX and digits.isascii() and digits.isdigit()


def _parse_double(text: str) -> float:
    number = text[:-1] if text[-1:] in tuple("fFdD") else text
    if len(number) <= DOUBLE_CHARS_MAX and _DOUBLE_CHARS.issuperset(number):
        with suppress(ValueError):
            value = float(number)
            if math.isfinite(value):
                return value
    raise ValueError("Not a number of type DOUBLE")


def _parse_boolean(text: str) -> bool:
    match text.lower():
        case "true":
            return True
        case "false":
            return False
    raise ValueError("Expected value to be either true or false")


def _parse_list(text: str) -> tuple[str, ...]:
    """Empty elements are kept, for the check to reject."""
    if not text:
        return ()
    first, *others = text.split(",")
    if not others:
        return (text,)
    *between, last = others
    inner = (each.strip(_SPACES) for each in between)
    return (first.rstrip(_SPACES), *inner, last.lstrip(_SPACES))


def _parse_set(text: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(_parse_list(text)))


BOOLEAN: Kind[bool] = Kind("BOOLEAN", 1, _parse_boolean, lambda value: str(value).lower())
STRING: Kind[str] = Kind("STRING", 2, str, str)
INT: Kind[int] = Kind("INT", 3, _parse_whole("INT", 32), str)
SHORT: Kind[int] = Kind("SHORT", 4, _parse_whole("SHORT", 16), str)
LONG: Kind[int] = Kind("LONG", 5, _parse_whole("LONG", 64), str)
DOUBLE: Kind[float] = Kind("DOUBLE", 6, _parse_double, format_double)
LIST: Kind[tuple[str, ...]] = Kind("LIST", 7, _parse_set, ",".join)  # without duplicates
REPEATING_LIST: Kind[tuple[str, ...]] = Kind("LIST", 7, _parse_list, ",".join)
CLASS: Kind[str] = Kind("CLASS", 8, str, str)
PASSWORD: Kind[str] = Kind("PASSWORD", 9, str, lambda _value: "[hidden]", is_sensitive=True)
