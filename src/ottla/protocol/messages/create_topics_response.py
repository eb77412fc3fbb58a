"""Generated from schemas/create_topics.schema: CreateTopicsResponse, versions 2-7. Do not edit."""

from __future__ import annotations

from collections.abc import Sequence
from struct import Struct as Layout

from ottla.base.uuids import ZERO_UUID
from ottla.protocol.message import Message, Struct
from ottla.protocol.primitives import (
    check_tag_end,
    read_compact_count,
    read_compact_nullable_count,
    read_compact_string,
    read_count,
    read_nullable_string,
    read_string,
    read_tag,
    read_tag_count,
    skip_tags,
    uvarint,
    write_compact_string,
    write_nullable_string,
    write_string,
    write_tags,
)

_unpack_uh = Layout(">16sh").unpack_from
_pack_uh = Layout(">16sh").pack
_unpack_tbtB = Layout(">?b?B").unpack_from
_pack_tbtx = Layout(">?b?x").pack
_unpack_h = Layout(">h").unpack_from
_pack_h = Layout(">h").pack
_unpack_i = Layout(">i").unpack_from
_pack_i = Layout(">i").pack
_unpack_ih = Layout(">ih").unpack_from
_pack_ih = Layout(">ih").pack
_pack_ii = Layout(">ii").pack


