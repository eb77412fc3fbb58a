"""Generated from schemas/produce.schema: ProduceResponse, versions 3-13. Do not edit."""

from __future__ import annotations

from collections.abc import Sequence
from struct import Struct as Layout

from ottla.base.uuids import ZERO_UUID
from ottla.protocol.message import Message, Struct, refuse_field
from ottla.protocol.primitives import (
    check_tag_end,
    read_compact_count,
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

_unpack_u = Layout(">16s").unpack_from
_pack_u = Layout(">16s").pack
_unpack_i = Layout(">i").unpack_from
_pack_i = Layout(">i").pack
_unpack_iB = Layout(">iB").unpack_from
_unpack_ihqq = Layout(">ihqq").unpack_from
_pack_ihqq = Layout(">ihqq").pack
_unpack_ihqqq = Layout(">ihqqq").unpack_from
_pack_ihqqq = Layout(">ihqqq").pack
_pack_ihqqqi = Layout(">ihqqqi").pack
_unpack_iiB = Layout(">iiB").unpack_from
_pack_iix = Layout(">iix").pack
_pack_ix = Layout(">ix").pack


class ProduceResponse(Message):
    __slots__ = ("responses", "throttle_time_ms", "node_endpoints",)
    API_KEY = 0
    VERSIONS = range(3, 14)
    FLEXIBLE_FROM = 9

    def __init__(
        self,
        responses: Sequence[TopicProduceResponse] = (),
        throttle_time_ms: int = 0,
        node_endpoints: Sequence[NodeEndpoint] = (),
    ) -> None:
        self.responses = responses
        self.throttle_time_ms = throttle_time_ms
        self.node_endpoints = node_endpoints


class BatchIndexAndErrorMessage(Struct):
    __slots__ = ("batch_index", "batch_index_error_message",)

    def __init__(
        self,
        batch_index: int = 0,
        batch_index_error_message: str | None = None,
    ) -> None:
        self.batch_index = batch_index
        self.batch_index_error_message = batch_index_error_message


class LeaderIdAndEpoch(Struct):
    __slots__ = ("leader_id", "leader_epoch",)

    def __init__(
        self,
        leader_id: int = -1,
        leader_epoch: int = -1,
    ) -> None:
        self.leader_id = leader_id
        self.leader_epoch = leader_epoch


class PartitionProduceResponse(Struct):
    __slots__ = ("index", "error_code", "base_offset", "log_append_time_ms", "log_start_offset", "record_errors", "error_message", "current_leader",)

    def __init__(
        self,
        index: int = 0,
        error_code: int = 0,
        base_offset: int = 0,
        log_append_time_ms: int = -1,
        log_start_offset: int = -1,
        record_errors: Sequence[BatchIndexAndErrorMessage] = (),
        error_message: str | None = None,
        current_leader: LeaderIdAndEpoch | None = None,
    ) -> None:
        self.index = index
        self.error_code = error_code
        self.base_offset = base_offset
        self.log_append_time_ms = log_append_time_ms
        self.log_start_offset = log_start_offset
        self.record_errors = record_errors
        self.error_message = error_message
        self.current_leader = current_leader


class TopicProduceResponse(Struct):
    __slots__ = ("name", "topic_id", "partition_responses",)

    def __init__(
        self,
        name: str = "",
        topic_id: bytes = ZERO_UUID,
        partition_responses: Sequence[PartitionProduceResponse] = (),
    ) -> None:
        self.name = name
        self.topic_id = topic_id
        self.partition_responses = partition_responses


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


def _read_partition_produce_responses_v3(data: memoryview, at: int, count: int) -> tuple[list[PartitionProduceResponse], int]:
    items: list[PartitionProduceResponse] = []
    for _ in range(count):
        index, error_code, base_offset, log_append_time_ms = _unpack_ihqq(data, at)
        at += 22
        items.append(PartitionProduceResponse(index, error_code, base_offset, log_append_time_ms, -1, (), None, None))
    return items, at


def _read_topic_produce_responses_v3(data: memoryview, at: int, count: int) -> tuple[list[TopicProduceResponse], int]:
    items: list[TopicProduceResponse] = []
    for _ in range(count):
        name, at = read_string(data, at)
        count, at = read_count(data, at, 22)
        partition_responses, at = _read_partition_produce_responses_v3(data, at, count) if count else ([], at)
        items.append(TopicProduceResponse(name, ZERO_UUID, partition_responses))
    return items, at


def _read_produce_response_v3(data: memoryview, at: int) -> tuple[ProduceResponse, int]:
    count, at = read_count(data, at, 6)
    responses, at = _read_topic_produce_responses_v3(data, at, count) if count else ([], at)
    (throttle_time_ms,) = _unpack_i(data, at)
    at += 4
    return ProduceResponse(responses, throttle_time_ms, ()), at


def _read_partition_produce_responses_v5(data: memoryview, at: int, count: int) -> tuple[list[PartitionProduceResponse], int]:
    items: list[PartitionProduceResponse] = []
    for _ in range(count):
        index, error_code, base_offset, log_append_time_ms, log_start_offset = _unpack_ihqqq(data, at)
        at += 30
        items.append(PartitionProduceResponse(index, error_code, base_offset, log_append_time_ms, log_start_offset, (), None, None))
    return items, at


def _read_topic_produce_responses_v5(data: memoryview, at: int, count: int) -> tuple[list[TopicProduceResponse], int]:
    items: list[TopicProduceResponse] = []
    for _ in range(count):
        name, at = read_string(data, at)
        count, at = read_count(data, at, 30)
        partition_responses, at = _read_partition_produce_responses_v5(data, at, count) if count else ([], at)
        items.append(TopicProduceResponse(name, ZERO_UUID, partition_responses))
    return items, at


def _read_produce_response_v5(data: memoryview, at: int) -> tuple[ProduceResponse, int]:
    count, at = read_count(data, at, 6)
    responses, at = _read_topic_produce_responses_v5(data, at, count) if count else ([], at)
    (throttle_time_ms,) = _unpack_i(data, at)
    at += 4
    return ProduceResponse(responses, throttle_time_ms, ()), at


def _read_batch_index_and_error_messages_v8(data: memoryview, at: int, count: int) -> tuple[list[BatchIndexAndErrorMessage], int]:
    items: list[BatchIndexAndErrorMessage] = []
    for _ in range(count):
        (batch_index,) = _unpack_i(data, at)
        at += 4
        batch_index_error_message, at = read_nullable_string(data, at)
        items.append(BatchIndexAndErrorMessage(batch_index, batch_index_error_message))
    return items, at


def _read_partition_produce_responses_v8(data: memoryview, at: int, count: int) -> tuple[list[PartitionProduceResponse], int]:
    items: list[PartitionProduceResponse] = []
    for _ in range(count):
        index, error_code, base_offset, log_append_time_ms, log_start_offset = _unpack_ihqqq(data, at)
        at += 30
        count, at = read_count(data, at, 6)
        record_errors, at = _read_batch_index_and_error_messages_v8(data, at, count) if count else ([], at)
        error_message, at = read_nullable_string(data, at)
        items.append(PartitionProduceResponse(index, error_code, base_offset, log_append_time_ms, log_start_offset, record_errors, error_message, None))
    return items, at


def _read_topic_produce_responses_v8(data: memoryview, at: int, count: int) -> tuple[list[TopicProduceResponse], int]:
    items: list[TopicProduceResponse] = []
    for _ in range(count):
        name, at = read_string(data, at)
        count, at = read_count(data, at, 36)
        partition_responses, at = _read_partition_produce_responses_v8(data, at, count) if count else ([], at)
        items.append(TopicProduceResponse(name, ZERO_UUID, partition_responses))
    return items, at


def _read_produce_response_v8(data: memoryview, at: int) -> tuple[ProduceResponse, int]:
    count, at = read_count(data, at, 6)
    responses, at = _read_topic_produce_responses_v8(data, at, count) if count else ([], at)
    (throttle_time_ms,) = _unpack_i(data, at)
    at += 4
    return ProduceResponse(responses, throttle_time_ms, ()), at


def _read_batch_index_and_error_messages_v9(data: memoryview, at: int, count: int) -> tuple[list[BatchIndexAndErrorMessage], int]:
    items: list[BatchIndexAndErrorMessage] = []
    for _ in range(count):
        (batch_index,) = _unpack_i(data, at)
        at += 4
        batch_index_error_message: str | None = None
        if data[at]:
            batch_index_error_message, at = read_compact_string(data, at)
        else:
            at += 1
        at = skip_tags(data, at) if data[at] else at + 1
        items.append(BatchIndexAndErrorMessage(batch_index, batch_index_error_message))
    return items, at


def _read_partition_produce_responses_v9(data: memoryview, at: int, count: int) -> tuple[list[PartitionProduceResponse], int]:
    items: list[PartitionProduceResponse] = []
    for _ in range(count):
        index, error_code, base_offset, log_append_time_ms, log_start_offset = _unpack_ihqqq(data, at)
        at += 30
        count, at = read_compact_count(data, at, 6)
        record_errors, at = _read_batch_index_and_error_messages_v9(data, at, count) if count else ([], at)
        error_message: str | None = None
        if data[at]:
            error_message, at = read_compact_string(data, at)
        else:
            at += 1
        at = skip_tags(data, at) if data[at] else at + 1
        items.append(PartitionProduceResponse(index, error_code, base_offset, log_append_time_ms, log_start_offset, record_errors, error_message, None))
    return items, at


def _read_topic_produce_responses_v9(data: memoryview, at: int, count: int) -> tuple[list[TopicProduceResponse], int]:
    items: list[TopicProduceResponse] = []
    for _ in range(count):
        name, at = read_compact_string(data, at)
        count, at = read_compact_count(data, at, 33)
        partition_responses, at = _read_partition_produce_responses_v9(data, at, count) if count else ([], at)
        at = skip_tags(data, at) if data[at] else at + 1
        items.append(TopicProduceResponse(name, ZERO_UUID, partition_responses))
    return items, at


def _read_produce_response_v9(data: memoryview, at: int) -> tuple[ProduceResponse, int]:
    count, at = read_compact_count(data, at, 3)
    responses, at = _read_topic_produce_responses_v9(data, at, count) if count else ([], at)
    throttle_time_ms, more = _unpack_iB(data, at)
    at += 5
    if more:
        at = skip_tags(data, at - 1)
    return ProduceResponse(responses, throttle_time_ms, ()), at


def _read_leader_id_and_epoch_v10(data: memoryview, at: int) -> tuple[LeaderIdAndEpoch, int]:
    leader_id, leader_epoch, more = _unpack_iiB(data, at)
    at += 9
    if more:
        at = skip_tags(data, at - 1)
    return LeaderIdAndEpoch(leader_id, leader_epoch), at


def _read_partition_produce_responses_v10(data: memoryview, at: int, count: int) -> tuple[list[PartitionProduceResponse], int]:
    items: list[PartitionProduceResponse] = []
    for _ in range(count):
        index, error_code, base_offset, log_append_time_ms, log_start_offset = _unpack_ihqqq(data, at)
        at += 30
        count, at = read_compact_count(data, at, 6)
        record_errors, at = _read_batch_index_and_error_messages_v9(data, at, count) if count else ([], at)
        error_message: str | None = None
        if data[at]:
            error_message, at = read_compact_string(data, at)
        else:
            at += 1
        current_leader: LeaderIdAndEpoch | None = None
        if not data[at]:
            at += 1
        else:
            more, at = read_tag_count(data, at)
            while more:
                more -= 1
                tag, end, at = read_tag(data, at)
                if tag == 0:
                    current_leader, at = _read_leader_id_and_epoch_v10(data, at)
                else:
                    at = end
                check_tag_end(tag, at, end)
        items.append(PartitionProduceResponse(index, error_code, base_offset, log_append_time_ms, log_start_offset, record_errors, error_message, current_leader))
    return items, at


def _read_topic_produce_responses_v10(data: memoryview, at: int, count: int) -> tuple[list[TopicProduceResponse], int]:
    items: list[TopicProduceResponse] = []
    for _ in range(count):
        name, at = read_compact_string(data, at)
        count, at = read_compact_count(data, at, 33)
        partition_responses, at = _read_partition_produce_responses_v10(data, at, count) if count else ([], at)
        at = skip_tags(data, at) if data[at] else at + 1
        items.append(TopicProduceResponse(name, ZERO_UUID, partition_responses))
    return items, at


def _read_node_endpoints_v10(data: memoryview, at: int, count: int) -> tuple[list[NodeEndpoint], int]:
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


def _read_produce_response_v10(data: memoryview, at: int) -> tuple[ProduceResponse, int]:
    count, at = read_compact_count(data, at, 3)
    responses, at = _read_topic_produce_responses_v10(data, at, count) if count else ([], at)
    (throttle_time_ms,) = _unpack_i(data, at)
    at += 4
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
                node_endpoints, at = _read_node_endpoints_v10(data, at, count) if count else ([], at)
            else:
                at = end
            check_tag_end(tag, at, end)
    return ProduceResponse(responses, throttle_time_ms, node_endpoints), at


def _read_topic_produce_responses_v13(data: memoryview, at: int, count: int) -> tuple[list[TopicProduceResponse], int]:
    items: list[TopicProduceResponse] = []
    for _ in range(count):
        (topic_id,) = _unpack_u(data, at)
        at += 16
        count, at = read_compact_count(data, at, 33)
        partition_responses, at = _read_partition_produce_responses_v10(data, at, count) if count else ([], at)
        at = skip_tags(data, at) if data[at] else at + 1
        items.append(TopicProduceResponse("", topic_id, partition_responses))
    return items, at


def _read_produce_response_v13(data: memoryview, at: int) -> tuple[ProduceResponse, int]:
    count, at = read_compact_count(data, at, 18)
    responses, at = _read_topic_produce_responses_v13(data, at, count) if count else ([], at)
    (throttle_time_ms,) = _unpack_i(data, at)
    at += 4
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
                node_endpoints, at = _read_node_endpoints_v10(data, at, count) if count else ([], at)
            else:
                at = end
            check_tag_end(tag, at, end)
    return ProduceResponse(responses, throttle_time_ms, node_endpoints), at


def _write_partition_produce_responses_v3(items: Sequence[PartitionProduceResponse], out: bytearray) -> None:
    for item in items:
        if (item.current_leader is not None and item.current_leader != LeaderIdAndEpoch()):
            refuse_field("PartitionProduceResponse.current_leader")
        out += _pack_ihqq(item.index, item.error_code, item.base_offset, item.log_append_time_ms)


def _write_topic_produce_responses_v3(items: Sequence[TopicProduceResponse], out: bytearray) -> None:
    for item in items:
        write_string(item.name, out)
        out += _pack_i(len(item.partition_responses))
        if item.partition_responses:
            _write_partition_produce_responses_v3(item.partition_responses, out)


def _write_produce_response_v3(item: ProduceResponse, out: bytearray) -> None:
    if item.node_endpoints:
        refuse_field("ProduceResponse.node_endpoints")
    out += _pack_i(len(item.responses))
    if item.responses:
        _write_topic_produce_responses_v3(item.responses, out)
    out += _pack_i(item.throttle_time_ms)


def _write_partition_produce_responses_v5(items: Sequence[PartitionProduceResponse], out: bytearray) -> None:
    for item in items:
        if (item.current_leader is not None and item.current_leader != LeaderIdAndEpoch()):
            refuse_field("PartitionProduceResponse.current_leader")
        out += _pack_ihqqq(item.index, item.error_code, item.base_offset, item.log_append_time_ms, item.log_start_offset)


def _write_topic_produce_responses_v5(items: Sequence[TopicProduceResponse], out: bytearray) -> None:
    for item in items:
        write_string(item.name, out)
        out += _pack_i(len(item.partition_responses))
        if item.partition_responses:
            _write_partition_produce_responses_v5(item.partition_responses, out)


def _write_produce_response_v5(item: ProduceResponse, out: bytearray) -> None:
    if item.node_endpoints:
        refuse_field("ProduceResponse.node_endpoints")
    out += _pack_i(len(item.responses))
    if item.responses:
        _write_topic_produce_responses_v5(item.responses, out)
    out += _pack_i(item.throttle_time_ms)


def _write_batch_index_and_error_messages_v8(items: Sequence[BatchIndexAndErrorMessage], out: bytearray) -> None:
    for item in items:
        out += _pack_i(item.batch_index)
        write_nullable_string(item.batch_index_error_message, out)


def _write_partition_produce_responses_v8(items: Sequence[PartitionProduceResponse], out: bytearray) -> None:
    for item in items:
        if (item.current_leader is not None and item.current_leader != LeaderIdAndEpoch()):
            refuse_field("PartitionProduceResponse.current_leader")
        out += _pack_ihqqqi(item.index, item.error_code, item.base_offset, item.log_append_time_ms, item.log_start_offset, len(item.record_errors))
        if item.record_errors:
            _write_batch_index_and_error_messages_v8(item.record_errors, out)
        write_nullable_string(item.error_message, out)


def _write_topic_produce_responses_v8(items: Sequence[TopicProduceResponse], out: bytearray) -> None:
    for item in items:
        write_string(item.name, out)
        out += _pack_i(len(item.partition_responses))
        if item.partition_responses:
            _write_partition_produce_responses_v8(item.partition_responses, out)


def _write_produce_response_v8(item: ProduceResponse, out: bytearray) -> None:
    if item.node_endpoints:
        refuse_field("ProduceResponse.node_endpoints")
    out += _pack_i(len(item.responses))
    if item.responses:
        _write_topic_produce_responses_v8(item.responses, out)
    out += _pack_i(item.throttle_time_ms)


def _write_batch_index_and_error_messages_v9(items: Sequence[BatchIndexAndErrorMessage], out: bytearray) -> None:
    for item in items:
        out += _pack_i(item.batch_index)
        if item.batch_index_error_message is None:
            out.append(0)
        else:
            write_compact_string(item.batch_index_error_message, out)
        out.append(0)


def _write_partition_produce_responses_v9(items: Sequence[PartitionProduceResponse], out: bytearray) -> None:
    for item in items:
        if (item.current_leader is not None and item.current_leader != LeaderIdAndEpoch()):
            refuse_field("PartitionProduceResponse.current_leader")
        out += _pack_ihqqq(item.index, item.error_code, item.base_offset, item.log_append_time_ms, item.log_start_offset)
        if item.record_errors:
            out += uvarint(len(item.record_errors) + 1)
            _write_batch_index_and_error_messages_v9(item.record_errors, out)
        else:
            out.append(1)
        if item.error_message is None:
            out.append(0)
        else:
            write_compact_string(item.error_message, out)
        out.append(0)


def _write_topic_produce_responses_v9(items: Sequence[TopicProduceResponse], out: bytearray) -> None:
    for item in items:
        write_compact_string(item.name, out)
        if item.partition_responses:
            out += uvarint(len(item.partition_responses) + 1)
            _write_partition_produce_responses_v9(item.partition_responses, out)
        else:
            out.append(1)
        out.append(0)


def _write_produce_response_v9(item: ProduceResponse, out: bytearray) -> None:
    if item.node_endpoints:
        refuse_field("ProduceResponse.node_endpoints")
    if item.responses:
        out += uvarint(len(item.responses) + 1)
        _write_topic_produce_responses_v9(item.responses, out)
    else:
        out.append(1)
    out += _pack_ix(item.throttle_time_ms)


def _write_leader_id_and_epoch_v10(item: LeaderIdAndEpoch, out: bytearray) -> None:
    out += _pack_iix(item.leader_id, item.leader_epoch)


def _write_partition_produce_responses_v10(items: Sequence[PartitionProduceResponse], out: bytearray) -> None:
    for item in items:
        out += _pack_ihqqq(item.index, item.error_code, item.base_offset, item.log_append_time_ms, item.log_start_offset)
        if item.record_errors:
            out += uvarint(len(item.record_errors) + 1)
            _write_batch_index_and_error_messages_v9(item.record_errors, out)
        else:
            out.append(1)
        if item.error_message is None:
            out.append(0)
        else:
            write_compact_string(item.error_message, out)
        if not ((item.current_leader is not None and item.current_leader != LeaderIdAndEpoch())):
            out.append(0)
        else:
            tags: list[tuple[int, bytearray]] = []
            if (item.current_leader is not None and item.current_leader != LeaderIdAndEpoch()):
                value = bytearray()
                _write_leader_id_and_epoch_v10(item.current_leader, value)
                tags.append((0, value))
            write_tags(tags, out)


def _write_topic_produce_responses_v10(items: Sequence[TopicProduceResponse], out: bytearray) -> None:
    for item in items:
        write_compact_string(item.name, out)
        if item.partition_responses:
            out += uvarint(len(item.partition_responses) + 1)
            _write_partition_produce_responses_v10(item.partition_responses, out)
        else:
            out.append(1)
        out.append(0)


def _write_node_endpoints_v10(items: Sequence[NodeEndpoint], out: bytearray) -> None:
    for item in items:
        out += _pack_i(item.node_id)
        write_compact_string(item.host, out)
        out += _pack_i(item.port)
        if item.rack is None:
            out.append(0)
        else:
            write_compact_string(item.rack, out)
        out.append(0)


def _write_produce_response_v10(item: ProduceResponse, out: bytearray) -> None:
    if item.responses:
        out += uvarint(len(item.responses) + 1)
        _write_topic_produce_responses_v10(item.responses, out)
    else:
        out.append(1)
    out += _pack_i(item.throttle_time_ms)
    if not (item.node_endpoints):
        out.append(0)
    else:
        tags: list[tuple[int, bytearray]] = []
        if item.node_endpoints:
            value = bytearray()
            if item.node_endpoints:
                value += uvarint(len(item.node_endpoints) + 1)
                _write_node_endpoints_v10(item.node_endpoints, value)
            else:
                value.append(1)
            tags.append((0, value))
        write_tags(tags, out)


def _write_topic_produce_responses_v13(items: Sequence[TopicProduceResponse], out: bytearray) -> None:
    for item in items:
        out += _pack_u(item.topic_id)
        if item.partition_responses:
            out += uvarint(len(item.partition_responses) + 1)
            _write_partition_produce_responses_v10(item.partition_responses, out)
        else:
            out.append(1)
        out.append(0)


def _write_produce_response_v13(item: ProduceResponse, out: bytearray) -> None:
    if item.responses:
        out += uvarint(len(item.responses) + 1)
        _write_topic_produce_responses_v13(item.responses, out)
    else:
        out.append(1)
    out += _pack_i(item.throttle_time_ms)
    if not (item.node_endpoints):
        out.append(0)
    else:
        tags: list[tuple[int, bytearray]] = []
        if item.node_endpoints:
            value = bytearray()
            if item.node_endpoints:
                value += uvarint(len(item.node_endpoints) + 1)
                _write_node_endpoints_v10(item.node_endpoints, value)
            else:
                value.append(1)
            tags.append((0, value))
        write_tags(tags, out)


ProduceResponse.DECODERS = {
    3: _read_produce_response_v3,
    4: _read_produce_response_v3,
    5: _read_produce_response_v5,
    6: _read_produce_response_v5,
    7: _read_produce_response_v5,
    8: _read_produce_response_v8,
    9: _read_produce_response_v9,
    10: _read_produce_response_v10,
    11: _read_produce_response_v10,
    12: _read_produce_response_v10,
    13: _read_produce_response_v13,
}
ProduceResponse.ENCODERS = {
    3: _write_produce_response_v3,
    4: _write_produce_response_v3,
    5: _write_produce_response_v5,
    6: _write_produce_response_v5,
    7: _write_produce_response_v5,
    8: _write_produce_response_v8,
    9: _write_produce_response_v9,
    10: _write_produce_response_v10,
    11: _write_produce_response_v10,
    12: _write_produce_response_v10,
    13: _write_produce_response_v13,
}
