"""The transaction coordinator of a broker: the transactional ids of the partitions that it leads.

    transactions = TransactionCoordinator(...)
    replicas.listeners.append(transactions)     # which partitions those are
    await transactions.run()                    # timeouts and expiry, until cancelled

Owns      the parts of the coordinator, and the tasks that work for it.
Promises  a transaction whose end is in the log gets its markers, also from the next coordinator.
          Whatever is answered is replicated. A transaction that outlives its timeout is aborted.
Leaves    the rules to the `decide_*` functions, the order of decisions and records to the runtime,
          what follows on a decided end to `finishing.py`.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Collection, Coroutine, Iterable, Iterator, Mapping
from typing import Any

from ottla.base.clock import Clock
from ottla.base.fault_points import FaultPoint, reach
from ottla.base.ids import TopicPartition
from ottla.base.log_messages.log_text import shown
from ottla.base.scheduling.pacing import pause_s
from ottla.base.scheduling.step_scheduler import StepScheduler
from ottla.base.scheduling.steps import Steps, run_blocking
from ottla.base.scheduling.tasks import OwnedTasks
from ottla.config.broker_options import BrokerConfig
from ottla.coordinators.batches import BatchFormat
from ottla.coordinators.internal_topic import CreateTopics, InternalTopic
from ottla.coordinators.runtime import Runtime, Topic
from ottla.coordinators.shard import Status
from ottla.coordinators.transactions.ending import (
    End,
    decide_end,
    decide_fence,
    producer_afterwards,
)
from ottla.coordinators.transactions.enlisting import decide_add_partitions, verifying
from ottla.coordinators.transactions.finishing import Finisher
from ottla.coordinators.transactions.initialising import Wanted, decide_init, must_abort_first
from ottla.coordinators.transactions.markers import MarkerSender
from ottla.coordinators.transactions.producer_id_source import ProducerIdSource
from ottla.coordinators.transactions.record_types import (
    TRANSACTION_RECORDS,
    record_of,
    tombstone_of,
)
from ottla.coordinators.transactions.shard import LoadedShard, TransactionShard
from ottla.coordinators.transactions.transaction import ProducerIdAndEpoch, Transaction
from ottla.metadata.features import TRANSACTION_VERSION
from ottla.metadata.image import Image
from ottla.metadata.topic_names import TRANSACTION_STATE
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.errors import BrokerError
from ottla.replication.partition import Partition

log = logging.getLogger(__name__)

TOMBSTONES_MAX = 25  # in one batch: an id may have 32 KiB


class TransactionCoordinator:
    def __init__(
        self,
        image: Image,
        config: BrokerConfig,
        clock: Clock,
        producer_ids: ProducerIdSource,
        markers: MarkerSender,
        create_topics: CreateTopics,
        scheduler: StepScheduler | None = None,
    ) -> None:
        self._scheduler = scheduler or StepScheduler(clock)
        self._tasks = OwnedTasks()
        self._image = image
        self._config = config
        self._clock = clock
        self._ids = producer_ids
        self.topic = InternalTopic(
            image, TRANSACTION_STATE, config.transaction_state_log_num_partitions, create_topics
        )
        self.runtime: Runtime[TransactionShard] = Runtime(
            Topic(
                TRANSACTION_STATE,
                TRANSACTION_RECORDS,
                BatchFormat(),
                lambda: self.topic.partition_count,
            ),
            TransactionShard,
            self._load_ended,
            clock.now_ms,
            config.request_timeout_ms,
            self._scheduler,
            self._tasks,
        )
        self._finisher = Finisher(markers, self._write, clock.now_ms, self._tasks)

    # Requests

    async def init_producer_id(self, wanted: Wanted) -> ProducerIdAndEpoch:
        """Give the transactional id to a new producer; those before it are fenced."""
        if not 0 < wanted.timeout_ms <= self._config.transaction_max_timeout_ms:
            raise BrokerError(ErrorCode.INVALID_TRANSACTION_TIMEOUT)
        shard, current = await self._find(wanted.transactional_id, may_be_new=True)
        if must_abort_first(current, wanted):
            assert current is not None
            await self.runtime.replicated(shard, self._fence(shard, current))
            # The producer tries again, and finds the transaction ended.
            raise BrokerError(ErrorCode.CONCURRENT_TRANSACTIONS)
        if current is None:
            self._check_room()
        changed = decide_init(current, wanted, self._ids.take, self._clock.now_ms())
        end_offset = self._write(shard, changed)
        reach(FaultPoint.PRODUCER_ID_LOGGED)
        await self.runtime.replicated(shard, end_offset)
        return changed.producer

    def _check_room(self) -> None:
        """BrokerError if no further transactional id is taken on."""
        known = sum(len(each.state.transactions) for each in self.runtime.active_shards())
        if known >= self._config.ottla_transactional_ids_max:
            what = f"{known} transactional ids are in use: ottla.transactional.ids.max"
            raise BrokerError(ErrorCode.COORDINATOR_NOT_AVAILABLE, what)

    async def add_partitions(
        self,
        transactional_id: str,
        producer: ProducerIdAndEpoch,
        partitions: Collection[TopicPartition],
        client_version: int,
    ) -> None:
        """Enlist partitions in the producer's transaction, which begins with the first."""
        shard = self.enlist(transactional_id, producer, partitions, client_version)
        await self.runtime.replicated(shard, shard.state.end_offset(transactional_id))

    def enlist(
        self,
        transactional_id: str,
        producer: ProducerIdAndEpoch,
        partitions: Collection[TopicPartition],
        client_version: int,
    ) -> LoadedShard:
        """The same; to be shown when the shard's log is replicated."""
        shard, current = self._get(transactional_id)
        now_ms = self._clock.now_ms()
        partitions_max = self._config.ottla_transaction_partitions_max
        changed = decide_add_partitions(
            current, producer, partitions, client_version, now_ms, partitions_max
        )
        if changed is not None:
            self._write(shard, changed)
            reach(FaultPoint.PARTITIONS_ENLISTED)
        return shard

    async def verify_partitions(
        self,
        transactional_id: str,
        producer: ProducerIdAndEpoch,
        partitions: Collection[TopicPartition],
    ) -> dict[TopicPartition, ErrorCode]:
        """Which partitions are enlisted in the producer's open transaction."""
        shard, codes = run_blocking(self.verifying(transactional_id, producer, partitions))
        await self.runtime.replicated(shard, shard.state.end_offset(transactional_id))
        return codes

    def verifying(
        self,
        transactional_id: str,
        producer: ProducerIdAndEpoch,
        partitions: Collection[TopicPartition],
    ) -> Steps[tuple[LoadedShard, dict[TopicPartition, ErrorCode]]]:
        """The same; to be shown when the shard's log is replicated."""
        shard, current = self._get(transactional_id)
        return shard, (yield from verifying(current, producer, partitions))

    async def end_transaction(self, transactional_id: str, end: End) -> ProducerIdAndEpoch:
        """Commit or abort; as whom the producer goes on. Markers follow."""
        reach(FaultPoint.END_RECEIVED)
        shard, current = await self._find(transactional_id)
        changed = decide_end(current, end, self._ids.take, self._clock.now_ms())
        if changed is None:
            assert current is not None
            await self.runtime.replicated(shard, shard.state.end_offset(transactional_id))
            return current.producer
        await self.runtime.replicated(shard, self._end(shard, changed))
        return producer_afterwards(changed)

    def describe(self, transactional_id: str) -> tuple[LoadedShard, Transaction]:
        """What is known of an id; to be shown when the shard's log is replicated."""
        shard, current = self._get(transactional_id)
        if current is None:
            raise BrokerError(ErrorCode.TRANSACTIONAL_ID_NOT_FOUND)
        return shard, current

    def unreplicated(self, shards: Iterable[LoadedShard]) -> dict[LoadedShard, int]:
        return self.runtime.unreplicated(shards)

    async def all_replicated(
        self, waiting: Mapping[LoadedShard, int]
    ) -> dict[LoadedShard, BrokerError]:
        return await self.runtime.all_replicated(waiting)

    def all_transactions(self) -> Iterator[Transaction]:
        """What this broker coordinates; tools ask every broker. It may change meanwhile."""
        if self.runtime.is_loading:
            raise BrokerError(ErrorCode.COORDINATOR_LOAD_IN_PROGRESS)
        shards = list(self.runtime.active_shards())
        return (each for shard in shards for each in list(shard.state.transactions.values()))

    @property
    def transaction_version(self) -> int:
        """The level of the protocol that the cluster has agreed on."""
        return self._image.features.get(TRANSACTION_VERSION, 0)

    # Reading and writing

    def _get(self, transactional_id: str) -> tuple[LoadedShard, Transaction | None]:
        if not transactional_id:
            raise BrokerError(ErrorCode.INVALID_REQUEST, "a transactional id without a name")
        shard = self.runtime.shard(transactional_id)
        return shard, shard.state.get(transactional_id)

    async def _find(
        self, transactional_id: str, *, may_be_new: bool = False
    ) -> tuple[LoadedShard, Transaction | None]:
        """The same; if the decision may need a new producer id, one is available."""
        shard, current = self._get(transactional_id)
        needs_id = may_be_new if current is None else current.is_epoch_spent
        if needs_id:
            await self._ids.ready()
            return self._get(transactional_id)
        return shard, current

    def _write(self, shard: LoadedShard, changed: Transaction) -> int:
        """Append and apply; the offset that must be replicated before it may be shown."""
        record = record_of(changed, self.transaction_version)
        end_offset = self.runtime.write(shard, [record])
        shard.state.remember_last_epoch(changed.transactional_id, changed.last_epoch)
        return end_offset

    def _fence(self, shard: LoadedShard, current: Transaction) -> int:
        """Abort an open transaction against its producer."""
        now_ms = self._clock.now_ms()
        version = self.transaction_version
        return self._end(shard, decide_fence(current, version, self._ids.take, now_ms))

    def _end(self, shard: LoadedShard, changed: Transaction) -> int:
        """Write the decision down; what follows on it happens whether or not anybody waits."""
        end_offset = self._write(shard, changed)
        reach(FaultPoint.PREPARE_LOGGED)
        self._finisher.begin(shard, changed, end_offset)
        return end_offset

    # Which partitions are led here

    def leads(self, partition: Partition) -> None:
        if partition.name.topic == TRANSACTION_STATE:
            self.runtime.lead(partition)

    def resigned(self, name: TopicPartition) -> None:
        if name.topic == TRANSACTION_STATE:
            self.runtime.resign(name.partition)

    async def _load_ended(self, shard: LoadedShard) -> None:
        """Finish the transactions whose end was decided before."""
        if shard.status is not Status.ACTIVE:
            return
        for ending in await self._scheduler.run(shard.state.ending()):
            await self._scheduler.next()
            if shard.status is not Status.ACTIVE:
                return  # the next coordinator finishes them
            end_offset = shard.state.end_offset(ending.transactional_id)
            self._finisher.begin(shard, ending, end_offset)

    # Timeouts and expiry

    async def run(self) -> None:
        """Abort and expire transactions in time, until cancelled."""
        config = self._config
        abort_ms = config.transaction_abort_timed_out_transaction_cleanup_interval_ms
        forget_ms = config.transaction_remove_expired_transaction_cleanup_interval_ms
        try:
            async with asyncio.TaskGroup() as tasks:
                tasks.create_task(repeat(self.abort_timed_out, abort_ms), name="timeouts")
                tasks.create_task(repeat(self.forget_expired, forget_ms), name="expiry")
        finally:
            await self._tasks.close()

    async def abort_timed_out(self) -> None:
        """Abort transactions that are open for longer than their timeout."""
        for shard in list(self.runtime.active_shards()):
            for each in await self._scheduler.run(shard.state.timed_out(self._clock.now_ms())):
                await self._scheduler.next()  # ending it takes a task and a batch
                try:
                    _, current = await self._find(each.transactional_id)
                    if current is each:
                        log.info("transactional id %s: timed out", shown(each.transactional_id))
                        self._fence(shard, each)
                except BrokerError as error:
                    log.warning("%s is not aborted yet: %s", shown(each.transactional_id), error)
                except Exception:  # damage, or a bug: the others are aborted in time all the same
                    log.exception("%s is not aborted yet", shown(each.transactional_id))

    async def forget_expired(self) -> None:
        """Forget transactional ids that nobody used for long."""
        expiration_ms = self._config.transactional_id_expiration_ms
        for shard in list(self.runtime.active_shards()):
            now_ms, state = self._clock.now_ms(), shard.state
            expired = await self._scheduler.run(state.expired(now_ms, expiration_ms))
            for at in range(0, len(expired), TOMBSTONES_MAX):
                if shard.status is not Status.ACTIVE:
                    break
                some = [each.transactional_id for each in expired[at : at + TOMBSTONES_MAX]]
                # One may have been taken up again while others had their turn.
                still = [each for each in some if state.is_expired(each, now_ms, expiration_ms)]
                self._forget(shard, still)
                await self._scheduler.next()

    def _forget(self, shard: LoadedShard, transactional_ids: Collection[str]) -> None:
        records = [tombstone_of(each) for each in transactional_ids]
        try:
            self.runtime.write(shard, records)
        except BrokerError as error:
            log.warning("%s: old transactional ids stay: %s", shard.partition.name, error)


async def repeat(work: Callable[[], Coroutine[Any, Any, None]], interval_ms: int) -> None:
    while True:
        await asyncio.sleep(pause_s(interval_ms))
        try:
            await work()
        except Exception:  # a bug: some transactions suffer from it, and no broker ends
            log.exception("bug in the timeouts or the expiry of transactions")
