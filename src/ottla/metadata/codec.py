"""Encoding of records: a list of JSON objects, one per line.

Why JSON  its decoder is written in C and faster than a binary format decoded in Python; journals
and znodes are readable with common tools; unknown fields are easily skipped.
Promises  encoding is deterministic; fields with default values are omitted; unknown fields are
          skipped, so that an older broker can read records of a newer one. An unknown kind or
          version, which cannot be skipped safely, raises UnknownRecord: if the checksum is right, a
          newer broker has written it. The bytes are ASCII, so a marker with the high bit set cannot
          occur in them.

New fields need a default. A change of meaning needs a new version of the kind.
"""

from __future__ import annotations

import dataclasses
import json
import math
from collections.abc import Callable, Iterable
from functools import lru_cache
from types import MappingProxyType
from typing import Any, NamedTuple

from ottla.base.uuids import uuid_from_text, uuid_to_text
from ottla.metadata import records
from ottla.metadata.records import ConfigResource, Endpoint, Record, ResourceType, VersionRange

KIND = "k"
VERSION = "v"
INFINITY = "inf"
# Reserved for security records.
RESERVED_KINDS = ("scram", "-scram", "acl", "-acl", "token", "-token")


class MalformedRecord(ValueError):
    """The bytes are not valid records of this version; the message gives the record and the
    reason."""


class UnknownRecord(MalformedRecord):
    """A kind of record, or a version of one, that a newer version may have."""


class FieldCodec(NamedTuple):
    """The JSON representation of a field."""

    encode: Callable[[Any], Any]
    decode: Callable[[Any], Any]  # ValueError, TypeError or KeyError for invalid input


def _same(value: Any) -> Any:
    return value


def _whole(value: Any) -> int:
    if type(value) is not int:  # isinstance would accept a bool
        raise TypeError("expected a whole number")
    return value


def _text(value: Any) -> str:
    if type(value) is not str:
        raise TypeError("expected a text")
    return value


def _yes_or_no(value: Any) -> bool:
    if type(value) is not bool:
        raise TypeError("expected true or false")
    return value


def _number_or_word(value: float) -> float | str:
    return value if value != math.inf else INFINITY  # not representable in JSON


def _number(value: Any) -> float:
    if value == INFINITY:
        return math.inf
    if type(value) not in (int, float):
        raise TypeError("expected a number")
    return float(value)


def _items(value: Any) -> list[Any]:
    if type(value) is not list:
        raise TypeError("expected a list")
    return value


def _wholes(value: Any) -> tuple[int, ...]:
    items = tuple(_items(value))
    if not all(type(item) is int for item in items):
        raise TypeError("expected whole numbers")
    return items


# Few distinct topic and directory ids occur.
_uuid_text = lru_cache(4096)(uuid_to_text)
_uuid_of_text = lru_cache(4096)(uuid_from_text)


def _uuid(value: Any) -> bytes:
    return _uuid_of_text(_text(value))


def _uuids(value: Any) -> tuple[bytes, ...]:
    return tuple(map(_uuid, _items(value)))


def _endpoint(value: Any) -> Endpoint:
    listener, host, port, protocol = _items(value)
    return Endpoint(_text(listener), _text(host), _whole(port), _text(protocol))


def _feature(value: Any) -> tuple[str, VersionRange]:
    name, least, greatest = _items(value)
    return _text(name), VersionRange(_whole(least), _whole(greatest))


def _resource(value: Any) -> ConfigResource:
    number, name = _items(value)
    return ConfigResource(ResourceType(_whole(number)), _text(name))


def _entity(value: Any) -> records.QuotaEntity:
    pairs = [_items(item) for item in _items(value)]
    return tuple((_text(kind), None if name is None else _text(name)) for kind, name in pairs)


INT = FieldCodec(_same, _whole)
TEXT = FieldCodec(_same, _text)
BOOL = FieldCodec(_same, _yes_or_no)
FLOAT = FieldCodec(_number_or_word, _number)
INTS = FieldCodec(_same, _wholes)
UUID = FieldCodec(_uuid_text, _uuid)
UUIDS = FieldCodec(lambda values: list(map(_uuid_text, values)), _uuids)
ENDPOINTS = FieldCodec(_same, lambda value: tuple(_endpoint(item) for item in _items(value)))
FEATURES = FieldCodec(
    lambda values: [[name, *versions] for name, versions in values],
    lambda value: tuple(_feature(item) for item in _items(value)),
)
RESOURCE = FieldCodec(lambda value: [int(value.type), value.name], _resource)
ENTITY = FieldCodec(_same, _entity)


def nullable(shape: FieldCodec) -> FieldCodec:
    """The encoding of a required field that may be null."""
    return FieldCodec(
        lambda value: None if value is None else shape.encode(value),
        lambda value: None if value is None else shape.decode(value),
    )


