"""Generated from schemas/share_fetch.schema: ShareFetchRequest, versions 1-2. Do not edit."""

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
_unpack_iiiiii = Layout(">iiiiii").unpack_from
_pack_iiiiii = Layout(">iiiiii").pack
_unpack_iiiiiibt = Layout(">iiiiiib?").unpack_from
_pack_iiiiiibt = Layout(">iiiiiib?").pack
_unpack_qq = Layout(">qq").unpack_from
_pack_qq = Layout(">qq").pack


class ShareFetchRequest(Message):
    __slots__ = ("group_id", "member_id", "share_session_epoch", "max_wait_ms", "min_bytes", "max_bytes", "max_records", "batch_size", "share_acquire_mode", "is_renew_ack", "topics", "forgotten_topics_data",)
    API_KEY = 78
    VERSIONS = range(1, 3)
    FLEXIBLE_FROM = 1

    def __init__(
        self,
        group_id: str | None = None,
        member_id: str | None = "",
        share_session_epoch: int = 0,
        max_wait_ms: int = 0,
        min_bytes: int = 0,
        max_bytes: int = 2147483647,
        max_records: int = 0,
        batch_size: int = 0,
        share_acquire_mode: int = 0,
        is_renew_ack: bool = False,
        topics: Sequence[FetchTopic] = (),
        forgotten_topics_data: Sequence[ForgottenTopic] = (),
    ) -> None:
        self.group_id = group_id
        self.member_id = member_id
        self.share_session_epoch = share_session_epoch
        self.max_wait_ms = max_wait_ms
        self.min_bytes = min_bytes
        self.max_bytes = max_bytes
        self.max_records = max_records
        self.batch_size = batch_size
        self.share_acquire_mode = share_acquire_mode
        self.is_renew_ack = is_renew_ack
        self.topics = topics
        self.forgotten_topics_data = forgotten_topics_data


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


class FetchPartition(Struct):
    __slots__ = ("partition_index", "acknowledgement_batches",)

    def __init__(
        self,
        partition_index: int = 0,
        acknowledgement_batches: Sequence[AcknowledgementBatch] = (),
    ) -> None:
        self.partition_index = partition_index
        self.acknowledgement_batches = acknowledgement_batches


class FetchTopic(Struct):
    __slots__ = ("topic_id", "partitions",)

    def __init__(
        self,
        topic_id: bytes = ZERO_UUID,
        partitions: Sequence[FetchPartition] = (),
    ) -> None:
        self.topic_id = topic_id
        self.partitions = partitions


