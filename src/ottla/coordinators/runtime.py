"""Runs a coordinator's state machines, one per partition of its internal topic.

Owns      which shards are loaded, and the order of decide, append, apply and answer.
Promises  a record is applied when it is appended, in the order of the log, so that the next request
          decides on it; an answer waits until the record is replicated. A failed append or a lost
          leadership throws the shard away, and the next leader rebuilds it from the log. A shard
          is unloaded once, after its loader has ended: nothing is applied to it later.
Leaves    what is decided to the state machines, which know neither logs nor time.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine, Iterable, Iterator, Mapping, Sequence
from enum import Enum
from functools import partial
from typing import Any, Generic, Protocol, TypeVar

from ottla.base.cold_reads import look
from ottla.base.tasks import OwnedTasks
from ottla.base.turns import Slices, Turns
from ottla.coordinators.records import (
    CoordinatorRecord,
    RecordTypes,
    decode_record,
    encode_key,
    encode_value,
)
from ottla.coordinators.sharding import shard_of
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.errors import BrokerError
from ottla.protocol.records.batch import (
    HEADER_BYTES,
    NO_PRODUCER_ID,
    NO_SEQUENCE,
    iterate_headers,
)
from ottla.protocol.records.building import build_batch
from ottla.protocol.records.compression import Codec
from ottla.protocol.records.control import EndMarker, build_end_marker, read_end_marker
from ottla.protocol.records.reading import iterate_records
from ottla.protocol.records.record import Record
from ottla.replication.partition import ACKS_ALL, Partition
from ottla.storage.errors import StorageError
from ottla.storage.log.append import Appended, ProducedBy
from ottla.storage.log.log import Log
from ottla.storage.producers.append_decisions import AppendOrigin

log = logging.getLogger(__name__)

BY_COORDINATOR = ProducedBy(origin=AppendOrigin.COORDINATOR)
RECORD_BYTES = 40  # of a record, at most, besides its key and value
LOAD_BYTES = 128 * 1024


class Writer:
    """Who wrote records: a transaction's producer, or nobody in particular."""

    __slots__ = ("epoch", "producer_id")

    def __init__(self, producer_id: int = NO_PRODUCER_ID, epoch: int = -1) -> None:
        self.producer_id = producer_id
        self.epoch = epoch

    @property
    def is_transactional(self) -> bool:
        return self.producer_id != NO_PRODUCER_ID


NOBODY = Writer()


class ShardState(Protocol):
    """A state machine. Applying is the only way it changes, live and at loading alike."""

    def apply(self, record: CoordinatorRecord, writer: Writer, offset: int) -> None: ...

    def apply_marker(self, writer: Writer, is_commit: bool) -> None:
        """A transaction that wrote records here has ended."""

    def loaded(self, now_ms: int) -> Slices[None]:
        """All records of the log are applied: timers may start."""

    def unloaded(self) -> Slices[None]:
        """Another broker leads: whoever waits is told so."""


S = TypeVar("S", bound=ShardState)


class Status(Enum):
    LOADING = "loading"
    ACTIVE = "active"
    GONE = "gone"


