"""Generated from schemas/fetch.schema: FetchRequest, versions 4-18. Do not edit."""

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
    read_numbers,
    read_string,
    read_tag,
    read_tag_count,
    skip_tags,
    uvarint,
    write_compact_string,
    write_numbers,
    write_string,
    write_tags,
)

_unpack_u = Layout(">16s").unpack_from
_pack_u = Layout(">16s").pack
_pack_i = Layout(">i").pack
_unpack_iiibii = Layout(">iiibii").unpack_from
_pack_iiibii = Layout(">iiibii").pack
_unpack_iiiib = Layout(">iiiib").unpack_from
_pack_iiiibi = Layout(">iiiibi").pack
_unpack_iiiibii = Layout(">iiiibii").unpack_from
_pack_iiiibii = Layout(">iiiibii").pack
_pack_iiiibiii = Layout(">iiiibiii").pack
_unpack_iiqiqi = Layout(">iiqiqi").unpack_from
_pack_iiqiqi = Layout(">iiqiqi").pack
_unpack_iiqiqiB = Layout(">iiqiqiB").unpack_from
_pack_iiqiqix = Layout(">iiqiqix").pack
_unpack_iiqqi = Layout(">iiqqi").unpack_from
_pack_iiqqi = Layout(">iiqqi").pack
_unpack_iqB = Layout(">iqB").unpack_from
_unpack_iqi = Layout(">iqi").unpack_from
_pack_iqi = Layout(">iqi").pack
_unpack_iqqi = Layout(">iqqi").unpack_from
_pack_iqqi = Layout(">iqqi").pack
_pack_iqx = Layout(">iqx").pack
_unpack_q = Layout(">q").unpack_from
_pack_q = Layout(">q").pack


class FetchRequest(Message):
    __slots__ = ("cluster_id", "replica_id", "replica_state", "max_wait_ms", "min_bytes", "max_bytes", "isolation_level", "session_id", "session_epoch", "topics", "forgotten_topics_data", "rack_id",)
    API_KEY = 1
    VERSIONS = range(4, 19)
    FLEXIBLE_FROM = 12

    def __init__(
        self,
        cluster_id: str | None = None,
        replica_id: int = -1,
        replica_state: ReplicaState | None = None,
        max_wait_ms: int = 0,
        min_bytes: int = 0,
        max_bytes: int = 2147483647,
        isolation_level: int = 0,
        session_id: int = 0,
        session_epoch: int = -1,
        topics: Sequence[FetchTopic] = (),
        forgotten_topics_data: Sequence[ForgottenTopic] = (),
        rack_id: str = "",
    ) -> None:
        self.cluster_id = cluster_id
        self.replica_id = replica_id
        self.replica_state = replica_state
        self.max_wait_ms = max_wait_ms
        self.min_bytes = min_bytes
        self.max_bytes = max_bytes
        self.isolation_level = isolation_level
        self.session_id = session_id
        self.session_epoch = session_epoch
        self.topics = topics
        self.forgotten_topics_data = forgotten_topics_data
        self.rack_id = rack_id


class ReplicaState(Struct):
    __slots__ = ("replica_id", "replica_epoch",)

    def __init__(
        self,
        replica_id: int = -1,
        replica_epoch: int = -1,
    ) -> None:
        self.replica_id = replica_id
        self.replica_epoch = replica_epoch


class FetchPartition(Struct):
    __slots__ = ("partition", "current_leader_epoch", "fetch_offset", "last_fetched_epoch", "log_start_offset", "partition_max_bytes", "replica_directory_id", "high_watermark",)

    def __init__(
        self,
        partition: int = 0,
        current_leader_epoch: int = -1,
        fetch_offset: int = 0,
        last_fetched_epoch: int = -1,
        log_start_offset: int = -1,
        partition_max_bytes: int = 0,
        replica_directory_id: bytes = ZERO_UUID,
        high_watermark: int = 9223372036854775807,
    ) -> None:
        self.partition = partition
        self.current_leader_epoch = current_leader_epoch
        self.fetch_offset = fetch_offset
        self.last_fetched_epoch = last_fetched_epoch
        self.log_start_offset = log_start_offset
        self.partition_max_bytes = partition_max_bytes
        self.replica_directory_id = replica_directory_id
        self.high_watermark = high_watermark


class FetchTopic(Struct):
    __slots__ = ("topic", "topic_id", "partitions",)

    def __init__(
        self,
        topic: str = "",
        topic_id: bytes = ZERO_UUID,
        partitions: Sequence[FetchPartition] = (),
    ) -> None:
        self.topic = topic
        self.topic_id = topic_id
        self.partitions = partitions


class ForgottenTopic(Struct):
    __slots__ = ("topic", "topic_id", "partitions",)

    def __init__(
        self,
        topic: str = "",
        topic_id: bytes = ZERO_UUID,
        partitions: Sequence[int] = (),
    ) -> None:
        self.topic = topic
        self.topic_id = topic_id
        self.partitions = partitions


