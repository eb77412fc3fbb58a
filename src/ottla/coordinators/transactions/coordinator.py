"""The transaction coordinator of a broker: the transactional ids of the partitions that it leads.

    transactions = TransactionCoordinator(...)
    replicas.listeners.append(transactions)     # notified of leadership changes
    await transactions.run()                    # timeouts and expiration, until cancelled

Owns      the components of the coordinator, and its tasks.
Promises  a transaction whose end is in the log gets its markers, if necessary from the next
          coordinator. Responses are sent after replication. A transaction that exceeds its timeout
          is aborted.
Leaves    the rules to the `decide_*` functions, the order of decisions and records to the runtime,
          completing a decided end to `finishing.py`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from ottla.base.clock import Clock
from ottla.base.fault_points import FaultPoint, reach
from ottla.base.ids import TopicPartition
from ottla.base.scheduling.step_scheduler import StepScheduler
from ottla.base.scheduling.steps import Steps, run_blocking
from ottla.base.scheduling.tasks import OwnedTasks
from ottla.config.broker_options import BrokerConfig
from ottla.coordinators.batches import BatchFormat
from ottla.coordinators.internal_topic import CreateTopics, InternalTopic
from ottla.coordinators.runtime import CoordinatorTopic, Runtime
from ottla.coordinators.shard import Status
from ottla.coordinators.transactions.ending import (
    EndRequest,
    decide_end,
    decide_fence,
    producer_afterwards,
)
from ottla.coordinators.transactions.enlisting import decide_add_partitions, verifying
from ottla.coordinators.transactions.expiration import TransactionExpiration
from ottla.coordinators.transactions.finishing import Finisher
from ottla.coordinators.transactions.initialising import InitRequest, decide_init, must_abort_first
from ottla.coordinators.transactions.markers import MarkerSender
from ottla.coordinators.transactions.producer_id_source import ProducerIdSource
from ottla.coordinators.transactions.record_types import TRANSACTION_RECORDS, record_of
from ottla.coordinators.transactions.shard import LoadedShard, TransactionShard
from ottla.coordinators.transactions.states import ENDING
from ottla.coordinators.transactions.transaction import ProducerIdAndEpoch, Transaction
from ottla.metadata.features import TRANSACTION_VERSION
from ottla.metadata.image import Image
from ottla.metadata.topic_names import TRANSACTION_STATE
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.errors import BrokerError


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
            CoordinatorTopic(
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
        self.leads, self.resigned = self.runtime.leads, self.runtime.resigned
        self.expiration = TransactionExpiration(
            self.runtime, config, clock, self._scheduler, self._find, self._fence
        )
        self._finisher = Finisher(markers, self._write, clock.now_ms, self._tasks)

    # Requests

    async def init_producer_id(self, wanted: InitRequest) -> ProducerIdAndEpoch:
        """Assign the transactional id to a new producer; earlier ones are fenced."""
        if not 0 < wanted.timeout_ms <= self._config.transaction_max_timeout_ms:
            raise BrokerError(ErrorCode.INVALID_TRANSACTION_TIMEOUT)
        shard, current = await self._find(wanted.transactional_id, may_be_new=True)
        if must_abort_first(current, wanted):
            assert current is not None
            await self.runtime.answers.replicated(shard, self._fence(shard, current))
            # The producer retries, and finds the transaction ended.
            raise BrokerError(ErrorCode.CONCURRENT_TRANSACTIONS)
        if current is None:
            self._check_room()
        changed = decide_init(current, wanted, self._ids.take, self._clock.now_ms())
        end_offset = self._write(shard, changed)
        reach(FaultPoint.PRODUCER_ID_LOGGED)
        await self.runtime.answers.replicated(shard, end_offset)
        return changed.producer

    def _check_room(self) -> None:
        """BrokerError if the limit of transactional ids is reached."""
        known = sum(len(each.state.transactions) for each in self.runtime.active_shards())
        if known >= self._config.ottla_transactional_ids_max:
            what = f"{known} transactional ids are in use: ottla.transactional.ids.max"
            raise BrokerError(ErrorCode.COORDINATOR_NOT_AVAILABLE, what)

    def is_ending(self, transactional_id: str) -> bool:
        """Whether the last transaction of the id is decided, and its markers are written."""
        _, current = self._get(transactional_id)
        return current is not None and current.state in ENDING

    async def wait_ended(self, transactional_id: str) -> None:
        """Wait for a short time until the last transaction of the id has ended."""
        timeout_ms = self._config.add_partitions_to_txn_retry_backoff_max_ms
        await self._finisher.wait(transactional_id, timeout_ms / 1000)

    async def add_partitions(
        self,
        transactional_id: str,
        producer: ProducerIdAndEpoch,
        partitions: Collection[TopicPartition],
        client_version: int,
    ) -> None:
        """Add partitions to the producer's transaction, which starts with the first one."""
        shard = self.enlist(transactional_id, producer, partitions, client_version)
        await self.runtime.answers.replicated(shard, shard.state.end_offset(transactional_id))

    def enlist(
        self,
        transactional_id: str,
        producer: ProducerIdAndEpoch,
        partitions: Collection[TopicPartition],
        client_version: int,
    ) -> LoadedShard:
        """The same; visible once the shard's log is replicated."""
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
        """The error code of each partition; NONE if it is part of the producer's open
        transaction."""
        shard, codes = run_blocking(self.verifying(transactional_id, producer, partitions))
        await self.runtime.answers.replicated(shard, shard.state.end_offset(transactional_id))
        return codes

    def verifying(
        self,
        transactional_id: str,
        producer: ProducerIdAndEpoch,
        partitions: Collection[TopicPartition],
    ) -> Steps[tuple[LoadedShard, dict[TopicPartition, ErrorCode]]]:
        """The same; visible once the shard's log is replicated."""
        shard, current = self._get(transactional_id)
        return shard, (yield from verifying(current, producer, partitions))

    async def end_transaction(self, transactional_id: str, end: EndRequest) -> ProducerIdAndEpoch:
        """Commit or abort; returns the producer id and epoch for the next transaction. Markers
        follow."""
        reach(FaultPoint.END_RECEIVED)
        shard, current = await self._find(transactional_id)
        changed = decide_end(current, end, self._ids.take, self._clock.now_ms())
        if changed is None:
            assert current is not None
            await self.runtime.answers.replicated(shard, shard.state.end_offset(transactional_id))
            return current.producer
        await self.runtime.answers.replicated(shard, self._end(shard, changed))
        return producer_afterwards(changed)

    def describe(self, transactional_id: str) -> tuple[LoadedShard, Transaction]:
        """The state of an id; visible once the shard's log is replicated."""
        shard, current = self._get(transactional_id)
        if current is None:
            raise BrokerError(ErrorCode.TRANSACTIONAL_ID_NOT_FOUND)
        return shard, current

    async def all_replicated(
        self, waiting: Mapping[LoadedShard, int]
    ) -> dict[LoadedShard, BrokerError]:
        return await self.runtime.answers.all_replicated(waiting)

    def all_transactions(self) -> Iterator[Transaction]:
        """The transactions coordinated by this broker; clients query every broker."""
        if self.runtime.is_loading:
            raise BrokerError(ErrorCode.COORDINATOR_LOAD_IN_PROGRESS)
        shards = list(self.runtime.active_shards())
        return (each for shard in shards for each in list(shard.state.transactions.values()))

    @property
    def transaction_version(self) -> int:
        """The finalised feature level of the cluster."""
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
        """Append and apply; returns the offset that must be replicated before it is visible."""
        record = record_of(changed, self.transaction_version)
        end_offset = self.runtime.write(shard, [record])
        shard.state.remember_last_epoch(changed.transactional_id, changed.last_epoch)
        return end_offset

    def _fence(self, shard: LoadedShard, current: Transaction) -> int:
        """Abort an open transaction and fence its producer."""
        now_ms = self._clock.now_ms()
        version = self.transaction_version
        return self._end(shard, decide_fence(current, version, self._ids.take, now_ms))

    def _end(self, shard: LoadedShard, changed: Transaction) -> int:
        """Write the decision, and start to complete it in the background."""
        end_offset = self._write(shard, changed)
        reach(FaultPoint.PREPARE_LOGGED)
        self._finisher.begin(shard, changed, end_offset)
        return end_offset

    # Loading

    async def _load_ended(self, shard: LoadedShard) -> None:
        """Complete the transactions whose end was decided before."""
        if shard.status is not Status.ACTIVE:
            return
        for ending in await self._scheduler.run(shard.state.ending()):
            await self._scheduler.next()
            if shard.status is not Status.ACTIVE:
                return  # the next coordinator completes them
            end_offset = shard.state.end_offset(ending.transactional_id)
            self._finisher.begin(shard, ending, end_offset)

    # Timeouts

    async def run(self) -> None:
        """Abort timed-out transactions and delete expired ids, until cancelled."""
        try:
            await self.expiration.run()
        finally:
            await self._tasks.close()
