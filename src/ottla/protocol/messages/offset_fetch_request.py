"""Generated from schemas/offset_fetch.schema: OffsetFetchRequest, versions 1-10. Do not edit."""

from __future__ import annotations

from collections.abc import Sequence
from struct import Struct as Layout

from ottla.base.uuids import ZERO_UUID
from ottla.protocol.message import Message, Struct, refuse_field, refuse_null_field
from ottla.protocol.primitives import (
    read_compact_count,
    read_compact_nullable_count,
    read_compact_string,
    read_count,
    read_nullable_count,
    read_numbers,
    read_string,
    skip_tags,
    uvarint,
    write_compact_string,
    write_numbers,
    write_string,
)

_unpack_u = Layout(">16s").unpack_from
_pack_u = Layout(">16s").pack
_unpack_tB = Layout(">?B").unpack_from
_pack_tx = Layout(">?x").pack
_unpack_i = Layout(">i").unpack_from
_pack_i = Layout(">i").pack


class OffsetFetchRequest(Message):
    __slots__ = ("group_id", "topics", "groups", "require_stable",)
    API_KEY = 9
    VERSIONS = range(1, 11)
    FLEXIBLE_FROM = 6

    def __init__(
        self,
        group_id: str = "",
        topics: Sequence[OffsetFetchRequestTopic] | None = (),
        groups: Sequence[OffsetFetchRequestGroup] = (),
        require_stable: bool = False,
    ) -> None:
        self.group_id = group_id
        self.topics = topics
        self.groups = groups
        self.require_stable = require_stable


class OffsetFetchRequestTopic(Struct):
    __slots__ = ("name", "partition_indexes",)

    def __init__(
        self,
        name: str = "",
        partition_indexes: Sequence[int] = (),
    ) -> None:
        self.name = name
        self.partition_indexes = partition_indexes


class OffsetFetchRequestTopics(Struct):
    __slots__ = ("name", "topic_id", "partition_indexes",)

    def __init__(
        self,
        name: str = "",
        topic_id: bytes = ZERO_UUID,
        partition_indexes: Sequence[int] = (),
    ) -> None:
        self.name = name
        self.topic_id = topic_id
        self.partition_indexes = partition_indexes


class OffsetFetchRequestGroup(Struct):
    __slots__ = ("group_id", "member_id", "member_epoch", "topics",)

    def __init__(
        self,
        group_id: str = "",
        member_id: str | None = None,
        member_epoch: int = -1,
        topics: Sequence[OffsetFetchRequestTopics] | None = (),
    ) -> None:
        self.group_id = group_id
        self.member_id = member_id
        self.member_epoch = member_epoch
        self.topics = topics


def _read_offset_fetch_request_topics_v1(data: memoryview, at: int, count: int) -> tuple[list[OffsetFetchRequestTopic], int]:
    items: list[OffsetFetchRequestTopic] = []
    for _ in range(count):
        name, at = read_string(data, at)
        count, at = read_count(data, at, 4)
        partition_indexes, at = read_numbers(data, at, count, "i") if count else ([], at)
        items.append(OffsetFetchRequestTopic(name, partition_indexes))
    return items, at


def _read_offset_fetch_request_v1(data: memoryview, at: int) -> tuple[OffsetFetchRequest, int]:
    group_id, at = read_string(data, at)
    count, at = read_count(data, at, 6)
    topics, at = _read_offset_fetch_request_topics_v1(data, at, count) if count else ([], at)
    return OffsetFetchRequest(group_id, topics, (), False), at


def _read_offset_fetch_request_v2(data: memoryview, at: int) -> tuple[OffsetFetchRequest, int]:
    group_id, at = read_string(data, at)
    count, at = read_nullable_count(data, at, 6)
    topics: list[OffsetFetchRequestTopic] | None = None
    if count >= 0:
        topics, at = _read_offset_fetch_request_topics_v1(data, at, count)
    return OffsetFetchRequest(group_id, topics, (), False), at


def _read_offset_fetch_request_topics_v6(data: memoryview, at: int, count: int) -> tuple[list[OffsetFetchRequestTopic], int]:
    items: list[OffsetFetchRequestTopic] = []
    for _ in range(count):
        name, at = read_compact_string(data, at)
        count, at = read_compact_count(data, at, 4)
        partition_indexes, at = read_numbers(data, at, count, "i") if count else ([], at)
        at = skip_tags(data, at) if data[at] else at + 1
        items.append(OffsetFetchRequestTopic(name, partition_indexes))
    return items, at


