"""Generated from schemas/metadata.schema: MetadataRequest, versions 0-13. Do not edit."""

from __future__ import annotations

from collections.abc import Sequence
from struct import Struct as Layout

from ottla.base.uuids import ZERO_UUID
from ottla.protocol.message import Message, Struct, refuse_field, refuse_null_field
from ottla.protocol.primitives import (
    read_compact_nullable_count,
    read_compact_string,
    read_count,
    read_nullable_count,
    read_string,
    skip_tags,
    uvarint,
    write_compact_string,
    write_string,
)

_unpack_u = Layout(">16s").unpack_from
_pack_u = Layout(">16s").pack
_unpack_t = Layout(">?").unpack_from
_pack_t = Layout(">?").pack
_unpack_ttt = Layout(">???").unpack_from
_pack_ttt = Layout(">???").pack
_unpack_tttB = Layout(">???B").unpack_from
_pack_tttx = Layout(">???x").pack
_unpack_ttB = Layout(">??B").unpack_from
_pack_ttx = Layout(">??x").pack
_pack_i = Layout(">i").pack


class MetadataRequest(Message):
    __slots__ = ("topics", "allow_auto_topic_creation", "include_cluster_authorized_operations", "include_topic_authorized_operations",)
    API_KEY = 3
    VERSIONS = range(0, 14)
    FLEXIBLE_FROM = 9

    def __init__(
        self,
        topics: Sequence[MetadataRequestTopic] | None = (),
        allow_auto_topic_creation: bool = True,
        include_cluster_authorized_operations: bool = False,
        include_topic_authorized_operations: bool = False,
    ) -> None:
        self.topics = topics
        self.allow_auto_topic_creation = allow_auto_topic_creation
        self.include_cluster_authorized_operations = include_cluster_authorized_operations
        self.include_topic_authorized_operations = include_topic_authorized_operations


class MetadataRequestTopic(Struct):
    __slots__ = ("topic_id", "name",)

    def __init__(
        self,
        topic_id: bytes = ZERO_UUID,
        name: str | None = "",
    ) -> None:
        self.topic_id = topic_id
        self.name = name


def _read_metadata_request_topics_v0(data: memoryview, at: int, count: int) -> tuple[list[MetadataRequestTopic], int]:
    items: list[MetadataRequestTopic] = []
    for _ in range(count):
        name, at = read_string(data, at)
        items.append(MetadataRequestTopic(ZERO_UUID, name))
    return items, at


def _read_metadata_request_v0(data: memoryview, at: int) -> tuple[MetadataRequest, int]:
    count, at = read_count(data, at, 2)
    topics, at = _read_metadata_request_topics_v0(data, at, count) if count else ([], at)
    return MetadataRequest(topics, True, False, False), at


def _read_metadata_request_v1(data: memoryview, at: int) -> tuple[MetadataRequest, int]:
    count, at = read_nullable_count(data, at, 2)
    topics: list[MetadataRequestTopic] | None = None
    if count >= 0:
        topics, at = _read_metadata_request_topics_v0(data, at, count)
    return MetadataRequest(topics, True, False, False), at


def _read_metadata_request_v4(data: memoryview, at: int) -> tuple[MetadataRequest, int]:
    count, at = read_nullable_count(data, at, 2)
    topics: list[MetadataRequestTopic] | None = None
    if count >= 0:
        topics, at = _read_metadata_request_topics_v0(data, at, count)
    (allow_auto_topic_creation,) = _unpack_t(data, at)
    at += 1
    return MetadataRequest(topics, allow_auto_topic_creation, False, False), at


def _read_metadata_request_v8(data: memoryview, at: int) -> tuple[MetadataRequest, int]:
    count, at = read_nullable_count(data, at, 2)
    topics: list[MetadataRequestTopic] | None = None
    if count >= 0:
        topics, at = _read_metadata_request_topics_v0(data, at, count)
    allow_auto_topic_creation, include_cluster_authorized_operations, include_topic_authorized_operations = _unpack_ttt(data, at)
    at += 3
    return MetadataRequest(topics, allow_auto_topic_creation, include_cluster_authorized_operations, include_topic_authorized_operations), at


