"""The type of decoded values, from the option `valueSchema`, and whether values fit into it."""

from __future__ import annotations

import json

import pyarrow as pa
from pyspark.sql.types import DataType, StructType

from ottla.config.options import InvalidOption
from ottla.spark.options.source_options import SourceOptions
from ottla.spark.records.avro_schema import parse_avro_schema, spark_type_of
from ottla.spark.records.ddl_schema import parse_ddl
from ottla.spark.records.schema import full_schema
from ottla.spark.records.value_converters import converter_of


def decoded_schema(options: SourceOptions) -> StructType:
    """All columns of a query that decodes values."""
    text = (options.value_schema or "").strip()
    if not text:
        raise InvalidOption(
            f"Option valueFormat={options.value_format} needs the option valueSchema."
        )
    if options.value_format == "avro":
        value_type = spark_type_of(parse_avro_schema(text))
    elif text.startswith("{"):
        value_type = _from_json(text)
    else:
        value_type = parse_ddl(text)
    return full_schema(with_headers=options.include_headers, value_type=value_type)


def _from_json(text: str) -> StructType:
    try:
        return StructType.fromJson(json.loads(text))
    except Exception as error:  # PySpark raises exceptions of many types for wrong JSON
        missing = f"{error} is missing in its JSON" if isinstance(error, KeyError) else error
        raise InvalidOption(
            f"Option valueSchema is no Spark schema: {missing}. Give DDL such as `id bigint, name "
            "string`, or schema.json()."
        ) from None


def check_value_type(value_format: str, value_schema: str | None, value_type: DataType) -> None:
    """InvalidOption unless values of the format can be decoded into this type."""
    if value_format == "avro":
        expected = spark_type_of(parse_avro_schema(value_schema or ""))
        if expected.simpleString() != value_type.simpleString():
            raise InvalidOption(
                "Column value in the schema is not what the option valueSchema says: "
                f"{expected.simpleString()}."
            )
        return
    converter_of(arrow_schema(StructType().add("value", value_type)).field("value").type)


def arrow_schema(schema: StructType) -> pa.Schema:
    """The Arrow schema that Spark expects for these columns."""
    from pyspark.sql.pandas.types import to_arrow_schema

    return to_arrow_schema(schema, timezone="UTC")
