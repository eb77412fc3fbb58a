"""Runs a coordinator's state machines, one per partition of its internal topic.

Owns      the loaded shards, and the order of every change: decide, append, apply, answer.
Promises  a record is applied when it is appended, in log order, so that the next decision sees it;
          a response waits until its record is replicated. The state of a shard equals its log:
          records that the log rejects have no effect, and after any other failure between a
          decision and the end of its step, the shard is loaded again. It is unloaded once, after
          its loader has ended: nothing is applied to it later.
Leaves    the decisions to the state machines, which use neither logs nor clocks, waiting for
          replication to `replicated_answers.py`.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Coroutine, Iterator, Sequence
from typing import Any, Generic, NamedTuple, TypeVar

from ottla.base.ids import TopicPartition
from ottla.base.scheduling.step_scheduler import StepScheduler
from ottla.base.scheduling.tasks import OwnedTasks
from ottla.coordinators.batches import COORDINATOR_ITSELF, BatchFormat, Writer
from ottla.coordinators.loading import load, while_leading
from ottla.coordinators.records import CoordinatorRecord, CoordinatorResult, RecordTypes
from ottla.coordinators.replicated_answers import ReplicatedAnswers, give
from ottla.coordinators.shard import S, Shard, Status
from ottla.coordinators.sharding import shard_of
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.errors import BrokerError
from ottla.protocol.records.control import EndMarker, build_end_marker
from ottla.replication.partition import Partition
from ottla.storage.errors import CorruptLogError
from ottla.storage.log.append import ProducedBy
from ottla.storage.producers.append_decisions import AppendOrigin

log = logging.getLogger(__name__)

A = TypeVar("A")
BY_COORDINATOR = ProducedBy(origin=AppendOrigin.COORDINATOR)


class CoordinatorTopic(NamedTuple):
    """The internal topic of a coordinator, and the encoding of its records."""

    name: str
    types: RecordTypes
    format: BatchFormat
    count_partitions: Callable[[], int]


LoadEnded = Callable[[Shard[S]], Coroutine[Any, Any, None]]


class Runtime(Generic[S]):
    def __init__(
        self,
        topic: CoordinatorTopic,
        make_state: Callable[[], S],
        load_ended: LoadEnded[S],
        now_ms: Callable[[], int],
        timeout_ms: int,
        scheduler: StepScheduler,
        tasks: OwnedTasks,
    ) -> None:
        """`load_ended` is called for every shard that was loaded, or failed to load (see its
        status). `timeout_ms` limits how long a response waits for replication."""
        self._topic = topic
        self._make_state = make_state
        self._load_ended = load_ended
        self._now_ms = now_ms
        self.answers = ReplicatedAnswers(timeout_ms / 1000, scheduler, tasks)
        self._scheduler = scheduler
        self._tasks = tasks
        self._shards: dict[int, Shard[S]] = {}
        self._loading: set[asyncio.Task[None]] = set()

    # Shards

    def shard(self, key: str) -> Shard[S]:
        """The loaded shard of a group or transactional id; BrokerError if there is none."""
        count = self._topic.count_partitions()
        if not count:
            raise BrokerError(ErrorCode.COORDINATOR_NOT_AVAILABLE)
        return self.shard_at(shard_of(key, count))

    def shard_at(self, number: int) -> Shard[S]:
        """The loaded shard of a partition of the topic; BrokerError if there is none."""
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

    async def loaded(self) -> None:
        """Wait until no shard is being loaded."""
        while self._loading:
            await asyncio.wait(self._loading)

    def leads(self, partition: Partition) -> None:
        """Notification of a leadership change; other topics are ignored."""
        if partition.name.topic != self._topic.name:
            return
        shard = self._shards.get(partition.name.partition)
        if shard is None or not shard.continues(partition):
            self.lead(partition)

    def resigned(self, name: TopicPartition) -> None:
        """Notification of lost leadership; other topics are ignored."""
        if name.topic == self._topic.name:
            self.resign(name.partition)

    def lead(self, partition: Partition) -> None:
        """This broker became leader of a partition: rebuild its state from the log.

        From this call on, no request is served from an older state.
        """
        number = partition.name.partition
        self.resign(number)
        shard = Shard(partition, self._make_state())
        self._shards[number] = shard
        task = self._tasks.start(self._load(number, shard), name=f"load {partition.name}")
        self._loading.add(task)
        task.add_done_callback(self._loading.discard)

    async def _load(self, number: int, shard: Shard[S]) -> None:
        started_ms = self._now_ms()
        try:
            await load(shard, self._topic.types, self._scheduler)
            await self._scheduler.run(while_leading(shard, shard.state.loaded(self._now_ms())))
            if shard.status is Status.LOADING:
                shard.activate()
                took_ms = self._now_ms() - started_ms
                log.info("%s: loaded in %d ms", shard.partition.name, took_ms)
        finally:
            if shard.status is not Status.ACTIVE:
                if self._shards.get(number) is shard:
                    del self._shards[number]
                self._unload(shard)
            await self._load_ended(shard)

    def resign(self, number: int) -> None:
        """Another broker became leader, or the topic was deleted."""
        shard = self._shards.pop(number, None)
        if shard is not None:
            was_loaded = shard.status is Status.ACTIVE
            shard.end()
            if was_loaded:  # otherwise its loader ends at its next step and unloads it
                self._unload(shard)

    def _unload(self, shard: Shard[S]) -> None:
        """The state does not change any more: free it."""
        shard.end()
        unloading = self._scheduler.run_later(shard.state.unloaded())
        self._tasks.start(unloading, name=f"unload {shard.partition.name}")

    def _load_again(self, shard: Shard[S]) -> None:
        """The state may differ from the log. Clients look up the coordinator again."""
        if not shard.is_unloaded:
            log.error("%s: a change has failed: loading the state again", shard.partition.name)
            self.lead(shard.partition)

    # One step: decide, append, apply, answer

    def decide(
        self,
        shard: Shard[S],
        decide: Callable[[S], CoordinatorResult[A]],
        writer: Writer = COORDINATOR_ITSELF,
        by: ProducedBy = BY_COORDINATOR,
    ) -> A | Awaitable[A]:
        """Execute a decision; the answer is returned when its records are replicated.

        BrokerError of the decision or of the log; then nothing has changed.
        """
        end_offset, answer = self._step(shard, decide, writer, by)
        return self.answers.answer(shard, end_offset, answer)

    def step(self, shard: Shard[S], decide: Callable[[S], list[CoordinatorRecord]]) -> int:
        """As `decide`, without an answer; returns the offset that must be replicated before the
        change is visible."""
        end_offset, _ = self._step(
            shard,
            lambda state: CoordinatorResult(decide(state), None),
            COORDINATOR_ITSELF,
            BY_COORDINATOR,
        )
        return end_offset

    def _step(
        self,
        shard: Shard[S],
        decide: Callable[[S], CoordinatorResult[A]],
        writer: Writer,
        by: ProducedBy,
    ) -> tuple[int, A]:
        try:
            records, answer = decide(shard.state)
        except BaseException:
            shard.state.cancel_step()
            raise
        try:
            end_offset = self.write(shard, records, writer, by)
        except BrokerError as error:
            give(shard.state.end_step(error.code))
            raise
        try:
            self.answers.respond(shard, end_offset, shard.state.end_step())
        except Exception:
            self._load_again(shard)
            raise
        return end_offset, answer

    def write(
        self,
        shard: Shard[S],
        records: Sequence[CoordinatorRecord],
        writer: Writer = COORDINATOR_ITSELF,
        by: ProducedBy = BY_COORDINATOR,
    ) -> int:
        """Append and apply records that were decided elsewhere; returns the offset that must be
        replicated before the change is visible."""
        if not records:
            return shard.log_end_offset

        def apply(first_offset: int) -> None:
            for at, record in enumerate(records):
                shard.state.apply(record, writer, first_offset + at)

        batch = self._topic.format.encode(records, self._now_ms(), writer)
        return self.write_batch(shard, batch, apply, by)

    def writer(self, shard: Shard[S]) -> Callable[[Sequence[CoordinatorRecord]], int]:
        return lambda records: self.write(shard, records)

    def write_marker(
        self,
        shard: Shard[S],
        writer: Writer,
        marker: EndMarker,
        by: ProducedBy = BY_COORDINATOR,
    ) -> int:
        """As `write`, for the end of a transaction that wrote records here."""
        batch = build_end_marker(
            *marker,
            producer_id=writer.producer_id,
            producer_epoch=writer.epoch,
            timestamp_ms=self._now_ms(),
        )
        return self.write_batch(
            shard, batch, lambda _offset: shard.state.apply_marker(writer, marker.is_commit), by
        )

    def write_batch(
        self,
        shard: Shard[S],
        batch: bytearray,
        apply: Callable[[int], None],
        by: ProducedBy = BY_COORDINATOR,
    ) -> int:
        """As `write`, for an encoded batch; `apply` is called with its base offset."""
        try:
            appended = shard.append(batch, by)
        except BrokerError:
            raise  # rejected by the log, without a change
        except Exception as error:
            if isinstance(error, CorruptLogError):
                shard.partition.report_damage(error)
            self._load_again(shard)
            raise
        try:
            apply(appended.first_offset)
        except Exception:
            self._load_again(shard)
            raise
        return appended.last_offset + 1

    @property
    def format(self) -> BatchFormat:
        return self._topic.format
