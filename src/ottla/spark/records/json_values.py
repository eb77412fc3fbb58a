"""JSON values: a fast path for many values at once, and a slow path for single values.

Promises  both paths give the same values. A value takes the slow path, which reports what is wrong
          with it, only if the fast path finds something unexpected in it.

The fast path parses with orjson, which is strict: what it refuses, such as NaN or text that is not
UTF-8, is parsed again with Python's own parser. orjson turns numbers beyond 64 bits into floats,
which only columns of floats accept, and those would round them as well. Arrow's JSON parser is not
used: some malformed texts end the process.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import lru_cache
from types import NoneType
from typing import Any

import orjson
import pyarrow as pa

from ottla.spark.records.value_converters import Convert, converter_of
from ottla.spark.records.values import (
    REASON_CHARACTERS_MAX,
    BadValue,
    DecodedValues,
    decode_one_by_one,
)

PART_ROWS = 1024  # the parsed objects of this many rows fit into the processor's cache


def decode_json(values: pa.Array, wanted: pa.DataType) -> DecodedValues:
    if not is_simple(wanted):
        return _decode_slowly(values, wanted)
    parts, reasons = [], {}
    for start in range(0, len(values), PART_ROWS):
        found = _decode_part(values.slice(start, PART_ROWS), wanted)
        reasons.update({start + row: reason for row, reason in found.reasons.items()})
        parts.append(found.values)
    return DecodedValues(pa.concat_arrays(parts) if parts else pa.array([], wanted), reasons)


def is_simple(wanted: pa.DataType) -> bool:
    """Types that Arrow builds from Python values as the slow path does; times only as fields."""
    if pa.types.is_struct(wanted):
        names = [field.name for field in wanted]
        return len(set(names)) == len(names) and all(
            is_time(field.type) or is_simple(field.type) for field in wanted
        )
    if pa.types.is_list(wanted):
        return is_simple(wanted.value_type)
    kinds = (pa.types.is_string, pa.types.is_boolean, pa.types.is_integer, pa.types.is_float64)
    return any(is_kind(wanted) for is_kind in kinds)


def is_time(wanted: pa.DataType) -> bool:
    return bool(pa.types.is_date(wanted) or pa.types.is_timestamp(wanted))


def _decode_part(values: pa.Array, wanted: pa.DataType) -> DecodedValues:
    texts = values.to_pylist()
    mistyped: set[int] = set()
    parsed = _parse_all(texts, mistyped)
    _find_mistyped(parsed, range(len(parsed)), wanted, mistyped)
    reasons = {}
    for row in sorted(mistyped):
        parsed[row], reason = _decode_one(texts[row], wanted)
        if reason is not None:
            reasons[row] = reason
    try:
        return DecodedValues(pa.array(parsed, wanted), reasons)
    except (pa.ArrowException, OverflowError):  # a number that does not fit
        return _decode_slowly(values, wanted)


def _parse_all(texts: Sequence[bytes | None], mistyped: set[int]) -> list[Any]:
    parse_one = orjson.loads
    try:
        return [text if text is None else parse_one(text) for text in texts]
    except orjson.JSONDecodeError:
        pass
    parsed: list[Any] = []
    for row, text in enumerate(texts):
        try:
            parsed.append(text if text is None else parse_one(text))
        except orjson.JSONDecodeError:
            parsed.append(None)
            mistyped.add(row)
    return parsed


def _find_mistyped(
    column: list[Any], rows: Sequence[int], wanted: pa.DataType, mistyped: set[int]
) -> None:
    """Find rows with values of another type: Arrow would silently truncate 1.5 to 1. `rows` has
    the row of each value in the column."""
    if pa.types.is_struct(wanted):
        column, rows = _only(dict, column, rows, mistyped)
        for field in wanted:
            name, kind = field.name, field.type  # looked up here, not for each row
            if is_time(kind):
                _make_times(column, rows, field, mistyped)
            else:
                _find_mistyped([each.get(name) for each in column], rows, kind, mistyped)
    elif pa.types.is_list(wanted):
        column, rows = _only(list, column, rows, mistyped)
        owners = [row for each, row in zip(column, rows, strict=True) for _ in each]
        _find_mistyped(
            [item for each in column for item in each], owners, wanted.value_type, mistyped
        )
    else:
        allowed = _python_types(wanted)
        if not set(map(type, column)) <= allowed:
            pairs = zip(column, rows, strict=True)
            mistyped.update(row for each, row in pairs if type(each) not in allowed)


def _only(
    kind: type, column: list[Any], rows: Sequence[int], mistyped: set[int]
) -> tuple[list[Any], Sequence[int]]:
    """The values of this kind and their rows; others, except nulls, are odd."""
    if set(map(type, column)) <= {kind}:
        return column, rows
    pairs = list(zip(column, rows, strict=True))
    mistyped.update(row for each, row in pairs if type(each) not in (kind, NoneType))
    kept = [(each, row) for each, row in pairs if type(each) is kind]
    return [each for each, _ in kept], [row for _, row in kept]


def _make_times(
    objects: list[dict[str, Any]], rows: Sequence[int], field: pa.Field, mistyped: set[int]
) -> None:
    """Replace texts by dates and timestamps, in place."""
    name, convert = field.name, _converter(field.type)
    for each, row in zip(objects, rows, strict=True):
        try:
            each[name] = convert(each.get(name), ())
        except BadValue:
            mistyped.add(row)


def _python_types(wanted: pa.DataType) -> set[type]:
    if pa.types.is_string(wanted):
        return {str, NoneType}
    if pa.types.is_boolean(wanted):
        return {bool, NoneType}
    return {int, NoneType} if pa.types.is_integer(wanted) else {int, float, NoneType}


def _decode_one(text: bytes, wanted: pa.DataType) -> tuple[Any, str | None]:
    """The value, or the reason why it is bad."""
    try:
        return _converter(wanted)(parse(text), ()), None
    except BadValue as error:
        return None, str(error)[:REASON_CHARACTERS_MAX]


def _decode_slowly(values: pa.Array, wanted: pa.DataType) -> DecodedValues:
    convert = _converter(wanted)
    return decode_one_by_one(values, wanted, lambda value: convert(parse(value), ()))


@lru_cache(maxsize=64)
def _converter(wanted: pa.DataType) -> Convert:
    return converter_of(wanted)


def parse(value: bytes) -> object:
    try:
        return json.loads(value)
    except RecursionError:
        raise BadValue("not JSON: nested too deeply") from None
    except ValueError as error:
        raise BadValue(f"not JSON: {error}") from None
