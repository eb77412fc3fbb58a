"""The timeout of a transaction counts from its beginning, whatever happens in it."""

from __future__ import annotations

from itertools import count

import pytest
from tests.unit.coordinators.transactions.making import ID, NOW_MS, NewIds

from ottla.base.ids import TopicPartition
from ottla.base.scheduling.steps import run_blocking
from ottla.coordinators.batches import COORDINATOR_ITSELF
from ottla.coordinators.transactions.ending import EndRequest, decide_complete, decide_end
from ottla.coordinators.transactions.enlisting import decide_add_partitions
from ottla.coordinators.transactions.initialising import InitRequest, decide_init
from ottla.coordinators.transactions.record_types import record_of
from ottla.coordinators.transactions.shard import TransactionShard
from ottla.coordinators.transactions.transaction import Transaction

TIMEOUT_MS = 1000


class Story:
    """One producer, as the log of its coordinator contains it."""

    def __init__(self, *, restarts: bool) -> None:
        self.restarts = restarts  # after every change
        self.shard = TransactionShard()
        self.log: list[Transaction] = []
        self.new_id = NewIds()
        self.write(decide_init(None, InitRequest(ID, TIMEOUT_MS, None), self.new_id, NOW_MS))

    @property
    def now(self) -> Transaction:
        known = self.shard.get(ID)
        assert known is not None
        return known

    def write(self, changed: Transaction | None) -> None:
        if changed is None:
            return
        self.log.append(changed)
        self.shard.apply(record_of(changed, 2), COORDINATOR_ITSELF, len(self.log))
        if self.restarts:
            self.shard = TransactionShard()
            for offset, each in enumerate(self.log):
                self.shard.apply(record_of(each, 2), COORDINATOR_ITSELF, offset)

    def add(self, partition: int, now_ms: int) -> None:
        names = [TopicPartition("t", partition)]
        self.write(decide_add_partitions(self.now, self.now.producer, names, 2, now_ms))

    def end(self, now_ms: int) -> None:
        wanted = EndRequest(self.now.producer, True, 2)
        self.write(decide_end(self.now, wanted, self.new_id, now_ms))
        self.write(decide_complete(self.now, now_ms))

    def is_late(self, now_ms: int) -> bool:
        return [each.transactional_id for each in run_blocking(self.shard.timed_out(now_ms))] == [
            ID
        ]


@pytest.mark.parametrize("restarts", [False, True])
def test_using_a_transaction_does_not_put_off_its_end(restarts: bool) -> None:
    story = Story(restarts=restarts)
    for partition, now_ms in zip(count(), range(NOW_MS + 50, NOW_MS + 900, 100)):
        story.add(partition, now_ms)
    story.add(0, NOW_MS + 990)  # which is part of it already
    began_ms = NOW_MS + 50
    assert story.now.start_ms == began_ms
    assert not story.is_late(began_ms + TIMEOUT_MS)
    assert story.is_late(began_ms + TIMEOUT_MS + 1)


@pytest.mark.parametrize("restarts", [False, True])
def test_the_next_transaction_has_its_own_time(restarts: bool) -> None:
    story = Story(restarts=restarts)
    story.add(0, NOW_MS)
    story.end(NOW_MS + 900)
    assert not story.is_late(NOW_MS + 10 * TIMEOUT_MS), "nothing is open"
    story.add(0, NOW_MS + 950)
    assert not story.is_late(NOW_MS + 950 + TIMEOUT_MS)
    assert story.is_late(NOW_MS + 951 + TIMEOUT_MS)


def test_an_id_is_forgotten_by_its_last_use() -> None:
    story = Story(restarts=True)
    story.add(0, NOW_MS)
    assert not story.shard.is_expired(ID, NOW_MS + 10**9, 1000), "never while it is open"
    story.end(NOW_MS + 500)
    assert not story.shard.is_expired(ID, NOW_MS + 1499, 1000)
    assert story.shard.is_expired(ID, NOW_MS + 1500, 1000)
    [expired] = run_blocking(story.shard.expired(NOW_MS + 1500, 1000))
    assert expired.transactional_id == ID
    assert run_blocking(story.shard.expired(NOW_MS + 1499, 1000)) == []
    assert not story.shard.is_expired("another", NOW_MS + 10**9, 1000)
