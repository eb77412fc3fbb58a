"""The transaction coordinator in a whole broker: time, restarts, replication."""

from __future__ import annotations

import asyncio
import errno
import threading
from collections.abc import Awaitable, Callable, Iterator
from functools import partial
from typing import Any, TypeVar

import pytest
from tests.support.raw_client import batch_of
from tests.unit.handlers.test_alter_replica_log_dirs import move
from tests.unit.handlers.test_alter_replica_log_dirs import settle as settle_moves
from tests.unit.handlers.test_cold_data import SlowDisk
from tests.unit.handlers.world import DIRECTORIES, World

from ottla.base.files.readers import BLOCKING, Reader
from ottla.base.ids import TopicPartition
from ottla.base.scheduling.step_scheduler import StepScheduler
from ottla.base.scheduling.steps import Steps, looking_up
from ottla.broker.producer_ids import Block
from ottla.coordinators import loading
from ottla.coordinators.replicated_answers import unreplicated
from ottla.coordinators.transactions import expiration, finishing, markers
from ottla.coordinators.transactions.coordinator import TransactionCoordinator
from ottla.coordinators.transactions.ending import EndRequest
from ottla.coordinators.transactions.initialising import InitRequest
from ottla.coordinators.transactions.states import TransactionState
from ottla.coordinators.transactions.transaction import ProducerIdAndEpoch
from ottla.metadata.image import Batch
from ottla.metadata.records import PartitionChanged
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.errors import BrokerError
from ottla.protocol.messages.add_offsets_to_txn_request import AddOffsetsToTxnRequest
from ottla.protocol.messages.add_partitions_to_txn_request import (
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnTopic,
)
from ottla.protocol.messages.add_partitions_to_txn_response import AddPartitionsToTxnResponse
from ottla.protocol.messages.find_coordinator_request import FindCoordinatorRequest
from ottla.protocol.messages.incremental_alter_configs_request import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)
from ottla.protocol.messages.produce_request import (
    PartitionProduceData,
    ProduceRequest,
    TopicProduceData,
)
from ottla.replication.partition import Partition
from ottla.storage.errors import CorruptLogError
from ottla.storage.log.append import Appended
from ottla.storage.segments.verified_ranges import VerifiedRanges

T = TypeVar("T")
ID = "payments"
ZERO = TopicPartition("t", 0)
DAY_MS = 24 * 60 * 60 * 1000
SETTINGS = {
    "transaction.state.log.num.partitions": "2",
    "offsets.topic.num.partitions": "2",
    "request.timeout.ms": "200",
}


class TransactionWorld(World):
    def __init__(self, **settings: str) -> None:
        super().__init__({**SETTINGS, **settings})

    @property
    def coordinator(self) -> TransactionCoordinator:
        return self.broker.transactions

    def open_coordinator(self) -> None:
        self.create_topic("t", 2)
        assert self.ask(FindCoordinatorRequest(ID, 1), 2).error_code == 0
        self.settle()

    def settle(self) -> None:
        """Run all tasks that are ready, or wait only for a thread that reads a log."""

        async def run_pending() -> None:
            while True:
                for _ in range(50):
                    await asyncio.sleep(0)
                if not self.coordinator.runtime.is_loading:
                    return

        self.run(run_pending())

    def begin(self, timeout_ms: int = 60_000) -> ProducerIdAndEpoch:
        return self.run(self.coordinator.init_producer_id(InitRequest(ID, timeout_ms, None)))

    def add(self, producer: ProducerIdAndEpoch, client_version: int = 0) -> None:
        self.run(self.coordinator.add_partitions(ID, producer, [ZERO], client_version))

    def end(
        self, producer: ProducerIdAndEpoch, is_commit: bool = True, version: int = 0
    ) -> ProducerIdAndEpoch:
        return self.run(
            self.coordinator.end_transaction(ID, EndRequest(producer, is_commit, version))
        )

    def produce(self, producer: ProducerIdAndEpoch, version: int = 9) -> ErrorCode:
        batch = batch_of(
            b"value",
            producer_id=producer.producer_id,
            epoch=producer.epoch,
            sequence=0,
            is_transactional=True,
            timestamp_ms=self.clock.now_ms(),
        )
        topic = TopicProduceData("t", partition_data=[PartitionProduceData(0, batch)])
        answer = self.ask(ProduceRequest(ID, -1, 1000, [topic]), version)
        return ErrorCode(answer.responses[0].partition_responses[0].error_code)

    def state(self) -> TransactionState:
        shard, transaction = self.coordinator.describe(ID)
        waiting = unreplicated([shard])
        for error in self.run(self.coordinator.all_replicated(waiting)).values():
            raise error
        return transaction.state

    @property
    def partition(self) -> Partition:
        return self.broker.replicas.partition(*ZERO)

    @property
    def state_partition(self) -> Partition:
        return self.broker.replicas.partition(*self.coordinator.topic.partition_of(ID))

    def lead_again(self) -> None:
        """Every coordinator partition has no leader for a moment: its shards are loaded again."""
        self.begin_to_lead_again()
        self.settle()

    def begin_to_lead_again(self) -> None:
        image = self.broker.publisher.image
        topic = image.topic("__transaction_state")
        assert topic is not None
        for number, each in enumerate(topic.partitions):
            for step, leader in ((1, -1), (2, 1)):
                change = PartitionChanged(
                    topic.id, number, each.partition_epoch + step, leader=leader,
                    leader_epoch=each.leader_epoch + step,
                )  # fmt: skip
                self.publish(change)

    def publish(self, *records: PartitionChanged) -> None:
        async def publish() -> None:
            publisher = self.broker.publisher
            publisher.publish(Batch(publisher.image.offset, 1, records))

        self.run(publish())


