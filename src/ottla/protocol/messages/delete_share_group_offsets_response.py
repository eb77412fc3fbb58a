"""Generated from schemas/delete_share_group_offsets.schema: DeleteShareGroupOffsetsResponse, versions 0. Do not edit."""

from __future__ import annotations

from collections.abc import Sequence
from struct import Struct as Layout

from ottla.base.uuids import ZERO_UUID
from ottla.protocol.message import Message, Struct
from ottla.protocol.primitives import (
    read_compact_count,
    read_compact_string,
    skip_tags,
    uvarint,
    write_compact_string,
)

_unpack_uh = Layout(">16sh").unpack_from
_pack_uh = Layout(">16sh").pack
_unpack_ih = Layout(">ih").unpack_from
_pack_ih = Layout(">ih").pack


class DeleteShareGroupOffsetsResponse(Message):
    __slots__ = ("throttle_time_ms", "error_code", "error_message", "responses",)
    API_KEY = 92
    VERSIONS = range(0, 1)
    FLEXIBLE_FROM = 0

    def __init__(
        self,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        error_message: str | None = None,
        responses: Sequence[DeleteShareGroupOffsetsResponseTopic] = (),
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.error_message = error_message
        self.responses = responses


class DeleteShareGroupOffsetsResponseTopic(Struct):
    __slots__ = ("topic_name", "topic_id", "error_code", "error_message",)

    def __init__(
        self,
        topic_name: str = "",
        topic_id: bytes = ZERO_UUID,
        error_code: int = 0,
        error_message: str | None = None,
    ) -> None:
        self.topic_name = topic_name
        self.topic_id = topic_id
        self.error_code = error_code
        self.error_message = error_message


def _read_delete_share_group_offsets_response_topics_v0(data: memoryview, at: int, count: int) -> tuple[list[DeleteShareGroupOffsetsResponseTopic], int]:
    items: list[DeleteShareGroupOffsetsResponseTopic] = []
    for _ in range(count):
        topic_name, at = read_compact_string(data, at)
        topic_id, error_code = _unpack_uh(data, at)
        at += 18
        error_message: str | None = None
        if data[at]:
            error_message, at = read_compact_string(data, at)
        else:
            at += 1
        at = skip_tags(data, at) if data[at] else at + 1
        items.append(DeleteShareGroupOffsetsResponseTopic(topic_name, topic_id, error_code, error_message))
    return items, at


def _read_delete_share_group_offsets_response_v0(data: memoryview, at: int) -> tuple[DeleteShareGroupOffsetsResponse, int]:
    throttle_time_ms, error_code = _unpack_ih(data, at)
    at += 6
    error_message: str | None = None
    if data[at]:
        error_message, at = read_compact_string(data, at)
    else:
        at += 1
    count, at = read_compact_count(data, at, 21)
    responses, at = _read_delete_share_group_offsets_response_topics_v0(data, at, count) if count else ([], at)
    at = skip_tags(data, at) if data[at] else at + 1
    return DeleteShareGroupOffsetsResponse(throttle_time_ms, error_code, error_message, responses), at


def _write_delete_share_group_offsets_response_topics_v0(items: Sequence[DeleteShareGroupOffsetsResponseTopic], out: bytearray) -> None:
    for item in items:
        write_compact_string(item.topic_name, out)
        out += _pack_uh(item.topic_id, item.error_code)
        if item.error_message is None:
            out.append(0)
        else:
            write_compact_string(item.error_message, out)
        out.append(0)


def _write_delete_share_group_offsets_response_v0(item: DeleteShareGroupOffsetsResponse, out: bytearray) -> None:
    out += _pack_ih(item.throttle_time_ms, item.error_code)
    if item.error_message is None:
        out.append(0)
    else:
        write_compact_string(item.error_message, out)
    if item.responses:
        out += uvarint(len(item.responses) + 1)
        _write_delete_share_group_offsets_response_topics_v0(item.responses, out)
    else:
        out.append(1)
    out.append(0)


DeleteShareGroupOffsetsResponse.DECODERS = {
    0: _read_delete_share_group_offsets_response_v0,
}
DeleteShareGroupOffsetsResponse.ENCODERS = {
    0: _write_delete_share_group_offsets_response_v0,
}
