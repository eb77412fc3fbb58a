"""Which DataFrames can be written."""

from __future__ import annotations

import pytest
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

from ottla.spark.sink.errors import InvalidRows
from ottla.spark.sink.input_columns import SinkColumns, check_columns

HEADERS = ArrayType(
    StructType([StructField("key", StringType()), StructField("value", BinaryType())])
)


def schema(**columns: DataType) -> StructType:
    return StructType([StructField(name, kind) for name, kind in columns.items()])


def test_a_value_and_a_topic_are_enough() -> None:
    found = check_columns(schema(value=StringType()), "orders")
    assert found == SinkColumns("orders", has_key=False, has_headers=False, has_partition=False)


def test_all_columns_are_found_and_others_left_alone() -> None:
    columns = schema(
        topic=StringType(), partition=IntegerType(), key=BinaryType(), value=BinaryType(),
        headers=HEADERS, timestamp=TimestampType(), Partition=LongType(),
    )  # fmt: skip
    found = check_columns(columns, None)
    assert found == SinkColumns(
        None, has_key=True, has_headers=True, has_partition=True, has_timestamp=True
    )


def test_a_timestamp_of_another_type_is_warned_of(caplog: pytest.LogCaptureFixture) -> None:
    found = check_columns(schema(value=StringType(), timestamp=LongType()), "orders")
    assert not found.has_timestamp
    assert "the column timestamp is bigint and is not written" in caplog.text


def test_ignored_columns_are_warned_of(caplog: pytest.LogCaptureFixture) -> None:
    copied = schema(
        key=BinaryType(), value=BinaryType(), topic=StringType(), partition=IntegerType(),
        offset=LongType(), timestamp=TimestampType(), timestampType=IntegerType(),
    )  # fmt: skip
    check_columns(copied, "orders")
    assert caplog.text == ""
    many = {f"c{n}": LongType() for n in range(30)}
    check_columns(schema(value=StringType(), Key=StringType(), **many), "orders")
    assert "columns that are not written: Key, c0, c1" in caplog.text
    assert "c18 and 11 more" in caplog.text


def test_the_option_topic_goes_before_a_column_whatever_its_type() -> None:
    assert check_columns(schema(value=StringType(), topic=LongType()), "orders").topic == "orders"


@pytest.mark.parametrize(
    ("columns", "topic", "message"),
    [
        (schema(Value=StringType()), "t", "column value is missing.*There are: Value"),
        (schema(value=StringType()), None, "give the option topic, or a column topic"),
        (schema(value=LongType()), "t", "column value is bigint, and must be a string or binary"),
        (schema(value=StringType(), key=LongType()), "t", "column key is bigint"),
        (schema(value=StringType(), partition=LongType()), "t", "partition is bigint.*an int"),
        (schema(value=StringType(), topic=BinaryType()), None, "column topic is binary"),
        (schema(value=StringType(), headers=StringType()), "t", "array<struct<key:string"),
        (schema(value=LongType()), "t", r"use cast\(value AS string\)"),
        (schema(value=HEADERS), "t", r"use to_json\(value\)"),
        (schema(value=MapType(StringType(), LongType())), "t", r"use to_json\(value\)"),
        (schema(value=StringType(), key=schema(id=LongType())), "t", r"use to_json\(key\)"),
        (schema(value=StringType(), partition=LongType()), "t", r"use cast\(partition AS int\)"),
        (schema(value=StringType(), topic=BinaryType()), None, r"use cast\(topic AS string\)"),
    ],
)
def test_what_cannot_be_written_is_refused_by_the_name_of_the_column(
    columns: StructType, topic: str | None, message: str
) -> None:
    with pytest.raises(InvalidRows, match=message):
        check_columns(columns, topic)


@pytest.mark.parametrize(
    "parts",
    [
        [("key", BinaryType()), ("value", BinaryType())],
        [("key", StringType()), ("value", StringType())],
        [("value", BinaryType()), ("key", StringType())],
        [("key", StringType())],
        [("key", StringType()), ("value", BinaryType()), ("more", StringType())],
    ],
)
def test_headers_are_pairs_of_a_text_and_bytes_and_nothing_else(
    parts: list[tuple[str, DataType]],
) -> None:
    headers = ArrayType(StructType([StructField(*part) for part in parts]))
    with pytest.raises(InvalidRows, match="headers"):
        check_columns(schema(value=StringType(), headers=headers), "t")
    with pytest.raises(InvalidRows, match="headers"):
        check_columns(schema(value=StringType(), headers=ArrayType(StringType())), "t")