def _read_fetch_partitions_v4(data: memoryview, at: int, count: int) -> tuple[list[FetchPartition], int]:
    items: list[FetchPartition] = []
    for _ in range(count):
        partition, fetch_offset, partition_max_bytes = _unpack_iqi(data, at)
        at += 16
        items.append(FetchPartition(partition, -1, fetch_offset, -1, -1, partition_max_bytes, ZERO_UUID, 9223372036854775807))
    return items, at


def _read_fetch_topics_v4(data: memoryview, at: int, count: int) -> tuple[list[FetchTopic], int]:
    items: list[FetchTopic] = []
    for _ in range(count):
        topic, at = read_string(data, at)
        count, at = read_count(data, at, 16)
        partitions, at = _read_fetch_partitions_v4(data, at, count) if count else ([], at)
        items.append(FetchTopic(topic, ZERO_UUID, partitions))
    return items, at


def _read_fetch_request_v4(data: memoryview, at: int) -> tuple[FetchRequest, int]:
    replica_id, max_wait_ms, min_bytes, max_bytes, isolation_level = _unpack_iiiib(data, at)
    at += 17
    count, at = read_count(data, at, 6)
    topics, at = _read_fetch_topics_v4(data, at, count) if count else ([], at)
    return FetchRequest(None, replica_id, None, max_wait_ms, min_bytes, max_bytes, isolation_level, 0, -1, topics, (), ""), at


def _read_fetch_partitions_v5(data: memoryview, at: int, count: int) -> tuple[list[FetchPartition], int]:
    items: list[FetchPartition] = []
    for _ in range(count):
        partition, fetch_offset, log_start_offset, partition_max_bytes = _unpack_iqqi(data, at)
        at += 24
        items.append(FetchPartition(partition, -1, fetch_offset, -1, log_start_offset, partition_max_bytes, ZERO_UUID, 9223372036854775807))
    return items, at


def _read_fetch_topics_v5(data: memoryview, at: int, count: int) -> tuple[list[FetchTopic], int]:
    items: list[FetchTopic] = []
    for _ in range(count):
        topic, at = read_string(data, at)
        count, at = read_count(data, at, 24)
        partitions, at = _read_fetch_partitions_v5(data, at, count) if count else ([], at)
        items.append(FetchTopic(topic, ZERO_UUID, partitions))
    return items, at


def _read_fetch_request_v5(data: memoryview, at: int) -> tuple[FetchRequest, int]:
    replica_id, max_wait_ms, min_bytes, max_bytes, isolation_level = _unpack_iiiib(data, at)
    at += 17
    count, at = read_count(data, at, 6)
    topics, at = _read_fetch_topics_v5(data, at, count) if count else ([], at)
    return FetchRequest(None, replica_id, None, max_wait_ms, min_bytes, max_bytes, isolation_level, 0, -1, topics, (), ""), at


def _read_forgotten_topics_v7(data: memoryview, at: int, count: int) -> tuple[list[ForgottenTopic], int]:
    items: list[ForgottenTopic] = []
    for _ in range(count):
        topic, at = read_string(data, at)
        count, at = read_count(data, at, 4)
        partitions, at = read_numbers(data, at, count, "i") if count else ([], at)
        items.append(ForgottenTopic(topic, ZERO_UUID, partitions))
    return items, at


def _read_fetch_request_v7(data: memoryview, at: int) -> tuple[FetchRequest, int]:
    replica_id, max_wait_ms, min_bytes, max_bytes, isolation_level, session_id, session_epoch = _unpack_iiiibii(data, at)
    at += 25
    count, at = read_count(data, at, 6)
    topics, at = _read_fetch_topics_v5(data, at, count) if count else ([], at)
    count, at = read_count(data, at, 6)
    forgotten_topics_data, at = _read_forgotten_topics_v7(data, at, count) if count else ([], at)
    return FetchRequest(None, replica_id, None, max_wait_ms, min_bytes, max_bytes, isolation_level, session_id, session_epoch, topics, forgotten_topics_data, ""), at


def _read_fetch_partitions_v9(data: memoryview, at: int, count: int) -> tuple[list[FetchPartition], int]:
    items: list[FetchPartition] = []
    for _ in range(count):
        partition, current_leader_epoch, fetch_offset, log_start_offset, partition_max_bytes = _unpack_iiqqi(data, at)
        at += 28
        items.append(FetchPartition(partition, current_leader_epoch, fetch_offset, -1, log_start_offset, partition_max_bytes, ZERO_UUID, 9223372036854775807))
    return items, at


def _read_fetch_topics_v9(data: memoryview, at: int, count: int) -> tuple[list[FetchTopic], int]:
    items: list[FetchTopic] = []
    for _ in range(count):
        topic, at = read_string(data, at)
        count, at = read_count(data, at, 28)
        partitions, at = _read_fetch_partitions_v9(data, at, count) if count else ([], at)
        items.append(FetchTopic(topic, ZERO_UUID, partitions))
    return items, at


