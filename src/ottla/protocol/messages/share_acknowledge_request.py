"""Generated from schemas/share_acknowledge.schema: ShareAcknowledgeRequest, versions 1-2. Do not edit."""

from __future__ import annotations

from collections.abc import Sequence
from struct import Struct as Layout

from ottla.base.uuids import ZERO_UUID
from ottla.protocol.message import Message, Struct, refuse_field
from ottla.protocol.primitives import (
    read_compact_count,
    read_compact_string,
    read_numbers,
    skip_tags,
    uvarint,
    write_compact_string,
    write_numbers,
)

_unpack_u = Layout(">16s").unpack_from
_pack_u = Layout(">16s").pack
_unpack_i = Layout(">i").unpack_from
_pack_i = Layout(">i").pack
_unpack_it = Layout(">i?").unpack_from
_pack_it = Layout(">i?").pack
_unpack_qq = Layout(">qq").unpack_from
_pack_qq = Layout(">qq").pack


class ShareAcknowledgeRequest(Message):
    __slots__ = ("group_id", "member_id", "share_session_epoch", "is_renew_ack", "topics",)
    API_KEY = 79
    VERSIONS = range(1, 3)
    FLEXIBLE_FROM = 1

    def __init__(
        self,
        group_id: str | None = None,
        member_id: str | None = "",
        share_session_epoch: int = 0,
        is_renew_ack: bool = False,
        topics: Sequence[AcknowledgeTopic] = (),
    ) -> None:
        self.group_id = group_id
        self.member_id = member_id
        self.share_session_epoch = share_session_epoch
        self.is_renew_ack = is_renew_ack
        self.topics = topics


class AcknowledgementBatch(Struct):
    __slots__ = ("first_offset", "last_offset", "acknowledge_types",)

    def __init__(
        self,
        first_offset: int = 0,
        last_offset: int = 0,
        acknowledge_types: Sequence[int] = (),
    ) -> None:
        self.first_offset = first_offset
        self.last_offset = last_offset
        self.acknowledge_types = acknowledge_types


class AcknowledgePartition(Struct):
    __slots__ = ("partition_index", "acknowledgement_batches",)

    def __init__(
        self,
        partition_index: int = 0,
        acknowledgement_batches: Sequence[AcknowledgementBatch] = (),
    ) -> None:
        self.partition_index = partition_index
        self.acknowledgement_batches = acknowledgement_batches


class AcknowledgeTopic(Struct):
    __slots__ = ("topic_id", "partitions",)

    def __init__(
        self,
        topic_id: bytes = ZERO_UUID,
        partitions: Sequence[AcknowledgePartition] = (),
    ) -> None:
        self.topic_id = topic_id
        self.partitions = partitions


def _read_acknowledgement_batchs_v1(data: memoryview, at: int, count: int) -> tuple[list[AcknowledgementBatch], int]:
    items: list[AcknowledgementBatch] = []
    for _ in range(count):
        first_offset, last_offset = _unpack_qq(data, at)
        at += 16
        count, at = read_compact_count(data, at, 1)
        acknowledge_types, at = read_numbers(data, at, count, "b") if count else ([], at)
        at = skip_tags(data, at) if data[at] else at + 1
        items.append(AcknowledgementBatch(first_offset, last_offset, acknowledge_types))
    return items, at


def _read_acknowledge_partitions_v1(data: memoryview, at: int, count: int) -> tuple[list[AcknowledgePartition], int]:
    items: list[AcknowledgePartition] = []
    for _ in range(count):
        (partition_index,) = _unpack_i(data, at)
        at += 4
        count, at = read_compact_count(data, at, 18)
        acknowledgement_batches, at = _read_acknowledgement_batchs_v1(data, at, count) if count else ([], at)
        at = skip_tags(data, at) if data[at] else at + 1
        items.append(AcknowledgePartition(partition_index, acknowledgement_batches))
    return items, at


def _read_acknowledge_topics_v1(data: memoryview, at: int, count: int) -> tuple[list[AcknowledgeTopic], int]:
    items: list[AcknowledgeTopic] = []
    for _ in range(count):
        (topic_id,) = _unpack_u(data, at)
        at += 16
        count, at = read_compact_count(data, at, 6)
        partitions, at = _read_acknowledge_partitions_v1(data, at, count) if count else ([], at)
        at = skip_tags(data, at) if data[at] else at + 1
        items.append(AcknowledgeTopic(topic_id, partitions))
    return items, at


