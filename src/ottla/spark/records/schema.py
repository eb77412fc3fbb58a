"""The columns of the source: names and types, and which schemas of a user are accepted.

Owns      the table of columns, which is that of Spark's `kafka` format.
Promises  a user's schema may have any of the columns, in any order; other columns are not built.
          Any other schema is refused by the name of the column.
"""

from __future__ import annotations

from pyspark.sql.types import (
    ArrayType,
    BinaryType,
    DataType,
    IntegerType,
    LongType,
    MapType,
    StringType,
    StructField,
    StructType,
    TimestampType,
)

from ottla.config.options import InvalidOption
from ottla.spark.records.values import BAD_REASON, BAD_VALUE

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
BAD_COLUMNS: dict[str, DataType] = {BAD_VALUE: BinaryType(), BAD_REASON: StringType()}
MAY_BE_NULL = {"key", "value", "headers", *BAD_COLUMNS}


def full_schema(*, with_headers: bool, value_type: DataType | None = None) -> StructType:
    """With `value_type`, values are decoded: see `values.py`."""
    columns = {n: kind for n, kind in COLUMNS.items() if with_headers or n != "headers"}
    if value_type is not None:
        columns |= {"value": value_type} | BAD_COLUMNS
    return StructType([StructField(name, column) for name, column in columns.items()])


def check_schema(schema: StructType, *, with_headers: bool, decodes_values: bool = False) -> None:
    """InvalidOption unless every column of a user's schema exists and has its type."""
    if not schema.fields:
        raise InvalidOption("The schema has no columns: leave it out, or name some.")
    value_type = _value_type_in(schema) if decodes_values else None
    known = full_schema(with_headers=with_headers, value_type=value_type)
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


def _value_type_in(schema: StructType) -> DataType:
    if "value" not in schema.fieldNames():
        raise InvalidOption("Option valueFormat: the schema has no column value to decode into.")
    found = schema["value"].dataType
    if not isinstance(found, StructType):
        raise InvalidOption(
            f"Column value in the schema is {found.simpleString()}: with the option valueFormat it "
            "must be a struct."
        )
    _check_fields(found, ("value",))
    return found


def _check_fields(kind: DataType, path: tuple[str, ...]) -> None:
    """No field is there twice, and none is NOT NULL: a producer may omit any field."""
    name = ".".join(path)
    if isinstance(kind, ArrayType):
        if not kind.containsNull:
            raise InvalidOption(
                f"Option valueSchema: elements of {name} are NOT NULL, but may be null."
            )
        _check_fields(kind.elementType, path)
    if isinstance(kind, MapType):
        if not kind.valueContainsNull:
            raise InvalidOption(
                f"Option valueSchema: values of {name} are NOT NULL, but may be null."
            )
        _check_fields(kind.valueType, path)
    names = kind.fieldNames() if isinstance(kind, StructType) else []
    if twice := [each for each in names if names.count(each) > 1]:
        raise InvalidOption(f"Option valueSchema: {name} has the field {twice[0]} twice.")
    for field in kind.fields if isinstance(kind, StructType) else ():
        if not field.nullable:
            raise InvalidOption(
                f"Option valueSchema: {name}.{field.name} is NOT NULL, but may be missing."
            )
        _check_fields(field.dataType, (*path, field.name))


def _check_field(field: StructField, wanted: DataType) -> None:
    if field.dataType.simpleString() != wanted.simpleString():
        raise InvalidOption(
            f"Column {field.name} in the schema is {field.dataType.simpleString()}, "
            f"it must be {wanted.simpleString()}: cast it after reading."
        )
    if not field.nullable and field.name in MAY_BE_NULL:
        raise InvalidOption(f"Column {field.name} in the schema is NOT NULL, but may be null.")