def _read_fetch_request_v9(data: memoryview, at: int) -> tuple[FetchRequest, int]:
    replica_id, max_wait_ms, min_bytes, max_bytes, isolation_level, session_id, session_epoch = _unpack_iiiibii(data, at)
    at += 25
    count, at = read_count(data, at, 6)
    topics, at = _read_fetch_topics_v9(data, at, count) if count else ([], at)
    count, at = read_count(data, at, 6)
    forgotten_topics_data, at = _read_forgotten_topics_v7(data, at, count) if count else ([], at)
    return FetchRequest(None, replica_id, None, max_wait_ms, min_bytes, max_bytes, isolation_level, session_id, session_epoch, topics, forgotten_topics_data, ""), at


def _read_fetch_request_v11(data: memoryview, at: int) -> tuple[FetchRequest, int]:
    replica_id, max_wait_ms, min_bytes, max_bytes, isolation_level, session_id, session_epoch = _unpack_iiiibii(data, at)
    at += 25
    count, at = read_count(data, at, 6)
    topics, at = _read_fetch_topics_v9(data, at, count) if count else ([], at)
    count, at = read_count(data, at, 6)
    forgotten_topics_data, at = _read_forgotten_topics_v7(data, at, count) if count else ([], at)
    rack_id, at = read_string(data, at)
    return FetchRequest(None, replica_id, None, max_wait_ms, min_bytes, max_bytes, isolation_level, session_id, session_epoch, topics, forgotten_topics_data, rack_id), at


def _read_fetch_partitions_v12(data: memoryview, at: int, count: int) -> tuple[list[FetchPartition], int]:
    items: list[FetchPartition] = []
    for _ in range(count):
        partition, current_leader_epoch, fetch_offset, last_fetched_epoch, log_start_offset, partition_max_bytes, more = _unpack_iiqiqiB(data, at)
        at += 33
        if more:
            at = skip_tags(data, at - 1)
        items.append(FetchPartition(partition, current_leader_epoch, fetch_offset, last_fetched_epoch, log_start_offset, partition_max_bytes, ZERO_UUID, 9223372036854775807))
    return items, at


def _read_fetch_topics_v12(data: memoryview, at: int, count: int) -> tuple[list[FetchTopic], int]:
    items: list[FetchTopic] = []
    for _ in range(count):
        topic, at = read_compact_string(data, at)
        count, at = read_compact_count(data, at, 33)
        partitions, at = _read_fetch_partitions_v12(data, at, count) if count else ([], at)
        at = skip_tags(data, at) if data[at] else at + 1
        items.append(FetchTopic(topic, ZERO_UUID, partitions))
    return items, at


def _read_forgotten_topics_v12(data: memoryview, at: int, count: int) -> tuple[list[ForgottenTopic], int]:
    items: list[ForgottenTopic] = []
    for _ in range(count):
        topic, at = read_compact_string(data, at)
        count, at = read_compact_count(data, at, 4)
        partitions, at = read_numbers(data, at, count, "i") if count else ([], at)
        at = skip_tags(data, at) if data[at] else at + 1
        items.append(ForgottenTopic(topic, ZERO_UUID, partitions))
    return items, at


def _read_fetch_request_v12(data: memoryview, at: int) -> tuple[FetchRequest, int]:
    replica_id, max_wait_ms, min_bytes, max_bytes, isolation_level, session_id, session_epoch = _unpack_iiiibii(data, at)
    at += 25
    count, at = read_compact_count(data, at, 3)
    topics, at = _read_fetch_topics_v12(data, at, count) if count else ([], at)
    count, at = read_compact_count(data, at, 3)
    forgotten_topics_data, at = _read_forgotten_topics_v12(data, at, count) if count else ([], at)
    rack_id, at = read_compact_string(data, at)
    cluster_id: str | None = None
    if not data[at]:
        at += 1
    else:
        more, at = read_tag_count(data, at)
        while more:
            more -= 1
            tag, end, at = read_tag(data, at)
            if tag == 0:
                cluster_id = None
                if data[at]:
                    cluster_id, at = read_compact_string(data, at)
                else:
                    at += 1
            else:
                at = end
            check_tag_end(tag, at, end)
    return FetchRequest(cluster_id, replica_id, None, max_wait_ms, min_bytes, max_bytes, isolation_level, session_id, session_epoch, topics, forgotten_topics_data, rack_id), at


def _read_fetch_topics_v13(data: memoryview, at: int, count: int) -> tuple[list[FetchTopic], int]:
    items: list[FetchTopic] = []
    for _ in range(count):
        (topic_id,) = _unpack_u(data, at)
        at += 16
        count, at = read_compact_count(data, at, 33)
        partitions, at = _read_fetch_partitions_v12(data, at, count) if count else ([], at)
        at = skip_tags(data, at) if data[at] else at + 1
        items.append(FetchTopic("", topic_id, partitions))
    return items, at


def _read_forgotten_topics_v13(data: memoryview, at: int, count: int) -> tuple[list[ForgottenTopic], int]:
    items: list[ForgottenTopic] = []
    for _ in range(count):
        (topic_id,) = _unpack_u(data, at)
        at += 16
        count, at = read_compact_count(data, at, 4)
        partitions, at = read_numbers(data, at, count, "i") if count else ([], at)
        at = skip_tags(data, at) if data[at] else at + 1
        items.append(ForgottenTopic("", topic_id, partitions))
    return items, at


