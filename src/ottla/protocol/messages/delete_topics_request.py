"""Generated from schemas/delete_topics.schema: DeleteTopicsRequest, versions 1-6. Do not edit."""

from __future__ import annotations

from collections.abc import Sequence
from struct import Struct as Layout

from ottla.base.uuids import ZERO_UUID
from ottla.protocol.message import Message, Struct, refuse_field
from ottla.protocol.primitives import (
    read_compact_count,
    read_compact_string,
    read_compact_strings,
    read_count,
    read_strings,
    skip_tags,
    uvarint,
    write_compact_string,
    write_compact_strings,
    write_strings,
)

_unpack_uB = Layout(">16sB").unpack_from
_pack_ux = Layout(">16sx").pack
_unpack_i = Layout(">i").unpack_from
_pack_i = Layout(">i").pack
_unpack_iB = Layout(">iB").unpack_from
_pack_ix = Layout(">ix").pack


class DeleteTopicsRequest(Message):
    __slots__ = ("topics", "topic_names", "timeout_ms",)
    API_KEY = 20
    VERSIONS = range(1, 7)
    FLEXIBLE_FROM = 4

    def __init__(
        self,
        topics: Sequence[DeleteTopicState] = (),
        topic_names: Sequence[str] = (),
        timeout_ms: int = 0,
    ) -> None:
        self.topics = topics
        self.topic_names = topic_names
        self.timeout_ms = timeout_ms


class DeleteTopicState(Struct):
    __slots__ = ("name", "topic_id",)

    def __init__(
        self,
        name: str | None = None,
        topic_id: bytes = ZERO_UUID,
    ) -> None:
        self.name = name
        self.topic_id = topic_id


def _read_delete_topics_request_v1(data: memoryview, at: int) -> tuple[DeleteTopicsRequest, int]:
    count, at = read_count(data, at, 2)
    topic_names, at = read_strings(data, at, count) if count else ([], at)
    (timeout_ms,) = _unpack_i(data, at)
    at += 4
    return DeleteTopicsRequest((), topic_names, timeout_ms), at


def _read_delete_topics_request_v4(data: memoryview, at: int) -> tuple[DeleteTopicsRequest, int]:
    count, at = read_compact_count(data, at, 1)
    topic_names, at = read_compact_strings(data, at, count) if count else ([], at)
    timeout_ms, more = _unpack_iB(data, at)
    at += 5
    if more:
        at = skip_tags(data, at - 1)
    return DeleteTopicsRequest((), topic_names, timeout_ms), at


def _read_delete_topic_states_v6(data: memoryview, at: int, count: int) -> tuple[list[DeleteTopicState], int]:
    items: list[DeleteTopicState] = []
    for _ in range(count):
        name: str | None = None
        if data[at]:
            name, at = read_compact_string(data, at)
        else:
            at += 1
        topic_id, more = _unpack_uB(data, at)
        at += 17
        if more:
            at = skip_tags(data, at - 1)
        items.append(DeleteTopicState(name, topic_id))
    return items, at


def _read_delete_topics_request_v6(data: memoryview, at: int) -> tuple[DeleteTopicsRequest, int]:
    count, at = read_compact_count(data, at, 18)
    topics, at = _read_delete_topic_states_v6(data, at, count) if count else ([], at)
    timeout_ms, more = _unpack_iB(data, at)
    at += 5
    if more:
        at = skip_tags(data, at - 1)
    return DeleteTopicsRequest(topics, (), timeout_ms), at


def _write_delete_topics_request_v1(item: DeleteTopicsRequest, out: bytearray) -> None:
    if item.topics:
        refuse_field("DeleteTopicsRequest.topics")
    out += _pack_i(len(item.topic_names))
    if item.topic_names:
        write_strings(item.topic_names, out)
    out += _pack_i(item.timeout_ms)


def _write_delete_topics_request_v4(item: DeleteTopicsRequest, out: bytearray) -> None:
    if item.topics:
        refuse_field("DeleteTopicsRequest.topics")
    if item.topic_names:
        out += uvarint(len(item.topic_names) + 1)
        write_compact_strings(item.topic_names, out)
    else:
        out.append(1)
    out += _pack_ix(item.timeout_ms)


def _write_delete_topic_states_v6(items: Sequence[DeleteTopicState], out: bytearray) -> None:
    for item in items:
        if item.name is None:
            out.append(0)
        else:
            write_compact_string(item.name, out)
        out += _pack_ux(item.topic_id)


def _write_delete_topics_request_v6(item: DeleteTopicsRequest, out: bytearray) -> None:
    if item.topics:
        out += uvarint(len(item.topics) + 1)
        _write_delete_topic_states_v6(item.topics, out)
    else:
        out.append(1)
    out += _pack_ix(item.timeout_ms)


DeleteTopicsRequest.DECODERS = {
    1: _read_delete_topics_request_v1,
    2: _read_delete_topics_request_v1,
    3: _read_delete_topics_request_v1,
    4: _read_delete_topics_request_v4,
    5: _read_delete_topics_request_v4,
    6: _read_delete_topics_request_v6,
}
DeleteTopicsRequest.ENCODERS = {
    1: _write_delete_topics_request_v1,
    2: _write_delete_topics_request_v1,
    3: _write_delete_topics_request_v1,
    4: _write_delete_topics_request_v4,
    5: _write_delete_topics_request_v4,
    6: _write_delete_topics_request_v6,
}