def _read_offset_fetch_request_v6(data: memoryview, at: int) -> tuple[OffsetFetchRequest, int]:
    group_id, at = read_compact_string(data, at)
    count, at = read_compact_nullable_count(data, at, 3)
    topics: list[OffsetFetchRequestTopic] | None = None
    if count >= 0:
        topics, at = _read_offset_fetch_request_topics_v6(data, at, count)
    at = skip_tags(data, at) if data[at] else at + 1
    return OffsetFetchRequest(group_id, topics, (), False), at


def _read_offset_fetch_request_v7(data: memoryview, at: int) -> tuple[OffsetFetchRequest, int]:
    group_id, at = read_compact_string(data, at)
    count, at = read_compact_nullable_count(data, at, 3)
    topics: list[OffsetFetchRequestTopic] | None = None
    if count >= 0:
        topics, at = _read_offset_fetch_request_topics_v6(data, at, count)
    require_stable, more = _unpack_tB(data, at)
    at += 2
    if more:
        at = skip_tags(data, at - 1)
    return OffsetFetchRequest(group_id, topics, (), require_stable), at


def _read_offset_fetch_request_topicss_v8(data: memoryview, at: int, count: int) -> tuple[list[OffsetFetchRequestTopics], int]:
    items: list[OffsetFetchRequestTopics] = []
    for _ in range(count):
        name, at = read_compact_string(data, at)
        count, at = read_compact_count(data, at, 4)
        partition_indexes, at = read_numbers(data, at, count, "i") if count else ([], at)
        at = skip_tags(data, at) if data[at] else at + 1
        items.append(OffsetFetchRequestTopics(name, ZERO_UUID, partition_indexes))
    return items, at


def _read_offset_fetch_request_groups_v8(data: memoryview, at: int, count: int) -> tuple[list[OffsetFetchRequestGroup], int]:
    items: list[OffsetFetchRequestGroup] = []
    for _ in range(count):
        group_id, at = read_compact_string(data, at)
        count, at = read_compact_nullable_count(data, at, 3)
        topics: list[OffsetFetchRequestTopics] | None = None
        if count >= 0:
            topics, at = _read_offset_fetch_request_topicss_v8(data, at, count)
        at = skip_tags(data, at) if data[at] else at + 1
        items.append(OffsetFetchRequestGroup(group_id, None, -1, topics))
    return items, at


def _read_offset_fetch_request_v8(data: memoryview, at: int) -> tuple[OffsetFetchRequest, int]:
    count, at = read_compact_count(data, at, 3)
    groups, at = _read_offset_fetch_request_groups_v8(data, at, count) if count else ([], at)
    require_stable, more = _unpack_tB(data, at)
    at += 2
    if more:
        at = skip_tags(data, at - 1)
    return OffsetFetchRequest("", (), groups, require_stable), at


def _read_offset_fetch_request_groups_v9(data: memoryview, at: int, count: int) -> tuple[list[OffsetFetchRequestGroup], int]:
    items: list[OffsetFetchRequestGroup] = []
    for _ in range(count):
        group_id, at = read_compact_string(data, at)
        member_id: str | None = None
        if data[at]:
            member_id, at = read_compact_string(data, at)
        else:
            at += 1
        (member_epoch,) = _unpack_i(data, at)
        at += 4
        count, at = read_compact_nullable_count(data, at, 3)
        topics: list[OffsetFetchRequestTopics] | None = None
        if count >= 0:
            topics, at = _read_offset_fetch_request_topicss_v8(data, at, count)
        at = skip_tags(data, at) if data[at] else at + 1
        items.append(OffsetFetchRequestGroup(group_id, member_id, member_epoch, topics))
    return items, at


def _read_offset_fetch_request_v9(data: memoryview, at: int) -> tuple[OffsetFetchRequest, int]:
    count, at = read_compact_count(data, at, 8)
    groups, at = _read_offset_fetch_request_groups_v9(data, at, count) if count else ([], at)
    require_stable, more = _unpack_tB(data, at)
    at += 2
    if more:
        at = skip_tags(data, at - 1)
    return OffsetFetchRequest("", (), groups, require_stable), at


def _read_offset_fetch_request_topicss_v10(data: memoryview, at: int, count: int) -> tuple[list[OffsetFetchRequestTopics], int]:
    items: list[OffsetFetchRequestTopics] = []
    for _ in range(count):
        (topic_id,) = _unpack_u(data, at)
        at += 16
        count, at = read_compact_count(data, at, 4)
        partition_indexes, at = read_numbers(data, at, count, "i") if count else ([], at)
        at = skip_tags(data, at) if data[at] else at + 1
        items.append(OffsetFetchRequestTopics("", topic_id, partition_indexes))
    return items, at