def _read_fetch_request_v13(data: memoryview, at: int) -> tuple[FetchRequest, int]:
    replica_id, max_wait_ms, min_bytes, max_bytes, isolation_level, session_id, session_epoch = _unpack_iiiibii(data, at)
    at += 25
    count, at = read_compact_count(data, at, 18)
    topics, at = _read_fetch_topics_v13(data, at, count) if count else ([], at)
    count, at = read_compact_count(data, at, 18)
    forgotten_topics_data, at = _read_forgotten_topics_v13(data, at, count) if count else ([], at)
    rack_id, at = read_compact_string(data, at)
    cluster_id: str | None = None
    if not data[at]:
        at += 1
    else:
        more, at = read_tag_count(data, at)
        while more:
            more -= 1
            tag, end, at = read_tag(data, at)
            if tag == 0:
                cluster_id = None
                if data[at]:
                    cluster_id, at = read_compact_string(data, at)
                else:
                    at += 1
            else:
                at = end
            check_tag_end(tag, at, end)
    return FetchRequest(cluster_id, replica_id, None, max_wait_ms, min_bytes, max_bytes, isolation_level, session_id, session_epoch, topics, forgotten_topics_data, rack_id), at


def _read_replica_state_v15(data: memoryview, at: int) -> tuple[ReplicaState, int]:
    replica_id, replica_epoch, more = _unpack_iqB(data, at)
    at += 13
    if more:
        at = skip_tags(data, at - 1)
    return ReplicaState(replica_id, replica_epoch), at


def _read_fetch_request_v15(data: memoryview, at: int) -> tuple[FetchRequest, int]:
    max_wait_ms, min_bytes, max_bytes, isolation_level, session_id, session_epoch = _unpack_iiibii(data, at)
    at += 21
    count, at = read_compact_count(data, at, 18)
    topics, at = _read_fetch_topics_v13(data, at, count) if count else ([], at)
    count, at = read_compact_count(data, at, 18)
    forgotten_topics_data, at = _read_forgotten_topics_v13(data, at, count) if count else ([], at)
    rack_id, at = read_compact_string(data, at)
    cluster_id: str | None = None
    replica_state: ReplicaState | None = None
    if not data[at]:
        at += 1
    else:
        more, at = read_tag_count(data, at)
        while more:
            more -= 1
            tag, end, at = read_tag(data, at)
            if tag == 0:
                cluster_id = None
                if data[at]:
                    cluster_id, at = read_compact_string(data, at)
                else:
                    at += 1
            elif tag == 1:
                replica_state, at = _read_replica_state_v15(data, at)
            else:
                at = end
            check_tag_end(tag, at, end)
    return FetchRequest(cluster_id, -1, replica_state, max_wait_ms, min_bytes, max_bytes, isolation_level, session_id, session_epoch, topics, forgotten_topics_data, rack_id), at


def _read_fetch_partitions_v17(data: memoryview, at: int, count: int) -> tuple[list[FetchPartition], int]:
    items: list[FetchPartition] = []
    for _ in range(count):
        partition, current_leader_epoch, fetch_offset, last_fetched_epoch, log_start_offset, partition_max_bytes = _unpack_iiqiqi(data, at)
        at += 32
        replica_directory_id: bytes = ZERO_UUID
        if not data[at]:
            at += 1
        else:
            more, at = read_tag_count(data, at)
            while more:
                more -= 1
                tag, end, at = read_tag(data, at)
                if tag == 0:
                    (replica_directory_id,) = _unpack_u(data, at)
                    at += 16
                else:
                    at = end
                check_tag_end(tag, at, end)
        items.append(FetchPartition(partition, current_leader_epoch, fetch_offset, last_fetched_epoch, log_start_offset, partition_max_bytes, replica_directory_id, 9223372036854775807))
    return items, at


def _read_fetch_topics_v17(data: memoryview, at: int, count: int) -> tuple[list[FetchTopic], int]:
    items: list[FetchTopic] = []
    for _ in range(count):
        (topic_id,) = _unpack_u(data, at)
        at += 16
        count, at = read_compact_count(data, at, 33)
        partitions, at = _read_fetch_partitions_v17(data, at, count) if count else ([], at)
        at = skip_tags(data, at) if data[at] else at + 1
        items.append(FetchTopic("", topic_id, partitions))
    return items, at


def _read_fetch_request_v17(data: memoryview, at: int) -> tuple[FetchRequest, int]:
    max_wait_ms, min_bytes, max_bytes, isolation_level, session_id, session_epoch = _unpack_iiibii(data, at)
    at += 21
    count, at = read_compact_count(data, at, 18)
    topics, at = _read_fetch_topics_v17(data, at, count) if count else ([], at)
    count, at = read_compact_count(data, at, 18)
    forgotten_topics_data, at = _read_forgotten_topics_v13(data, at, count) if count else ([], at)
    rack_id, at = read_compact_string(data, at)
    cluster_id: str | None = None
    replica_state: ReplicaState | None = None
    if not data[at]:
        at += 1
    else:
        more, at = read_tag_count(data, at)
        while more:
            more -= 1
            tag, end, at = read_tag(data, at)
            if tag == 0:
                cluster_id = None
                if data[at]:
                    cluster_id, at = read_compact_string(data, at)
                else:
                    at += 1
            elif tag == 1:
                replica_state, at = _read_replica_state_v15(data, at)
            else:
                at = end
            check_tag_end(tag, at, end)
    return FetchRequest(cluster_id, -1, replica_state, max_wait_ms, min_bytes, max_bytes, isolation_level, session_id, session_epoch, topics, forgotten_topics_data, rack_id), at


