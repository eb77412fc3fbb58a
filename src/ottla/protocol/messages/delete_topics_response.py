"""Generated from schemas/delete_topics.schema: DeleteTopicsResponse, versions 1-6. Do not edit."""

from __future__ import annotations

from collections.abc import Sequence
from struct import Struct as Layout

from ottla.base.uuids import ZERO_UUID
from ottla.protocol.message import Message, Struct, refuse_null_field
from ottla.protocol.primitives import (
    read_compact_count,
    read_compact_string,
    read_count,
    read_string,
    skip_tags,
    uvarint,
    write_compact_string,
    write_string,
)

_unpack_uh = Layout(">16sh").unpack_from
_pack_uh = Layout(">16sh").pack
_unpack_h = Layout(">h").unpack_from
_pack_h = Layout(">h").pack
_unpack_hB = Layout(">hB").unpack_from
_pack_hx = Layout(">hx").pack
_unpack_i = Layout(">i").unpack_from
_pack_i = Layout(">i").pack
_pack_ii = Layout(">ii").pack


class DeleteTopicsResponse(Message):
    __slots__ = ("throttle_time_ms", "responses",)
    API_KEY = 20
    VERSIONS = range(1, 7)
    FLEXIBLE_FROM = 4

    def __init__(
        self,
        throttle_time_ms: int = 0,
        responses: Sequence[DeletableTopicResult] = (),
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.responses = responses


class DeletableTopicResult(Struct):
    __slots__ = ("name", "topic_id", "error_code", "error_message",)

    def __init__(
        self,
        name: str | None = "",
        topic_id: bytes = ZERO_UUID,
        error_code: int = 0,
        error_message: str | None = None,
    ) -> None:
        self.name = name
        self.topic_id = topic_id
        self.error_code = error_code
        self.error_message = error_message


def _read_deletable_topic_results_v1(data: memoryview, at: int, count: int) -> tuple[list[DeletableTopicResult], int]:
    items: list[DeletableTopicResult] = []
    for _ in range(count):
        name, at = read_string(data, at)
        (error_code,) = _unpack_h(data, at)
        at += 2
        items.append(DeletableTopicResult(name, ZERO_UUID, error_code, None))
    return items, at


def _read_delete_topics_response_v1(data: memoryview, at: int) -> tuple[DeleteTopicsResponse, int]:
    (throttle_time_ms,) = _unpack_i(data, at)
    at += 4
    count, at = read_count(data, at, 4)
    responses, at = _read_deletable_topic_results_v1(data, at, count) if count else ([], at)
    return DeleteTopicsResponse(throttle_time_ms, responses), at


def _read_deletable_topic_results_v4(data: memoryview, at: int, count: int) -> tuple[list[DeletableTopicResult], int]:
    items: list[DeletableTopicResult] = []
    for _ in range(count):
        name, at = read_compact_string(data, at)
        error_code, more = _unpack_hB(data, at)
        at += 3
        if more:
            at = skip_tags(data, at - 1)
        items.append(DeletableTopicResult(name, ZERO_UUID, error_code, None))
    return items, at


def _read_delete_topics_response_v4(data: memoryview, at: int) -> tuple[DeleteTopicsResponse, int]:
    (throttle_time_ms,) = _unpack_i(data, at)
    at += 4
    count, at = read_compact_count(data, at, 4)
    responses, at = _read_deletable_topic_results_v4(data, at, count) if count else ([], at)
    at = skip_tags(data, at) if data[at] else at + 1
    return DeleteTopicsResponse(throttle_time_ms, responses), at


def _read_deletable_topic_results_v5(data: memoryview, at: int, count: int) -> tuple[list[DeletableTopicResult], int]:
    items: list[DeletableTopicResult] = []
    for _ in range(count):
        name, at = read_compact_string(data, at)
        (error_code,) = _unpack_h(data, at)
        at += 2
        error_message: str | None = None
        if data[at]:
            error_message, at = read_compact_string(data, at)
        else:
            at += 1
        at = skip_tags(data, at) if data[at] else at + 1
        items.append(DeletableTopicResult(name, ZERO_UUID, error_code, error_message))
    return items, at


def _read_delete_topics_response_v5(data: memoryview, at: int) -> tuple[DeleteTopicsResponse, int]:
    (throttle_time_ms,) = _unpack_i(data, at)
    at += 4
    count, at = read_compact_count(data, at, 5)
    responses, at = _read_deletable_topic_results_v5(data, at, count) if count else ([], at)
    at = skip_tags(data, at) if data[at] else at + 1
    return DeleteTopicsResponse(throttle_time_ms, responses), at


def _read_deletable_topic_results_v6(data: memoryview, at: int, count: int) -> tuple[list[DeletableTopicResult], int]:
    items: list[DeletableTopicResult] = []
    for _ in range(count):
        name: str | None = None
        if data[at]:
            name, at = read_compact_string(data, at)
        else:
            at += 1
        topic_id, error_code = _unpack_uh(data, at)
        at += 18
        error_message: str | None = None
        if data[at]:
            error_message, at = read_compact_string(data, at)
        else:
            at += 1
        at = skip_tags(data, at) if data[at] else at + 1
        items.append(DeletableTopicResult(name, topic_id, error_code, error_message))
    return items, at


def _read_delete_topics_response_v6(data: memoryview, at: int) -> tuple[DeleteTopicsResponse, int]:
    (throttle_time_ms,) = _unpack_i(data, at)
    at += 4
    count, at = read_compact_count(data, at, 21)
    responses, at = _read_deletable_topic_results_v6(data, at, count) if count else ([], at)
    at = skip_tags(data, at) if data[at] else at + 1
    return DeleteTopicsResponse(throttle_time_ms, responses), at


def _write_deletable_topic_results_v1(items: Sequence[DeletableTopicResult], out: bytearray) -> None:
    for item in items:
        if item.name is None:
            refuse_null_field("DeletableTopicResult.name")
        write_string(item.name, out)
        out += _pack_h(item.error_code)


def _write_delete_topics_response_v1(item: DeleteTopicsResponse, out: bytearray) -> None:
    out += _pack_ii(item.throttle_time_ms, len(item.responses))
    if item.responses:
        _write_deletable_topic_results_v1(item.responses, out)


def _write_deletable_topic_results_v4(items: Sequence[DeletableTopicResult], out: bytearray) -> None:
    for item in items:
        if item.name is None:
            refuse_null_field("DeletableTopicResult.name")
        write_compact_string(item.name, out)
        out += _pack_hx(item.error_code)


def _write_delete_topics_response_v4(item: DeleteTopicsResponse, out: bytearray) -> None:
    out += _pack_i(item.throttle_time_ms)
    if item.responses:
        out += uvarint(len(item.responses) + 1)
        _write_deletable_topic_results_v4(item.responses, out)
    else:
        out.append(1)
    out.append(0)


def _write_deletable_topic_results_v5(items: Sequence[DeletableTopicResult], out: bytearray) -> None:
    for item in items:
        if item.name is None:
            refuse_null_field("DeletableTopicResult.name")
        write_compact_string(item.name, out)
        out += _pack_h(item.error_code)
        if item.error_message is None:
            out.append(0)
        else:
            write_compact_string(item.error_message, out)
        out.append(0)


def _write_delete_topics_response_v5(item: DeleteTopicsResponse, out: bytearray) -> None:
    out += _pack_i(item.throttle_time_ms)
    if item.responses:
        out += uvarint(len(item.responses) + 1)
        _write_deletable_topic_results_v5(item.responses, out)
    else:
        out.append(1)
    out.append(0)


def _write_deletable_topic_results_v6(items: Sequence[DeletableTopicResult], out: bytearray) -> None:
    for item in items:
        if item.name is None:
            out.append(0)
        else:
            write_compact_string(item.name, out)
        out += _pack_uh(item.topic_id, item.error_code)
        if item.error_message is None:
            out.append(0)
        else:
            write_compact_string(item.error_message, out)
        out.append(0)


def _write_delete_topics_response_v6(item: DeleteTopicsResponse, out: bytearray) -> None:
    out += _pack_i(item.throttle_time_ms)
    if item.responses:
        out += uvarint(len(item.responses) + 1)
        _write_deletable_topic_results_v6(item.responses, out)
    else:
        out.append(1)
    out.append(0)


DeleteTopicsResponse.DECODERS = {
    1: _read_delete_topics_response_v1,
    2: _read_delete_topics_response_v1,
    3: _read_delete_topics_response_v1,
    4: _read_delete_topics_response_v4,
    5: _read_delete_topics_response_v5,
    6: _read_delete_topics_response_v6,
}
DeleteTopicsResponse.ENCODERS = {
    1: _write_delete_topics_response_v1,
    2: _write_delete_topics_response_v1,
    3: _write_delete_topics_response_v1,
    4: _write_delete_topics_response_v4,
    5: _write_delete_topics_response_v5,
    6: _write_delete_topics_response_v6,
}
