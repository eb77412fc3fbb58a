"""Spark's columns out of decoded records."""

import pyarrow as pa
import pytest
from pyspark.sql.types import ArrayType, DataType, LongType, MapType, StringType, StructType

from ottla.base.ids import TopicPartition
from ottla.config.options import InvalidOption
from ottla.protocol.records.arrow import SCHEMA, SCHEMA_WITH_HEADERS
from ottla.spark.records.columns import Columns, to_microseconds
from ottla.spark.records.json_values import decode_json
from ottla.spark.records.schema import check_schema, full_schema
from ottla.spark.records.value_types import arrow_schema

PLACE = TopicPartition("topic", 7)


def table_of(*values: bytes | None) -> pa.RecordBatch:
    rows = len(values)
    columns = [list(range(rows)), [5] * rows, [0] * rows, [None] * rows, list(values)]
    return pa.RecordBatch.from_arrays(
        [pa.array(each, field.type) for each, field in zip(columns, SCHEMA, strict=True)],
        schema=SCHEMA,
    )


def test_the_batch_has_exactly_the_schema_that_spark_expects() -> None:
    schema = arrow_schema(full_schema(with_headers=False))
    batch = Columns(schema, PLACE).build(table_of(b"a", None))
    assert batch.schema.equals(schema)
    batch.validate(full=True)
    assert batch.column("topic").to_pylist() == ["topic", "topic"]
    assert batch.column("partition").to_pylist() == [7, 7]
    assert [each.value for each in batch.column("timestamp")] == [5000, 5000]


def test_only_columns_that_are_asked_for_are_made_in_their_order() -> None:
    schema = pa.schema([("partition", pa.int32()), ("value", pa.binary())])
    batch = Columns(schema, PLACE).build(table_of(b"a"))
    assert batch.to_pydict() == {"partition": [7], "value": [b"a"]}


def test_records_without_headers_have_null_there() -> None:
    headers: list[list[dict[str, object]]] = [[], [{"key": "k", "value": b"v"}], []]
    field = SCHEMA_WITH_HEADERS.field("headers")
    table = table_of(b"", b"", b"").append_column(field, pa.array(headers, field.type))
    schema = arrow_schema(full_schema(with_headers=True))
    batch = Columns(schema, PLACE).build(table)
    assert batch.schema.equals(schema)
    assert batch.column("headers").to_pylist() == [None, headers[1], None]


def test_times_that_do_not_fit_become_the_nearest_that_do() -> None:
    times = pa.array([2**63 - 1, -(2**63), -1], pa.int64()).cast(pa.timestamp("ms", "UTC"))
    found = [each.value for each in to_microseconds(times)]
    assert found[0] > 2**62
    assert found[1] < -(2**62)
    assert found[2] == -1000


def test_decoded_values_come_with_what_could_not_be_decoded() -> None:
    value_type = pa.struct([("id", pa.int64())])
    schema = pa.schema(
        [("value", value_type), ("badValue", pa.binary()), ("badReason", pa.string())]
    )
    batch = Columns(schema, PLACE, decode_json).build(table_of(b'{"id":1}', b"x", None))
    assert batch.column("value").to_pylist() == [{"id": 1}, None, None]
    assert batch.column("badValue").to_pylist() == [None, b"x", None]
    reasons = batch.column("badReason").to_pylist()
    assert reasons[0] is None
    assert reasons[2] is None
    assert reasons[1].startswith("not JSON")


def test_a_column_that_may_be_null_cannot_be_declared_not_null() -> None:
    schema = full_schema(with_headers=False)
    schema["value"].nullable = False
    with pytest.raises(InvalidOption, match="value in the schema is NOT NULL"):
        check_schema(schema, with_headers=False)


@pytest.mark.parametrize(
    "inside", [ArrayType(LongType(), False), MapType(StringType(), LongType(), False)]
)
def test_what_producers_may_leave_out_cannot_be_declared_not_null_inside_values(
    inside: DataType,
) -> None:
    value = StructType().add("deep", ArrayType(StructType().add("inside", inside)))
    schema = full_schema(with_headers=False, value_type=value)
    with pytest.raises(InvalidOption, match=r"value\.deep\.inside are NOT NULL"):
        check_schema(schema, with_headers=False, decodes_values=True)
