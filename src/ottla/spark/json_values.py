"""JSON values: all of a table at once where every one is as expected, else one by one.

Promises  both ways give the same values. The fast way is taken back for a part of the table as soon
          as anything in it is unusual; the slow way then tells which value is bad, and why.

Values are parsed by Python's own parser, which survives whatever text it gets. Arrow's, several
times as fast, does not: some text that is no JSON ends the process.
"""

from __future__ import annotations

import json
from functools import lru_cache
from types import NoneType
from typing import Any

import pyarrow as pa

from ottla.spark.value_converters import Convert, converter_of
from ottla.spark.values import BadValue, Decoded, decode_one_by_one

PART_ROWS = 1024


def decode_json(values: pa.Array, wanted: pa.DataType) -> Decoded:
    if not is_simple(wanted):
        return _decode_slowly(values, wanted)
    parts, reasons = [], {}
    for start in range(0, len(values), PART_ROWS):
        part = values.slice(start, PART_ROWS)
        found = _decode_together(part, wanted)
        if found is None:
            slow = _decode_slowly(part, wanted)
            found = slow.values
            reasons.update({start + row: reason for row, reason in slow.reasons.items()})
        parts.append(found)
    return Decoded(pa.concat_arrays(parts) if parts else pa.array([], wanted), reasons)


def is_simple(wanted: pa.DataType) -> bool:
    """Types that Arrow makes from Python's values as we do."""
    if pa.types.is_struct(wanted):
        names = [field.name for field in wanted]
        return len(set(names)) == len(names) and all(is_simple(field.type) for field in wanted)
    if pa.types.is_list(wanted):
        return is_simple(wanted.value_type)
    kinds = (pa.types.is_string, pa.types.is_boolean, pa.types.is_integer, pa.types.is_float64)
    return any(is_kind(wanted) for is_kind in kinds)


def _decode_together(values: pa.Array, wanted: pa.DataType) -> pa.Array | None:
    """All of them, or None if any is not as expected."""
    try:
        parsed = [value if value is None else json.loads(value) for value in values.to_pylist()]
        return pa.array(parsed, wanted) if _is_as_expected(parsed, wanted) else None
    except (ValueError, TypeError, RecursionError, OverflowError, pa.ArrowException):
        return None


def _is_as_expected(column: list[Any], wanted: pa.DataType) -> bool:
    """Whether all are of the type that belongs there: Arrow would cut 1.5 to 1 without a word."""
    if pa.types.is_struct(wanted):
        rows = [value for value in column if value is not None]
        return set(map(type, rows)) <= {dict} and all(
            _is_as_expected([row.get(field.name) for row in rows], field.type) for field in wanted
        )
    if pa.types.is_list(wanted):
        lists = [value for value in column if value is not None]
        return set(map(type, lists)) <= {list} and _is_as_expected(
            [item for each in lists for item in each], wanted.value_type
        )
    return set(map(type, column)) <= _python_types(wanted)


def _python_types(wanted: pa.DataType) -> set[type]:
    if pa.types.is_string(wanted):
        return {str, NoneType}
    if pa.types.is_boolean(wanted):
        return {bool, NoneType}
    return {int, NoneType} if pa.types.is_integer(wanted) else {int, float, NoneType}


def _decode_slowly(values: pa.Array, wanted: pa.DataType) -> Decoded:
    convert = _converter(wanted)
    return decode_one_by_one(values, wanted, lambda value: convert(parse(value), ()))


@lru_cache(maxsize=16)
def _converter(wanted: pa.DataType) -> Convert:
    return converter_of(wanted)


def parse(value: bytes) -> object:
    try:
        return json.loads(value)
    except RecursionError:
        raise BadValue("not JSON: nested too deeply") from None
    except ValueError as error:
        raise BadValue(f"not JSON: {error}") from None
