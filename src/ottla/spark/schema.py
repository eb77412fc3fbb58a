"""The columns of the source: Spark's names and types, and what a user's own schema may be.

Owns      the table of columns, which is that of Spark's `kafka` format.
Promises  a user's schema with some of the columns, in any order, is honoured: what is not asked
          for is not even built. Any other schema is refused by the name of the column.
"""

from __future__ import annotations

from pyspark.sql.types import (
    ArrayType,
    BinaryType,
    DataType,
    IntegerType,
    LongType,
    StringType,
    StructField,
    StructType,
    TimestampType,
)

from ottla.config.options import InvalidOption

HEADERS_TYPE = ArrayType(
    StructType([StructField("key", StringType()), StructField("value", BinaryType())])
)
COLUMNS: dict[str, DataType] = {
    "key": BinaryType(),
    "value": BinaryType(),
    "topic": StringType(),
    "partition": IntegerType(),
    "offset": LongType(),
    "timestamp": TimestampType(),
    "timestampType": IntegerType(),
    "headers": HEADERS_TYPE,
}
MAY_BE_NULL = {"key", "value", "headers"}


def full_schema(*, with_headers: bool) -> StructType:
    return StructType(
        [
            StructField(name, column)
            for name, column in COLUMNS.items()
            if with_headers or name != "headers"
        ]
    )


def check_schema(schema: StructType, *, with_headers: bool) -> None:
    """InvalidOption unless every column of a user's schema is one of ours, with its type."""
    if not schema.fields:
        raise InvalidOption("The schema has no columns: leave it out, or name some.")
    known = full_schema(with_headers=with_headers)
    for field in schema.fields:
        if field.name == "headers" and not with_headers:
            raise InvalidOption("Column headers in the schema: set the option includeHeaders.")
        if field.name not in known.fieldNames():
            raise InvalidOption(
                f"Column {field.name} in the schema: the format ottla has "
                f"{', '.join(known.fieldNames())}."
            )
        _check_field(field, known[field.name].dataType)
    if len(set(schema.fieldNames())) != len(schema.fields):
        raise InvalidOption("A column is in the schema twice.")


def _check_field(field: StructField, wanted: DataType) -> None:
    if field.dataType.simpleString() != wanted.simpleString():
        raise InvalidOption(
            f"Column {field.name} in the schema is {field.dataType.simpleString()}, "
            f"it must be {wanted.simpleString()}: cast it after reading."
        )
    if not field.nullable and field.name in MAY_BE_NULL:
        raise InvalidOption(f"Column {field.name} in the schema is NOT NULL, but may be null.")
