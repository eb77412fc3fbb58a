"""Values decoded inside the source, in a real session."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import fastavro
import pytest
from tests.integration.spark.queries import run_query
from tests.integration.spark.source.dataframes import read, read_stream

from ottla.spark.records.ddl_schema import parse_ddl
from ottla.testing import Kafka

pytestmark = pytest.mark.xdist_group("spark")

DDL = "id bigint, name string, at timestamp"
AVRO = json.dumps({
    "type": "record", "name": "Order",
    "fields": [{"name": "id", "type": "long"}, {"name": "name", "type": ["null", "string"]}],
})  # fmt: skip
ALL_COLUMNS = [
    "key", "value", "topic", "partition", "offset", "timestamp", "timestampType", "badValue",
    "badReason",
]  # fmt: skip


def test_json_values_are_a_struct_and_bad_ones_are_shown(spark: Any, kafka: Kafka) -> None:
    topic = kafka.topic("t")
    kafka.produce(topic, [{"id": 1, "name": "a", "at": "2024-01-01T00:00:00Z"}, "bad", None, {}])
    frame = read(spark, kafka, topic, valueFormat="json", valueSchema=DDL).orderBy("offset")
    assert frame.columns == ALL_COLUMNS
    found = frame.select(
        "value.id", "value.name", "value.at", "badValue", "badReason", "offset"
    ).collect()
    assert [(row.id, row.name, row.offset) for row in found] == [
        (1, "a", 0), (None, None, 1), (None, None, 2), (None, None, 3),
    ]  # fmt: skip
    assert str(found[0].at) == "2024-01-01 00:00:00"
    assert [row.badValue for row in found] == [None, b"bad", None, None]
    assert "not JSON" in found[1].badReason
    assert frame.where("value is null").count() == 2


def test_a_stream_continues_past_bad_values(spark: Any, kafka: Kafka, tmp_path: Path) -> None:
    topic = kafka.topic("t")
    kafka.produce(topic, [{"id": 1}, "bad", {"id": "x"}, {"id": 2}])
    frame = read_stream(
        spark, kafka, topic, startingOffsets="earliest", valueFormat="json", valueSchema="id int"
    )
    stream = (
        frame.selectExpr("value.id AS id", "badReason")
        .writeStream.format("memory")
        .queryName("decoded")
        .option("checkpointLocation", str(tmp_path))
        .trigger(availableNow=True)
    )
    run_query(stream.start)
    rows = spark.sql("SELECT * FROM decoded").collect()
    assert sorted(row.id for row in rows if row.id is not None) == [1, 2]
    assert len([row for row in rows if row.badReason]) == 2


def test_avro_values_are_a_struct(spark: Any, kafka: Kafka) -> None:
    topic = kafka.topic("t")
    target = io.BytesIO()
    fastavro.schemaless_writer(target, json.loads(AVRO), {"id": 5, "name": "x"})
    kafka.produce(topic, [target.getvalue(), b"\xff"])
    frame = read(spark, kafka, topic, valueFormat="avro", valueSchema=AVRO).orderBy("offset")
    assert frame.columns == ALL_COLUMNS
    found = frame.collect()
    assert tuple(found[0].value) == (5, "x")
    assert found[1].value is None
    assert found[1].badReason.startswith("not Avro")


@pytest.mark.parametrize(
    "text",
    [
        "id bigint, name string",
        "ID LONG, Name STRING NOT NULL",
        "a: tinyint, b: byte, c smallint, d short, e int, f integer, g real, h float, i double",
        "`a b` boolean, `c``d` binary, when date, at timestamp, local timestamp_ntz",
        "d decimal, e decimal(5), f dec(10,2), g numeric(38,38)",
        "tags array<string>, counts map<string,bigint>, pair struct<x:int,y:struct<z:double>>",
        "deep array<array<struct<a:map<string,array<int>>,b:string>>>, empty struct<>",
        "id bigint COMMENT 'the number, of <the> order', name string comment \"x\"",
        "  id\n  bigint ,\tname string\n",
    ],
)
def test_schemas_are_read_as_spark_reads_them(spark: Any, text: str) -> None:
    expected = spark.createDataFrame([], text).schema
    found = parse_ddl(text)
    assert found.simpleString() == expected.simpleString()
    assert [field.nullable for field in found] == [field.nullable for field in expected]


@pytest.mark.parametrize(
    ("options", "reported"),
    [
        (
            {"valueFormat": "json", "valueSchema": "id bigin, name string"},
            "Option valueSchema: at character 4, 'bigin, name string': .* perhaps bigint is meant",
        ),
        ({"valueFormat": "json"}, "needs the option valueSchema"),
        ({"valueFormat": "json", "valueSchema": "id bigint NOT NULL"}, "NOT NULL"),
        ({"valueFormat": "json", "valueSchema": '{"x":1}'}, "valueSchema is no Spark schema"),
        ({"valueFormat": "avro", "valueSchema": "id int"}, "valueSchema is no Avro schema"),
        ({"valueFormat": "xml", "valueSchema": "id int"}, "valueFormat"),
        ({"valueSchema": "id int"}, "valueSchema needs the option valueFormat"),
    ],
)
def test_formats_that_cannot_be_are_refused_by_name(
    spark: Any, kafka: Kafka, options: dict[str, str], reported: str
) -> None:
    topic = kafka.topic("t")
    with pytest.raises(Exception, match=reported):
        read(spark, kafka, topic, **options).collect()