def _read_offset_fetch_request_groups_v10(data: memoryview, at: int, count: int) -> tuple[list[OffsetFetchRequestGroup], int]:
    items: list[OffsetFetchRequestGroup] = []
    for _ in range(count):
        group_id, at = read_compact_string(data, at)
        member_id: str | None = None
        if data[at]:
            member_id, at = read_compact_string(data, at)
        else:
            at += 1
        (member_epoch,) = _unpack_i(data, at)
        at += 4
        count, at = read_compact_nullable_count(data, at, 18)
        topics: list[OffsetFetchRequestTopics] | None = None
        if count >= 0:
            topics, at = _read_offset_fetch_request_topicss_v10(data, at, count)
        at = skip_tags(data, at) if data[at] else at + 1
        items.append(OffsetFetchRequestGroup(group_id, member_id, member_epoch, topics))
    return items, at


def _read_offset_fetch_request_v10(data: memoryview, at: int) -> tuple[OffsetFetchRequest, int]:
    count, at = read_compact_count(data, at, 8)
    groups, at = _read_offset_fetch_request_groups_v10(data, at, count) if count else ([], at)
    require_stable, more = _unpack_tB(data, at)
    at += 2
    if more:
        at = skip_tags(data, at - 1)
    return OffsetFetchRequest("", (), groups, require_stable), at


def _write_offset_fetch_request_topics_v1(items: Sequence[OffsetFetchRequestTopic], out: bytearray) -> None:
    for item in items:
        write_string(item.name, out)
        out += _pack_i(len(item.partition_indexes))
        if item.partition_indexes:
            write_numbers(item.partition_indexes, "i", out)


def _write_offset_fetch_request_v1(item: OffsetFetchRequest, out: bytearray) -> None:
    if item.groups:
        refuse_field("OffsetFetchRequest.groups")
    if item.require_stable:
        refuse_field("OffsetFetchRequest.require_stable")
    write_string(item.group_id, out)
    if item.topics is None:
        refuse_null_field("OffsetFetchRequest.topics")
    out += _pack_i(len(item.topics))
    if item.topics:
        _write_offset_fetch_request_topics_v1(item.topics, out)


def _write_offset_fetch_request_v2(item: OffsetFetchRequest, out: bytearray) -> None:
    if item.groups:
        refuse_field("OffsetFetchRequest.groups")
    if item.require_stable:
        refuse_field("OffsetFetchRequest.require_stable")
    write_string(item.group_id, out)
    out += _pack_i(-1 if item.topics is None else len(item.topics))
    if item.topics:
        _write_offset_fetch_request_topics_v1(item.topics, out)


def _write_offset_fetch_request_topics_v6(items: Sequence[OffsetFetchRequestTopic], out: bytearray) -> None:
    for item in items:
        write_compact_string(item.name, out)
        if item.partition_indexes:
            out += uvarint(len(item.partition_indexes) + 1)
            write_numbers(item.partition_indexes, "i", out)
        else:
            out.append(1)
        out.append(0)


def _write_offset_fetch_request_v6(item: OffsetFetchRequest, out: bytearray) -> None:
    if item.groups:
        refuse_field("OffsetFetchRequest.groups")
    if item.require_stable:
        refuse_field("OffsetFetchRequest.require_stable")
    write_compact_string(item.group_id, out)
    if item.topics:
        out += uvarint(len(item.topics) + 1)
        _write_offset_fetch_request_topics_v6(item.topics, out)
    else:
        out.append(0 if item.topics is None else 1)
    out.append(0)


def _write_offset_fetch_request_v7(item: OffsetFetchRequest, out: bytearray) -> None:
    if item.groups:
        refuse_field("OffsetFetchRequest.groups")
    write_compact_string(item.group_id, out)
    if item.topics:
        out += uvarint(len(item.topics) + 1)
        _write_offset_fetch_request_topics_v6(item.topics, out)
    else:
        out.append(0 if item.topics is None else 1)
    out += _pack_tx(item.require_stable)


def _write_offset_fetch_request_topicss_v8(items: Sequence[OffsetFetchRequestTopics], out: bytearray) -> None:
    for item in items:
        write_compact_string(item.name, out)
        if item.partition_indexes:
            out += uvarint(len(item.partition_indexes) + 1)
            write_numbers(item.partition_indexes, "i", out)
        else:
            out.append(1)
        out.append(0)