def _read_fetch_partitions_v18(data: memoryview, at: int, count: int) -> tuple[list[FetchPartition], int]:
    items: list[FetchPartition] = []
    for _ in range(count):
        partition, current_leader_epoch, fetch_offset, last_fetched_epoch, log_start_offset, partition_max_bytes = _unpack_iiqiqi(data, at)
        at += 32
        replica_directory_id: bytes = ZERO_UUID
        high_watermark: int = 9223372036854775807
        if not data[at]:
            at += 1
        else:
            more, at = read_tag_count(data, at)
            while more:
                more -= 1
                tag, end, at = read_tag(data, at)
                if tag == 0:
                    (replica_directory_id,) = _unpack_u(data, at)
                    at += 16
                elif tag == 1:
                    (high_watermark,) = _unpack_q(data, at)
                    at += 8
                else:
                    at = end
                check_tag_end(tag, at, end)
        items.append(FetchPartition(partition, current_leader_epoch, fetch_offset, last_fetched_epoch, log_start_offset, partition_max_bytes, replica_directory_id, high_watermark))
    return items, at


def _read_fetch_topics_v18(data: memoryview, at: int, count: int) -> tuple[list[FetchTopic], int]:
    items: list[FetchTopic] = []
    for _ in range(count):
        (topic_id,) = _unpack_u(data, at)
        at += 16
        count, at = read_compact_count(data, at, 33)
        partitions, at = _read_fetch_partitions_v18(data, at, count) if count else ([], at)
        at = skip_tags(data, at) if data[at] else at + 1
        items.append(FetchTopic("", topic_id, partitions))
    return items, at


def _read_fetch_request_v18(data: memoryview, at: int) -> tuple[FetchRequest, int]:
    max_wait_ms, min_bytes, max_bytes, isolation_level, session_id, session_epoch = _unpack_iiibii(data, at)
    at += 21
    count, at = read_compact_count(data, at, 18)
    topics, at = _read_fetch_topics_v18(data, at, count) if count else ([], at)
    count, at = read_compact_count(data, at, 18)
    forgotten_topics_data, at = _read_forgotten_topics_v13(data, at, count) if count else ([], at)
    rack_id, at = read_compact_string(data, at)
    cluster_id: str | None = None
    replica_state: ReplicaState | None = None
    if not data[at]:
        at += 1
    else:
        more, at = read_tag_count(data, at)
        while more:
            more -= 1
            tag, end, at = read_tag(data, at)
            if tag == 0:
                cluster_id = None
                if data[at]:
                    cluster_id, at = read_compact_string(data, at)
                else:
                    at += 1
            elif tag == 1:
                replica_state, at = _read_replica_state_v15(data, at)
            else:
                at = end
            check_tag_end(tag, at, end)
    return FetchRequest(cluster_id, -1, replica_state, max_wait_ms, min_bytes, max_bytes, isolation_level, session_id, session_epoch, topics, forgotten_topics_data, rack_id), at


def _write_fetch_partitions_v4(items: Sequence[FetchPartition], out: bytearray) -> None:
    for item in items:
        if item.last_fetched_epoch != -1:
            refuse_field("FetchPartition.last_fetched_epoch")
        out += _pack_iqi(item.partition, item.fetch_offset, item.partition_max_bytes)


def _write_fetch_topics_v4(items: Sequence[FetchTopic], out: bytearray) -> None:
    for item in items:
        write_string(item.topic, out)
        out += _pack_i(len(item.partitions))
        if item.partitions:
            _write_fetch_partitions_v4(item.partitions, out)


def _write_fetch_request_v4(item: FetchRequest, out: bytearray) -> None:
    if (item.replica_state is not None and item.replica_state != ReplicaState()):
        refuse_field("FetchRequest.replica_state")
    if item.forgotten_topics_data:
        refuse_field("FetchRequest.forgotten_topics_data")
    out += _pack_iiiibi(item.replica_id, item.max_wait_ms, item.min_bytes, item.max_bytes, item.isolation_level, len(item.topics))
    if item.topics:
        _write_fetch_topics_v4(item.topics, out)


def _write_fetch_partitions_v5(items: Sequence[FetchPartition], out: bytearray) -> None:
    for item in items:
        if item.last_fetched_epoch != -1:
            refuse_field("FetchPartition.last_fetched_epoch")
        out += _pack_iqqi(item.partition, item.fetch_offset, item.log_start_offset, item.partition_max_bytes)


