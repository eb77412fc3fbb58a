"""Values decoded inside the source: a struct instead of bytes, and what could not be decoded.

    key · value struct<...> · topic · partition · offset · timestamp · timestampType ·
    badValue binary · badReason string

Owns      the columns that `valueFormat` changes and adds, and the choice of the decoder.
Promises  a value that cannot be decoded never stops a query: `value` is null, `badValue` has its
          bytes and `badReason` what is wrong. A null value (a tombstone) is null, not bad.
Leaves    the formats to `json_values.py` and `avro_values.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import pyarrow as pa

BAD_VALUE, BAD_REASON = "badValue", "badReason"
REASON_CHARACTERS_MAX = 500


class BadValue(ValueError):
    """Why one value cannot be decoded."""


@dataclass(frozen=True)
class DecodedValues:
    """The decoded values of a table, and the reason for each row that could not be decoded."""

    values: pa.Array
    reasons: Mapping[int, str]


# Decodes a column of bytes into values of a type.
Decode = Callable[[pa.Array, pa.DataType], DecodedValues]


def decoder_of(value_format: str, value_schema: str | None) -> Decode:
    if value_format.lower() == "avro":
        from ottla.spark.records.avro_values import avro_decoder

        return avro_decoder(value_schema or "")
    from ottla.spark.records.json_values import decode_json

    return decode_json


def decode_one_by_one(
    values: pa.Array, wanted: pa.DataType, decode: Callable[[bytes], object]
) -> DecodedValues:
    """Slower, and reports what is wrong with each value."""
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
    return DecodedValues(pa.array(found, wanted), reasons)


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
    """The path of a field, such as `address.street`, for error messages."""
    return ".".join(path) or "the value"
