"""Avro values into columns."""

import io
import json
from typing import Any

import fastavro
import pyarrow as pa
import pytest

from ottla.config.options import InvalidOption
from ottla.spark.records.avro_schema import parse_avro_schema, spark_type_of
from ottla.spark.records.avro_values import avro_decoder
from ottla.spark.records.value_types import arrow_schema

DECIMAL = {"type": "bytes", "logicalType": "decimal", "precision": 9, "scale": 2}
SUB = {"type": "record", "name": "Sub", "fields": [{"name": "x", "type": "double"}]}
SCHEMA = {
    "type": "record",
    "name": "Order",
    "fields": [
        {"name": "id", "type": "long"},
        {"name": "name", "type": ["null", "string"]},
        {"name": "at", "type": {"type": "long", "logicalType": "timestamp-millis"}},
        {"name": "day", "type": {"type": "int", "logicalType": "date"}},
        {"name": "price", "type": DECIMAL},
        {"name": "tags", "type": {"type": "array", "items": "string"}},
        {"name": "counts", "type": {"type": "map", "values": "int"}},
        {"name": "kind", "type": {"type": "enum", "name": "Kind", "symbols": ["A", "B"]}},
        {"name": "key", "type": {"type": "string", "logicalType": "uuid"}},
        {"name": "sub", "type": SUB},
    ],
}  # fmt: skip
VALUE = {
    "id": 7, "name": None, "at": 1_700_000_000_000, "day": 19_000, "price": b"\x04\xd2",
    "tags": ["a", "b"], "counts": {"z": 1}, "kind": "B",
    "key": "00000000-0000-0000-0000-000000000001", "sub": {"x": 0.5},
}  # fmt: skip


def encoded(schema: Any, value: Any) -> bytes:
    target = io.BytesIO()
    plain = json.loads(json.dumps(schema).replace("logicalType", "ignored"))
    fastavro.schemaless_writer(target, fastavro.parse_schema(plain), value)
    return target.getvalue()


def wanted_of(schema: Any) -> pa.DataType:
    value_type = spark_type_of(parse_avro_schema(json.dumps(schema)))
    from pyspark.sql.types import StructType

    return arrow_schema(StructType().add("value", value_type)).field("value").type


def decode(schema: Any, *values: bytes | None) -> tuple[list[Any], dict[int, str]]:
    found = avro_decoder(json.dumps(schema))(pa.array(values, pa.binary()), wanted_of(schema))
    return found.values.to_pylist(), dict(found.reasons)


def test_every_type_becomes_a_column() -> None:
    (found,), reasons = decode(SCHEMA, encoded(SCHEMA, VALUE))
    assert reasons == {}
    assert {name: str(value) for name, value in found.items()} == {
        "id": "7", "name": "None", "at": "2023-11-14 22:13:20+00:00", "day": "2022-01-08",
        "price": "12.34", "tags": "['a', 'b']", "counts": "[('z', 1)]", "kind": "B",
        "key": "00000000-0000-0000-0000-000000000001", "sub": "{'x': 0.5}",
    }  # fmt: skip


@pytest.mark.parametrize("damage", [b"", b"\xff" * 20, encoded(SCHEMA, VALUE)[:-3]])
def test_what_is_no_datum_of_the_schema_is_bad_and_spoils_no_other(damage: bytes) -> None:
    good = encoded(SCHEMA, VALUE)
    values, reasons = decode(SCHEMA, good, damage, None, good)
    assert [each is None for each in values] == [False, True, True, False]
    assert list(reasons) == [1]
    assert reasons[1].startswith("not Avro of the given schema")


def test_remaining_bytes_are_reported() -> None:
    _, reasons = decode(SCHEMA, encoded(SCHEMA, VALUE) + b"xy")
    assert reasons[0].endswith("2 bytes are left over")


def test_a_value_with_the_prefix_of_a_schema_registry_is_recognised() -> None:
    _, reasons = decode(record("long"), b"\0\0\0\1\2" + encoded(record("long"), {"f0": 7}))
    assert "5 bytes are left over; it begins as values of a schema registry do" in reasons[0]
    assert "(schema id 258)" in reasons[0]
    _, reasons = decode(record("long", "string"), b"\0\0\0\0")
    assert reasons[0].endswith("2 bytes are left over")


@pytest.mark.parametrize("value", [b"", b"\xff" * 11])
def test_the_error_says_that_a_value_ends_too_early(value: bytes) -> None:
    assert decode(record("long"), value)[1][0].endswith("the value ends too early")


def record(*fields: Any) -> Any:
    return {
        "type": "record",
        "name": "R",
        "fields": [{"name": f"f{number}", "type": each} for number, each in enumerate(fields)],
    }


@pytest.mark.parametrize(
    ("schema", "reported"),
    [
        ("string", "must be a record"),
        (record(["int", "string"]), "f0: a union of 2 types"),
        (
            record(["null", "R"]),
            "f0: the type R, which contains itself, cannot be shown as a column",
        ),
        (record({"type": "array", "items": "null"}), "f0"),
        (record({"type": "array", "items": {"type": "record", "name": "E", "fields": []}}), "f0"),
        (record({"type": "int", "logicalType": "time-millis"}), "f0: the logical type time-millis"),
        (record("no-such-type"), "no Avro schema"),
    ],
)
def test_schemas_that_cannot_be_columns_are_refused_by_field(schema: Any, reported: str) -> None:
    with pytest.raises(InvalidOption, match=reported):
        spark_type_of(parse_avro_schema(json.dumps(schema)))


def test_text_that_is_no_schema_is_refused() -> None:
    with pytest.raises(InvalidOption, match="valueSchema is no Avro schema"):
        parse_avro_schema("{")


def test_what_a_column_cannot_hold_is_bad_and_spoils_no_other() -> None:
    millis = {"type": "long", "logicalType": "timestamp-millis"}
    schema = {"type": "record", "name": "R", "fields": [{"name": "at", "type": millis}]}
    good, beyond = encoded(schema, {"at": 5}), encoded(schema, {"at": 2**62})
    values, reasons = decode(schema, good, beyond, good)
    assert [each is None for each in values] == [False, True, False]
    assert list(reasons) == [1]