def _write_fetch_topics_v5(items: Sequence[FetchTopic], out: bytearray) -> None:
    for item in items:
        write_string(item.topic, out)
        out += _pack_i(len(item.partitions))
        if item.partitions:
            _write_fetch_partitions_v5(item.partitions, out)


def _write_fetch_request_v5(item: FetchRequest, out: bytearray) -> None:
    if (item.replica_state is not None and item.replica_state != ReplicaState()):
        refuse_field("FetchRequest.replica_state")
    if item.forgotten_topics_data:
        refuse_field("FetchRequest.forgotten_topics_data")
    out += _pack_iiiibi(item.replica_id, item.max_wait_ms, item.min_bytes, item.max_bytes, item.isolation_level, len(item.topics))
    if item.topics:
        _write_fetch_topics_v5(item.topics, out)


def _write_forgotten_topics_v7(items: Sequence[ForgottenTopic], out: bytearray) -> None:
    for item in items:
        write_string(item.topic, out)
        out += _pack_i(len(item.partitions))
        if item.partitions:
            write_numbers(item.partitions, "i", out)


def _write_fetch_request_v7(item: FetchRequest, out: bytearray) -> None:
    if (item.replica_state is not None and item.replica_state != ReplicaState()):
        refuse_field("FetchRequest.replica_state")
    out += _pack_iiiibiii(item.replica_id, item.max_wait_ms, item.min_bytes, item.max_bytes, item.isolation_level, item.session_id, item.session_epoch, len(item.topics))
    if item.topics:
        _write_fetch_topics_v5(item.topics, out)
    out += _pack_i(len(item.forgotten_topics_data))
    if item.forgotten_topics_data:
        _write_forgotten_topics_v7(item.forgotten_topics_data, out)


def _write_fetch_partitions_v9(items: Sequence[FetchPartition], out: bytearray) -> None:
    for item in items:
        if item.last_fetched_epoch != -1:
            refuse_field("FetchPartition.last_fetched_epoch")
        out += _pack_iiqqi(item.partition, item.current_leader_epoch, item.fetch_offset, item.log_start_offset, item.partition_max_bytes)


def _write_fetch_topics_v9(items: Sequence[FetchTopic], out: bytearray) -> None:
    for item in items:
        write_string(item.topic, out)
        out += _pack_i(len(item.partitions))
        if item.partitions:
            _write_fetch_partitions_v9(item.partitions, out)


def _write_fetch_request_v9(item: FetchRequest, out: bytearray) -> None:
    if (item.replica_state is not None and item.replica_state != ReplicaState()):
        refuse_field("FetchRequest.replica_state")
    out += _pack_iiiibiii(item.replica_id, item.max_wait_ms, item.min_bytes, item.max_bytes, item.isolation_level, item.session_id, item.session_epoch, len(item.topics))
    if item.topics:
        _write_fetch_topics_v9(item.topics, out)
    out += _pack_i(len(item.forgotten_topics_data))
    if item.forgotten_topics_data:
        _write_forgotten_topics_v7(item.forgotten_topics_data, out)


def _write_fetch_request_v11(item: FetchRequest, out: bytearray) -> None:
    if (item.replica_state is not None and item.replica_state != ReplicaState()):
        refuse_field("FetchRequest.replica_state")
    out += _pack_iiiibiii(item.replica_id, item.max_wait_ms, item.min_bytes, item.max_bytes, item.isolation_level, item.session_id, item.session_epoch, len(item.topics))
    if item.topics:
        _write_fetch_topics_v9(item.topics, out)
    out += _pack_i(len(item.forgotten_topics_data))
    if item.forgotten_topics_data:
        _write_forgotten_topics_v7(item.forgotten_topics_data, out)
    write_string(item.rack_id, out)


def _write_fetch_partitions_v12(items: Sequence[FetchPartition], out: bytearray) -> None:
    for item in items:
        out += _pack_iiqiqix(item.partition, item.current_leader_epoch, item.fetch_offset, item.last_fetched_epoch, item.log_start_offset, item.partition_max_bytes)


def _write_fetch_topics_v12(items: Sequence[FetchTopic], out: bytearray) -> None:
    for item in items:
        write_compact_string(item.topic, out)
        if item.partitions:
            out += uvarint(len(item.partitions) + 1)
            _write_fetch_partitions_v12(item.partitions, out)
        else:
            out.append(1)
        out.append(0)


def _write_forgotten_topics_v12(items: Sequence[ForgottenTopic], out: bytearray) -> None:
    for item in items:
        write_compact_string(item.topic, out)
        if item.partitions:
            out += uvarint(len(item.partitions) + 1)
            write_numbers(item.partitions, "i", out)
        else:
            out.append(1)
        out.append(0)