class CreateTopicsResponse(Message):
    __slots__ = ("throttle_time_ms", "topics",)
    API_KEY = 19
    VERSIONS = range(2, 8)
    FLEXIBLE_FROM = 5

    def __init__(
        self,
        throttle_time_ms: int = 0,
        topics: Sequence[CreatableTopicResult] = (),
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.topics = topics


class CreatableTopicConfigs(Struct):
    __slots__ = ("name", "value", "read_only", "config_source", "is_sensitive",)

    def __init__(
        self,
        name: str = "",
        value: str | None = "",
        read_only: bool = False,
        config_source: int = -1,
        is_sensitive: bool = False,
    ) -> None:
        self.name = name
        self.value = value
        self.read_only = read_only
        self.config_source = config_source
        self.is_sensitive = is_sensitive


class CreatableTopicResult(Struct):
    __slots__ = ("name", "topic_id", "error_code", "error_message", "topic_config_error_code", "num_partitions", "replication_factor", "configs",)

    def __init__(
        self,
        name: str = "",
        topic_id: bytes = ZERO_UUID,
        error_code: int = 0,
        error_message: str | None = "",
        topic_config_error_code: int = 0,
        num_partitions: int = -1,
        replication_factor: int = -1,
        configs: Sequence[CreatableTopicConfigs] | None = (),
    ) -> None:
        self.name = name
        self.topic_id = topic_id
        self.error_code = error_code
        self.error_message = error_message
        self.topic_config_error_code = topic_config_error_code
        self.num_partitions = num_partitions
        self.replication_factor = replication_factor
        self.configs = configs


def _read_creatable_topic_results_v2(data: memoryview, at: int, count: int) -> tuple[list[CreatableTopicResult], int]:
    items: list[CreatableTopicResult] = []
    for _ in range(count):
        name, at = read_string(data, at)
        (error_code,) = _unpack_h(data, at)
        at += 2
        error_message, at = read_nullable_string(data, at)
        items.append(CreatableTopicResult(name, ZERO_UUID, error_code, error_message, 0, -1, -1, ()))
    return items, at


def _read_create_topics_response_v2(data: memoryview, at: int) -> tuple[CreateTopicsResponse, int]:
    (throttle_time_ms,) = _unpack_i(data, at)
    at += 4
    count, at = read_count(data, at, 6)
    topics, at = _read_creatable_topic_results_v2(data, at, count) if count else ([], at)
    return CreateTopicsResponse(throttle_time_ms, topics), at


def _read_creatable_topic_configss_v5(data: memoryview, at: int, count: int) -> tuple[list[CreatableTopicConfigs], int]:
    items: list[CreatableTopicConfigs] = []
    for _ in range(count):
        name, at = read_compact_string(data, at)
        value: str | None = None
        if data[at]:
            value, at = read_compact_string(data, at)
        else:
            at += 1
        read_only, config_source, is_sensitive, more = _unpack_tbtB(data, at)
        at += 4
        if more:
            at = skip_tags(data, at - 1)
        items.append(CreatableTopicConfigs(name, value, read_only, config_source, is_sensitive))
    return items, at


def _read_creatable_topic_results_v5(data: memoryview, at: int, count: int) -> tuple[list[CreatableTopicResult], int]:
    items: list[CreatableTopicResult] = []
    for _ in range(count):
        name, at = read_compact_string(data, at)
        (error_code,) = _unpack_h(data, at)
        at += 2
        error_message: str | None = None
        if data[at]:
            error_message, at = read_compact_string(data, at)
        else:
            at += 1
        num_partitions, replication_factor = _unpack_ih(data, at)
        at += 6
        count, at = read_compact_nullable_count(data, at, 6)
        configs: list[CreatableTopicConfigs] | None = None
        if count >= 0:
            configs, at = _read_creatable_topic_configss_v5(data, at, count)
        topic_config_error_code: int = 0
        if not data[at]:
            at += 1
        else:
            more, at = read_tag_count(data, at)
            while more:
                more -= 1
                tag, end, at = read_tag(data, at)
                if tag == 0:
                    (topic_config_error_code,) = _unpack_h(data, at)
                    at += 2
                else:
                    at = end
                check_tag_end(tag, at, end)
        items.append(CreatableTopicResult(name, ZERO_UUID, error_code, error_message, topic_config_error_code, num_partitions, replication_factor, configs))
    return items, at


def _read_create_topics_response_v5(data: memoryview, at: int) -> tuple[CreateTopicsResponse, int]:
    (throttle_time_ms,) = _unpack_i(data, at)
    at += 4
    count, at = read_compact_count(data, at, 12)
    topics, at = _read_creatable_topic_results_v5(data, at, count) if count else ([], at)
    at = skip_tags(data, at) if data[at] else at + 1
    return CreateTopicsResponse(throttle_time_ms, topics), at


def _read_creatable_topic_results_v7(data: memoryview, at: int, count: int) -> tuple[list[CreatableTopicResult], int]:
    items: list[CreatableTopicResult] = []
    for _ in range(count):
        name, at = read_compact_string(data, at)
        topic_id, error_code = _unpack_uh(data, at)
        at += 18
        error_message: str | None = None
        if data[at]:
            error_message, at = read_compact_string(data, at)
        else:
            at += 1
        num_partitions, replication_factor = _unpack_ih(data, at)
        at += 6
        count, at = read_compact_nullable_count(data, at, 6)
        configs: list[CreatableTopicConfigs] | None = None
        if count >= 0:
            configs, at = _read_creatable_topic_configss_v5(data, at, count)
        topic_config_error_code: int = 0
        if not data[at]:
            at += 1
        else:
            more, at = read_tag_count(data, at)
            while more:
                more -= 1
                tag, end, at = read_tag(data, at)
                if tag == 0:
                    (topic_config_error_code,) = _unpack_h(data, at)
                    at += 2
                else:
                    at = end
                check_tag_end(tag, at, end)
        items.append(CreatableTopicResult(name, topic_id, error_code, error_message, topic_config_error_code, num_partitions, replication_factor, configs))
    return items, at


def _read_create_topics_response_v7(data: memoryview, at: int) -> tuple[CreateTopicsResponse, int]:
    (throttle_time_ms,) = _unpack_i(data, at)
    at += 4
    count, at = read_compact_count(data, at, 28)
    topics, at = _read_creatable_topic_results_v7(data, at, count) if count else ([], at)
    at = skip_tags(data, at) if data[at] else at + 1
    return CreateTopicsResponse(throttle_time_ms, topics), at


def _write_creatable_topic_results_v2(items: Sequence[CreatableTopicResult], out: bytearray) -> None:
    for item in items:
        write_string(item.name, out)
        out += _pack_h(item.error_code)
        write_nullable_string(item.error_message, out)


def _write_create_topics_response_v2(item: CreateTopicsResponse, out: bytearray) -> None:
    out += _pack_ii(item.throttle_time_ms, len(item.topics))
    if item.topics:
        _write_creatable_topic_results_v2(item.topics, out)


def _write_creatable_topic_configss_v5(items: Sequence[CreatableTopicConfigs], out: bytearray) -> None:
    for item in items:
        write_compact_string(item.name, out)
        if item.value is None:
            out.append(0)
        else:
            write_compact_string(item.value, out)
        out += _pack_tbtx(item.read_only, item.config_source, item.is_sensitive)


def _write_creatable_topic_results_v5(items: Sequence[CreatableTopicResult], out: bytearray) -> None:
    for item in items:
        write_compact_string(item.name, out)
        out += _pack_h(item.error_code)
        if item.error_message is None:
            out.append(0)
        else:
            write_compact_string(item.error_message, out)
        out += _pack_ih(item.num_partitions, item.replication_factor)
        if item.configs:
            out += uvarint(len(item.configs) + 1)
            _write_creatable_topic_configss_v5(item.configs, out)
        else:
            out.append(0 if item.configs is None else 1)
        if not (item.topic_config_error_code != 0):
            out.append(0)
        else:
            tags: list[tuple[int, bytearray]] = []
            if item.topic_config_error_code != 0:
                value = bytearray()
                value += _pack_h(item.topic_config_error_code)
                tags.append((0, value))
            write_tags(tags, out)


def _write_create_topics_response_v5(item: CreateTopicsResponse, out: bytearray) -> None:
    out += _pack_i(item.throttle_time_ms)
    if item.topics:
        out += uvarint(len(item.topics) + 1)
        _write_creatable_topic_results_v5(item.topics, out)
    else:
        out.append(1)
    out.append(0)


def _write_creatable_topic_results_v7(items: Sequence[CreatableTopicResult], out: bytearray) -> None:
    for item in items:
        write_compact_string(item.name, out)
        out += _pack_uh(item.topic_id, item.error_code)
        if item.error_message is None:
            out.append(0)
        else:
            write_compact_string(item.error_message, out)
        out += _pack_ih(item.num_partitions, item.replication_factor)
        if item.configs:
            out += uvarint(len(item.configs) + 1)
            _write_creatable_topic_configss_v5(item.configs, out)
        else:
            out.append(0 if item.configs is None else 1)
        if not (item.topic_config_error_code != 0):
            out.append(0)
        else:
            tags: list[tuple[int, bytearray]] = []
            if item.topic_config_error_code != 0:
                value = bytearray()
                value += _pack_h(item.topic_config_error_code)
                tags.append((0, value))
            write_tags(tags, out)


def _write_create_topics_response_v7(item: CreateTopicsResponse, out: bytearray) -> None:
    out += _pack_i(item.throttle_time_ms)
    if item.topics:
        out += uvarint(len(item.topics) + 1)
        _write_creatable_topic_results_v7(item.topics, out)
    else:
        out.append(1)
    out.append(0)


CreateTopicsResponse.DECODERS = {
    2: _read_create_topics_response_v2,
    3: _read_create_topics_response_v2,
    4: _read_create_topics_response_v2,
    5: _read_create_topics_response_v5,
    6: _read_create_topics_response_v5,
    7: _read_create_topics_response_v7,
}
CreateTopicsResponse.ENCODERS = {
    2: _write_create_topics_response_v2,
    3: _write_create_topics_response_v2,
    4: _write_create_topics_response_v2,
    5: _write_create_topics_response_v5,
    6: _write_create_topics_response_v5,
    7: _write_create_topics_response_v7,
}