def _read_share_acknowledge_request_v1(data: memoryview, at: int) -> tuple[ShareAcknowledgeRequest, int]:
    group_id: str | None = None
    if data[at]:
        group_id, at = read_compact_string(data, at)
    else:
        at += 1
    member_id: str | None = None
    if data[at]:
        member_id, at = read_compact_string(data, at)
    else:
        at += 1
    (share_session_epoch,) = _unpack_i(data, at)
    at += 4
    count, at = read_compact_count(data, at, 18)
    topics, at = _read_acknowledge_topics_v1(data, at, count) if count else ([], at)
    at = skip_tags(data, at) if data[at] else at + 1
    return ShareAcknowledgeRequest(group_id, member_id, share_session_epoch, False, topics), at


def _read_share_acknowledge_request_v2(data: memoryview, at: int) -> tuple[ShareAcknowledgeRequest, int]:
    group_id: str | None = None
    if data[at]:
        group_id, at = read_compact_string(data, at)
    else:
        at += 1
    member_id: str | None = None
    if data[at]:
        member_id, at = read_compact_string(data, at)
    else:
        at += 1
    share_session_epoch, is_renew_ack = _unpack_it(data, at)
    at += 5
    count, at = read_compact_count(data, at, 18)
    topics, at = _read_acknowledge_topics_v1(data, at, count) if count else ([], at)
    at = skip_tags(data, at) if data[at] else at + 1
    return ShareAcknowledgeRequest(group_id, member_id, share_session_epoch, is_renew_ack, topics), at


def _write_acknowledgement_batchs_v1(items: Sequence[AcknowledgementBatch], out: bytearray) -> None:
    for item in items:
        out += _pack_qq(item.first_offset, item.last_offset)
        if item.acknowledge_types:
            out += uvarint(len(item.acknowledge_types) + 1)
            write_numbers(item.acknowledge_types, "b", out)
        else:
            out.append(1)
        out.append(0)


def _write_acknowledge_partitions_v1(items: Sequence[AcknowledgePartition], out: bytearray) -> None:
    for item in items:
        out += _pack_i(item.partition_index)
        if item.acknowledgement_batches:
            out += uvarint(len(item.acknowledgement_batches) + 1)
            _write_acknowledgement_batchs_v1(item.acknowledgement_batches, out)
        else:
            out.append(1)
        out.append(0)


def _write_acknowledge_topics_v1(items: Sequence[AcknowledgeTopic], out: bytearray) -> None:
    for item in items:
        out += _pack_u(item.topic_id)
        if item.partitions:
            out += uvarint(len(item.partitions) + 1)
            _write_acknowledge_partitions_v1(item.partitions, out)
        else:
            out.append(1)
        out.append(0)


def _write_share_acknowledge_request_v1(item: ShareAcknowledgeRequest, out: bytearray) -> None:
    if item.is_renew_ack:
        refuse_field("ShareAcknowledgeRequest.is_renew_ack")
    if item.group_id is None:
        out.append(0)
    else:
        write_compact_string(item.group_id, out)
    if item.member_id is None:
        out.append(0)
    else:
        write_compact_string(item.member_id, out)
    out += _pack_i(item.share_session_epoch)
    if item.topics:
        out += uvarint(len(item.topics) + 1)
        _write_acknowledge_topics_v1(item.topics, out)
    else:
        out.append(1)
    out.append(0)


def _write_share_acknowledge_request_v2(item: ShareAcknowledgeRequest, out: bytearray) -> None:
    if item.group_id is None:
        out.append(0)
    else:
        write_compact_string(item.group_id, out)
    if item.member_id is None:
        out.append(0)
    else:
        write_compact_string(item.member_id, out)
    out += _pack_it(item.share_session_epoch, item.is_renew_ack)
    if item.topics:
        out += uvarint(len(item.topics) + 1)
        _write_acknowledge_topics_v1(item.topics, out)
    else:
        out.append(1)
    out.append(0)


ShareAcknowledgeRequest.DECODERS = {
    1: _read_share_acknowledge_request_v1,
    2: _read_share_acknowledge_request_v2,
}
ShareAcknowledgeRequest.ENCODERS = {
    1: _write_share_acknowledge_request_v1,
    2: _write_share_acknowledge_request_v2,
}
