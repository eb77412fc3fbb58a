"""Many producers at random: what the rules promise holds after every step, and after a restart.

The model is the state that clients expect: who owns an id, whether its transaction is open.
"""

from __future__ import annotations

from dataclasses import replace
from random import Random

import pytest
from tests.unit.coordinators.transactions.making import NewIds

from ottla.base.ids import NO_PRODUCER_EPOCH, TopicPartition
from ottla.base.scheduling.steps import run_blocking
from ottla.coordinators.batches import COORDINATOR_ITSELF
from ottla.coordinators.records import CoordinatorRecord
from ottla.coordinators.transactions.ending import (
    EndRequest,
    decide_complete,
    decide_end,
    decide_fence,
    producer_afterwards,
)
from ottla.coordinators.transactions.enlisting import decide_add_partitions
from ottla.coordinators.transactions.initialising import InitRequest, decide_init, must_abort_first
from ottla.coordinators.transactions.record_types import record_of, tombstone_of
from ottla.coordinators.transactions.shard import TransactionShard
from ottla.coordinators.transactions.states import ENDING, IDLE, TransactionState
from ottla.coordinators.transactions.transaction import (
    EPOCH_MAX,
    EPOCH_SPENT,
    ProducerIdAndEpoch,
    Transaction,
)
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.errors import BrokerError

IDS = ("a", "b", "c")
STEPS = 400
TIMEOUT_MS = 100


class Cluster:
    """One shard, its log, and all producers there ever were."""

    def __init__(self, random: Random) -> None:
        self.random = random
        self.new_id = NewIds()
        self.shard = TransactionShard()
        self.log: list[CoordinatorRecord] = []
        self.now_ms = 0
        self.owners: dict[str, list[ProducerIdAndEpoch]] = {each: [] for each in IDS}
        self.begun_ms: dict[str, int] = {}  # when the open transactions began

    def write(self, changed: Transaction) -> None:
        name = changed.transactional_id
        if changed.state is not TransactionState.ONGOING:
            self.begun_ms.pop(name, None)
        else:
            self.begun_ms.setdefault(name, self.now_ms)
        record = record_of(changed, 2)
        self.shard.apply(record, COORDINATOR_ITSELF, len(self.log))
        self.shard.remember_last_epoch(changed.transactional_id, changed.last_epoch)
        self.log.append(record)

    def step(self) -> None:
        self.now_ms += self.random.choice((1, 1, 1, TIMEOUT_MS // 3))
        acts = [self.init, self.go_on, self.add, self.add, self.end, self.end, self.complete]
        seldom = [self.fence, self.use_up_epochs, self.restart, self.forget]
        act = self.random.choice([*acts, *seldom])
        act(self.random.choice(IDS))
        self.check_timeouts()

    def check_timeouts(self) -> None:
        """By the beginning of each transaction, however often it was used since."""
        for now_ms in (self.now_ms, self.now_ms + 1, self.now_ms + TIMEOUT_MS // 2):
            late = {name for name, at in self.begun_ms.items() if at + TIMEOUT_MS < now_ms}
            assert {
                each.transactional_id for each in run_blocking(self.shard.timed_out(now_ms))
            } == late

    # What producers do

    def init(self, name: str, expected: ProducerIdAndEpoch | None = None) -> None:
        wanted, current = InitRequest(name, TIMEOUT_MS, expected), self.shard.get(name)
        try:
            if must_abort_first(current, wanted):
                assert current is not None
                self.write(decide_fence(current, 2, self.new_id, self.now_ms))
                return
            changed = decide_init(current, wanted, self.new_id, self.now_ms)
        except BrokerError as error:
            if error.code not in (ErrorCode.CONCURRENT_TRANSACTIONS, ErrorCode.PRODUCER_FENCED):
                raise
            return
        self.write(changed)
        self.own(name, changed.producer, may_repeat=expected is not None)

    def go_on(self, name: str) -> None:
        if self.owners[name]:
            self.init(name, self.random.choice(self.owners[name][-3:]))

    def add(self, name: str) -> None:
        if not self.owners[name]:
            return
        producer = self.random.choice(self.owners[name][-3:])
        partitions = [TopicPartition("t", self.random.randrange(4))]
        try:
            changed = decide_add_partitions(
                self.shard.get(name), producer, partitions, 2, self.now_ms
            )
        except BrokerError:
            return
        current = self.shard.get(name)
        assert current is not None
        assert current.producer == producer, "only the owner begins a transaction"
        if changed is not None:
            self.write(changed)

    def end(self, name: str) -> None:
        if not self.owners[name]:
            return
        producer = self.random.choice(self.owners[name][-3:])
        version = self.random.choice([0, 2])
        wanted = EndRequest(producer, self.random.random() < 0.5, version)
        current = self.shard.get(name)
        try:
            changed = decide_end(current, wanted, self.new_id, self.now_ms)
        except BrokerError:
            return
        assert current is not None
        if changed is None:
            assert current.state not in ENDING
            return
        assert current.producer == producer, "only the owner ends a transaction"
        self.write(changed)
        self.own(name, producer_afterwards(changed), may_repeat=version == 0)

    # What the coordinator does

    def fence(self, name: str) -> None:
        current = self.shard.get(name)
        if current is not None and current.state is TransactionState.ONGOING:
            self.write(decide_fence(current, 2, self.new_id, self.now_ms))

    def complete(self, name: str) -> None:
        current = self.shard.get(name)
        if current is not None and current.state in ENDING:
            self.write(decide_complete(current, self.now_ms))

    def forget(self, name: str) -> None:
        """The id was unused until it expired: nothing of it is left."""
        current = self.shard.get(name)
        if current is not None and current.state in IDLE and self.random.random() < 0.3:
            record = tombstone_of(name)
            self.shard.apply(record, COORDINATOR_ITSELF, len(self.log))
            self.log.append(record)
            assert self.shard.get(name) is None
            assert self.shard.end_offset(name) == 0

    def use_up_epochs(self, name: str) -> None:
        """As if thousands of transactions had been."""
        current = self.shard.get(name)
        if (
            current is not None
            and current.state is TransactionState.EMPTY
            and current.epoch < EPOCH_SPENT
        ):
            spent = replace(current, epoch=EPOCH_SPENT, last_epoch=NO_PRODUCER_EPOCH)
            self.write(spent)
            self.own(name, spent.producer)

    def restart(self, _name: str) -> None:
        """A new coordinator folds the log."""
        loaded = TransactionShard()
        for offset, record in enumerate(self.log):
            loaded.apply(record, COORDINATOR_ITSELF, offset)
        assert loaded.transactions.keys() == self.shard.transactions.keys()
        assert loaded._end_offsets == self.shard._end_offsets
        assert loaded._end_offsets.keys() == loaded.transactions.keys()
        for name, known in self.shard.transactions.items():
            again = loaded.transactions[name]
            assert replace(again, last_epoch=known.last_epoch) == known
            assert again.last_epoch in (known.last_epoch, NO_PRODUCER_EPOCH)
        self.shard = loaded

    def own(self, name: str, producer: ProducerIdAndEpoch, *, may_repeat: bool = False) -> None:
        was = self.owners[name]
        assert producer.epoch < EPOCH_MAX, "the greatest epoch is never given out"
        if producer in was:
            assert may_repeat
            was.remove(producer)
        was.append(producer)


@pytest.mark.parametrize("seed", range(60))
def test_no_epoch_is_given_twice_and_a_restart_changes_nothing(seed: int) -> None:
    cluster = Cluster(Random(seed))
    for _ in range(STEPS):
        cluster.step()
    cluster.restart("")
    assert any(cluster.owners.values())
