"""Avro schemas as Spark types.

Promises  a schema that has no Spark type (unions of several types, recursive types, lists of empty
          records) is refused by the name of the field, before a query reads.
"""

from __future__ import annotations

import json
from typing import Any

from pyspark.sql.types import (
    ArrayType,
    BinaryType,
    BooleanType,
    DataType,
    DateType,
    DecimalType,
    DoubleType,
    FloatType,
    IntegerType,
    LongType,
    MapType,
    StringType,
    StructField,
    StructType,
    TimestampType,
)

from ottla.config.options import InvalidOption
from ottla.spark.records.values import field_path

Path = tuple[str, ...]

SIMPLE: dict[str, DataType] = {
    "boolean": BooleanType(),
    "int": IntegerType(),
    "long": LongType(),
    "float": FloatType(),
    "double": DoubleType(),
    "bytes": BinaryType(),
    "string": StringType(),
    "enum": StringType(),
    "fixed": BinaryType(),
}
LOGICAL: dict[str, DataType] = {
    "date": DateType(),
    "timestamp-millis": TimestampType(),
    "timestamp-micros": TimestampType(),
    "uuid": StringType(),
}
REFUSED_LOGICAL = ("time-millis", "time-micros", "duration")


def parse_avro_schema(text: str) -> Any:
    """Checked by fastavro; InvalidOption says what is wrong."""
    try:
        import fastavro
    except ImportError:
        raise InvalidOption(
            "Option valueFormat=avro needs fastavro: pip install 'ottla[avro]'"
        ) from None
    try:
        return fastavro.parse_schema(json.loads(text))
    except Exception as error:  # fastavro raises many kinds, KeyError and TypeError among them
        raise InvalidOption(
            f"Option valueSchema is no Avro schema: {type(error).__name__}: {error}"
        ) from None


def spark_type_of(schema: Any) -> StructType:
    """The type of a parsed schema, which must be a record."""
    found = _Types().type_of(schema, ())
    if not isinstance(found, StructType):
        raise InvalidOption("Option valueSchema: the Avro schema must be a record")
    return found


class _Types:
    def __init__(self) -> None:
        self._named: dict[str, Any] = {}
        self._open: list[str] = []

    def type_of(self, schema: Any, path: Path) -> DataType:
        if isinstance(schema, list):
            return self._union(schema, path)
        if isinstance(schema, str):
            return self._by_name(schema, path)
        kind = schema["type"]
        if isinstance(kind, dict | list):
            return self.type_of(kind, path)
        if "name" in schema and kind in ("record", "error", "enum", "fixed"):
            self._named[schema["name"]] = schema
        if (logical := schema.get("logicalType")) is not None:
            found = self._logical(schema, logical, path)
            if found is not None:
                return found
        match kind:
            case "record" | "error":
                return self._record(schema, path)
            case "array":
                return ArrayType(self._item(schema["items"], path))
            case "map":
                return MapType(StringType(), self.type_of(schema["values"], path))
        return self._by_name(kind, path)

    def _by_name(self, name: str, path: Path) -> DataType:
        if name in SIMPLE:
            return SIMPLE[name]
        if name in self._open:
            raise _refused(path, f"the type {name}, which contains itself,")
        if name in self._named:
            return self.type_of(self._named[name], path)
        raise _refused(path, f"the type {name}")

    def _logical(self, schema: Any, logical: str, path: Path) -> DataType | None:
        if logical == "decimal":
            return DecimalType(schema["precision"], schema.get("scale", 0))
        if logical in REFUSED_LOGICAL:
            raise _refused(path, f"the logical type {logical}")
        return LOGICAL.get(logical)  # an unknown one is ignored, as Avro demands

    def _record(self, schema: Any, path: Path) -> DataType:
        self._open.append(schema["name"])
        fields = [
            StructField(field["name"], self.type_of(field["type"], (*path, field["name"])))
            for field in schema["fields"]
        ]
        self._open.pop()
        return StructType(fields)

    def _item(self, schema: Any, path: Path) -> DataType:
        found = self.type_of(schema, path)
        if isinstance(found, StructType) and not found.fields:
            raise _refused(path, "a list of records without fields")
        return found

    def _union(self, schema: list[Any], path: Path) -> DataType:
        others = [each for each in schema if each != "null"]
        if len(others) != 1:
            raise _refused(path, f"a union of {len(others)} types besides null")
        return self.type_of(others[0], path)


def _refused(path: Path, what: str) -> InvalidOption:
    return InvalidOption(
        f"Option valueSchema: {field_path(path)}: {what} cannot be shown as a column"
    )