def _write_offset_fetch_request_groups_v8(items: Sequence[OffsetFetchRequestGroup], out: bytearray) -> None:
    for item in items:
        write_compact_string(item.group_id, out)
        if item.topics:
            out += uvarint(len(item.topics) + 1)
            _write_offset_fetch_request_topicss_v8(item.topics, out)
        else:
            out.append(0 if item.topics is None else 1)
        out.append(0)


def _write_offset_fetch_request_v8(item: OffsetFetchRequest, out: bytearray) -> None:
    if item.group_id != "":
        refuse_field("OffsetFetchRequest.group_id")
    if (item.topics is None or item.topics):
        refuse_field("OffsetFetchRequest.topics")
    if item.groups:
        out += uvarint(len(item.groups) + 1)
        _write_offset_fetch_request_groups_v8(item.groups, out)
    else:
        out.append(1)
    out += _pack_tx(item.require_stable)


def _write_offset_fetch_request_groups_v9(items: Sequence[OffsetFetchRequestGroup], out: bytearray) -> None:
    for item in items:
        write_compact_string(item.group_id, out)
        if item.member_id is None:
            out.append(0)
        else:
            write_compact_string(item.member_id, out)
        out += _pack_i(item.member_epoch)
        if item.topics:
            out += uvarint(len(item.topics) + 1)
            _write_offset_fetch_request_topicss_v8(item.topics, out)
        else:
            out.append(0 if item.topics is None else 1)
        out.append(0)


def _write_offset_fetch_request_v9(item: OffsetFetchRequest, out: bytearray) -> None:
    if item.group_id != "":
        refuse_field("OffsetFetchRequest.group_id")
    if (item.topics is None or item.topics):
        refuse_field("OffsetFetchRequest.topics")
    if item.groups:
        out += uvarint(len(item.groups) + 1)
        _write_offset_fetch_request_groups_v9(item.groups, out)
    else:
        out.append(1)
    out += _pack_tx(item.require_stable)


def _write_offset_fetch_request_topicss_v10(items: Sequence[OffsetFetchRequestTopics], out: bytearray) -> None:
    for item in items:
        out += _pack_u(item.topic_id)
        if item.partition_indexes:
            out += uvarint(len(item.partition_indexes) + 1)
            write_numbers(item.partition_indexes, "i", out)
        else:
            out.append(1)
        out.append(0)


def _write_offset_fetch_request_groups_v10(items: Sequence[OffsetFetchRequestGroup], out: bytearray) -> None:
    for item in items:
        write_compact_string(item.group_id, out)
        if item.member_id is None:
            out.append(0)
        else:
            write_compact_string(item.member_id, out)
        out += _pack_i(item.member_epoch)
        if item.topics:
            out += uvarint(len(item.topics) + 1)
            _write_offset_fetch_request_topicss_v10(item.topics, out)
        else:
            out.append(0 if item.topics is None else 1)
        out.append(0)


def _write_offset_fetch_request_v10(item: OffsetFetchRequest, out: bytearray) -> None:
    if item.group_id != "":
        refuse_field("OffsetFetchRequest.group_id")
    if (item.topics is None or item.topics):
        refuse_field("OffsetFetchRequest.topics")
    if item.groups:
        out += uvarint(len(item.groups) + 1)
        _write_offset_fetch_request_groups_v10(item.groups, out)
    else:
        out.append(1)
    out += _pack_tx(item.require_stable)


OffsetFetchRequest.DECODERS = {
    1: _read_offset_fetch_request_v1,
    2: _read_offset_fetch_request_v2,
    3: _read_offset_fetch_request_v2,
    4: _read_offset_fetch_request_v2,
    5: _read_offset_fetch_request_v2,
    6: _read_offset_fetch_request_v6,
    7: _read_offset_fetch_request_v7,
    8: _read_offset_fetch_request_v8,
    9: _read_offset_fetch_request_v9,
    10: _read_offset_fetch_request_v10,
}
OffsetFetchRequest.ENCODERS = {
    1: _write_offset_fetch_request_v1,
    2: _write_offset_fetch_request_v2,
    3: _write_offset_fetch_request_v2,
    4: _write_offset_fetch_request_v2,
    5: _write_offset_fetch_request_v2,
    6: _write_offset_fetch_request_v6,
    7: _write_offset_fetch_request_v7,
    8: _write_offset_fetch_request_v8,
    9: _write_offset_fetch_request_v9,
    10: _write_offset_fetch_request_v10,
}