_PARTITION = {
    "topic_id": ("t", UUID),
    "partition": ("p", INT),
    "partition_epoch": ("pe", INT),
    "leader": ("l", INT),
    "leader_epoch": ("le", INT),
    "replicas": ("r", INTS),
    "in_sync_replicas": ("isr", INTS),
    "eligible_replicas": ("elr", INTS),
    "last_known_leader": ("lkl", INT),
    "adding_replicas": ("add", INTS),
    "removing_replicas": ("rem", INTS),
    "leader_recovery": ("rec", INT),
    "directories": ("d", UUIDS),
}
_BROKER = {
    "broker_id": ("b", INT),
    "broker_epoch": ("be", INT),
    "incarnation_id": ("inc", UUID),
    "endpoints": ("ep", ENDPOINTS),
    "features": ("f", FEATURES),
    "rack": ("rack", TEXT),
    "is_fenced": ("fenced", BOOL),
    "is_shutting_down": ("stopping", BOOL),
    "log_directories": ("d", UUIDS),
}
_NAMES = MappingProxyType(
    {
        records.ClusterNamed: ("cluster", {"cluster_id": ("id", TEXT)}),
        records.FeatureLevelSet: ("feature", {"name": ("n", TEXT), "level": ("l", INT)}),
        records.BrokerRegistered: ("broker", _BROKER),
        records.BrokerChanged: ("~broker", _BROKER),
        records.BrokerUnregistered: ("-broker", _BROKER),
        records.TopicCreated: ("topic", {"topic_id": ("t", UUID), "name": ("n", TEXT)}),
        records.TopicDeleted: ("-topic", {"topic_id": ("t", UUID)}),
        records.PartitionCreated: ("partition", _PARTITION),
        records.PartitionChanged: ("~partition", _PARTITION),
        records.ConfigChanged: (
            "config",
            {"resource": ("of", RESOURCE), "name": ("n", TEXT), "value": ("v_", nullable(TEXT))},
        ),
        records.QuotaChanged: (
            "quota",
            {"entity": ("of", ENTITY), "key": ("n", TEXT), "value": ("v_", nullable(FLOAT))},
        ),
        records.ProducerIdsAllocated: (
            "producer-ids",
            {**_BROKER, "next_producer_id": ("next", INT)},
        ),
    }
)
VERSIONS = MappingProxyType({name: 0 for name, _ in _NAMES.values()})  # newest version of each kind


class _Field(NamedTuple):
    attribute: str
    key: str
    shape: FieldCodec
    default: Any  # dataclasses.MISSING where there is none


class _Kind(NamedTuple):
    name: str
    record_type: Any
    fields: tuple[_Field, ...]
    by_key: dict[str, _Field]
    required: frozenset[str]


def _kind_of(record_type: Any) -> _Kind:
    name, keys = _NAMES[record_type]
    declared = dataclasses.fields(record_type)
    fields = tuple(_Field(each.name, *keys[each.name], each.default) for each in declared)
    required = frozenset(each.attribute for each in fields if each.default is dataclasses.MISSING)
    return _Kind(name, record_type, fields, {each.key: each for each in fields}, required)


_KINDS = {record_type: _kind_of(record_type) for record_type in _NAMES}
_BY_NAME = {kind.name: kind for kind in _KINDS.values()}
_to_json = json.JSONEncoder(separators=(",", ":"), allow_nan=False).encode


def encode_records(batch: Iterable[Record]) -> bytes:
    lines = ",\n".join(_to_json(_to_object(record)) for record in batch)
    return f"[{lines}]".encode("ascii")


def decode_records(data: bytes) -> list[Record]:
    try:
        objects = _items(json.loads(data))
    except (ValueError, TypeError, RecursionError) as error:
        raise MalformedRecord(f"no list of records: {error}") from error
    return [_from_object(each, index) for index, each in enumerate(objects)]


def _to_object(record: Record) -> dict[str, Any]:
    kind = _KINDS[type(record)]
    content: dict[str, Any] = {KIND: kind.name}
    for attribute, key, shape, default in kind.fields:
        value = getattr(record, attribute)
        if value != default:
            content[key] = shape.encode(value)
    return content


def _from_object(content: Any, index: int) -> Record:
    name = content.get(KIND) if type(content) is dict else None
    if type(name) is not str:
        raise MalformedRecord(f"record {index}: unknown kind {str(name)[:60]!r}")
    kind = _BY_NAME.get(name)
    if kind is None:
        raise UnknownRecord(f"record {index}: unknown kind {name[:60]!r}")
    version = content.get(VERSION, 0)
    if version != 0 and version != VERSIONS[kind.name]:
        raise UnknownRecord(f"record {index}: {kind.name} of unknown version {version}")
    values = {}
    for key, value in content.items():
        if (field := kind.by_key.get(key)) is not None:
            try:
                values[field.attribute] = field.shape.decode(value)
            except (ValueError, TypeError, KeyError) as error:
                what = f"record {index}: {field.attribute} of {kind.name}: {error}"
                raise MalformedRecord(what) from error
    if missing := kind.required - values.keys():
        raise MalformedRecord(f"record {index}: {kind.name} without {min(missing)}")
    record: Record = kind.record_type(**values)
    return record
