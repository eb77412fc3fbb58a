"""Offsets of groups at random: plain commits, several open transactions, deletions, expiry,
restarts. One of the groups had members.

The model is a plain list of what was written. What counts is computed from all of it each time: the
commit whose record is the latest, of those that are not part of an open or aborted transaction.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from itertools import product
from random import Random

import pytest
from tests.unit.coordinators.groups.harness import ClassicClient, Harness, Logged, rebalance

from ottla.coordinators.batches import Writer
from ottla.coordinators.groups.committed_offsets import OffsetName
from ottla.protocol.error_codes import ErrorCode

STEPS = 150
RETENTION_MS = 7 * 24 * 3_600_000
GROUPS = ("g", "h")
PLACES = (("t", 0), ("t", 1), ("u", 0))
PRODUCERS = (7, 8, 9)
Where = tuple[str, tuple[str, int]]


@dataclass
class Written:
    where: Where
    offset: int | None  # None: deleted
    producer: int | None
    is_open: bool
    commit_ms: int = 0
    is_aborted: bool = False


@dataclass
class Model:
    all: list[Written] = field(default_factory=list)
    groups: set[str] = field(default_factory=set)  # that exist
    empty_since_ms: dict[str, int] = field(default_factory=dict)  # of those that had members

    def write(self, written: Written) -> None:
        self.all.append(written)
        self.groups.add(written.where[0])

    def end(self, producer: int, *, is_commit: bool) -> None:
        for each in self.all:
            if each.producer == producer and each.is_open:
                each.is_open, each.is_aborted = False, not is_commit

    def delete(self, where: Where) -> None:
        """What an open transaction has written goes with it."""
        self.all = [each for each in self.all if not (each.where == where and each.is_open)]
        self.all.append(Written(where, None, None, is_open=False))

    def committed(self, where: Where) -> int:
        latest = self.latest(where)
        return -1 if latest is None or latest.offset is None else latest.offset

    def latest(self, where: Where) -> Written | None:
        for each in reversed(self.all):
            if each.where == where and not each.is_open and not each.is_aborted:
                return each
        return None

    def expire(self, now_ms: int, retention_ms: int) -> None:
        """Of each group what is old and in no open transaction, then the group if it is bare."""
        for where in product(sorted(self.groups), PLACES):
            latest = self.latest(where)
            if latest is not None and latest.offset is not None and not self.is_unstable(where):
                start_ms = self.empty_since_ms.get(where[0], latest.commit_ms)
                if now_ms - start_ms >= retention_ms:
                    self.delete(where)
        for group in list(self.groups):
            if self.count_of(group) == 0:
                self.groups.discard(group)
                self.empty_since_ms.pop(group, None)

    def count_of(self, group: str) -> int:
        """Committed ones, and once more for each transaction that would change them."""
        places = {each.where for each in self.all if each.where[0] == group}
        pending = {(e.where, e.producer) for e in self.all if e.is_open and e.where[0] == group}
        return sum(self.committed(where) != -1 for where in places) + len(pending)

    def is_unstable(self, where: Where) -> bool:
        return any(each.where == where and each.is_open for each in self.all)


class Story:
    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        self.harness = Harness()
        for topic in ("t", "u"):
            self.harness.create_topic(topic, 2)
        self.model = Model()
        self.next_offset = 0
        client = ClassicClient(self.harness, group_id=GROUPS[1])
        rebalance(self.harness, client)
        client.leave()
        self.model.groups.add(GROUPS[1])
        self.model.empty_since_ms[GROUPS[1]] = self.harness.clock.now_ms()

    def step(self) -> None:
        act = self.random.choices(
            [self.commit, self.commit_in_transaction, self.end, self.delete, self.restart,
             self.compact, self.expire],
            [5, 8, 4, 1, 2, 1, 2],
        )[0]  # fmt: skip
        act((self.random.choice(GROUPS), self.random.choice(PLACES)))

    def offset(self) -> int:
        self.next_offset += 1
        return self.random.choice((self.next_offset, 0, 2**63 - 1))

    def commit(self, where: Where) -> None:
        offset = self.offset()
        answer = self.harness.commit({where[1]: offset}, group_id=where[0])
        assert answer == {where[1]: ErrorCode.NONE}
        self.model.write(Written(where, offset, None, False, self.harness.clock.now_ms()))

    def commit_in_transaction(self, where: Where) -> None:
        offset, producer = self.offset(), self.random.choice(PRODUCERS)
        self.harness.commit_in_transaction(producer, {where[1]: offset}, group_id=where[0])
        self.model.write(Written(where, offset, producer, True, self.harness.clock.now_ms()))

    def end(self, _where: Where) -> None:
        producer, is_commit = self.random.choice(PRODUCERS), self.random.random() < 0.6
        self.harness.end_transaction(producer, is_commit=is_commit)
        self.model.end(producer, is_commit=is_commit)

    def delete(self, where: Where) -> None:
        (group_id, (topic, partition)) = where
        if self.harness.shard.offsets.has_group(group_id):
            self.harness.delete_offsets(topic, [partition], group_id)
            self.model.delete(where)

    def restart(self, _where: Where) -> None:
        offsets = self.harness.shard.offsets
        before = {**vars(offsets), "_usage": replace(offsets._usage)}
        self.harness.restart()
        assert vars(self.harness.shard.offsets) == before

    def expire(self, _where: Where) -> None:
        self.harness.advance_ms(self.random.choice((0, RETENTION_MS // 3, RETENTION_MS)))
        self.harness.expire_offsets()
        self.model.expire(self.harness.clock.now_ms(), RETENTION_MS)

    def compact(self, where: Where) -> None:
        """Of each key the last record that holds is kept, and all from the first open transaction
        on, which is never compacted."""
        log, fates = self.harness.log, fates_of(self.harness.log)
        end = fates.index("open") if "open" in fates else len(log)
        held = {each.key: at for at, each in enumerate(log[:end]) if fates[at] == "holds"}
        self.harness.log = [
            each
            if at >= end or each.key is None or held.get(each.key) == at
            else Logged(None, None, Writer(-2, 0))  # a hole
            for at, each in enumerate(log)
        ]
        # A group whose only offsets were aborted leaves nothing behind.
        groups = set(self.harness.replayed().offsets.group_ids())
        assert groups <= set(self.harness.shard.offsets.group_ids())
        self.harness.shard.offsets._groups = groups
        self.model.groups = groups | self.harness.shard.groups.keys()
        self.restart(where)

    def check(self) -> None:
        offsets = self.harness.shard.offsets
        for group in GROUPS:
            assert (self.harness.shard.find(group) is not None) == (group in self.model.groups)
            for place in PLACES:
                where = (group, place)
                expected = self.model.committed(where)
                assert self.harness.fetch(*place, group_id=group) == expected, where
                stable = self.harness.fetch(*place, group_id=group, require_stable=True)
                is_unstable = self.model.is_unstable(where)
                assert stable == (ErrorCode.UNSTABLE_OFFSET_COMMIT if is_unstable else expected)
            unstable = {place for place in PLACES if self.model.is_unstable((group, place))}
            assert offsets.has_open_transaction(group) == bool(unstable)
            seen = offsets.snapshot(group)
            for place in PLACES:
                assert seen.is_unstable(*place) == (place in unstable)
                assert offsets.is_unstable(OffsetName(group, *place)) == (place in unstable)
            assert offsets.count_of(group) == self.model.count_of(group)
        committed = [
            where for where in product(GROUPS, PLACES) if self.model.committed(where) != -1
        ]
        assert offsets.count == sum(self.model.count_of(group) for group in GROUPS)
        for topic in ("t", "u", "v"):
            found = {name for names in offsets.names_of_topic(topic) for name in names}
            known = {(group, *place) for group, place in committed}
            known |= {(each.where[0], *each.where[1]) for each in self.model.all if each.is_open}
            assert found == {each for each in known if each[1] == topic}


def fates_of(log: list[Logged]) -> list[str]:
    """Of each record whether it holds, or its transaction is open or was aborted."""
    fates = ["holds"] * len(log)
    begun: dict[int, list[int]] = {}
    for at, logged in enumerate(log):
        producer = logged.writer.producer_id
        if logged.key is None:
            for each in begun.pop(producer, []):
                fates[each] = "holds" if logged.is_commit else "aborted"
        elif producer >= 0:
            begun.setdefault(producer, []).append(at)
            fates[at] = "open"
    return fates


@pytest.mark.parametrize("seed", range(20))
def test_what_counts_is_the_latest_commit_that_holds(seed: int) -> None:
    story = Story(seed)
    for _ in range(STEPS):
        story.step()
        story.check()


def test_a_transaction_that_ends_late_does_not_win_over_a_later_commit() -> None:
    harness = Harness()
    harness.create_topic("t", 2)
    harness.commit_in_transaction(7, {("t", 0): 10})
    harness.commit_in_transaction(8, {("t", 0): 20})
    harness.commit({("t", 0): 15})
    harness.commit_in_transaction(9, {("t", 0): 30})
    for producer, expected in ((8, 15), (9, 30), (7, 30)):
        harness.restart()
        harness.end_transaction(producer, is_commit=True)
        assert harness.fetch("t", 0) == expected
    harness.restart()
    assert harness.fetch("t", 0, require_stable=True) == 30
