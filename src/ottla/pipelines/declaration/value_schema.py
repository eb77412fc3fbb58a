"""The columns of decoded values, from the declared schema."""

from __future__ import annotations

from pyspark.sql.types import StructType

from ottla.pipelines.declaration.tree import Value
from ottla.spark.records.avro_schema import parse_avro_schema, spark_type_of
from ottla.spark.records.ddl_schema import parse_ddl
from ottla.spark.records.value_types import check_value_type


def value_struct(value: Value) -> StructType:
    """InvalidOption names what is wrong with the schema."""
    if value.format == "avro":
        return spark_type_of(parse_avro_schema(value.schema))
    struct = parse_ddl(value.schema)
    check_value_type("json", value.schema, struct)
    return struct
