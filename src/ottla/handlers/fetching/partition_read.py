"""Reading one partition: its records as a range of a file, its offsets, or an error.

Promises  an error of one partition does not affect the others.
Leaves    reading the bytes to the network, verifying them to `checking.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, cast

from ottla.base.clock import monotonic_ms
from ottla.base.files.readers import Reader
from ottla.base.ids import NO_BROKER_EPOCH, NO_LEADER_EPOCH, TopicId
from ottla.handlers.fetching.closest_replica import THIS_REPLICA, closest_replica
from ottla.handlers.fetching.requested import RequestedPartitions
from ottla.handlers.partitions.damage import damaged
from ottla.handlers.serving.context import Context
from ottla.metadata.image import Image
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.errors import BrokerError
from ottla.protocol.messages.fetch_response import (
    AbortedTransaction,
    EpochEndOffset,
    PartitionData,
)
from ottla.replication.fetch_sessions import NO_MARK, WantedPartition
from ottla.replication.partition import Partition
from ottla.storage.errors import CorruptLogError
from ottla.storage.log.read_range import RangeCheck

NOTHING = b""  # zero bytes, never null: some clients treat null as an error


class PartitionRead(NamedTuple):
    """The result of reading one partition."""

    wanted: WantedPartition
    answer: PartitionData
    partition: Partition | None
    check: RangeCheck | None = None  # must succeed before the response is sent
    mark: int = NO_MARK  # of the session, when the partition was read

    @property
    def size(self) -> int:
        return len(self.answer.records or NOTHING)

    @property
    def log_end_offset(self) -> int:
        """The log end offset. Only for a partition that exists."""
        assert self.partition is not None
        return self.partition.log.log_end_offset

    @property
    def is_urgent(self) -> bool:
        """Whether it cannot wait for more data."""
        answer = self.answer
        return (
            bool(answer.error_code)
            or answer.diverging_epoch is not None
            or answer.preferred_read_replica != THIS_REPLICA
        )


def look_up(
    reader: Reader,
    wanted: WantedPartition,
    requested: RequestedPartitions,
    context: Context,
    room: int,
    *,
    is_first: bool,
) -> PartitionRead:
    """At most `room` bytes; the first partition with data returns at least one batch (KIP-74)."""
    try:
        partition = context.parts.replicas.partition_by_key(wanted.key)
    except BrokerError as error:
        return PartitionRead(wanted, _absent(wanted, error.code, context.parts.metadata), None)
    session = requested.session
    if session is not None and partition.fetches.notify_session(session, wanted.key):
        wanted.topic_name = partition.name.topic
    try:
        return _read(reader, wanted, requested, partition, room, is_first, context)
    except BrokerError as error:
        return PartitionRead(wanted, failed(wanted, error.code), partition)
    except CorruptLogError as error:
        return PartitionRead(wanted, failed(wanted, damaged(partition, error).code), partition)


def _absent(wanted: WantedPartition, code: ErrorCode, image: Image) -> PartitionData:
    """For a deleted topic, a session with topic ids gets the error of its name, as in Kafka."""
    (topic_key, index), name = wanted.key, wanted.topic_name
    if isinstance(topic_key, bytes):
        topic = image.topic_by_id(TopicId(topic_key))
        if topic is not None:
            wanted.topic_name = topic.name
        elif name is not None and image.partition(name, index) is not None:
            return failed(wanted, ErrorCode.INCONSISTENT_TOPIC_ID)
        elif name is not None:
            code = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    answer = failed(wanted, code)
    answer.aborted_transactions = ()  # as in Kafka, only for absent partitions
    return answer


def _read(
    reader: Reader,
    wanted: WantedPartition,
    requested: RequestedPartitions,
    partition: Partition,
    room: int,
    is_first: bool,
    context: Context,
) -> PartitionRead:
    if requested.may_read_followers:
        partition.check_epoch(max(NO_LEADER_EPOCH, wanted.current_leader_epoch))
        partition.check_served_here(wanted.fetch_offset)
    else:
        partition.check_leader(max(NO_LEADER_EPOCH, wanted.current_leader_epoch))
    if requested.is_follower:
        partition.check_follower(requested.follower, wanted.current_leader_epoch)
    if wanted.last_fetched_epoch >= 0:
        diverging = _find_divergence(reader, wanted, requested, partition)
        if diverging is not None:
            return diverging
    if requested.is_follower:
        _note_progress(wanted, requested, partition, context)
    answer = _describe(reader, wanted, partition, requested.is_committed)
    if requested.is_follower and _is_held_back(requested.follower, partition, context):
        mark = NO_MARK if requested.session is None else requested.mark_of(wanted.key)
        return PartitionRead(wanted, answer, partition, mark=mark)  # still to be read
    if requested.rack and _names_closest(answer, wanted, requested.rack, partition, context):
        return PartitionRead(wanted, answer, partition)
    bytes_max = min(wanted.partition_bytes_max, room)
    found = partition.read(
        reader,
        wanted.fetch_offset,
        bytes_max,
        is_committed=requested.is_committed,
        at_least_one=is_first,
        is_follower=requested.is_follower,
    )
    if len(found.records):
        answer.records = found.records
        if found.aborted is not None:
            # Not converted, as there may be very many: they have the attributes of the message.
            answer.aborted_transactions = cast(Sequence[AbortedTransaction], found.aborted)
    elif bytes_max > 0 and wanted.fetch_offset < answer.last_stable_offset:
        # The first batch did not fit: as in Kafka, without aborted transactions.
        answer.aborted_transactions = None
    mark = NO_MARK if requested.session is None else requested.mark_of(wanted.key)
    return PartitionRead(wanted, answer, partition, found.check, mark)


def _names_closest(
    answer: PartitionData,
    wanted: WantedPartition,
    rack: str,
    partition: Partition,
    context: Context,
) -> bool:
    """Whether the consumer is sent to another replica, in its rack."""
    closest = closest_replica(partition, wanted.fetch_offset, rack, context)
    if closest == THIS_REPLICA:
        return False
    answer.preferred_read_replica = closest
    answer.aborted_transactions = None
    return True


def _find_divergence(
    reader: Reader, wanted: WantedPartition, requested: RequestedPartitions, partition: Partition
) -> PartitionRead | None:
    """The response if the log of the reader differs from this one before the wanted offset."""
    end = partition.divergence(reader, wanted.last_fetched_epoch, wanted.fetch_offset)
    if end is None:
        return None
    answer = _describe(reader, wanted, partition, requested.is_committed)
    answer.diverging_epoch = EpochEndOffset(*end)
    answer.aborted_transactions = None
    return PartitionRead(wanted, answer, partition)


def _note_progress(
    wanted: WantedPartition,
    requested: RequestedPartitions,
    partition: Partition,
    context: Context,
) -> None:
    """A follower has everything below the offset that it fetches from. It counts if the request is
    of the process that is registered: another one may have lost its records.

    If the registration has not arrived here yet, the follower must ask again: a session does not
    read an idle partition a second time."""
    offsets, epoch = partition.log.offsets, requested.follower_epoch
    if epoch == NO_BROKER_EPOCH or not offsets.start <= wanted.fetch_offset <= offsets.end:
        return
    broker = context.parts.metadata.broker(requested.follower)
    if broker is None or broker.epoch < epoch:
        raise BrokerError(ErrorCode.UNKNOWN_LEADER_EPOCH)
    if broker.epoch > epoch:
        raise BrokerError(ErrorCode.NOT_LEADER_OR_FOLLOWER)
    partition.follower_fetched(
        broker.id,
        epoch,
        wanted.fetch_offset,
        wanted.log_start_offset,
        monotonic_ms(context.parts.clock),
    )


def _is_held_back(follower: int, partition: Partition, context: Context) -> bool:
    """Whether a follower that catches up has to wait, because of its throttle."""
    state = partition.leader_state
    if state is None or follower in state.in_sync_replicas:
        return False
    return context.parts.leader_quota.holds_back(partition)


def _describe(
    reader: Reader, wanted: WantedPartition, partition: Partition, is_committed: bool
) -> PartitionData:
    log = partition.log
    offsets = log.offsets
    return PartitionData(
        wanted.key.partition,
        0,
        offsets.high_watermark,
        log.last_stable_offset(reader),
        offsets.start,
        aborted_transactions=() if is_committed else None,
        records=NOTHING,
    )


def failed(wanted: WantedPartition, code: ErrorCode) -> PartitionData:
    return PartitionData(
        wanted.key.partition, code, -1, -1, -1, aborted_transactions=None, records=NOTHING
    )