def _write_fetch_request_v12(item: FetchRequest, out: bytearray) -> None:
    if (item.replica_state is not None and item.replica_state != ReplicaState()):
        refuse_field("FetchRequest.replica_state")
    out += _pack_iiiibii(item.replica_id, item.max_wait_ms, item.min_bytes, item.max_bytes, item.isolation_level, item.session_id, item.session_epoch)
    if item.topics:
        out += uvarint(len(item.topics) + 1)
        _write_fetch_topics_v12(item.topics, out)
    else:
        out.append(1)
    if item.forgotten_topics_data:
        out += uvarint(len(item.forgotten_topics_data) + 1)
        _write_forgotten_topics_v12(item.forgotten_topics_data, out)
    else:
        out.append(1)
    write_compact_string(item.rack_id, out)
    if not (item.cluster_id is not None):
        out.append(0)
    else:
        tags: list[tuple[int, bytearray]] = []
        if item.cluster_id is not None:
            value = bytearray()
            if item.cluster_id is None:
                value.append(0)
            else:
                write_compact_string(item.cluster_id, value)
            tags.append((0, value))
        write_tags(tags, out)


def _write_fetch_topics_v13(items: Sequence[FetchTopic], out: bytearray) -> None:
    for item in items:
        out += _pack_u(item.topic_id)
        if item.partitions:
            out += uvarint(len(item.partitions) + 1)
            _write_fetch_partitions_v12(item.partitions, out)
        else:
            out.append(1)
        out.append(0)


def _write_forgotten_topics_v13(items: Sequence[ForgottenTopic], out: bytearray) -> None:
    for item in items:
        out += _pack_u(item.topic_id)
        if item.partitions:
            out += uvarint(len(item.partitions) + 1)
            write_numbers(item.partitions, "i", out)
        else:
            out.append(1)
        out.append(0)


def _write_fetch_request_v13(item: FetchRequest, out: bytearray) -> None:
    if (item.replica_state is not None and item.replica_state != ReplicaState()):
        refuse_field("FetchRequest.replica_state")
    out += _pack_iiiibii(item.replica_id, item.max_wait_ms, item.min_bytes, item.max_bytes, item.isolation_level, item.session_id, item.session_epoch)
    if item.topics:
        out += uvarint(len(item.topics) + 1)
        _write_fetch_topics_v13(item.topics, out)
    else:
        out.append(1)
    if item.forgotten_topics_data:
        out += uvarint(len(item.forgotten_topics_data) + 1)
        _write_forgotten_topics_v13(item.forgotten_topics_data, out)
    else:
        out.append(1)
    write_compact_string(item.rack_id, out)
    if not (item.cluster_id is not None):
        out.append(0)
    else:
        tags: list[tuple[int, bytearray]] = []
        if item.cluster_id is not None:
            value = bytearray()
            if item.cluster_id is None:
                value.append(0)
            else:
                write_compact_string(item.cluster_id, value)
            tags.append((0, value))
        write_tags(tags, out)


def _write_replica_state_v15(item: ReplicaState, out: bytearray) -> None:
    out += _pack_iqx(item.replica_id, item.replica_epoch)


def _write_fetch_request_v15(item: FetchRequest, out: bytearray) -> None:
    if item.replica_id != -1:
        refuse_field("FetchRequest.replica_id")
    out += _pack_iiibii(item.max_wait_ms, item.min_bytes, item.max_bytes, item.isolation_level, item.session_id, item.session_epoch)
    if item.topics:
        out += uvarint(len(item.topics) + 1)
        _write_fetch_topics_v13(item.topics, out)
    else:
        out.append(1)
    if item.forgotten_topics_data:
        out += uvarint(len(item.forgotten_topics_data) + 1)
        _write_forgotten_topics_v13(item.forgotten_topics_data, out)
    else:
        out.append(1)
    write_compact_string(item.rack_id, out)
    if not (item.cluster_id is not None or (item.replica_state is not None and item.replica_state != ReplicaState())):
        out.append(0)
    else:
        tags: list[tuple[int, bytearray]] = []
        if item.cluster_id is not None:
            value = bytearray()
            if item.cluster_id is None:
                value.append(0)
            else:
                write_compact_string(item.cluster_id, value)
            tags.append((0, value))
        if (item.replica_state is not None and item.replica_state != ReplicaState()):
            value = bytearray()
            _write_replica_state_v15(item.replica_state, value)
            tags.append((1, value))
        write_tags(tags, out)


def _write_fetch_partitions_v17(items: Sequence[FetchPartition], out: bytearray) -> None:
    for item in items:
        out += _pack_iiqiqi(item.partition, item.current_leader_epoch, item.fetch_offset, item.last_fetched_epoch, item.log_start_offset, item.partition_max_bytes)
        if not (item.replica_directory_id != ZERO_UUID):
            out.append(0)
        else:
            tags: list[tuple[int, bytearray]] = []
            if item.replica_directory_id != ZERO_UUID:
                value = bytearray()
                value += _pack_u(item.replica_directory_id)
                tags.append((0, value))
            write_tags(tags, out)


def _write_fetch_topics_v17(items: Sequence[FetchTopic], out: bytearray) -> None:
    for item in items:
        out += _pack_u(item.topic_id)
        if item.partitions:
            out += uvarint(len(item.partitions) + 1)
            _write_fetch_partitions_v17(item.partitions, out)
        else:
            out.append(1)
        out.append(0)


