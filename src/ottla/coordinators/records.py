"""Records of internal topics: a typed key and value, in Kafka's format.

A key starts with its record type (two bytes), a value with its version. Each coordinator declares
the classes of its types in a table.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Generic, NamedTuple, TypeVar

from ottla.protocol.errors import MalformedMessage
from ottla.protocol.message import Message

A = TypeVar("A")
KEY_VERSION = 0


class CoordinatorRecord(NamedTuple):
    """One change of a coordinator's state; a record without a value is a tombstone."""

    key: Message
    value: Message | None
    value_version: int = 0


class CoordinatorResult(NamedTuple, Generic[A]):
    """A decision: records to write, and the answer once they are replicated."""

    records: list[CoordinatorRecord]
    answer: A


class RecordType(NamedTuple):
    key: type[Message]
    value: type[Message]


RecordTypes = Mapping[int, RecordType]


def encode_key(key: Message) -> bytes:
    record_type: int = key.RECORD_TYPE  # type: ignore[attr-defined]  # of all coordinator keys
    return record_type.to_bytes(2, "big") + key.encode(KEY_VERSION)


def encode_value(record: CoordinatorRecord) -> bytes | None:
    return None if record.value is None else record.value.encode_prefixed(record.value_version)


def decode_record(
    types: RecordTypes, key: bytes | None, value: bytes | None
) -> CoordinatorRecord | None:
    """The record; None for an unknown type."""
    if key is None or len(key) < 2:
        raise MalformedMessage("a coordinator's record without a type in its key")
    known = types.get(int.from_bytes(key[:2], "big", signed=True))
    if known is None:
        return None
    decoded_key = known.key.decode(key, KEY_VERSION, 2)
    if value is None:
        return CoordinatorRecord(decoded_key, None)
    version = int.from_bytes(value[:2], "big", signed=True)
    return CoordinatorRecord(decoded_key, known.value.decode_prefixed(value), version)
