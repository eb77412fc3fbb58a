"""The most expensive requests of an API, made from its schema: one of its arrays full of items.

Promises  every array of every version is filled once with items that differ in each of their fields
          and once with one item repeated, and every array that may be null is null once. Names are
          those of things that exist, wherever one item is enough; numbers are small enough to
          be partitions that exist. An array with texts in it is filled once with fewer items that
          have long ones.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from copy import copy
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

from tests.support.message_values import Plain, default_value, to_object
from tools.messages.schema import FieldSchema, MessageSchema, StructSchema

from ottla.protocol.message import Message

TOPIC = "t"
GROUP = "g"
# By what their fields are called; anything else is the topic's name.
NAMES = {
    "group_id": GROUP,
    "coordinator_keys": GROUP,
    "groups": GROUP,
    "groups_names": GROUP,
    "transactional_id": "tx",
    "transactional_ids": "tx",
    "member_id": "m",
    "protocol_type": "consumer",
    "protocol_name": "range",
    "resource_name": TOPIC,
    "entity_type": "client-id",
    "configuration_keys": "retention.ms",
}
INTEGERS_MAX = {"int8": 2**7, "int16": 2**15, "uint16": 2**16}
INTEGERS = {
    "resource_type": 2,
    "replica_id": -1,
    "acks": 1,
    "max_bytes": 1 << 20,
    "partition_max_bytes": 1 << 20,
    "session_timeout_ms": 10_000,
    "rebalance_timeout_ms": 10_000,
    "num_partitions": 1,
    "replication_factor": 1,
    "response_partition_limit": 2000,
    "current_leader_epoch": -1,
    "timestamp": -1,
    "session_epoch": -1,
    "isolation_level": 0,
    "generation_id": 1,
    "timeout_ms": 100,
    "transaction_version": 1,
}


class LongTexts(NamedTuple):
    """Some items whose texts are long."""

    items_max: int
    chars: int


# As few as handlers may handle at once.
FEW_LONG_TEXTS = LongTexts(30, 1000)


@dataclass(frozen=True, slots=True)
class Hostile:
    """One way to fill a request."""

    what: str  # as a test names it
    make: Callable[[int], Message]  # with so many items
    has_long_texts: bool = False


def hostile_requests(
    message: MessageSchema, version: int, long_texts: LongTexts = FEW_LONG_TEXTS
) -> Iterator[Hostile]:
    for path in array_paths(message, message.root, version):
        where = ".".join(field.name for field in path)
        yield Hostile(f"{where}-distinct", partial(filled, message, version, path, True))
        yield Hostile(f"{where}-same", partial(filled, message, version, path, False))
        if has_texts(message, path[-1], version):
            make = partial(with_long_texts, message, version, path, long_texts)
            yield Hostile(f"{where}-long", make, has_long_texts=True)
        if path[-1].is_nullable(version):
            yield Hostile(f"{where}-null", partial(with_null, message, version, path))


def filled(
    message: MessageSchema,
    version: int,
    path: tuple[FieldSchema, ...],
    is_distinct: bool,
    count: int,
) -> Message:
    return to_object(message, version, Filling(message, version, path, count, is_distinct).root())


def with_long_texts(
    message: MessageSchema,
    version: int,
    path: tuple[FieldSchema, ...],
    texts: LongTexts,
    count: int,
) -> Message:
    count = min(count, texts.items_max)
    filling = Filling(message, version, path, count, True, texts.chars)
    return to_object(message, version, filling.root())


def has_texts(message: MessageSchema, field: FieldSchema, version: int) -> bool:
    if not field.is_struct:
        return field.type == "string"
    fields = message.structs[field.type].fields
    return any(has_texts(message, each, version) for each in fields if version in each.versions)


def with_null(
    message: MessageSchema, version: int, path: tuple[FieldSchema, ...], _count: int
) -> Message:
    return to_object(message, version, Filling(message, version, path, None, False).root())


def array_paths(
    message: MessageSchema, struct: StructSchema, version: int
) -> Iterator[tuple[FieldSchema, ...]]:
    """Every array of a version, by the fields that lead to it."""
    for field in struct.fields:
        if version not in field.versions:
            continue
        if field.is_array:
            yield (field,)
        if field.is_struct:
            inner = message.structs[field.type]
            yield from ((field, *path) for path in array_paths(message, inner, version))


class Filling:
    """One item everywhere, but many (or null) in the array at `path`."""

    def __init__(
        self,
        message: MessageSchema,
        version: int,
        path: tuple[FieldSchema, ...],
        count: int | None,
        is_distinct: bool,
        text_chars: int = 0,
    ) -> None:
        self._message = message
        self._text_chars = text_chars  # at least, of the texts of the many items
        self._least_chars = 0  # of a text that is made now
        self._version = version
        self._path = path
        self._count = count
        self._is_distinct = is_distinct

    def root(self) -> Plain:
        return self._struct(self._message.root, 0, self._path)

    def _struct(self, struct: StructSchema, number: int, path: tuple[FieldSchema, ...]) -> Plain:
        return {
            field.name: self._field(field, number, path)
            for field in struct.fields
            if self._version in field.versions
        }

    def _field(self, field: FieldSchema, number: int, path: tuple[FieldSchema, ...]) -> Any:
        inside = path[1:] if path and path[0] is field else ()
        if not field.is_array:
            return self._item(field, number, inside)
        if not (path and path[0] is field and not inside):
            return [self._item(field, number, inside)]
        if self._count is None:
            return None
        if not self._is_distinct:
            return [copy(self._item(field, 0, ())) for _ in range(self._count)]
        self._least_chars = self._text_chars
        items = [self._item(field, at, ()) for at in range(self._count)]
        self._least_chars = 0
        return items

    def _item(self, field: FieldSchema, number: int, path: tuple[FieldSchema, ...]) -> Any:
        if field.is_struct:
            return self._struct(self._message.structs[field.type], number, path)
        match field.type:
            case "string":
                name = NAMES.get(field.name, TOPIC)
                name = f"{name}-{number}" if number else name
                return name.ljust(self._least_chars, "x")
            case "bytes":
                return b"%d" % number
            case "uuid":
                return number.to_bytes(16, "big")
            case "bool" | "float64" | "records":
                return default_value(self._message, field, self._version)
        return INTEGERS.get(field.name, number % INTEGERS_MAX.get(field.type, 2**31))
