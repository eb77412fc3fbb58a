"""Generated from schemas/delete_share_group_offsets.schema: DeleteShareGroupOffsetsRequest, versions 0. Do not edit."""

from __future__ import annotations

from collections.abc import Sequence

from ottla.protocol.message import Message, Struct
from ottla.protocol.primitives import (
    read_compact_count,
    read_compact_string,
    skip_tags,
    uvarint,
    write_compact_string,
)



class DeleteShareGroupOffsetsRequest(Message):
    __slots__ = ("group_id", "topics",)
    API_KEY = 92
    VERSIONS = range(0, 1)
    FLEXIBLE_FROM = 0

    def __init__(
        self,
        group_id: str = "",
        topics: Sequence[DeleteShareGroupOffsetsRequestTopic] = (),
    ) -> None:
        self.group_id = group_id
        self.topics = topics


class DeleteShareGroupOffsetsRequestTopic(Struct):
    __slots__ = ("topic_name",)

    def __init__(
        self,
        topic_name: str = "",
    ) -> None:
        self.topic_name = topic_name


def _read_delete_share_group_offsets_request_topics_v0(data: memoryview, at: int, count: int) -> tuple[list[DeleteShareGroupOffsetsRequestTopic], int]:
    items: list[DeleteShareGroupOffsetsRequestTopic] = []
    for _ in range(count):
        topic_name, at = read_compact_string(data, at)
        at = skip_tags(data, at) if data[at] else at + 1
        items.append(DeleteShareGroupOffsetsRequestTopic(topic_name))
    return items, at


def _read_delete_share_group_offsets_request_v0(data: memoryview, at: int) -> tuple[DeleteShareGroupOffsetsRequest, int]:
    group_id, at = read_compact_string(data, at)
    count, at = read_compact_count(data, at, 2)
    topics, at = _read_delete_share_group_offsets_request_topics_v0(data, at, count) if count else ([], at)
    at = skip_tags(data, at) if data[at] else at + 1
    return DeleteShareGroupOffsetsRequest(group_id, topics), at


def _write_delete_share_group_offsets_request_topics_v0(items: Sequence[DeleteShareGroupOffsetsRequestTopic], out: bytearray) -> None:
    for item in items:
        write_compact_string(item.topic_name, out)
        out.append(0)


def _write_delete_share_group_offsets_request_v0(item: DeleteShareGroupOffsetsRequest, out: bytearray) -> None:
    write_compact_string(item.group_id, out)
    if item.topics:
        out += uvarint(len(item.topics) + 1)
        _write_delete_share_group_offsets_request_topics_v0(item.topics, out)
    else:
        out.append(1)
    out.append(0)


DeleteShareGroupOffsetsRequest.DECODERS = {
    0: _read_delete_share_group_offsets_request_v0,
}
DeleteShareGroupOffsetsRequest.ENCODERS = {
    0: _write_delete_share_group_offsets_request_v0,
}
