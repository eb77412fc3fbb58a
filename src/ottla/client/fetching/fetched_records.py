"""Fetched records: complete batches of one partition.

Owns      cutting the bytes of a response into complete batches, up to the end of the range.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from struct import Struct
from typing import NamedTuple

from ottla.base.ids import TopicPartition
from ottla.client.fetching.aborted_transactions import AbortedProducer, wanted_batches
from ottla.client.fetching.read_position import ReadPosition
from ottla.protocol.errors import MalformedMessage
from ottla.protocol.messages.fetch_response import PartitionData
from ottla.protocol.records.batch import (
    HEADER_BYTES,
    LENGTH_PREFIX_BYTES,
    MAGIC,
    BatchHeader,
    read_header,
)

COMPACT = "compact"
TIERED = ("remote.storage.enable", "redpanda.remote.read")
SILENCE_MIN_S = 20.0  # long for a broker with tiered storage, shorter than all timeouts

_BASE_LENGTH_MAGIC = Struct(">qi4xB").unpack_from


@dataclass(frozen=True)
class FetchedRecords:
    """Complete batches of one partition, in the buffer they were received into.

    The first batch may begin before `start_offset`, and the last may end beyond `end_offset`:
    `read_arrow` takes both limits, and `is_wanted` to exclude aborted transactions.
    """

    partition: TopicPartition
    data: memoryview
    start_offset: int
    end_offset: int
    aborted_transactions: tuple[AbortedProducer, ...] = ()
    high_watermark: int = -1
    last_stable_offset: int = -1
    log_start_offset: int = -1

    @cached_property
    def is_wanted(self) -> Callable[[BatchHeader], bool]:
        return wanted_batches(self.data, self.aborted_transactions)


def fetched_records(
    position: ReadPosition, part: PartitionData, data: memoryview, end_offset: int
) -> FetchedRecords:
    aborted = tuple(
        AbortedProducer(each.producer_id, each.first_offset)
        for each in part.aborted_transactions or ()
    )
    return FetchedRecords(
        position.partition,
        data,
        position.offset,
        end_offset,
        aborted,
        part.high_watermark,
        part.last_stable_offset,
        part.log_start_offset,
    )


def waiting_for(position: ReadPosition) -> str:
    return (
        f"{position.partition}: nothing came from offset {position.offset} on, of the range up to "
        f"{position.end_offset}; the log ends at {position.readable_offset}"
    )


def is_gap(configs: Mapping[str, str | None], silent_s: float) -> bool:
    """Whether no records are left before the end of the log, although the broker repeatedly
    returns none. Compaction causes that, also if the topic is no longer compacted. A broker with
    tiered storage may return none while it loads old records, and not all such brokers can be
    recognised: unless the topic is compacted, the silence has to last."""
    if COMPACT in (configs.get("cleanup.policy") or ""):
        return True
    return silent_s >= SILENCE_MIN_S and all(configs.get(each) != "true" for each in TIERED)


class WholeBatches(NamedTuple):
    """Complete batches, the offset after them, and the leader epoch of the last one."""

    data: memoryview
    end_offset: int
    leader_epoch: int


def whole_batches(data: memoryview, position: ReadPosition) -> WholeBatches:
    """The complete batches that begin before the end of the range."""
    at, last, size = 0, -1, len(data)
    end_offset = position.end_offset
    while size - at >= HEADER_BYTES:
        base_offset, length, magic = _BASE_LENGTH_MAGIC(data, at)
        if length < HEADER_BYTES - LENGTH_PREFIX_BYTES or magic != MAGIC:
            raise MalformedMessage(
                f"{position.partition} from offset {position.offset}: no batch at byte {at} "
                f"(length {length}, magic {magic})"
            )
        if at + LENGTH_PREFIX_BYTES + length > size:
            break
        if end_offset is not None and base_offset >= end_offset:
            return WholeBatches(data[:at], end_offset, position.read_epoch)
        last = at
        at += LENGTH_PREFIX_BYTES + length
    header = read_header(data, last) if last >= 0 else None
    if header is None or header.next_offset <= position.offset:
        raise MalformedMessage(
            f"{position.partition}: asked from offset {position.offset} on, got {size} bytes that "
            f"end before offset {-1 if header is None else header.next_offset}"
        )
    next_offset = header.next_offset
    if end_offset is not None:
        next_offset = min(next_offset, end_offset)
    return WholeBatches(data[:at], next_offset, header.partition_leader_epoch)