def _read_metadata_request_topics_v9(data: memoryview, at: int, count: int) -> tuple[list[MetadataRequestTopic], int]:
    items: list[MetadataRequestTopic] = []
    for _ in range(count):
        name, at = read_compact_string(data, at)
        at = skip_tags(data, at) if data[at] else at + 1
        items.append(MetadataRequestTopic(ZERO_UUID, name))
    return items, at


def _read_metadata_request_v9(data: memoryview, at: int) -> tuple[MetadataRequest, int]:
    count, at = read_compact_nullable_count(data, at, 2)
    topics: list[MetadataRequestTopic] | None = None
    if count >= 0:
        topics, at = _read_metadata_request_topics_v9(data, at, count)
    allow_auto_topic_creation, include_cluster_authorized_operations, include_topic_authorized_operations, more = _unpack_tttB(data, at)
    at += 4
    if more:
        at = skip_tags(data, at - 1)
    return MetadataRequest(topics, allow_auto_topic_creation, include_cluster_authorized_operations, include_topic_authorized_operations), at


def _read_metadata_request_topics_v10(data: memoryview, at: int, count: int) -> tuple[list[MetadataRequestTopic], int]:
    items: list[MetadataRequestTopic] = []
    for _ in range(count):
        (topic_id,) = _unpack_u(data, at)
        at += 16
        name: str | None = None
        if data[at]:
            name, at = read_compact_string(data, at)
        else:
            at += 1
        at = skip_tags(data, at) if data[at] else at + 1
        items.append(MetadataRequestTopic(topic_id, name))
    return items, at


def _read_metadata_request_v10(data: memoryview, at: int) -> tuple[MetadataRequest, int]:
    count, at = read_compact_nullable_count(data, at, 18)
    topics: list[MetadataRequestTopic] | None = None
    if count >= 0:
        topics, at = _read_metadata_request_topics_v10(data, at, count)
    allow_auto_topic_creation, include_cluster_authorized_operations, include_topic_authorized_operations, more = _unpack_tttB(data, at)
    at += 4
    if more:
        at = skip_tags(data, at - 1)
    return MetadataRequest(topics, allow_auto_topic_creation, include_cluster_authorized_operations, include_topic_authorized_operations), at


def _read_metadata_request_v11(data: memoryview, at: int) -> tuple[MetadataRequest, int]:
    count, at = read_compact_nullable_count(data, at, 18)
    topics: list[MetadataRequestTopic] | None = None
    if count >= 0:
        topics, at = _read_metadata_request_topics_v10(data, at, count)
    allow_auto_topic_creation, include_topic_authorized_operations, more = _unpack_ttB(data, at)
    at += 3
    if more:
        at = skip_tags(data, at - 1)
    return MetadataRequest(topics, allow_auto_topic_creation, False, include_topic_authorized_operations), at


def _write_metadata_request_topics_v0(items: Sequence[MetadataRequestTopic], out: bytearray) -> None:
    for item in items:
        if item.name is None:
            refuse_null_field("MetadataRequestTopic.name")
        write_string(item.name, out)


def _write_metadata_request_v0(item: MetadataRequest, out: bytearray) -> None:
    if not item.allow_auto_topic_creation:
        refuse_field("MetadataRequest.allow_auto_topic_creation")
    if item.include_cluster_authorized_operations:
        refuse_field("MetadataRequest.include_cluster_authorized_operations")
    if item.include_topic_authorized_operations:
        refuse_field("MetadataRequest.include_topic_authorized_operations")
    if item.topics is None:
        refuse_null_field("MetadataRequest.topics")
    out += _pack_i(len(item.topics))
    if item.topics:
        _write_metadata_request_topics_v0(item.topics, out)


def _write_metadata_request_v1(item: MetadataRequest, out: bytearray) -> None:
    if not item.allow_auto_topic_creation:
        refuse_field("MetadataRequest.allow_auto_topic_creation")
    if item.include_cluster_authorized_operations:
        refuse_field("MetadataRequest.include_cluster_authorized_operations")
    if item.include_topic_authorized_operations:
        refuse_field("MetadataRequest.include_topic_authorized_operations")
    out += _pack_i(-1 if item.topics is None else len(item.topics))
    if item.topics:
        _write_metadata_request_topics_v0(item.topics, out)