@pytest.fixture
def world() -> Iterator[TransactionWorld]:
    with TransactionWorld() as running:
        running.open_coordinator()
        yield running


# Time


def test_a_transaction_that_outlives_its_timeout_is_aborted(world: TransactionWorld) -> None:
    producer = world.begin(timeout_ms=10_000)
    world.add(producer)
    assert world.produce(producer) is ErrorCode.NONE
    world.clock.advance_ms(10_000)
    world.run(world.coordinator.expiration.abort_timed_out())
    assert world.state() is TransactionState.ONGOING, "not before its time is over"
    world.clock.advance_ms(1)
    world.run(world.coordinator.expiration.abort_timed_out())
    world.settle()
    assert world.state() is TransactionState.COMPLETE_ABORT
    log = world.partition.log
    assert log.last_stable_offset(BLOCKING) == log.high_watermark == 2
    with pytest.raises(BrokerError) as refused:
        world.end(producer)
    assert refused.value.code is ErrorCode.PRODUCER_FENCED
    assert world.produce(producer) is ErrorCode.INVALID_PRODUCER_EPOCH


def test_only_open_transactions_time_out(world: TransactionWorld) -> None:
    producer = world.begin(timeout_ms=10_000)
    world.add(producer)
    world.end(producer)
    world.settle()
    world.clock.advance_ms(DAY_MS)
    world.run(world.coordinator.expiration.abort_timed_out())
    assert world.state() is TransactionState.COMPLETE_COMMIT


class InterruptedScheduler:
    """Something happens once, at one of the pauses."""

    def __init__(
        self, scheduler: StepScheduler, at: int, event: Callable[[], Awaitable[object]]
    ) -> None:
        self._scheduler = scheduler
        self._left = at
        self._event = event

    async def run(self, steps: Steps[T]) -> T:
        result = await self._scheduler.run(steps)
        await self._pause()
        return result

    async def next(self) -> None:
        await self._scheduler.next()
        await self._pause()

    async def _pause(self) -> None:
        if self._left == 0:
            await self._event()
        self._left -= 1


@pytest.mark.parametrize("version", [0, 2])
@pytest.mark.parametrize("at", range(4))
def test_a_transaction_that_is_committed_in_the_last_moment_is_not_aborted(
    world: TransactionWorld, monkeypatch: pytest.MonkeyPatch, at: int, version: int
) -> None:
    producer = world.begin(timeout_ms=10_000)
    world.add(producer, version)
    world.clock.advance_ms(10_001)
    expiration_ = world.coordinator.expiration
    ended: list[ProducerIdAndEpoch | ErrorCode] = []

    async def commit() -> None:
        end = EndRequest(producer, True, version)
        try:
            ended.append(await world.coordinator.end_transaction(ID, end))
        except BrokerError as error:
            ended.append(error.code)

    scheduler = InterruptedScheduler(expiration_._scheduler, at, commit)
    monkeypatch.setattr(expiration_, "_scheduler", scheduler)
    world.run(expiration_.abort_timed_out())
    world.settle()
    if not ended or isinstance(ended[0], ErrorCode):  # there are fewer pauses
        assert world.state() is TransactionState.COMPLETE_ABORT
    else:
        assert world.state() is TransactionState.COMPLETE_COMMIT


