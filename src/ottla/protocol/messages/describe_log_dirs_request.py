"""Generated from schemas/describe_log_dirs.schema: DescribeLogDirsRequest, versions 1-5. Do not edit."""

from __future__ import annotations

from collections.abc import Sequence
from struct import Struct as Layout

from ottla.protocol.message import Message, Struct
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

_pack_i = Layout(">i").pack


class DescribeLogDirsRequest(Message):
    __slots__ = ("topics",)
    API_KEY = 35
    VERSIONS = range(1, 6)
    FLEXIBLE_FROM = 2

    def __init__(
        self,
        topics: Sequence[DescribableLogDirTopic] | None = (),
    ) -> None:
        self.topics = topics


class DescribableLogDirTopic(Struct):
    __slots__ = ("topic", "partitions",)

    def __init__(
        self,
        topic: str = "",
        partitions: Sequence[int] = (),
    ) -> None:
        self.topic = topic
        self.partitions = partitions


def _read_describable_log_dir_topics_v1(data: memoryview, at: int, count: int) -> tuple[list[DescribableLogDirTopic], int]:
    items: list[DescribableLogDirTopic] = []
    for _ in range(count):
        topic, at = read_string(data, at)
        count, at = read_count(data, at, 4)
        partitions, at = read_numbers(data, at, count, "i") if count else ([], at)
        items.append(DescribableLogDirTopic(topic, partitions))
    return items, at


def _read_describe_log_dirs_request_v1(data: memoryview, at: int) -> tuple[DescribeLogDirsRequest, int]:
    count, at = read_nullable_count(data, at, 6)
    topics: list[DescribableLogDirTopic] | None = None
    if count >= 0:
        topics, at = _read_describable_log_dir_topics_v1(data, at, count)
    return DescribeLogDirsRequest(topics), at


def _read_describable_log_dir_topics_v2(data: memoryview, at: int, count: int) -> tuple[list[DescribableLogDirTopic], int]:
    items: list[DescribableLogDirTopic] = []
    for _ in range(count):
        topic, at = read_compact_string(data, at)
        count, at = read_compact_count(data, at, 4)
        partitions, at = read_numbers(data, at, count, "i") if count else ([], at)
        at = skip_tags(data, at) if data[at] else at + 1
        items.append(DescribableLogDirTopic(topic, partitions))
    return items, at


def _read_describe_log_dirs_request_v2(data: memoryview, at: int) -> tuple[DescribeLogDirsRequest, int]:
    count, at = read_compact_nullable_count(data, at, 3)
    topics: list[DescribableLogDirTopic] | None = None
    if count >= 0:
        topics, at = _read_describable_log_dir_topics_v2(data, at, count)
    at = skip_tags(data, at) if data[at] else at + 1
    return DescribeLogDirsRequest(topics), at


def _write_describable_log_dir_topics_v1(items: Sequence[DescribableLogDirTopic], out: bytearray) -> None:
    for item in items:
        write_string(item.topic, out)
        out += _pack_i(len(item.partitions))
        if item.partitions:
            write_numbers(item.partitions, "i", out)


def _write_describe_log_dirs_request_v1(item: DescribeLogDirsRequest, out: bytearray) -> None:
    out += _pack_i(-1 if item.topics is None else len(item.topics))
    if item.topics:
        _write_describable_log_dir_topics_v1(item.topics, out)


def _write_describable_log_dir_topics_v2(items: Sequence[DescribableLogDirTopic], out: bytearray) -> None:
    for item in items:
        write_compact_string(item.topic, out)
        if item.partitions:
            out += uvarint(len(item.partitions) + 1)
            write_numbers(item.partitions, "i", out)
        else:
            out.append(1)
        out.append(0)


def _write_describe_log_dirs_request_v2(item: DescribeLogDirsRequest, out: bytearray) -> None:
    if item.topics:
        out += uvarint(len(item.topics) + 1)
        _write_describable_log_dir_topics_v2(item.topics, out)
    else:
        out.append(0 if item.topics is None else 1)
    out.append(0)


DescribeLogDirsRequest.DECODERS = {
    1: _read_describe_log_dirs_request_v1,
    2: _read_describe_log_dirs_request_v2,
    3: _read_describe_log_dirs_request_v2,
    4: _read_describe_log_dirs_request_v2,
    5: _read_describe_log_dirs_request_v2,
}
DescribeLogDirsRequest.ENCODERS = {
    1: _write_describe_log_dirs_request_v1,
    2: _write_describe_log_dirs_request_v2,
    3: _write_describe_log_dirs_request_v2,
    4: _write_describe_log_dirs_request_v2,
    5: _write_describe_log_dirs_request_v2,
}
