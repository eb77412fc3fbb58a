"""Parsed JSON converted into values of columns, or refused with the name of the field.

Promises  Arrow accepts every returned value for the type it was converted to.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable
from datetime import UTC, date, datetime
from decimal import Decimal, InvalidOperation, localcontext
from typing import Any

import pyarrow as pa

from ottla.config.options import InvalidOption
from ottla.spark.records.values import BadValue, field_path

Path = tuple[str, ...]
Convert = Callable[[Any, Path], Any]


def converter_of(wanted: pa.DataType, path: Path = ()) -> Convert:
    """None stays None everywhere. InvalidOption for a type that JSON values cannot have."""
    convert = _converter_of(wanted, path)
    return lambda value, at: None if value is None else convert(value, at)


def _converter_of(wanted: pa.DataType, path: Path) -> Convert:
    if pa.types.is_struct(wanted):
        return _struct(wanted, path)
    if pa.types.is_list(wanted):
        return _list(converter_of(wanted.value_type, path))
    if pa.types.is_map(wanted):
        return _map(wanted, path)
    if pa.types.is_integer(wanted):
        bits = wanted.bit_width
        return lambda value, at: _whole(value, at, bits)
    if pa.types.is_decimal(wanted):
        return lambda value, at: _decimal(value, at, wanted.precision, wanted.scale)
    for is_kind, convert in _SIMPLE:
        if is_kind(wanted):
            return convert
    raise InvalidOption(
        f"Option valueSchema: {field_path(path)} has the type {wanted}, which cannot be read"
    )


def _struct(wanted: pa.DataType, path: Path) -> Convert:
    fields = {field.name: converter_of(field.type, (*path, field.name)) for field in wanted}

    def convert(value: Any, at: Path) -> Any:
        if not isinstance(value, dict):
            raise BadValue(f"{field_path(at)} is {_shown(value)}, not an object")
        return {name: each(value.get(name), (*at, name)) for name, each in fields.items()}

    return convert


def _list(each: Convert) -> Convert:
    def convert(value: Any, at: Path) -> Any:
        if not isinstance(value, list):
            raise BadValue(f"{field_path(at)} is {_shown(value)}, not a list")
        return [each(item, (*at, str(number))) for number, item in enumerate(value)]

    return convert


def _map(wanted: pa.DataType, path: Path) -> Convert:
    if not pa.types.is_string(wanted.key_type):
        raise InvalidOption(f"Option valueSchema: keys of {field_path(path)} must be strings")
    each = converter_of(wanted.item_type, path)

    def convert(value: Any, at: Path) -> Any:
        if not isinstance(value, dict):
            raise BadValue(f"{field_path(at)} is {_shown(value)}, not an object")
        return [(_text(key, at), each(item, (*at, key))) for key, item in value.items()]

    return convert


def _whole(value: Any, at: Path, bits: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise BadValue(f"{field_path(at)} is {_shown(value)}, not a whole number")
    if not -(2 ** (bits - 1)) <= value < 2 ** (bits - 1):
        raise BadValue(f"{field_path(at)} does not fit into {bits} bits")
    return value


def _number(value: Any, at: Path) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise BadValue(f"{field_path(at)} is {_shown(value)}, not a number")
    try:
        return float(value)
    except OverflowError:
        raise BadValue(f"{field_path(at)} is too large a number") from None


def _decimal(value: Any, at: Path, precision: int, scale: int) -> Decimal:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise BadValue(f"{field_path(at)} is {_shown(value)}, not a number")
    try:
        with localcontext() as context:
            context.prec = precision + 20
            number = Decimal(str(value))
            fitting = number.quantize(Decimal(1).scaleb(-scale))
    except (InvalidOperation, ValueError):
        raise BadValue(f"{field_path(at)} is {_shown(value)}, not a number") from None
    if fitting != number or len(fitting.as_tuple().digits) > precision:
        raise BadValue(f"{field_path(at)} does not fit into decimal({precision},{scale})")
    return fitting


def _text(value: Any, at: Path) -> str:
    if not isinstance(value, str):
        raise BadValue(f"{field_path(at)} is {_shown(value)}, not a string")
    try:
        value.encode()
    except UnicodeEncodeError:
        raise BadValue(f"{field_path(at)} is no valid Unicode text") from None
    return value


def _boolean(value: Any, at: Path) -> bool:
    if not isinstance(value, bool):
        raise BadValue(f"{field_path(at)} is {_shown(value)}, not true or false")
    return value


def _date(value: Any, at: Path) -> date:
    try:
        return date.fromisoformat(_text(value, at))
    except ValueError:
        raise BadValue(f"{field_path(at)} is {_shown(value)}, not a date as 2024-12-31") from None


def _time(value: Any, at: Path) -> datetime:
    """ISO 8601; without a zone it is UTC."""
    try:
        moment = datetime.fromisoformat(_text(value, at))
        return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    except (ValueError, OverflowError):
        raise BadValue(
            f"{field_path(at)} is {_shown(value)}, not a time as 2024-12-31T23:59:59Z"
        ) from None


def _bytes(value: Any, at: Path) -> bytes:
    try:
        return base64.b64decode(_text(value, at), validate=True)
    except (binascii.Error, ValueError):
        raise BadValue(f"{field_path(at)} is {_shown(value)}, not base64") from None


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 40 else text[:40] + "..."


_SIMPLE: list[tuple[Callable[[pa.DataType], bool], Convert]] = [
    (pa.types.is_string, _text),
    (pa.types.is_boolean, _boolean),
    (pa.types.is_floating, _number),
    (pa.types.is_date, _date),
    (pa.types.is_timestamp, _time),
    (pa.types.is_binary, _bytes),
]