def _write_fetch_request_v17(item: FetchRequest, out: bytearray) -> None:
    if item.replica_id != -1:
        refuse_field("FetchRequest.replica_id")
    out += _pack_iiibii(item.max_wait_ms, item.min_bytes, item.max_bytes, item.isolation_level, item.session_id, item.session_epoch)
    if item.topics:
        out += uvarint(len(item.topics) + 1)
        _write_fetch_topics_v17(item.topics, out)
    else:
        out.append(1)
    if item.forgotten_topics_data:
        out += uvarint(len(item.forgotten_topics_data) + 1)
        _write_forgotten_topics_v13(item.forgotten_topics_data, out)
    else:
        out.append(1)
    write_compact_string(item.rack_id, out)
    if not (item.cluster_id is not None or (item.replica_state is not None and item.replica_state != ReplicaState())):
        out.append(0)
    else:
        tags: list[tuple[int, bytearray]] = []
        if item.cluster_id is not None:
            value = bytearray()
            if item.cluster_id is None:
                value.append(0)
            else:
                write_compact_string(item.cluster_id, value)
            tags.append((0, value))
        if (item.replica_state is not None and item.replica_state != ReplicaState()):
            value = bytearray()
            _write_replica_state_v15(item.replica_state, value)
            tags.append((1, value))
        write_tags(tags, out)


def _write_fetch_partitions_v18(items: Sequence[FetchPartition], out: bytearray) -> None:
    for item in items:
        out += _pack_iiqiqi(item.partition, item.current_leader_epoch, item.fetch_offset, item.last_fetched_epoch, item.log_start_offset, item.partition_max_bytes)
        if not (item.replica_directory_id != ZERO_UUID or item.high_watermark != 9223372036854775807):
            out.append(0)
        else:
            tags: list[tuple[int, bytearray]] = []
            if item.replica_directory_id != ZERO_UUID:
                value = bytearray()
                value += _pack_u(item.replica_directory_id)
                tags.append((0, value))
            if item.high_watermark != 9223372036854775807:
                value = bytearray()
                value += _pack_q(item.high_watermark)
                tags.append((1, value))
            write_tags(tags, out)


def _write_fetch_topics_v18(items: Sequence[FetchTopic], out: bytearray) -> None:
    for item in items:
        out += _pack_u(item.topic_id)
        if item.partitions:
            out += uvarint(len(item.partitions) + 1)
            _write_fetch_partitions_v18(item.partitions, out)
        else:
            out.append(1)
        out.append(0)


def _write_fetch_request_v18(item: FetchRequest, out: bytearray) -> None:
    if item.replica_id != -1:
        refuse_field("FetchRequest.replica_id")
    out += _pack_iiibii(item.max_wait_ms, item.min_bytes, item.max_bytes, item.isolation_level, item.session_id, item.session_epoch)
    if item.topics:
        out += uvarint(len(item.topics) + 1)
        _write_fetch_topics_v18(item.topics, out)
    else:
        out.append(1)
    if item.forgotten_topics_data:
        out += uvarint(len(item.forgotten_topics_data) + 1)
        _write_forgotten_topics_v13(item.forgotten_topics_data, out)
    else:
        out.append(1)
    write_compact_string(item.rack_id, out)
    if not (item.cluster_id is not None or (item.replica_state is not None and item.replica_state != ReplicaState())):
        out.append(0)
    else:
        tags: list[tuple[int, bytearray]] = []
        if item.cluster_id is not None:
            value = bytearray()
            if item.cluster_id is None:
                value.append(0)
            else:
                write_compact_string(item.cluster_id, value)
            tags.append((0, value))
        if (item.replica_state is not None and item.replica_state != ReplicaState()):
            value = bytearray()
            _write_replica_state_v15(item.replica_state, value)
            tags.append((1, value))
        write_tags(tags, out)


FetchRequest.DECODERS = {
    4: _read_fetch_request_v4,
    5: _read_fetch_request_v5,
    6: _read_fetch_request_v5,
    7: _read_fetch_request_v7,
    8: _read_fetch_request_v7,
    9: _read_fetch_request_v9,
    10: _read_fetch_request_v9,
    11: _read_fetch_request_v11,
    12: _read_fetch_request_v12,
    13: _read_fetch_request_v13,
    14: _read_fetch_request_v13,
    15: _read_fetch_request_v15,
    16: _read_fetch_request_v15,
    17: _read_fetch_request_v17,
    18: _read_fetch_request_v18,
}
FetchRequest.ENCODERS = {
    4: _write_fetch_request_v4,
    5: _write_fetch_request_v5,
    6: _write_fetch_request_v5,
    7: _write_fetch_request_v7,
    8: _write_fetch_request_v7,
    9: _write_fetch_request_v9,
    10: _write_fetch_request_v9,
    11: _write_fetch_request_v11,
    12: _write_fetch_request_v12,
    13: _write_fetch_request_v13,
    14: _write_fetch_request_v13,
    15: _write_fetch_request_v15,
    16: _write_fetch_request_v15,
    17: _write_fetch_request_v17,
    18: _write_fetch_request_v18,
}