class Shard(Generic[S]):
    """One partition of the internal topic and the state that its records amount to."""

    def __init__(
        self,
        partition: Partition,
        state: S,
        codec: int = Codec.NONE,
        base_sequence: int = NO_SEQUENCE,
    ) -> None:
        self.partition = partition
        self.state = state
        self.codec = codec
        self.base_sequence = base_sequence
        self.status = Status.LOADING
        self.leader_epoch = partition.leader_epoch

    @property
    def is_gone(self) -> bool:
        """Another broker leads, or has led since: nothing is read or written here any more."""
        return self.status is Status.GONE

    def write(
        self,
        records: Sequence[CoordinatorRecord],
        now_ms: int,
        writer: Writer = NOBODY,
        by: ProducedBy = BY_COORDINATOR,
    ) -> int:
        """Append and apply; the offset that must be replicated before anybody is told."""
        if not records:
            return self.partition.log.log_end_offset
        appended = self._append(self._encode(records, now_ms, writer), by)
        for at, record in enumerate(records):
            self.state.apply(record, writer, appended.first_offset + at)
        return appended.last_offset + 1

    def write_batch(
        self,
        batch: bytearray,
        apply: Callable[[int], None],
        by: ProducedBy = BY_COORDINATOR,
    ) -> int:
        """As `write`, for a batch that was built before; `apply` is given its first offset."""
        appended = self._append(batch, by)
        apply(appended.first_offset)
        return appended.last_offset + 1

    def write_apart(self, records: Sequence[CoordinatorRecord], now_ms: int) -> int:
        """As `write`, in as many batches as it takes: each record counts by itself."""
        end_offset = self.partition.log.log_end_offset
        for some in in_batches(records, self.partition.log.config.max_message_bytes):
            end_offset = self.write(some, now_ms)
        return end_offset

    def _encode(
        self, records: Sequence[CoordinatorRecord], now_ms: int, writer: Writer
    ) -> bytearray:
        return encode_batch(records, now_ms, writer, self.codec, self.base_sequence)

    def write_marker(
        self,
        writer: Writer,
        marker: EndMarker,
        now_ms: int,
        by: ProducedBy = BY_COORDINATOR,
    ) -> int:
        """End a transaction that wrote records here; the offset that must be replicated."""
        batch = build_end_marker(
            *marker,
            producer_id=writer.producer_id,
            producer_epoch=writer.epoch,
            timestamp_ms=now_ms,
        )
        appended = self._append(batch, by)
        self.state.apply_marker(writer, marker.is_commit)
        return appended.last_offset + 1

    def _append(self, batch: bytearray, by: ProducedBy) -> Appended:
        if self.is_gone:  # this broker may lead again, but with another state
            raise BrokerError(ErrorCode.NOT_COORDINATOR)
        try:
            return self.partition.append(batch, ACKS_ALL, by)
        except BrokerError as error:
            raise as_coordinator_error(error) from error

    def check_current(self) -> None:
        """BrokerError if another broker has led since, and may have changed what was read."""
        if self.status is not Status.ACTIVE:
            raise BrokerError(ErrorCode.NOT_COORDINATOR)

    def is_replicated(self, end_offset: int) -> bool:
        """Whether what was written or read below this offset may be shown now."""
        return self.status is not Status.GONE and self.partition.is_replicated(end_offset)

    async def replicated(self, end_offset: int) -> None:
        """Until a written record may be shown.

        BrokerError if another broker has led since: the record may have been truncated, and its
        offset may be another record's. Whoever waits when that happens is told by the partition.
        """
        if self.is_gone:
            raise BrokerError(ErrorCode.NOT_COORDINATOR)
        try:
            await self.partition.wait_replicated(end_offset)
        except BrokerError as error:
            raise as_coordinator_error(error) from error