class ForgottenTopic(Struct):
    __slots__ = ("topic_id", "partitions",)

    def __init__(
        self,
        topic_id: bytes = ZERO_UUID,
        partitions: Sequence[int] = (),
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


def _read_fetch_partitions_v1(data: memoryview, at: int, count: int) -> tuple[list[FetchPartition], int]:
    items: list[FetchPartition] = []
    for _ in range(count):
        (partition_index,) = _unpack_i(data, at)
        at += 4
        count, at = read_compact_count(data, at, 18)
        acknowledgement_batches, at = _read_acknowledgement_batchs_v1(data, at, count) if count else ([], at)
        at = skip_tags(data, at) if data[at] else at + 1
        items.append(FetchPartition(partition_index, acknowledgement_batches))
    return items, at


def _read_fetch_topics_v1(data: memoryview, at: int, count: int) -> tuple[list[FetchTopic], int]:
    items: list[FetchTopic] = []
    for _ in range(count):
        (topic_id,) = _unpack_u(data, at)
        at += 16
        count, at = read_compact_count(data, at, 6)
        partitions, at = _read_fetch_partitions_v1(data, at, count) if count else ([], at)
        at = skip_tags(data, at) if data[at] else at + 1
        items.append(FetchTopic(topic_id, partitions))
    return items, at


def _read_forgotten_topics_v1(data: memoryview, at: int, count: int) -> tuple[list[ForgottenTopic], int]:
    items: list[ForgottenTopic] = []
    for _ in range(count):
        (topic_id,) = _unpack_u(data, at)
        at += 16
        count, at = read_compact_count(data, at, 4)
        partitions, at = read_numbers(data, at, count, "i") if count else ([], at)
        at = skip_tags(data, at) if data[at] else at + 1
        items.append(ForgottenTopic(topic_id, partitions))
    return items, at


def _read_share_fetch_request_v1(data: memoryview, at: int) -> tuple[ShareFetchRequest, int]:
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
    share_session_epoch, max_wait_ms, min_bytes, max_bytes, max_records, batch_size = _unpack_iiiiii(data, at)
    at += 24
    count, at = read_compact_count(data, at, 18)
    topics, at = _read_fetch_topics_v1(data, at, count) if count else ([], at)
    count, at = read_compact_count(data, at, 18)
    forgotten_topics_data, at = _read_forgotten_topics_v1(data, at, count) if count else ([], at)
    at = skip_tags(data, at) if data[at] else at + 1
    return ShareFetchRequest(group_id, member_id, share_session_epoch, max_wait_ms, min_bytes, max_bytes, max_records, batch_size, 0, False, topics, forgotten_topics_data), at


def _read_share_fetch_request_v2(data: memoryview, at: int) -> tuple[ShareFetchRequest, int]:
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
    share_session_epoch, max_wait_ms, min_bytes, max_bytes, max_records, batch_size, share_acquire_mode, is_renew_ack = _unpack_iiiiiibt(data, at)
    at += 26
    count, at = read_compact_count(data, at, 18)
    topics, at = _read_fetch_topics_v1(data, at, count) if count else ([], at)
    count, at = read_compact_count(data, at, 18)
    forgotten_topics_data, at = _read_forgotten_topics_v1(data, at, count) if count else ([], at)
    at = skip_tags(data, at) if data[at] else at + 1
    return ShareFetchRequest(group_id, member_id, share_session_epoch, max_wait_ms, min_bytes, max_bytes, max_records, batch_size, share_acquire_mode, is_renew_ack, topics, forgotten_topics_data), at


def _write_acknowledgement_batchs_v1(items: Sequence[AcknowledgementBatch], out: bytearray) -> None:
    for item in items:
        out += _pack_qq(item.first_offset, item.last_offset)
        if item.acknowledge_types:
            out += uvarint(len(item.acknowledge_types) + 1)
            write_numbers(item.acknowledge_types, "b", out)
        else:
            out.append(1)
        out.append(0)


def _write_fetch_partitions_v1(items: Sequence[FetchPartition], out: bytearray) -> None:
    for item in items:
        out += _pack_i(item.partition_index)
        if item.acknowledgement_batches:
            out += uvarint(len(item.acknowledgement_batches) + 1)
            _write_acknowledgement_batchs_v1(item.acknowledgement_batches, out)
        else:
            out.append(1)
        out.append(0)


def _write_fetch_topics_v1(items: Sequence[FetchTopic], out: bytearray) -> None:
    for item in items:
        out += _pack_u(item.topic_id)
        if item.partitions:
            out += uvarint(len(item.partitions) + 1)
            _write_fetch_partitions_v1(item.partitions, out)
        else:
            out.append(1)
        out.append(0)


def _write_forgotten_topics_v1(items: Sequence[ForgottenTopic], out: bytearray) -> None:
    for item in items:
        out += _pack_u(item.topic_id)
        if item.partitions:
            out += uvarint(len(item.partitions) + 1)
            write_numbers(item.partitions, "i", out)
        else:
            out.append(1)
        out.append(0)


def _write_share_fetch_request_v1(item: ShareFetchRequest, out: bytearray) -> None:
    if item.is_renew_ack:
        refuse_field("ShareFetchRequest.is_renew_ack")
    if item.group_id is None:
        out.append(0)
    else:
        write_compact_string(item.group_id, out)
    if item.member_id is None:
        out.append(0)
    else:
        write_compact_string(item.member_id, out)
    out += _pack_iiiiii(item.share_session_epoch, item.max_wait_ms, item.min_bytes, item.max_bytes, item.max_records, item.batch_size)
    if item.topics:
        out += uvarint(len(item.topics) + 1)
        _write_fetch_topics_v1(item.topics, out)
    else:
        out.append(1)
    if item.forgotten_topics_data:
        out += uvarint(len(item.forgotten_topics_data) + 1)
        _write_forgotten_topics_v1(item.forgotten_topics_data, out)
    else:
        out.append(1)
    out.append(0)


def _write_share_fetch_request_v2(item: ShareFetchRequest, out: bytearray) -> None:
    if item.group_id is None:
        out.append(0)
    else:
        write_compact_string(item.group_id, out)
    if item.member_id is None:
        out.append(0)
    else:
        write_compact_string(item.member_id, out)
    out += _pack_iiiiiibt(item.share_session_epoch, item.max_wait_ms, item.min_bytes, item.max_bytes, item.max_records, item.batch_size, item.share_acquire_mode, item.is_renew_ack)
    if item.topics:
        out += uvarint(len(item.topics) + 1)
        _write_fetch_topics_v1(item.topics, out)
    else:
        out.append(1)
    if item.forgotten_topics_data:
        out += uvarint(len(item.forgotten_topics_data) + 1)
        _write_forgotten_topics_v1(item.forgotten_topics_data, out)
    else:
        out.append(1)
    out.append(0)


ShareFetchRequest.DECODERS = {
    1: _read_share_fetch_request_v1,
    2: _read_share_fetch_request_v2,
}
ShareFetchRequest.ENCODERS = {
    1: _write_share_fetch_request_v1,
    2: _write_share_fetch_request_v2,
}
