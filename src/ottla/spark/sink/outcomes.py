"""The outcome of a transaction that its coordinator no longer has.

Owns      looking for its marker in the logs of the partitions that it wrote to.
Promises  the marker of one partition is sufficient: a transaction has the same outcome in all of
          them. Waits only for a topic that a broker may not have in its metadata yet.

A refused commit may mean that the transaction was aborted, or that it was committed long ago and
its id has expired or been reused. The log has the answer: the next marker of the same producer ends
this transaction. (The last stable offset does not help: other transactions may hold it back.)
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import Enum

from ottla.base.ids import NO_OFFSET, TopicPartition
from ottla.client.admin.list_offsets import earliest_offsets, latest_offsets, list_offsets
from ottla.client.cluster.cluster import Cluster
from ottla.client.cluster.retries import Retries
from ottla.client.errors import GaveUp, OffsetOutOfRange
from ottla.client.fetching.fetcher import fetch_range
from ottla.client.settings import READ_UNCOMMITTED
from ottla.config.options import DAY_MS
from ottla.protocol.records.batch import Buffer, iterate_headers
from ottla.protocol.records.control import read_end_marker
from ottla.spark.sink.decisions import TaskTransaction, Written

NEW_TOPIC_MS = 2000


class PartitionOutcome(Enum):
    """The outcome according to the log of one partition."""

    COMMITTED = "committed"
    ABORTED = "aborted"
    TAKEN = "deleted by retention"  # the records would be deleted in any case
    RECREATED = "elsewhere"  # a new partition with the same name
    UNKNOWN = "unknown"  # no marker was found


@dataclass(frozen=True)
class TransactionOutcome:
    """`is_committed` is False also if it cannot be determined. `deleted` are topics that were
    deleted, even if they were created again."""

    is_committed: bool
    deleted: frozenset[str] = frozenset()


def outcome_of(
    cluster: Cluster, transaction: TaskTransaction, decided_ms: int
) -> TransactionOutcome:
    """The transaction was open when the batch was decided, at `decided_ms`."""
    there = _partitions_of(cluster, {each.topic for each in transaction.written})
    remaining = [each for each in transaction.written if each.partition < there.get(each.topic, 0)]
    deleted = frozenset(each.topic for each in transaction.written if each not in remaining)
    ends = set[PartitionOutcome]()
    for each in remaining:
        end = _end_at(cluster, transaction, each, decided_ms)
        if end in (PartitionOutcome.COMMITTED, PartitionOutcome.ABORTED):
            return TransactionOutcome(end is PartitionOutcome.COMMITTED, deleted)
        if end is PartitionOutcome.RECREATED:
            deleted |= {each.topic}
        ends.add(end)
    return TransactionOutcome(ends == {PartitionOutcome.TAKEN}, deleted)


def _partitions_of(cluster: Cluster, topics: Iterable[str]) -> dict[str, int]:
    """The number of partitions of each topic, without topics that do not exist."""
    wanted = sorted(topics)
    retries = Retries("looking for topics", cluster.settings, NEW_TOPIC_MS)
    while True:
        found = cluster.describe_topics(wanted)
        if len(found) == len(wanted):
            break
        try:
            retries.pause("some do not exist")
        except GaveUp:
            break
    return {name: len(topic.partitions) for name, topic in found.items()}


def _end_at(
    cluster: Cluster, transaction: TaskTransaction, written: Written, decided_ms: int
) -> PartitionOutcome:
    partition = TopicPartition(written.topic, written.partition)
    start = _first_offset_after(cluster, partition, written, decided_ms)
    end = latest_offsets(cluster, [partition], READ_UNCOMMITTED)[partition]
    if end == 0 or written.last_offset >= end:
        return PartitionOutcome.RECREATED  # acknowledged records are never truncated
    if written.last_offset < 0 and end <= start:
        return PartitionOutcome.TAKEN  # the log is empty, and was not always
    try:
        for fetched in fetch_range(
            cluster, partition, start, end, isolation_level=READ_UNCOMMITTED
        ):
            for is_commit in _ends(fetched.data, transaction, start):
                return PartitionOutcome.COMMITTED if is_commit else PartitionOutcome.ABORTED
    except OffsetOutOfRange:
        return PartitionOutcome.TAKEN
    return PartitionOutcome.UNKNOWN


def _first_offset_after(
    cluster: Cluster, partition: TopicPartition, written: Written, decided_ms: int
) -> int:
    """If the offsets are unknown, because brokers answered that they had all batches already, they
    are looked up by time: no transaction is open for a day before its batch is decided. If clocks
    differ by more than that, the whole log is read."""
    if written.last_offset >= 0:
        return written.last_offset + 1
    wanted = {partition: max(0, decided_ms - DAY_MS)}
    found = list_offsets(cluster, wanted, READ_UNCOMMITTED)[partition].offset
    return earliest_offsets(cluster, [partition])[partition] if found == NO_OFFSET else found


def _ends(data: Buffer, transaction: TaskTransaction, start_offset: int) -> Iterator[bool]:
    """For each marker of this transaction, or a later one of its producer: whether it commits."""
    for position, header in iterate_headers(data):
        if not header.is_control or header.producer_id != transaction.producer_id:
            continue
        if header.base_offset < start_offset or header.producer_epoch < transaction.producer_epoch:
            continue
        marker = read_end_marker(data, position)
        if marker is not None:
            yield marker.is_commit
