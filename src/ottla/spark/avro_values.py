"""Avro values: the bytes of one datum each, without a container, written with the given schema."""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any
from uuid import UUID

import pyarrow as pa

from ottla.spark.avro_schema import parse_avro_schema
from ottla.spark.values import BadValue, Decode, Decoded, decode_one_by_one


def avro_decoder(schema_text: str) -> Decode:
    schema = parse_avro_schema(schema_text)

    def decode(values: pa.Array, wanted: pa.DataType) -> Decoded:
        decode_one = _datum_decoder(schema, wanted)
        return decode_one_by_one(values, wanted, decode_one)

    return decode


def _datum_decoder(schema: Any, wanted: pa.DataType) -> Callable[[bytes], object]:
    import fastavro

    def decode(value: bytes) -> object:
        source = io.BytesIO(value)
        try:
            datum = plain(fastavro.schemaless_reader(source, schema, None))
            # Arrow is asked for each one, so that one odd value cannot spoil the others.
            pa.scalar(datum, wanted)
        except Exception as error:  # whatever bytes can do to a decoder
            raise BadValue(
                f"not Avro of the given schema: {type(error).__name__}: {error}"
            ) from None
        if source.tell() != len(value):
            raise BadValue(
                f"not Avro of the given schema: {len(value) - source.tell()} bytes are left over"
            )
        return datum

    return decode


def plain(value: Any) -> Any:
    """Values as Arrow takes them."""
    if isinstance(value, dict):
        return {name: plain(each) for name, each in value.items()}
    if isinstance(value, list):
        return [plain(each) for each in value]
    return str(value) if isinstance(value, UUID) else value
