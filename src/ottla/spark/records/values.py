"""Values decoded inside the source: a struct instead of bytes, and what could not be decoded.

    key · value struct<...> · topic · partition · offset · timestamp · timestampType ·
    badValue binary · badReason string

Owns      the columns that `valueFormat` changes and adds, and the choice of the decoder.
Promises  a value that cannot be decoded has null in `value`, its bytes in `badValue` and what is
          wrong in `badReason`; it never stops a query. A null value (a tombstone) is null, not bad.
Leaves    the formats to `json_values.py` and `avro_values.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import pyarrow as pa

BAD_VALUE, BAD_REASON = "badValue", "badReason"
REASON_CHARACTERS_MAX = 500


class BadValue(ValueError):
    """What is wrong with one value."""


@dataclass(frozen=True)
class Decoded:
    """The values of a table, and what is wrong with some: row to reason."""

    values: pa.Array
    reasons: Mapping[int, str]


# From a column of bytes to values of a type. The format's own schema is bound to it.
Decode = Callable[[pa.Array, pa.DataType], Decoded]


def decoder_of(value_format: str, value_schema: str | None) -> Decode:
    if value_format.lower() == "avro":
        from ottla.spark.records.avro_values import avro_decoder

        return avro_decoder(value_schema or "")
    from ottla.spark.records.json_values import decode_json

    return decode_json


def decode_one_by_one(
    values: pa.Array, wanted: pa.DataType, decode: Callable[[bytes], object]
) -> Decoded:
    """The slow way, which tells for each value what is wrong with it."""
    found: list[object] = []
    reasons: dict[int, str] = {}
    for row, value in enumerate(values.to_pylist()):
        decoded: object = None
        if value is not None:
            try:
                decoded = decode(value)
            except BadValue as error:
                reasons[row] = str(error)[:REASON_CHARACTERS_MAX]
        found.append(decoded)
    return Decoded(pa.array(found, wanted), reasons)


def bad_values(values: pa.Array, reasons: Mapping[int, str]) -> pa.Array:
    """The bytes of those that are bad, null elsewhere."""
    if not reasons:
        return pa.nulls(len(values), pa.binary())
    return pa.array([values[row].as_py() if row in reasons else None for row in range(len(values))])


def bad_reasons(rows: int, reasons: Mapping[int, str]) -> pa.Array:
    if not reasons:
        return pa.nulls(rows, pa.string())
    return pa.array([reasons.get(row) for row in range(rows)], pa.string())


def field_path(path: Sequence[str]) -> str:
    """Where in a value: `address.street`, or the value itself."""
    return ".".join(path) or "the value"
