"""Generated from schemas/fetch.schema: FetchResponse, versions 4-18. Do not edit."""

from __future__ import annotations

from collections.abc import Sequence
from struct import Struct as Layout

from ottla.base.uuids import ZERO_UUID
from ottla.protocol.message import FrameSegment, RecordsMessage, Struct, refuse_field
from ottla.protocol.primitives import (
    check_tag_end,
    read_compact_count,
    read_compact_nullable_count,
    read_compact_string,
    read_compact_view,
    read_count,
    read_nullable_count,
    read_string,
    read_tag,
    read_tag_count,
    read_view,
    skip_tags,
    uvarint,
    write_compact_string,
    write_string,
    write_tags,
)

_unpack_u = Layout(">16s").unpack_from
_pack_u = Layout(">16s").pack
_unpack_i = Layout(">i").unpack_from
_pack_i = Layout(">i").pack
_unpack_ihi = Layout(">ihi").unpack_from
_pack_ihi = Layout(">ihi").pack
_pack_ihii = Layout(">ihii").pack
_unpack_ihqq = Layout(">ihqq").unpack_from
_pack_ihqqi = Layout(">ihqqi").pack
_unpack_ihqqq = Layout(">ihqqq").unpack_from
_pack_ihqqq = Layout(">ihqqq").pack
_pack_ihqqqi = Layout(">ihqqqi").pack
_pack_ii = Layout(">ii").pack
_unpack_iiB = Layout(">iiB").unpack_from
_pack_iix = Layout(">iix").pack
_unpack_iqB = Layout(">iqB").unpack_from
_pack_iqx = Layout(">iqx").pack
_unpack_qiB = Layout(">qiB").unpack_from
_pack_qix = Layout(">qix").pack
_unpack_qq = Layout(">qq").unpack_from
_pack_qq = Layout(">qq").pack
_unpack_qqB = Layout(">qqB").unpack_from
_pack_qqx = Layout(">qqx").pack