class Runtime(Generic[S]):
    def __init__(
        self,
        topic: str,
        types: RecordTypes,
        make_state: Callable[[int], S],
        count_partitions: Callable[[], int],
        now_ms: Callable[[], int],
        turns: Turns,
        tasks: OwnedTasks,
        codec: int = Codec.NONE,
        base_sequence: int = NO_SEQUENCE,
    ) -> None:
        """`base_sequence` is what Kafka writes into each batch of this topic; nobody reads it."""
        self.topic = topic
        self.types = types
        self._make_state = make_state
        self._count_partitions = count_partitions
        self._now_ms = now_ms
        self._turns = turns
        self._tasks = tasks
        self._codec = codec
        self._base_sequence = base_sequence
        self._shards: dict[int, Shard[S]] = {}

    def shard_number(self, key: str) -> int:
        return shard_of(key, self._count_partitions())

    def shard(self, key: str) -> Shard[S]:
        """The loaded shard of a group or transactional id; BrokerError while there is none."""
        if not self._count_partitions():
            raise BrokerError(ErrorCode.COORDINATOR_NOT_AVAILABLE)
        return self.shard_at(self.shard_number(key))

    def shard_at(self, number: int) -> Shard[S]:
        """The loaded shard of a partition of the topic; BrokerError while there is none."""
        shard = self._shards.get(number)
        if shard is None:
            raise BrokerError(ErrorCode.NOT_COORDINATOR)
        if shard.status is Status.LOADING:
            raise BrokerError(ErrorCode.COORDINATOR_LOAD_IN_PROGRESS)
        return shard

    def active_shards(self) -> Iterator[Shard[S]]:
        return (shard for shard in self._shards.values() if shard.status is Status.ACTIVE)

    @property
    def is_loading(self) -> bool:
        return any(shard.status is Status.LOADING for shard in self._shards.values())

    def lead(self, partition: Partition) -> Coroutine[Any, Any, None]:
        """This broker leads a partition of the topic: rebuild its state from the log.

        From this call on nobody is served from an older state; to be awaited until it is loaded.
        """
        number = partition.name.partition
        self.resign(number)
        state = self._make_state(number)
        shard = Shard(partition, state, self._codec, self._base_sequence)
        self._shards[number] = shard
        return self._load(number, shard)

    async def _load(self, number: int, shard: Shard[S]) -> None:
        try:
            await load(shard, self.types, self._turns)
            await self._turns.run(until_gone(shard, shard.state.loaded(self._now_ms())))
            if shard.status is Status.LOADING:
                shard.status = Status.ACTIVE
        finally:
            if shard.status is not Status.ACTIVE:
                if self._shards.get(number) is shard:
                    del self._shards[number]
                self._unload(shard)

    def resign(self, number: int) -> None:
        """Another broker leads, or the topic is gone."""
        shard = self._shards.pop(number, None)
        if shard is not None:
            was_loaded = shard.status is Status.ACTIVE
            shard.status = Status.GONE
            if was_loaded:  # else its loader ends at its next step, and unloads it then
                self._unload(shard)

    def _unload(self, shard: Shard[S]) -> None:
        """Nothing changes the state any more: free what it holds."""
        shard.status = Status.GONE
        unloading = self._turns.run_later(shard.state.unloaded())
        self._tasks.start(unloading, name=f"unload {shard.partition.name}")


def until_gone(shard: Shard[S], slices: Slices[None]) -> Slices[None]:
    """The work, as long as this broker leads the shard's partition."""
    for grown in slices:
        yield grown
        if shard.is_gone:
            slices.close()
            return


def encode_batch(
    records: Sequence[CoordinatorRecord],
    now_ms: int,
    writer: Writer,
    codec: int = Codec.NONE,
    base_sequence: int = NO_SEQUENCE,
) -> bytearray:
    rows = [
        Record(at, now_ms, encode_key(record.key), encode_value(record), ())
        for at, record in enumerate(records)
    ]
    return build_rows(rows, writer, codec, base_sequence)


def build_rows(rows: Sequence[Record], writer: Writer, codec: int, base_sequence: int) -> bytearray:
    """One batch of encoded records. For any thread."""
    return build_batch(
        rows,
        codec=codec,
        producer_id=writer.producer_id,
        producer_epoch=writer.epoch,
        base_sequence=base_sequence,
        is_transactional=writer.is_transactional,
    )


def in_batches(
    records: Sequence[CoordinatorRecord], bytes_max: int
) -> Iterator[list[CoordinatorRecord]]:
    """The records in their order, as many at a time as surely fit into one batch."""
    some: list[CoordinatorRecord] = []
    size = HEADER_BYTES
    for record in records:
        record_size = RECORD_BYTES + len(encode_key(record.key)) + len(encode_value(record) or b"")
        if some and size + record_size > bytes_max:
            yield some
            some, size = [], HEADER_BYTES
        some.append(record)
        size += record_size
    if some:
        yield some