def test_an_unused_id_is_deleted_after_a_week(world: TransactionWorld) -> None:
    first = world.begin()
    world.clock.advance_ms(7 * DAY_MS - 1)
    world.run(world.coordinator.expiration.delete_expired())
    assert world.state() is TransactionState.EMPTY
    world.clock.advance_ms(1)
    world.run(world.coordinator.expiration.delete_expired())
    with pytest.raises(BrokerError) as refused:
        world.state()
    assert refused.value.code is ErrorCode.TRANSACTIONAL_ID_NOT_FOUND
    second = world.begin()
    assert second.epoch == 0
    assert second.producer_id != first.producer_id


@pytest.mark.parametrize("count", [2, 5])
def test_producers_that_wait_for_producer_ids_together_fence_each_other(
    world: TransactionWorld, count: int
) -> None:
    async def begin_together() -> list[ProducerIdAndEpoch]:
        world.broker.producer_ids._left = Block(0, 0)
        wanted = InitRequest("new", 1000, None)
        init = world.coordinator.init_producer_id
        return await asyncio.gather(*(init(wanted) for _ in range(count)))

    given = world.run(begin_together())
    assert len({each.producer_id for each in given}) == 1
    assert sorted(each.epoch for each in given) == list(range(count))


def test_a_producer_that_missed_the_response_gets_it_again(world: TransactionWorld) -> None:
    first = world.begin()
    again = InitRequest(ID, 60_000, first)
    second = world.run(world.coordinator.init_producer_id(again))
    assert second == ProducerIdAndEpoch(first.producer_id, first.epoch + 1)
    for _ in range(2):
        assert world.run(world.coordinator.init_producer_id(again)) == second
    world.begin()
    with pytest.raises(BrokerError) as refused:  # another producer has taken over the id
        world.run(world.coordinator.init_producer_id(again))
    assert refused.value.code is ErrorCode.PRODUCER_FENCED


def test_an_open_transaction_keeps_its_id_alive(world: TransactionWorld) -> None:
    world.add(world.begin())
    world.clock.advance_ms(100 * DAY_MS)
    world.run(world.coordinator.expiration.delete_expired())
    assert world.state() is TransactionState.ONGOING


def test_many_old_ids_are_forgotten_in_batches(world: TransactionWorld) -> None:
    for number in range(60):
        wanted = InitRequest(f"old-{number}", 1000, None)
        world.run(world.coordinator.init_producer_id(wanted))
    world.clock.advance_ms(8 * DAY_MS)
    world.begin()
    world.run(world.coordinator.expiration.delete_expired())
    assert [each.transactional_id for each in world.coordinator.all_transactions()] == [ID]


