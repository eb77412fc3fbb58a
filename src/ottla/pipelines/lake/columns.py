"""The columns of a lake: the fields of the values, and where each row comes from.

    <fields of the value> · topic · topic_id · partition · offset · timestamp · record_key · ...

Owns      their names and types. Every row keeps topic id, partition, offset and timestamp of its
          record, so that what is missing can be computed from the table alone.
"""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa
from pyspark.sql.types import StructType

from ottla.pipelines.declaration.checking import SOURCE_COLUMN_NAMES
from ottla.pipelines.errors import LakeError
from ottla.spark.records.schema import HEADERS_TYPE
from ottla.spark.records.value_types import arrow_schema

TIME = pa.timestamp("us", tz="UTC")
SOURCE_COLUMNS = pa.schema(
    [
        ("topic", pa.string()),
        ("topic_id", pa.string()),
        ("partition", pa.int32()),
        ("offset", pa.int64()),
        ("timestamp", TIME),
    ]
)
HEADERS = arrow_schema(StructType().add("headers", HEADERS_TYPE)).field("headers").type
KEPT = {"key": pa.binary(), "value": pa.binary(), "headers": HEADERS}


def lake_columns(value: StructType | None, keep: Sequence[str]) -> pa.Schema:
    """The columns of a lake without a query. `value` is None if it stays bytes."""
    fields = [pa.field("value", pa.binary())] if value is None else list(arrow_schema(value))
    kept = [pa.field(f"record_{name}", KEPT[name]) for name in keep]
    return pa.schema([*fields, *SOURCE_COLUMNS, *kept])


def transformed_columns(found: StructType) -> pa.Schema:
    """The columns of a lake with a query. LakeError if the query dropped the origin of its rows."""
    columns = arrow_schema(found)
    needed = [name for name in SOURCE_COLUMN_NAMES if name != "topic_id"]
    if missing := [name for name in needed if name not in columns.names]:
        raise LakeError(
            f"the rows of the query have no {', '.join(missing)}: add them to its SELECT, so that "
            "rows can be compared with the records they come from"
        )
    for name in needed:
        if columns.field(name).type != SOURCE_COLUMNS.field(name).type:
            raise LakeError(
                f"the column {name} of the query is {columns.field(name).type}, and must stay "
                f"{SOURCE_COLUMNS.field(name).type}: give another name to what is computed"
            )
    if "topic_id" in columns.names:
        return columns
    return columns.append(SOURCE_COLUMNS.field("topic_id"))
