"""Which columns of a DataFrame become records, and whether they can.

Owns      the columns value, key, headers, topic and partition: names, types, which must be there.
Promises  names are matched with their case, other columns are left alone, as Spark's own `kafka`
          format does; what is wrong is said before a task starts.
Leaves    what is wrong with single rows to `splitting.py`.
"""

from __future__ import annotations

from dataclasses import dataclass

from pyspark.sql.types import (
    ArrayType,
    BinaryType,
    DataType,
    IntegerType,
    StringType,
    StructField,
    StructType,
)

from ottla.spark.sink.errors import InvalidRows

TEXT = (StringType, BinaryType)


@dataclass(frozen=True)
class SinkColumns:
    """What the rows have besides a value. `topic` is None where a column names it."""

    topic: str | None
    has_key: bool
    has_headers: bool
    has_partition: bool


def check_columns(schema: StructType, topic: str | None) -> SinkColumns:
    """InvalidRows names the column that is missing or has the wrong type."""
    fields = {field.name: field for field in schema.fields}
    if "value" not in fields:
        raise InvalidRows(
            f"The column value is missing: records are made of it. There are: {_shown(fields)}. "
            f"Names are matched with their case."
        )
    if topic is None and "topic" not in fields:
        raise InvalidRows("Rows have no topic: give the option topic, or a column topic.")
    for name in ("value", "key"):
        _check(fields.get(name), TEXT, "a string or binary")
    _check(fields.get("partition"), (IntegerType,), "an int")
    if topic is None:
        _check(fields["topic"], (StringType,), "a string")
    _check_headers(fields.get("headers"))
    return SinkColumns(
        topic=topic,
        has_key="key" in fields,
        has_headers="headers" in fields,
        has_partition="partition" in fields,
    )


def _check(field: StructField | None, kinds: tuple[type[DataType], ...], wanted: str) -> None:
    if field is not None and not isinstance(field.dataType, kinds):
        raise InvalidRows(
            f"The column {field.name} is {field.dataType.simpleString()}, and must be {wanted}: "
            f"use a cast."
        )


def _check_headers(field: StructField | None) -> None:
    if field is None or _is_headers(field.dataType):
        return
    raise InvalidRows(
        f"The column headers is {field.dataType.simpleString()}, "
        "and must be array<struct<key:string,value:binary>>."
    )


def _is_headers(kind: DataType) -> bool:
    if not (isinstance(kind, ArrayType) and isinstance(kind.elementType, StructType)):
        return False
    parts = kind.elementType.fields
    return (
        [part.name for part in parts] == ["key", "value"]
        and isinstance(parts[0].dataType, StringType)
        and isinstance(parts[1].dataType, BinaryType)
    )


def _shown(fields: dict[str, StructField]) -> str:
    return ", ".join(list(fields)[:20]) or "none"
