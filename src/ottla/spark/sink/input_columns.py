"""Which columns of a DataFrame become records, and whether they have the right types.

Owns      the columns value, key, headers, timestamp, topic and partition: names, types, which are
          required.
Promises  as Spark's own `kafka` format: names are case-sensitive, other columns are ignored. A
          warning names them, because a misspelled `key` is one. Errors are raised before a task
          starts. Other than that format, a column timestamp becomes the time of the records; of
          another type than timestamp it is ignored, with a warning.
Leaves    errors of single rows to `row_partitioning.py`.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable
from dataclasses import dataclass

from pyspark.sql.types import (
    ArrayType,
    BinaryType,
    DataType,
    IntegerType,
    MapType,
    StringType,
    StructField,
    StructType,
    TimestampType,
)

from ottla.spark.sink.errors import InvalidRows

log = logging.getLogger("ottla.spark.sink")

WRITTEN = {"value", "key", "headers", "timestamp", "topic", "partition"}
# The other columns of the source: a copy of a topic has them, and no use for them.
OF_THE_SOURCE = {"offset", "timestampType"}
TEXT = (StringType, BinaryType)


@dataclass(frozen=True)
class SinkColumns:
    """The columns besides the value. `topic` is None if a column has the topic of each row."""

    topic: str | None
    has_key: bool
    has_headers: bool
    has_partition: bool
    has_timestamp: bool = False


def check_columns(schema: StructType, topic: str | None) -> SinkColumns:
    """InvalidRows names the column that is missing or has the wrong type."""
    fields = {field.name: field for field in schema.fields}
    if "value" not in fields:
        raise InvalidRows(
            f"The column value is missing: it becomes the value of the records. There are: "
            f"{_shown(fields)}. Names of columns are case-sensitive."
        )
    if topic is None and "topic" not in fields:
        raise InvalidRows("Rows have no topic: give the option topic, or a column topic.")
    for name in ("value", "key"):
        _check(fields.get(name), TEXT, "a string or binary")
    _check(fields.get("partition"), (IntegerType,), "an int")
    if topic is None:
        _check(fields["topic"], (StringType,), "a string")
    _check_headers(fields.get("headers"))
    _warn_of_ignored(fields)
    return SinkColumns(
        topic=topic,
        has_key="key" in fields,
        has_headers="headers" in fields,
        has_partition="partition" in fields,
        has_timestamp=_has_timestamp(fields.get("timestamp")),
    )


def _has_timestamp(field: StructField | None) -> bool:
    """Jobs that were written for Spark's own format may have such a column of any type."""
    if field is None:
        return False
    if isinstance(field.dataType, TimestampType):
        return True
    log.warning(
        "the column timestamp is %s and is not written: records get the time of writing. Use "
        "cast(timestamp AS timestamp), or timestamp_millis for a number of milliseconds",
        field.dataType.simpleString(),
    )
    return False


def _warn_of_ignored(names: Iterable[str]) -> None:
    if ignored := [name for name in names if name not in WRITTEN | OF_THE_SOURCE]:
        log.warning(
            "columns that are not written: %s. Records are made of %s; use "
            "to_json(struct(*)) AS value to write whole rows",
            _shown(ignored),
            ", ".join(sorted(WRITTEN)),
        )


def _check(field: StructField | None, kinds: tuple[type[DataType], ...], wanted: str) -> None:
    if field is not None and not isinstance(field.dataType, kinds):
        raise InvalidRows(
            f"The column {field.name} is {field.dataType.simpleString()}, and must be {wanted}: "
            f"use {_conversion(field)}."
        )


def _conversion(field: StructField) -> str:
    """The function of DataFrames that makes a column of the right type."""
    if field.name == "partition":
        return "cast(partition AS int)"
    if isinstance(field.dataType, StructType | ArrayType | MapType) and field.name != "topic":
        return f"to_json({field.name}), or to_avro"
    return f"cast({field.name} AS string)"


def _check_headers(field: StructField | None) -> None:
    if field is None or _is_headers(field.dataType):
        return
    raise InvalidRows(
        f"The column headers is {field.dataType.simpleString()}, "
        "and must be array<struct<key:string,value:binary>>"
        f"{_headers_conversion(field.dataType)}."
    )


def _headers_conversion(kind: DataType) -> str:
    """The function of DataFrames that makes headers of a map, or of names and texts."""
    converted = "h -> struct(h.key AS key, CAST(h.value AS BINARY) AS value))"
    if isinstance(kind, MapType):
        return f": use transform(map_entries(headers), {converted}"
    element = kind.elementType if isinstance(kind, ArrayType) else None
    if isinstance(element, StructType) and {"key", "value"} <= set(element.fieldNames()):
        return f": use transform(headers, {converted}"
    return ""


def _is_headers(kind: DataType) -> bool:
    if not (isinstance(kind, ArrayType) and isinstance(kind.elementType, StructType)):
        return False
    parts = kind.elementType.fields
    return (
        [part.name for part in parts] == ["key", "value"]
        and isinstance(parts[0].dataType, StringType)
        and isinstance(parts[1].dataType, BinaryType)
    )


def _shown(names: Iterable[str]) -> str:
    names = list(names)
    rest = f" and {len(names) - 20} more" if len(names) > 20 else ""
    return (", ".join(names[:20]) or "none") + rest
