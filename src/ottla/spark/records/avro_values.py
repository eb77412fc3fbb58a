"""Avro values: the bytes of one datum each, without a container, written with the given schema.

Promises  a value that does not match the schema, or does not fit into the column, does not affect
          other values: if Arrow refuses a column of values, each value is converted by itself.
"""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any
from uuid import UUID

import pyarrow as pa

from ottla.spark.records.avro_schema import parse_avro_schema
from ottla.spark.records.values import BadValue, Decode, DecodedValues, decode_one_by_one

REGISTRY_PREFIX_BYTES = 5


def avro_decoder(schema_text: str) -> Decode:
    schema = parse_avro_schema(schema_text)
    # Only the logical type uuid makes objects that Arrow does not take as they are.
    made_plain = plain if "uuid" in schema_text else _as_it_is

    def decode(values: pa.Array, wanted: pa.DataType) -> DecodedValues:
        decode_one = _datum_decoder(schema, made_plain)
        try:
            return decode_one_by_one(values, wanted, decode_one)
        except Exception:  # Arrow does not say which value it refuses, nor always why
            return decode_one_by_one(values, wanted, _checked(decode_one, wanted))

    return decode


def _datum_decoder(schema: Any, made_plain: Callable[[Any], Any]) -> Callable[[bytes], object]:
    from fastavro import schemaless_reader

    def decode(value: bytes) -> object:
        source = io.BytesIO(value)
        try:
            datum = made_plain(schemaless_reader(source, schema, None))
        except Exception as error:  # malformed bytes raise exceptions of many types
            raise _bad(_reason(error) + _registry_hint(value)) from None
        if source.tell() != len(value):
            left = f"{len(value) - source.tell()} bytes are left over"
            raise _bad(left + _registry_hint(value))
        return datum

    return decode


def _checked(decode: Callable[[bytes], object], wanted: pa.DataType) -> Callable[[bytes], object]:
    def decode_and_check(value: bytes) -> object:
        datum = decode(value)
        try:
            pa.scalar(datum, wanted)
        except Exception as error:
            raise _bad(_reason(error)) from None
        return datum

    return decode_and_check


def _bad(reason: str) -> BadValue:
    return BadValue(f"not Avro of the given schema: {reason}")


def _reason(error: Exception) -> str:
    if isinstance(error, EOFError | IndexError):  # fastavro read beyond the end
        return "the value ends too early"
    return f"{type(error).__name__}: {error}"


def _registry_hint(value: bytes) -> str:
    """Serializers of schema registries write a zero and the id of the schema before the datum."""
    if len(value) <= REGISTRY_PREFIX_BYTES or value[0] != 0:
        return ""
    schema_id = int.from_bytes(value[1:REGISTRY_PREFIX_BYTES], "big")
    return (
        f"; it begins as values of a schema registry do (schema id {schema_id}), whose prefix of "
        f"{REGISTRY_PREFIX_BYTES} bytes is not supported"
    )


def _as_it_is(value: Any) -> Any:
    return value


def plain(value: Any) -> Any:
    """Values as Arrow takes them."""
    if isinstance(value, dict):
        return {name: plain(each) for name, each in value.items()}
    if isinstance(value, list):
        return [plain(each) for each in value]
    return str(value) if isinstance(value, UUID) else value