def _write_metadata_request_v4(item: MetadataRequest, out: bytearray) -> None:
    if item.include_cluster_authorized_operations:
        refuse_field("MetadataRequest.include_cluster_authorized_operations")
    if item.include_topic_authorized_operations:
        refuse_field("MetadataRequest.include_topic_authorized_operations")
    out += _pack_i(-1 if item.topics is None else len(item.topics))
    if item.topics:
        _write_metadata_request_topics_v0(item.topics, out)
    out += _pack_t(item.allow_auto_topic_creation)


def _write_metadata_request_v8(item: MetadataRequest, out: bytearray) -> None:
    out += _pack_i(-1 if item.topics is None else len(item.topics))
    if item.topics:
        _write_metadata_request_topics_v0(item.topics, out)
    out += _pack_ttt(item.allow_auto_topic_creation, item.include_cluster_authorized_operations, item.include_topic_authorized_operations)


def _write_metadata_request_topics_v9(items: Sequence[MetadataRequestTopic], out: bytearray) -> None:
    for item in items:
        if item.name is None:
            refuse_null_field("MetadataRequestTopic.name")
        write_compact_string(item.name, out)
        out.append(0)


def _write_metadata_request_v9(item: MetadataRequest, out: bytearray) -> None:
    if item.topics:
        out += uvarint(len(item.topics) + 1)
        _write_metadata_request_topics_v9(item.topics, out)
    else:
        out.append(0 if item.topics is None else 1)
    out += _pack_tttx(item.allow_auto_topic_creation, item.include_cluster_authorized_operations, item.include_topic_authorized_operations)


def _write_metadata_request_topics_v10(items: Sequence[MetadataRequestTopic], out: bytearray) -> None:
    for item in items:
        out += _pack_u(item.topic_id)
        if item.name is None:
            out.append(0)
        else:
            write_compact_string(item.name, out)
        out.append(0)


def _write_metadata_request_v10(item: MetadataRequest, out: bytearray) -> None:
    if item.topics:
        out += uvarint(len(item.topics) + 1)
        _write_metadata_request_topics_v10(item.topics, out)
    else:
        out.append(0 if item.topics is None else 1)
    out += _pack_tttx(item.allow_auto_topic_creation, item.include_cluster_authorized_operations, item.include_topic_authorized_operations)


def _write_metadata_request_v11(item: MetadataRequest, out: bytearray) -> None:
    if item.include_cluster_authorized_operations:
        refuse_field("MetadataRequest.include_cluster_authorized_operations")
    if item.topics:
        out += uvarint(len(item.topics) + 1)
        _write_metadata_request_topics_v10(item.topics, out)
    else:
        out.append(0 if item.topics is None else 1)
    out += _pack_ttx(item.allow_auto_topic_creation, item.include_topic_authorized_operations)


MetadataRequest.DECODERS = {
    0: _read_metadata_request_v0,
    1: _read_metadata_request_v1,
    2: _read_metadata_request_v1,
    3: _read_metadata_request_v1,
    4: _read_metadata_request_v4,
    5: _read_metadata_request_v4,
    6: _read_metadata_request_v4,
    7: _read_metadata_request_v4,
    8: _read_metadata_request_v8,
    9: _read_metadata_request_v9,
    10: _read_metadata_request_v10,
    11: _read_metadata_request_v11,
    12: _read_metadata_request_v11,
    13: _read_metadata_request_v11,
}
MetadataRequest.ENCODERS = {
    0: _write_metadata_request_v0,
    1: _write_metadata_request_v1,
    2: _write_metadata_request_v1,
    3: _write_metadata_request_v1,
    4: _write_metadata_request_v4,
    5: _write_metadata_request_v4,
    6: _write_metadata_request_v4,
    7: _write_metadata_request_v4,
    8: _write_metadata_request_v8,
    9: _write_metadata_request_v9,
    10: _write_metadata_request_v10,
    11: _write_metadata_request_v11,
    12: _write_metadata_request_v11,
    13: _write_metadata_request_v11,
}