class FetchResponse(RecordsMessage):
    __slots__ = ("throttle_time_ms", "error_code", "session_id", "responses", "node_endpoints",)
    API_KEY = 1
    VERSIONS = range(4, 19)
    FLEXIBLE_FROM = 12

    def __init__(
        self,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        session_id: int = 0,
        responses: Sequence[FetchableTopicResponse] = (),
        node_endpoints: Sequence[NodeEndpoint] = (),
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.session_id = session_id
        self.responses = responses
        self.node_endpoints = node_endpoints


class EpochEndOffset(Struct):
    __slots__ = ("epoch", "end_offset",)

    def __init__(
        self,
        epoch: int = -1,
        end_offset: int = -1,
    ) -> None:
        self.epoch = epoch
        self.end_offset = end_offset


class LeaderIdAndEpoch(Struct):
    __slots__ = ("leader_id", "leader_epoch",)

    def __init__(
        self,
        leader_id: int = -1,
        leader_epoch: int = -1,
    ) -> None:
        self.leader_id = leader_id
        self.leader_epoch = leader_epoch


class SnapshotId(Struct):
    __slots__ = ("end_offset", "epoch",)

    def __init__(
        self,
        end_offset: int = -1,
        epoch: int = -1,
    ) -> None:
        self.end_offset = end_offset
        self.epoch = epoch


class AbortedTransaction(Struct):
    __slots__ = ("producer_id", "first_offset",)

    def __init__(
        self,
        producer_id: int = 0,
        first_offset: int = 0,
    ) -> None:
        self.producer_id = producer_id
        self.first_offset = first_offset


class PartitionData(Struct):
    __slots__ = ("partition_index", "error_code", "high_watermark", "last_stable_offset", "log_start_offset", "diverging_epoch", "current_leader", "snapshot_id", "aborted_transactions", "preferred_read_replica", "records",)

    def __init__(
        self,
        partition_index: int = 0,
        error_code: int = 0,
        high_watermark: int = 0,
        last_stable_offset: int = -1,
        log_start_offset: int = -1,
        diverging_epoch: EpochEndOffset | None = None,
        current_leader: LeaderIdAndEpoch | None = None,
        snapshot_id: SnapshotId | None = None,
        aborted_transactions: Sequence[AbortedTransaction] | None = (),
        preferred_read_replica: int = -1,
        records: FrameSegment | None = None,
    ) -> None:
        self.partition_index = partition_index
        self.error_code = error_code
        self.high_watermark = high_watermark
        self.last_stable_offset = last_stable_offset
        self.log_start_offset = log_start_offset
        self.diverging_epoch = diverging_epoch
        self.current_leader = current_leader
        self.snapshot_id = snapshot_id
        self.aborted_transactions = aborted_transactions
        self.preferred_read_replica = preferred_read_replica
        self.records = records


class FetchableTopicResponse(Struct):
    __slots__ = ("topic", "topic_id", "partitions",)

    def __init__(
        self,
        topic: str = "",
        topic_id: bytes = ZERO_UUID,
        partitions: Sequence[PartitionData] = (),
    ) -> None:
        self.topic = topic
        self.topic_id = topic_id
        self.partitions = partitions


class NodeEndpoint(Struct):
    __slots__ = ("node_id", "host", "port", "rack",)

    def __init__(
        self,
        node_id: int = 0,
        host: str = "",
        port: int = 0,
        rack: str | None = None,
    ) -> None:
        self.node_id = node_id
        self.host = host
        self.port = port
        self.rack = rack


def _read_aborted_transactions_v4(data: memoryview, at: int, count: int) -> tuple[list[AbortedTransaction], int]:
    items: list[AbortedTransaction] = []
    for _ in range(count):
        producer_id, first_offset = _unpack_qq(data, at)
        at += 16
        items.append(AbortedTransaction(producer_id, first_offset))
    return items, at


def _read_partition_datas_v4(data: memoryview, at: int, count: int) -> tuple[list[PartitionData], int]:
    items: list[PartitionData] = []
    for _ in range(count):
        partition_index, error_code, high_watermark, last_stable_offset = _unpack_ihqq(data, at)
        at += 22
        count, at = read_nullable_count(data, at, 16)
        aborted_transactions: list[AbortedTransaction] | None = None
        if count >= 0:
            aborted_transactions, at = _read_aborted_transactions_v4(data, at, count)
        records, at = read_view(data, at)
        items.append(PartitionData(partition_index, error_code, high_watermark, last_stable_offset, -1, None, None, None, aborted_transactions, -1, records))
    return items, at


def _read_fetchable_topic_responses_v4(data: memoryview, at: int, count: int) -> tuple[list[FetchableTopicResponse], int]:
    items: list[FetchableTopicResponse] = []
    for _ in range(count):
        topic, at = read_string(data, at)
        count, at = read_count(data, at, 30)
        partitions, at = _read_partition_datas_v4(data, at, count) if count else ([], at)
        items.append(FetchableTopicResponse(topic, ZERO_UUID, partitions))
    return items, at


def _read_fetch_response_v4(data: memoryview, at: int) -> tuple[FetchResponse, int]:
    (throttle_time_ms,) = _unpack_i(data, at)
    at += 4
    count, at = read_count(data, at, 6)
    responses, at = _read_fetchable_topic_responses_v4(data, at, count) if count else ([], at)
    return FetchResponse(throttle_time_ms, 0, 0, responses, ()), at


def _read_partition_datas_v5(data: memoryview, at: int, count: int) -> tuple[list[PartitionData], int]:
    items: list[PartitionData] = []
    for _ in range(count):
        partition_index, error_code, high_watermark, last_stable_offset, log_start_offset = _unpack_ihqqq(data, at)
        at += 30
        count, at = read_nullable_count(data, at, 16)
        aborted_transactions: list[AbortedTransaction] | None = None
        if count >= 0:
            aborted_transactions, at = _read_aborted_transactions_v4(data, at, count)
        records, at = read_view(data, at)
        items.append(PartitionData(partition_index, error_code, high_watermark, last_stable_offset, log_start_offset, None, None, None, aborted_transactions, -1, records))
    return items, at


def _read_fetchable_topic_responses_v5(data: memoryview, at: int, count: int) -> tuple[list[FetchableTopicResponse], int]:
    items: list[FetchableTopicResponse] = []
    for _ in range(count):
        topic, at = read_string(data, at)
        count, at = read_count(data, at, 38)
        partitions, at = _read_partition_datas_v5(data, at, count) if count else ([], at)
        items.append(FetchableTopicResponse(topic, ZERO_UUID, partitions))
    return items, at


def _read_fetch_response_v5(data: memoryview, at: int) -> tuple[FetchResponse, int]:
    (throttle_time_ms,) = _unpack_i(data, at)
    at += 4
    count, at = read_count(data, at, 6)
    responses, at = _read_fetchable_topic_responses_v5(data, at, count) if count else ([], at)
    return FetchResponse(throttle_time_ms, 0, 0, responses, ()), at


def _read_fetch_response_v7(data: memoryview, at: int) -> tuple[FetchResponse, int]:
    throttle_time_ms, error_code, session_id = _unpack_ihi(data, at)
    at += 10
    count, at = read_count(data, at, 6)
    responses, at = _read_fetchable_topic_responses_v5(data, at, count) if count else ([], at)
    return FetchResponse(throttle_time_ms, error_code, session_id, responses, ()), at


def _read_partition_datas_v11(data: memoryview, at: int, count: int) -> tuple[list[PartitionData], int]:
    items: list[PartitionData] = []
    for _ in range(count):
        partition_index, error_code, high_watermark, last_stable_offset, log_start_offset = _unpack_ihqqq(data, at)
        at += 30
        count, at = read_nullable_count(data, at, 16)
        aborted_transactions: list[AbortedTransaction] | None = None
        if count >= 0:
            aborted_transactions, at = _read_aborted_transactions_v4(data, at, count)
        (preferred_read_replica,) = _unpack_i(data, at)
        at += 4
        records, at = read_view(data, at)
        items.append(PartitionData(partition_index, error_code, high_watermark, last_stable_offset, log_start_offset, None, None, None, aborted_transactions, preferred_read_replica, records))
    return items, at


def _read_fetchable_topic_responses_v11(data: memoryview, at: int, count: int) -> tuple[list[FetchableTopicResponse], int]:
    items: list[FetchableTopicResponse] = []
    for _ in range(count):
        topic, at = read_string(data, at)
        count, at = read_count(data, at, 42)
        partitions, at = _read_partition_datas_v11(data, at, count) if count else ([], at)
        items.append(FetchableTopicResponse(topic, ZERO_UUID, partitions))
    return items, at


def _read_fetch_response_v11(data: memoryview, at: int) -> tuple[FetchResponse, int]:
    throttle_time_ms, error_code, session_id = _unpack_ihi(data, at)
    at += 10
    count, at = read_count(data, at, 6)
    responses, at = _read_fetchable_topic_responses_v11(data, at, count) if count else ([], at)
    return FetchResponse(throttle_time_ms, error_code, session_id, responses, ()), at


def _read_aborted_transactions_v12(data: memoryview, at: int, count: int) -> tuple[list[AbortedTransaction], int]:
    items: list[AbortedTransaction] = []
    for _ in range(count):
        producer_id, first_offset, more = _unpack_qqB(data, at)
        at += 17
        if more:
            at = skip_tags(data, at - 1)
        items.append(AbortedTransaction(producer_id, first_offset))
    return items, at


def _read_epoch_end_offset_v12(data: memoryview, at: int) -> tuple[EpochEndOffset, int]:
    epoch, end_offset, more = _unpack_iqB(data, at)
    at += 13
    if more:
        at = skip_tags(data, at - 1)
    return EpochEndOffset(epoch, end_offset), at


def _read_leader_id_and_epoch_v12(data: memoryview, at: int) -> tuple[LeaderIdAndEpoch, int]:
    leader_id, leader_epoch, more = _unpack_iiB(data, at)
    at += 9
    if more:
        at = skip_tags(data, at - 1)
    return LeaderIdAndEpoch(leader_id, leader_epoch), at


def _read_snapshot_id_v12(data: memoryview, at: int) -> tuple[SnapshotId, int]:
    end_offset, epoch, more = _unpack_qiB(data, at)
    at += 13
    if more:
        at = skip_tags(data, at - 1)
    return SnapshotId(end_offset, epoch), at


def _read_partition_datas_v12(data: memoryview, at: int, count: int) -> tuple[list[PartitionData], int]:
    items: list[PartitionData] = []
    for _ in range(count):
        partition_index, error_code, high_watermark, last_stable_offset, log_start_offset = _unpack_ihqqq(data, at)
        at += 30
        count, at = read_compact_nullable_count(data, at, 17)
        aborted_transactions: list[AbortedTransaction] | None = None
        if count >= 0:
            aborted_transactions, at = _read_aborted_transactions_v12(data, at, count)
        (preferred_read_replica,) = _unpack_i(data, at)
        at += 4
        records, at = read_compact_view(data, at)
        diverging_epoch: EpochEndOffset | None = None
        current_leader: LeaderIdAndEpoch | None = None
        snapshot_id: SnapshotId | None = None
        if not data[at]:
            at += 1
        else:
            more, at = read_tag_count(data, at)
            while more:
                more -= 1
                tag, end, at = read_tag(data, at)
                if tag == 0:
                    diverging_epoch, at = _read_epoch_end_offset_v12(data, at)
                elif tag == 1:
                    current_leader, at = _read_leader_id_and_epoch_v12(data, at)
                elif tag == 2:
                    snapshot_id, at = _read_snapshot_id_v12(data, at)
                else:
                    at = end
                check_tag_end(tag, at, end)
        items.append(PartitionData(partition_index, error_code, high_watermark, last_stable_offset, log_start_offset, diverging_epoch, current_leader, snapshot_id, aborted_transactions, preferred_read_replica, records))
    return items, at


def _read_fetchable_topic_responses_v12(data: memoryview, at: int, count: int) -> tuple[list[FetchableTopicResponse], int]:
    items: list[FetchableTopicResponse] = []
    for _ in range(count):
        topic, at = read_compact_string(data, at)
        count, at = read_compact_count(data, at, 37)
        partitions, at = _read_partition_datas_v12(data, at, count) if count else ([], at)
        at = skip_tags(data, at) if data[at] else at + 1
        items.append(FetchableTopicResponse(topic, ZERO_UUID, partitions))
    return items, at


def _read_fetch_response_v12(data: memoryview, at: int) -> tuple[FetchResponse, int]:
    throttle_time_ms, error_code, session_id = _unpack_ihi(data, at)
    at += 10
    count, at = read_compact_count(data, at, 3)
    responses, at = _read_fetchable_topic_responses_v12(data, at, count) if count else ([], at)
    at = skip_tags(data, at) if data[at] else at + 1
    return FetchResponse(throttle_time_ms, error_code, session_id, responses, ()), at


def _read_fetchable_topic_responses_v13(data: memoryview, at: int, count: int) -> tuple[list[FetchableTopicResponse], int]:
    items: list[FetchableTopicResponse] = []
    for _ in range(count):
        (topic_id,) = _unpack_u(data, at)
        at += 16
        count, at = read_compact_count(data, at, 37)
        partitions, at = _read_partition_datas_v12(data, at, count) if count else ([], at)
        at = skip_tags(data, at) if data[at] else at + 1
        items.append(FetchableTopicResponse("", topic_id, partitions))
    return items, at


def _read_fetch_response_v13(data: memoryview, at: int) -> tuple[FetchResponse, int]:
    throttle_time_ms, error_code, session_id = _unpack_ihi(data, at)
    at += 10
    count, at = read_compact_count(data, at, 18)
    responses, at = _read_fetchable_topic_responses_v13(data, at, count) if count else ([], at)
    at = skip_tags(data, at) if data[at] else at + 1
    return FetchResponse(throttle_time_ms, error_code, session_id, responses, ()), at


def _read_node_endpoints_v16(data: memoryview, at: int, count: int) -> tuple[list[NodeEndpoint], int]:
    items: list[NodeEndpoint] = []
    for _ in range(count):
        (node_id,) = _unpack_i(data, at)
        at += 4
        host, at = read_compact_string(data, at)
        (port,) = _unpack_i(data, at)
        at += 4
        rack: str | None = None
        if data[at]:
            rack, at = read_compact_string(data, at)
        else:
            at += 1
        at = skip_tags(data, at) if data[at] else at + 1
        items.append(NodeEndpoint(node_id, host, port, rack))
    return items, at


def _read_fetch_response_v16(data: memoryview, at: int) -> tuple[FetchResponse, int]:
    throttle_time_ms, error_code, session_id = _unpack_ihi(data, at)
    at += 10
    count, at = read_compact_count(data, at, 18)
    responses, at = _read_fetchable_topic_responses_v13(data, at, count) if count else ([], at)
    node_endpoints: Sequence[NodeEndpoint] = ()
    if not data[at]:
        at += 1
    else:
        more, at = read_tag_count(data, at)
        while more:
            more -= 1
            tag, end, at = read_tag(data, at)
            if tag == 0:
                count, at = read_compact_count(data, at, 11)
                node_endpoints, at = _read_node_endpoints_v16(data, at, count) if count else ([], at)
            else:
                at = end
            check_tag_end(tag, at, end)
    return FetchResponse(throttle_time_ms, error_code, session_id, responses, node_endpoints), at


def _write_aborted_transactions_v4(items: Sequence[AbortedTransaction], out: bytearray) -> None:
    for item in items:
        out += _pack_qq(item.producer_id, item.first_offset)


def _write_partition_datas_v4(items: Sequence[PartitionData], out: bytearray, segments: list[FrameSegment]) -> bytearray:
    for item in items:
        if (item.diverging_epoch is not None and item.diverging_epoch != EpochEndOffset()):
            refuse_field("PartitionData.diverging_epoch")
        if (item.current_leader is not None and item.current_leader != LeaderIdAndEpoch()):
            refuse_field("PartitionData.current_leader")
        if (item.snapshot_id is not None and item.snapshot_id != SnapshotId()):
            refuse_field("PartitionData.snapshot_id")
        if item.preferred_read_replica != -1:
            refuse_field("PartitionData.preferred_read_replica")
        out += _pack_ihqqi(item.partition_index, item.error_code, item.high_watermark, item.last_stable_offset, -1 if item.aborted_transactions is None else len(item.aborted_transactions))
        if item.aborted_transactions:
            _write_aborted_transactions_v4(item.aborted_transactions, out)
        out += _pack_i(-1 if item.records is None else len(item.records))
        if item.records:
            segments.append(out)
            segments.append(item.records)
            out = bytearray()
    return out


def _write_fetchable_topic_responses_v4(items: Sequence[FetchableTopicResponse], out: bytearray, segments: list[FrameSegment]) -> bytearray:
    for item in items:
        write_string(item.topic, out)
        out += _pack_i(len(item.partitions))
        if item.partitions:
            out = _write_partition_datas_v4(item.partitions, out, segments)
    return out


def _write_fetch_response_v4(item: FetchResponse, out: bytearray, segments: list[FrameSegment]) -> bytearray:
    if item.session_id != 0:
        refuse_field("FetchResponse.session_id")
    if item.node_endpoints:
        refuse_field("FetchResponse.node_endpoints")
    out += _pack_ii(item.throttle_time_ms, len(item.responses))
    if item.responses:
        out = _write_fetchable_topic_responses_v4(item.responses, out, segments)
    return out


def _write_partition_datas_v5(items: Sequence[PartitionData], out: bytearray, segments: list[FrameSegment]) -> bytearray:
    for item in items:
        if (item.diverging_epoch is not None and item.diverging_epoch != EpochEndOffset()):
            refuse_field("PartitionData.diverging_epoch")
        if (item.current_leader is not None and item.current_leader != LeaderIdAndEpoch()):
            refuse_field("PartitionData.current_leader")
        if (item.snapshot_id is not None and item.snapshot_id != SnapshotId()):
            refuse_field("PartitionData.snapshot_id")
        if item.preferred_read_replica != -1:
            refuse_field("PartitionData.preferred_read_replica")
        out += _pack_ihqqqi(item.partition_index, item.error_code, item.high_watermark, item.last_stable_offset, item.log_start_offset, -1 if item.aborted_transactions is None else len(item.aborted_transactions))
        if item.aborted_transactions:
            _write_aborted_transactions_v4(item.aborted_transactions, out)
        out += _pack_i(-1 if item.records is None else len(item.records))
        if item.records:
            segments.append(out)
            segments.append(item.records)
            out = bytearray()
    return out


def _write_fetchable_topic_responses_v5(items: Sequence[FetchableTopicResponse], out: bytearray, segments: list[FrameSegment]) -> bytearray:
    for item in items:
        write_string(item.topic, out)
        out += _pack_i(len(item.partitions))
        if item.partitions:
            out = _write_partition_datas_v5(item.partitions, out, segments)
    return out


def _write_fetch_response_v5(item: FetchResponse, out: bytearray, segments: list[FrameSegment]) -> bytearray:
    if item.session_id != 0:
        refuse_field("FetchResponse.session_id")
    if item.node_endpoints:
        refuse_field("FetchResponse.node_endpoints")
    out += _pack_ii(item.throttle_time_ms, len(item.responses))
    if item.responses:
        out = _write_fetchable_topic_responses_v5(item.responses, out, segments)
    return out


def _write_fetch_response_v7(item: FetchResponse, out: bytearray, segments: list[FrameSegment]) -> bytearray:
    if item.node_endpoints:
        refuse_field("FetchResponse.node_endpoints")
    out += _pack_ihii(item.throttle_time_ms, item.error_code, item.session_id, len(item.responses))
    if item.responses:
        out = _write_fetchable_topic_responses_v5(item.responses, out, segments)
    return out


def _write_partition_datas_v11(items: Sequence[PartitionData], out: bytearray, segments: list[FrameSegment]) -> bytearray:
    for item in items:
        if (item.diverging_epoch is not None and item.diverging_epoch != EpochEndOffset()):
            refuse_field("PartitionData.diverging_epoch")
        if (item.current_leader is not None and item.current_leader != LeaderIdAndEpoch()):
            refuse_field("PartitionData.current_leader")
        if (item.snapshot_id is not None and item.snapshot_id != SnapshotId()):
            refuse_field("PartitionData.snapshot_id")
        out += _pack_ihqqqi(item.partition_index, item.error_code, item.high_watermark, item.last_stable_offset, item.log_start_offset, -1 if item.aborted_transactions is None else len(item.aborted_transactions))
        if item.aborted_transactions:
            _write_aborted_transactions_v4(item.aborted_transactions, out)
        out += _pack_i(item.preferred_read_replica)
        out += _pack_i(-1 if item.records is None else len(item.records))
        if item.records:
            segments.append(out)
            segments.append(item.records)
            out = bytearray()
    return out


def _write_fetchable_topic_responses_v11(items: Sequence[FetchableTopicResponse], out: bytearray, segments: list[FrameSegment]) -> bytearray:
    for item in items:
        write_string(item.topic, out)
        out += _pack_i(len(item.partitions))
        if item.partitions:
            out = _write_partition_datas_v11(item.partitions, out, segments)
    return out


def _write_fetch_response_v11(item: FetchResponse, out: bytearray, segments: list[FrameSegment]) -> bytearray:
    if item.node_endpoints:
        refuse_field("FetchResponse.node_endpoints")
    out += _pack_ihii(item.throttle_time_ms, item.error_code, item.session_id, len(item.responses))
    if item.responses:
        out = _write_fetchable_topic_responses_v11(item.responses, out, segments)
    return out


def _write_aborted_transactions_v12(items: Sequence[AbortedTransaction], out: bytearray) -> None:
    for item in items:
        out += _pack_qqx(item.producer_id, item.first_offset)


def _write_epoch_end_offset_v12(item: EpochEndOffset, out: bytearray) -> None:
    out += _pack_iqx(item.epoch, item.end_offset)


def _write_leader_id_and_epoch_v12(item: LeaderIdAndEpoch, out: bytearray) -> None:
    out += _pack_iix(item.leader_id, item.leader_epoch)


def _write_snapshot_id_v12(item: SnapshotId, out: bytearray) -> None:
    out += _pack_qix(item.end_offset, item.epoch)


def _write_partition_datas_v12(items: Sequence[PartitionData], out: bytearray, segments: list[FrameSegment]) -> bytearray:
    for item in items:
        out += _pack_ihqqq(item.partition_index, item.error_code, item.high_watermark, item.last_stable_offset, item.log_start_offset)
        if item.aborted_transactions:
            out += uvarint(len(item.aborted_transactions) + 1)
            _write_aborted_transactions_v12(item.aborted_transactions, out)
        else:
            out.append(0 if item.aborted_transactions is None else 1)
        out += _pack_i(item.preferred_read_replica)
        out += uvarint(0 if item.records is None else len(item.records) + 1)
        if item.records:
            segments.append(out)
            segments.append(item.records)
            out = bytearray()
        if not ((item.diverging_epoch is not None and item.diverging_epoch != EpochEndOffset()) or (item.current_leader is not None and item.current_leader != LeaderIdAndEpoch()) or (item.snapshot_id is not None and item.snapshot_id != SnapshotId())):
            out.append(0)
        else:
            tags: list[tuple[int, bytearray]] = []
            if (item.diverging_epoch is not None and item.diverging_epoch != EpochEndOffset()):
                value = bytearray()
                _write_epoch_end_offset_v12(item.diverging_epoch, value)
                tags.append((0, value))
            if (item.current_leader is not None and item.current_leader != LeaderIdAndEpoch()):
                value = bytearray()
                _write_leader_id_and_epoch_v12(item.current_leader, value)
                tags.append((1, value))
            if (item.snapshot_id is not None and item.snapshot_id != SnapshotId()):
                value = bytearray()
                _write_snapshot_id_v12(item.snapshot_id, value)
                tags.append((2, value))
            write_tags(tags, out)
    return out


def _write_fetchable_topic_responses_v12(items: Sequence[FetchableTopicResponse], out: bytearray, segments: list[FrameSegment]) -> bytearray:
    for item in items:
        write_compact_string(item.topic, out)
        if item.partitions:
            out += uvarint(len(item.partitions) + 1)
            out = _write_partition_datas_v12(item.partitions, out, segments)
        else:
            out.append(1)
        out.append(0)
    return out


def _write_fetch_response_v12(item: FetchResponse, out: bytearray, segments: list[FrameSegment]) -> bytearray:
    if item.node_endpoints:
        refuse_field("FetchResponse.node_endpoints")
    out += _pack_ihi(item.throttle_time_ms, item.error_code, item.session_id)
    if item.responses:
        out += uvarint(len(item.responses) + 1)
        out = _write_fetchable_topic_responses_v12(item.responses, out, segments)
    else:
        out.append(1)
    out.append(0)
    return out


def _write_fetchable_topic_responses_v13(items: Sequence[FetchableTopicResponse], out: bytearray, segments: list[FrameSegment]) -> bytearray:
    for item in items:
        out += _pack_u(item.topic_id)
        if item.partitions:
            out += uvarint(len(item.partitions) + 1)
            out = _write_partition_datas_v12(item.partitions, out, segments)
        else:
            out.append(1)
        out.append(0)
    return out


def _write_fetch_response_v13(item: FetchResponse, out: bytearray, segments: list[FrameSegment]) -> bytearray:
    if item.node_endpoints:
        refuse_field("FetchResponse.node_endpoints")
    out += _pack_ihi(item.throttle_time_ms, item.error_code, item.session_id)
    if item.responses:
        out += uvarint(len(item.responses) + 1)
        out = _write_fetchable_topic_responses_v13(item.responses, out, segments)
    else:
        out.append(1)
    out.append(0)
    return out


def _write_node_endpoints_v16(items: Sequence[NodeEndpoint], out: bytearray) -> None:
    for item in items:
        out += _pack_i(item.node_id)
        write_compact_string(item.host, out)
        out += _pack_i(item.port)
        if item.rack is None:
            out.append(0)
        else:
            write_compact_string(item.rack, out)
        out.append(0)


def _write_fetch_response_v16(item: FetchResponse, out: bytearray, segments: list[FrameSegment]) -> bytearray:
    out += _pack_ihi(item.throttle_time_ms, item.error_code, item.session_id)
    if item.responses:
        out += uvarint(len(item.responses) + 1)
        out = _write_fetchable_topic_responses_v13(item.responses, out, segments)
    else:
        out.append(1)
    if not (item.node_endpoints):
        out.append(0)
    else:
        tags: list[tuple[int, bytearray]] = []
        if item.node_endpoints:
            value = bytearray()
            if item.node_endpoints:
                value += uvarint(len(item.node_endpoints) + 1)
                _write_node_endpoints_v16(item.node_endpoints, value)
            else:
                value.append(1)
            tags.append((0, value))
        write_tags(tags, out)
    return out


FetchResponse.DECODERS = {
    4: _read_fetch_response_v4,
    5: _read_fetch_response_v5,
    6: _read_fetch_response_v5,
    7: _read_fetch_response_v7,
    8: _read_fetch_response_v7,
    9: _read_fetch_response_v7,
    10: _read_fetch_response_v7,
    11: _read_fetch_response_v11,
    12: _read_fetch_response_v12,
    13: _read_fetch_response_v13,
    14: _read_fetch_response_v13,
    15: _read_fetch_response_v13,
    16: _read_fetch_response_v16,
    17: _read_fetch_response_v16,
    18: _read_fetch_response_v16,
}
FetchResponse.ENCODERS = {
    4: _write_fetch_response_v4,
    5: _write_fetch_response_v5,
    6: _write_fetch_response_v5,
    7: _write_fetch_response_v7,
    8: _write_fetch_response_v7,
    9: _write_fetch_response_v7,
    10: _write_fetch_response_v7,
    11: _write_fetch_response_v11,
    12: _write_fetch_response_v12,
    13: _write_fetch_response_v13,
    14: _write_fetch_response_v13,
    15: _write_fetch_response_v13,
    16: _write_fetch_response_v16,
    17: _write_fetch_response_v16,
    18: _write_fetch_response_v16,
}