def test_an_id_that_is_taken_up_again_while_others_are_forgotten_stays(
    world: TransactionWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(expiration, "TOMBSTONES_MAX", 2)
    all_ids = {f"old-{number}" for number in range(20)}

    async def take_up(transactional_ids: set[str]) -> None:
        for each in transactional_ids:
            await world.coordinator.init_producer_id(InitRequest(each, 1000, None))

    def known() -> set[str]:
        return {each.transactional_id for each in world.coordinator.all_transactions()}

    async def story() -> set[str]:
        await take_up(all_ids)
        world.clock.advance_ms(8 * DAY_MS)
        forgetting = asyncio.ensure_future(world.coordinator.expiration.delete_expired())
        while known() == all_ids:
            await asyncio.sleep(0)
        in_use = known()
        await take_up(in_use)
        await forgetting
        return in_use

    in_use = world.run(story())
    assert known() == in_use
    assert len(in_use) == 18


# Verification


def test_a_damaged_coordinator_partition_keeps_no_other_transaction_from_timing_out(
    world: TransactionWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    coordinator = world.coordinator
    damaged_id, other_id = ids_of_two_partitions(coordinator)

    def refuse(*_args: object) -> Appended:
        raise CorruptLogError("00000000000000000000.log", 7, "no batch")

    for transactional_id in (damaged_id, other_id):
        producer = world.run(
            coordinator.init_producer_id(InitRequest(transactional_id, 10_000, None))
        )
        world.run(coordinator.add_partitions(transactional_id, producer, [ZERO], 0))
    place = coordinator.topic.partition_of(damaged_id)
    damaged = world.broker.replicas.partition(*place)
    monkeypatch.setattr(damaged.log, "append_as_leader", refuse)
    world.clock.advance_ms(10_001)
    world.run(coordinator.expiration.abort_timed_out())
    world.settle()
    assert coordinator.describe(damaged_id)[1].state is TransactionState.ONGOING
    assert coordinator.describe(other_id)[1].state is TransactionState.COMPLETE_ABORT


def ids_of_two_partitions(coordinator: TransactionCoordinator) -> list[str]:
    """In the order in which the coordinator looks at their partitions."""
    found = {coordinator.topic.partition_of(str(each)): str(each) for each in range(20)}
    return [found[shard.partition.name] for shard in coordinator.runtime.active_shards()]


def test_verification_can_be_switched_off_and_on_while_the_broker_runs(
    world: TransactionWorld,
) -> None:
    producer = world.begin()
    assert world.produce(producer) is ErrorCode.INVALID_TXN_STATE
    for value, code in (("false", ErrorCode.NONE), ("true", ErrorCode.INVALID_TXN_STATE)):
        change = AlterableConfig("transaction.partition.verification.enable", 0, value)
        request = IncrementalAlterConfigsRequest([AlterConfigsResource(4, "", [change])])
        assert world.ask(request, 1).responses[0].error_code == 0
        assert world.produce(producer) is code
        producer = world.begin()


# Restarts


def test_a_new_coordinator_has_the_state_of_the_old_one(world: TransactionWorld) -> None:
    producer = world.begin()
    world.add(producer)
    world.lead_again()
    assert world.state() is TransactionState.ONGOING
    assert world.produce(producer) is ErrorCode.NONE
    world.end(producer)
    world.settle()
    assert world.state() is TransactionState.COMPLETE_COMMIT


def test_a_new_coordinator_writes_the_markers_that_the_old_one_left_pending(
    world: TransactionWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    producer = world.begin()
    world.add(producer)
    assert world.produce(producer) is ErrorCode.NONE
    monkeypatch.setattr(world.coordinator._finisher, "begin", lambda *_: None)  # it dies here
    world.end(producer)
    monkeypatch.undo()
    assert world.state() is TransactionState.PREPARE_COMMIT
    assert world.partition.log.last_stable_offset(BLOCKING) == 0
    world.lead_again()
    assert world.state() is TransactionState.COMPLETE_COMMIT
    assert world.partition.log.last_stable_offset(BLOCKING) == 2


def test_while_it_loads_clients_have_to_retry(world: TransactionWorld) -> None:
    producer = world.begin()

    async def ask_at_once() -> None:
        world.coordinator.runtime.lead(world.state_partition)
        with pytest.raises(BrokerError, match="LOAD_IN_PROGRESS"):
            await world.coordinator.add_partitions(ID, producer, [ZERO], 0)
        with pytest.raises(BrokerError, match="LOAD_IN_PROGRESS"):
            world.coordinator.all_transactions()

    world.run(ask_at_once())
    world.settle()
    world.add(producer)


def test_another_brokers_coordinator_is_not_this_one(world: TransactionWorld) -> None:

    async def resign() -> None:
        world.coordinator.resigned(world.coordinator.topic.partition_of(ID))

    world.run(resign())
    with pytest.raises(BrokerError) as refused:
        world.begin()
    assert refused.value.code is ErrorCode.NOT_COORDINATOR


def test_after_a_restart_with_version_2_an_end_can_be_asked_for_again(
    world: TransactionWorld,
) -> None:
    producer = world.begin()
    world.add(producer, client_version=2)
    following = world.end(producer, version=2)
    world.settle()
    world.lead_again()
    assert world.end(producer, version=2) == following
    wanted = InitRequest(ID, 60_000, producer)
    assert world.run(world.coordinator.init_producer_id(wanted)) == following


# Replication: what is not replicated is not answered, and has no consequences


def hold_back(world: TransactionWorld) -> None:
    """A follower joins the in-sync set that has fetched nothing yet."""
    partition = world.state_partition
    topic = world.broker.publisher.image.topic("__transaction_state")
    assert topic is not None
    known = topic.partitions[partition.name.partition]
    change = PartitionChanged(
        topic.id, partition.name.partition, known.partition_epoch + 1, leader=1,
        leader_epoch=known.leader_epoch + 1, replicas=(1, 2), in_sync_replicas=(1, 2),
    )  # fmt: skip
    world.publish(change)
    world.settle()


def catch_up(world: TransactionWorld) -> None:
    partition = world.state_partition
    assert partition.leader_state is not None
    end = partition.log.log_end_offset
    partition.leader_state.followers[2].fetched(end, 0, end, world.clock.now_ms())
    partition.advance()
    world.settle()


def test_nothing_is_answered_before_it_is_replicated(world: TransactionWorld) -> None:
    producer = world.begin()
    hold_back(world)
    with pytest.raises(BrokerError) as refused:
        world.add(producer)
    assert refused.value.code is ErrorCode.COORDINATOR_NOT_AVAILABLE, "not within the timeout"
    with pytest.raises(BrokerError):
        world.state()
    assert world.produce(producer) is ErrorCode.NOT_ENOUGH_REPLICAS, "not verified"
    catch_up(world)
    assert world.state() is TransactionState.ONGOING
    assert world.produce(producer) is ErrorCode.NONE


def test_no_marker_is_written_before_the_decision_is_replicated(world: TransactionWorld) -> None:
    producer = world.begin()
    world.add(producer)
    assert world.produce(producer) is ErrorCode.NONE
    hold_back(world)
    with pytest.raises(BrokerError):
        world.end(producer)
    assert world.partition.log.log_end_offset == 1
    catch_up(world)
    assert world.partition.log.log_end_offset == 2
    catch_up(world)
    assert world.state() is TransactionState.COMPLETE_COMMIT


def test_a_decision_is_carried_out_once_it_is_replicated_though_a_sync_could_not_begin(
    world: TransactionWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(finishing, "RETRY_S", 0)
    producer = world.begin()
    world.add(producer)
    assert world.produce(producer) is ErrorCode.NONE
    hold_back(world)
    with pytest.raises(BrokerError):
        world.end(producer)
    for _ in range(3):
        world.state_partition.role.flushed(
            BrokerError(ErrorCode.KAFKA_STORAGE_ERROR, "no descriptor")
        )
        world.settle()
        assert world.partition.log.log_end_offset == 1
    catch_up(world)
    assert world.partition.log.log_end_offset == 2
    catch_up(world)
    assert world.state() is TransactionState.COMPLETE_COMMIT


# A disk in need


def test_loading_does_not_make_the_event_loop_wait_for_the_disk(
    world: TransactionWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.begin()
    log = world.state_partition.log
    log.roll()
    disk = SlowDisk(world, monkeypatch)
    disk.is_released.set()
    disk.forget(log)
    for segment in log.segments:
        segment.verified = VerifiedRanges()  # as after a start
    world.lead_again()
    assert world.state() is TransactionState.EMPTY
    assert disk.cold_reads


def test_a_full_disk_puts_the_end_of_a_transaction_off(
    world: TransactionWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(finishing, "RETRY_S", 0)
    producer = world.begin()
    world.add(producer)
    assert world.produce(producer) is ErrorCode.NONE
    # The decision is written, and what says that it was carried out is not.
    world.disk.fail("write", "*/__transaction_state-*.log", error=errno.ENOSPC, skip=1, times=1)
    world.end(producer)
    world.settle()
    assert world.state() is TransactionState.COMPLETE_COMMIT
    assert world.end(producer) == producer


def test_a_log_that_moves_to_another_directory_is_loaded_from_there(
    world: TransactionWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    producer = world.begin()
    world.add(producer)
    name = world.state_partition.name
    has_moved = threading.Event()

    def looking_up_and_waiting(attempt: Callable[[Reader], T]) -> Steps[T]:
        found = yield from looking_up(attempt)
        yield partial(has_moved.wait, 60)
        return found

    monkeypatch.setattr(loading, "looking_up", looking_up_and_waiting)
    monkeypatch.setattr(loading, "LOAD_BYTES", 1)  # batch by batch
    world.begin_to_lead_again()
    directory = world.broker.logs.directory_of(name)
    assert directory is not None
    target = next(path for path in DIRECTORIES if path != directory.path)
    assert move(world, target, *name) == 0
    settle_moves(world)
    world.clock.advance_ms(DAY_MS)
    world.run(world.broker.housekeeping.remove())  # the old files
    has_moved.set()
    world.settle()
    assert world.state() is TransactionState.ONGOING


@pytest.mark.parametrize("damaged", [0, 1])
def test_a_damaged_partition_keeps_no_other_from_its_marker(
    world: TransactionWorld, monkeypatch: pytest.MonkeyPatch, damaged: int
) -> None:
    places = [TopicPartition("t", number) for number in range(2)]
    producer = world.begin()
    world.run(world.coordinator.add_partitions(ID, producer, places, 0))

    def refuse(*_args: object) -> Appended:
        raise CorruptLogError("00000000000000000000.log", 7, "no batch")

    partitions = [world.broker.replicas.partition(*each) for each in places]
    monkeypatch.setattr(markers, "PAUSE_S", 0)
    with monkeypatch.context() as patch:
        patch.setattr(partitions.pop(damaged).log, "append_as_leader", refuse)
        world.end(producer)
        world.settle()
        assert [each.log.log_end_offset for each in partitions] == [1]
        assert world.state() is TransactionState.PREPARE_COMMIT
    world.settle()
    assert world.state() is TransactionState.COMPLETE_COMMIT


def test_beyond_so_many_transactional_ids_no_new_one_is_taken_on() -> None:
    with TransactionWorld(**{"ottla.transactional.ids.max": "2"}) as world:
        world.open_coordinator()
        coordinator = world.coordinator
        for name in ("a", "b", "a"):
            world.run(coordinator.init_producer_id(InitRequest(name, 60_000, None)))
        with pytest.raises(BrokerError) as refused:
            world.run(coordinator.init_producer_id(InitRequest("c", 60_000, None)))
        assert refused.value.code is ErrorCode.COORDINATOR_NOT_AVAILABLE


def test_a_timeout_is_more_than_nothing_and_at_most_what_the_broker_allows(
    world: TransactionWorld,
) -> None:
    for timeout_ms in (-1, 0, 900_001):
        with pytest.raises(BrokerError) as refused:
            world.begin(timeout_ms)
        assert refused.value.code == ErrorCode.INVALID_TRANSACTION_TIMEOUT
    for timeout_ms in (1, 900_000):
        assert world.begin(timeout_ms).epoch >= 0


# The next transaction while the last one ends


def adding(producer: ProducerIdAndEpoch) -> AddPartitionsToTxnRequest:
    return AddPartitionsToTxnRequest(
        v3_and_below_transactional_id=ID,
        v3_and_below_producer_id=producer.producer_id,
        v3_and_below_producer_epoch=producer.epoch,
        v3_and_below_topics=[AddPartitionsToTxnTopic("t", [0])],
    )


def added_while_ending(world: TransactionWorld, markers_after_s: float) -> tuple[ErrorCode, ...]:
    """The codes of AddPartitionsToTxn and AddOffsetsToTxn."""
    producer = world.begin()
    sender = world.coordinator._finisher._markers
    send = sender.send

    async def send_late(*args: Any) -> None:
        await asyncio.sleep(markers_after_s)
        await send(*args)

    codes = []
    for request in (adding(producer), AddOffsetsToTxnRequest(ID, *producer, "group")):
        world.add(producer)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(sender, "send", send_late)
            world.end(producer)
            answer = world.ask(request, 3)
            codes.append(code_of(answer))
            world.run(world.coordinator.wait_ended(ID))
            world.run(world.coordinator.wait_ended(ID))
        if codes[-1] is ErrorCode.NONE:
            world.end(producer)
        world.settle()
    return tuple(codes)


def code_of(answer: Any) -> ErrorCode:
    if isinstance(answer, AddPartitionsToTxnResponse):
        (topic,) = answer.results_by_topic_v3_and_below
        return ErrorCode(topic.results_by_partition[0].partition_error_code)
    return ErrorCode(answer.error_code)


def test_partitions_are_added_when_the_last_transaction_has_ended(world: TransactionWorld) -> None:
    world.ask(FindCoordinatorRequest("group", 0), 2)
    assert added_while_ending(world, 0.02) == (ErrorCode.NONE, ErrorCode.NONE)


def test_a_producer_does_not_wait_for_long_for_its_last_transaction() -> None:
    settings = {"add.partitions.to.txn.retry.backoff.max.ms": "50"}
    with TransactionWorld(**settings) as world:
        world.open_coordinator()
        world.ask(FindCoordinatorRequest("group", 0), 2)
        busy = ErrorCode.CONCURRENT_TRANSACTIONS
        assert added_while_ending(world, 0.09) == (busy, busy)