async def load(shard: Shard[S], types: RecordTypes, turns: Turns) -> None:
    """Apply every record of the log, in slices, unless another broker leads meanwhile."""
    offset = shard.partition.log.log_start_offset
    end_offset = shard.partition.log.log_end_offset
    while offset < end_offset and not shard.is_gone:
        partition_log = shard.partition.log
        try:
            data = await read_some(partition_log, offset, end_offset)
        except (OSError, BrokerError, StorageError):
            if shard.is_gone:
                return  # the log may be closed
            if partition_log is shard.partition.log:
                raise
            continue  # it is in another directory by now, with the same records
        offset = await turns.run_later(applying(shard, types, data, offset))


async def read_some(partition_log: Log, offset: int, end_offset: int) -> bytes:
    found = await look(partial(partition_log.read, offset, LOAD_BYTES, end_offset))
    if found.check is not None:
        await asyncio.to_thread(found.check.run)
        found.check.confirm()
    return found.records.read()


def applying(shard: Shard[S], types: RecordTypes, data: bytes, offset: int) -> Slices[int]:
    """Apply the whole batches in `data` from `offset` on; where to go on.

    It ends when another broker leads: what the shard holds is freed then.
    """
    for position, header in iterate_headers(data):
        writer = Writer(header.producer_id, header.producer_epoch)
        if shard.is_gone:
            break
        if header.is_control:
            marker = read_end_marker(data, position)
            if marker is not None:
                shard.state.apply_marker(writer, marker.is_commit)
        else:
            writer = writer if header.is_transactional else NOBODY
            for record in iterate_records(data, position):
                decoded = decode_record(types, record.key, record.value)
                if decoded is not None and record.offset >= offset:
                    shard.state.apply(decoded, writer, record.offset)
                yield 0
                if shard.is_gone:
                    return offset
        offset = header.next_offset
        yield 0
    return offset


def unreplicated(shards: Iterable[Shard[S]]) -> dict[Shard[S], int]:
    """The shards of which nothing may be shown yet, and the ends of their logs."""
    ends = {each: each.partition.log.log_end_offset for each in shards}
    return {each: end for each, end in ends.items() if not each.is_replicated(end)}


async def all_replicated(
    waiting: Mapping[Shard[S], int], timeout_s: float
) -> dict[Shard[S], BrokerError]:
    """Wait until what was read of these shards may be shown; for which that has failed."""
    failed: dict[Shard[S], BrokerError] = {}

    async def wait(shard: Shard[S], end_offset: int) -> None:
        try:
            async with asyncio.timeout(timeout_s):
                await shard.replicated(end_offset)
        except TimeoutError:
            failed[shard] = BrokerError(ErrorCode.COORDINATOR_NOT_AVAILABLE)
        except BrokerError as error:
            failed[shard] = error

    await asyncio.gather(*(wait(*each) for each in waiting.items()))
    return failed


COORDINATOR_ERRORS = {
    ErrorCode.UNKNOWN_TOPIC_OR_PARTITION: ErrorCode.COORDINATOR_NOT_AVAILABLE,
    ErrorCode.NOT_ENOUGH_REPLICAS: ErrorCode.COORDINATOR_NOT_AVAILABLE,
    ErrorCode.NOT_ENOUGH_REPLICAS_AFTER_APPEND: ErrorCode.COORDINATOR_NOT_AVAILABLE,
    ErrorCode.REQUEST_TIMED_OUT: ErrorCode.COORDINATOR_NOT_AVAILABLE,
    ErrorCode.NOT_LEADER_OR_FOLLOWER: ErrorCode.NOT_COORDINATOR,
    ErrorCode.KAFKA_STORAGE_ERROR: ErrorCode.NOT_COORDINATOR,
    ErrorCode.MESSAGE_TOO_LARGE: ErrorCode.UNKNOWN_SERVER_ERROR,
    ErrorCode.RECORD_LIST_TOO_LARGE: ErrorCode.UNKNOWN_SERVER_ERROR,
}


def as_coordinator_error(error: BrokerError) -> BrokerError:
    """What a log's trouble means to the client of a coordinator."""
    return BrokerError(COORDINATOR_ERRORS.get(error.code, error.code), error.message)
