"""Generated from schemas/elect_leaders.schema: ElectLeadersResponse, versions 0-2. Do not edit."""

from __future__ import annotations

from collections.abc import Sequence
from struct import Struct as Layout

from ottla.protocol.message import Message, Struct, refuse_field
from ottla.protocol.primitives import (
    read_compact_count,
    read_compact_string,
    read_count,
    read_nullable_string,
    read_string,
    skip_tags,
    uvarint,
    write_compact_string,
    write_nullable_string,
    write_string,
)

_unpack_i = Layout(">i").unpack_from
_pack_i = Layout(">i").pack
_unpack_ih = Layout(">ih").unpack_from
_pack_ih = Layout(">ih").pack
_pack_ihi = Layout(">ihi").pack
_pack_ii = Layout(">ii").pack


class ElectLeadersResponse(Message):
    __slots__ = ("throttle_time_ms", "error_code", "replica_election_results",)
    API_KEY = 43
    VERSIONS = range(0, 3)
    FLEXIBLE_FROM = 2

    def __init__(
        self,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        replica_election_results: Sequence[ReplicaElectionResult] = (),
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.replica_election_results = replica_election_results


class PartitionResult(Struct):
    __slots__ = ("partition_id", "error_code", "error_message",)

    def __init__(
        self,
        partition_id: int = 0,
        error_code: int = 0,
        error_message: str | None = "",
    ) -> None:
        self.partition_id = partition_id
        self.error_code = error_code
        self.error_message = error_message


class ReplicaElectionResult(Struct):
    __slots__ = ("topic", "partition_result",)

    def __init__(
        self,
        topic: str = "",
        partition_result: Sequence[PartitionResult] = (),
    ) -> None:
        self.topic = topic
        self.partition_result = partition_result


def _read_partition_results_v0(data: memoryview, at: int, count: int) -> tuple[list[PartitionResult], int]:
    items: list[PartitionResult] = []
    for _ in range(count):
        partition_id, error_code = _unpack_ih(data, at)
        at += 6
        error_message, at = read_nullable_string(data, at)
        items.append(PartitionResult(partition_id, error_code, error_message))
    return items, at


def _read_replica_election_results_v0(data: memoryview, at: int, count: int) -> tuple[list[ReplicaElectionResult], int]:
    items: list[ReplicaElectionResult] = []
    for _ in range(count):
        topic, at = read_string(data, at)
        count, at = read_count(data, at, 8)
        partition_result, at = _read_partition_results_v0(data, at, count) if count else ([], at)
        items.append(ReplicaElectionResult(topic, partition_result))
    return items, at


def _read_elect_leaders_response_v0(data: memoryview, at: int) -> tuple[ElectLeadersResponse, int]:
    (throttle_time_ms,) = _unpack_i(data, at)
    at += 4
    count, at = read_count(data, at, 6)
    replica_election_results, at = _read_replica_election_results_v0(data, at, count) if count else ([], at)
    return ElectLeadersResponse(throttle_time_ms, 0, replica_election_results), at


def _read_elect_leaders_response_v1(data: memoryview, at: int) -> tuple[ElectLeadersResponse, int]:
    throttle_time_ms, error_code = _unpack_ih(data, at)
    at += 6
    count, at = read_count(data, at, 6)
    replica_election_results, at = _read_replica_election_results_v0(data, at, count) if count else ([], at)
    return ElectLeadersResponse(throttle_time_ms, error_code, replica_election_results), at


def _read_partition_results_v2(data: memoryview, at: int, count: int) -> tuple[list[PartitionResult], int]:
    items: list[PartitionResult] = []
    for _ in range(count):
        partition_id, error_code = _unpack_ih(data, at)
        at += 6
        error_message: str | None = None
        if data[at]:
            error_message, at = read_compact_string(data, at)
        else:
            at += 1
        at = skip_tags(data, at) if data[at] else at + 1
        items.append(PartitionResult(partition_id, error_code, error_message))
    return items, at


def _read_replica_election_results_v2(data: memoryview, at: int, count: int) -> tuple[list[ReplicaElectionResult], int]:
    items: list[ReplicaElectionResult] = []
    for _ in range(count):
        topic, at = read_compact_string(data, at)
        count, at = read_compact_count(data, at, 8)
        partition_result, at = _read_partition_results_v2(data, at, count) if count else ([], at)
        at = skip_tags(data, at) if data[at] else at + 1
        items.append(ReplicaElectionResult(topic, partition_result))
    return items, at


def _read_elect_leaders_response_v2(data: memoryview, at: int) -> tuple[ElectLeadersResponse, int]:
    throttle_time_ms, error_code = _unpack_ih(data, at)
    at += 6
    count, at = read_compact_count(data, at, 3)
    replica_election_results, at = _read_replica_election_results_v2(data, at, count) if count else ([], at)
    at = skip_tags(data, at) if data[at] else at + 1
    return ElectLeadersResponse(throttle_time_ms, error_code, replica_election_results), at


def _write_partition_results_v0(items: Sequence[PartitionResult], out: bytearray) -> None:
    for item in items:
        out += _pack_ih(item.partition_id, item.error_code)
        write_nullable_string(item.error_message, out)


def _write_replica_election_results_v0(items: Sequence[ReplicaElectionResult], out: bytearray) -> None:
    for item in items:
        write_string(item.topic, out)
        out += _pack_i(len(item.partition_result))
        if item.partition_result:
            _write_partition_results_v0(item.partition_result, out)


def _write_elect_leaders_response_v0(item: ElectLeadersResponse, out: bytearray) -> None:
    if item.error_code != 0:
        refuse_field("ElectLeadersResponse.error_code")
    out += _pack_ii(item.throttle_time_ms, len(item.replica_election_results))
    if item.replica_election_results:
        _write_replica_election_results_v0(item.replica_election_results, out)


def _write_elect_leaders_response_v1(item: ElectLeadersResponse, out: bytearray) -> None:
    out += _pack_ihi(item.throttle_time_ms, item.error_code, len(item.replica_election_results))
    if item.replica_election_results:
        _write_replica_election_results_v0(item.replica_election_results, out)


def _write_partition_results_v2(items: Sequence[PartitionResult], out: bytearray) -> None:
    for item in items:
        out += _pack_ih(item.partition_id, item.error_code)
        if item.error_message is None:
            out.append(0)
        else:
            write_compact_string(item.error_message, out)
        out.append(0)


def _write_replica_election_results_v2(items: Sequence[ReplicaElectionResult], out: bytearray) -> None:
    for item in items:
        write_compact_string(item.topic, out)
        if item.partition_result:
            out += uvarint(len(item.partition_result) + 1)
            _write_partition_results_v2(item.partition_result, out)
        else:
            out.append(1)
        out.append(0)


def _write_elect_leaders_response_v2(item: ElectLeadersResponse, out: bytearray) -> None:
    out += _pack_ih(item.throttle_time_ms, item.error_code)
    if item.replica_election_results:
        out += uvarint(len(item.replica_election_results) + 1)
        _write_replica_election_results_v2(item.replica_election_results, out)
    else:
        out.append(1)
    out.append(0)


ElectLeadersResponse.DECODERS = {
    0: _read_elect_leaders_response_v0,
    1: _read_elect_leaders_response_v1,
    2: _read_elect_leaders_response_v2,
}
ElectLeadersResponse.ENCODERS = {
    0: _write_elect_leaders_response_v0,
    1: _write_elect_leaders_response_v1,
    2: _write_elect_leaders_response_v2,
}
