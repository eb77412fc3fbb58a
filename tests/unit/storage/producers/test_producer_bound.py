"""How many producers a partition keeps, which it removes first, and copies of its state."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count

import pytest
from tests.unit.storage.log_making import Place, batch_of, marker_of, names_in

from ottla.base.files.readers import BLOCKING
from ottla.protocol.records.batch import read_header, stamp_offset_and_epoch
from ottla.protocol.records.control import read_end_marker
from ottla.storage.log.log import Log
from ottla.storage.producers.append_decisions import ACCEPTED
from ottla.storage.producers.producer_bound import (
    COUNTED_EACH,
    EVICTED_AT_ONCE,
    EVICTED_EACH,
    VISITED_AT_ONCE,
    ProducerBound,
)
from ottla.storage.producers.producer_snapshot import encode_snapshot, read_snapshot
from ottla.storage.producers.producer_state import ProducerStates
from ottla.storage.producers.transaction_verification import PENDING_MAX, Verifications

MANY = 2**40


class Partition:
    def __init__(self, bound: ProducerBound) -> None:
        self.states = ProducerStates()
        self.states.bound = bound
        self._offsets = count()

    def write(self, producer_id: int, sequence: int = 0, *, is_transactional: bool = False) -> None:
        self._apply(
            batch_of(b"v", producer=(producer_id, 0, sequence), is_transactional=is_transactional)
        )

    def abort(self, producer_id: int) -> None:
        self._apply(marker_of(producer_id))

    def _apply(self, batch: bytearray) -> None:
        stamp_offset_and_epoch(batch, 0, next(self._offsets), 0)
        header = read_header(batch)
        self.states.apply(header, read_end_marker(batch) if header.is_control else None)

    @property
    def known(self) -> set[int]:
        return set(self.states.producers)


def test_a_partition_forgets_those_that_were_idle_longest() -> None:
    partition = Partition(ProducerBound(200, MANY))
    for producer_id in range(200):
        partition.write(producer_id)
    partition.write(0, 1)  # used again
    partition.write(999)
    assert {0, 999} < partition.known
    assert partition.known == {0, 999, *range(1 + EVICTED_AT_ONCE, 200)}


def test_however_many_come_the_limit_holds() -> None:
    partition = Partition(ProducerBound(200, MANY))
    for producer_id in range(5000):
        partition.write(producer_id)
        assert partition.states.count <= 200


def test_producers_with_open_transactions_are_kept() -> None:
    partition = Partition(ProducerBound(200, MANY))
    for producer_id in range(100):
        partition.write(producer_id, is_transactional=True)
    for producer_id in range(1000, 3000):
        partition.write(producer_id)
    assert set(range(100)) < partition.known
    assert partition.states.count <= 200
    first = partition.states.first_undecided_offset
    partition.abort(0)
    assert partition.states.first_undecided_offset != first
    for producer_id in range(3000, 5000):
        partition.write(producer_id)
    assert set(range(1, 100)) < partition.known
    assert 0 not in partition.known


def test_a_producer_that_was_forgotten_continues_with_any_sequence() -> None:
    partition = Partition(ProducerBound(200, MANY))
    for producer_id in range(300):
        partition.write(producer_id, 0)
    assert 0 not in partition.known
    header = read_header(batch_of(b"v", producer=(0, 0, 17)))
    assert partition.states.decide_append(header) is ACCEPTED


def test_beyond_the_limit_of_all_the_partition_with_most_forgets_some() -> None:
    bound = ProducerBound(MANY, 1000)
    large, small = Partition(bound), Partition(bound)
    for producer_id in range(100):
        small.write(producer_id)
    for producer_id in range(10_000):
        large.write(producer_id)
    assert small.states.count == 100
    assert large.states.count <= 900 + COUNTED_EACH
    assert 9999 in large.known


def test_the_limit_of_all_holds_if_very_many_partitions_have_few_each() -> None:
    limit, many = 3000, 20 * VISITED_AT_ONCE
    bound = ProducerBound(MANY, limit)
    partitions = [Partition(bound) for _ in range(many)]
    for producer_id in range(5 * limit):
        partitions[producer_id * 7 % many].write(producer_id)
    total = sum(each.states.count for each in partitions)
    assert limit // 2 < total <= limit + 2 * COUNTED_EACH


def test_a_new_producer_evicts_few_if_very_many_have_been_read() -> None:
    """As after a start, from the snapshots of many logs."""
    evicted = 0

    class Counted(ProducerStates):
        def evict(self, count: int) -> None:
            nonlocal evicted
            before = self.count
            super().evict(count)
            evicted += before - self.count

    bound = ProducerBound(MANY, MANY)
    partitions = [Partition(bound) for _ in range(4)]
    for each in partitions:
        each.states = Counted()
        each.states.bound = bound
        for producer_id in range(5000):
            each.write(producer_id)
    bound.total_max = 1000
    other = Partition(bound)
    for producer_id in range(2000):
        evicted = 0
        other.write(producer_id)
        assert evicted <= EVICTED_EACH
    assert sum(each.states.count for each in (*partitions, other)) <= 1000 + 2 * COUNTED_EACH


def test_a_partition_that_is_gone_counts_no_more() -> None:
    bound = ProducerBound(MANY, 1000)
    gone = Partition(bound)
    for producer_id in range(900):
        gone.write(producer_id)
    del gone
    other = Partition(bound)
    for producer_id in range(1000):
        other.write(producer_id)
    assert other.states.count == 1000


def closed(place: Place, log: Log) -> Log:
    return place.reopen_clean(log)


def killed(place: Place, _log: Log) -> Log:
    return place.reopen_killed()


def cut(_place: Place, log: Log) -> Log:
    assert log.truncate_to(log.log_end_offset - 1)
    return log


def forgotten(_place: Place, log: Log) -> Log:
    log.producers.unload()
    return log


@pytest.mark.parametrize("again", [closed, killed, cut, forgotten])
def test_producers_that_were_read_from_the_files_of_a_log_count_too(
    again: Callable[[Place, Log], Log],
) -> None:
    place = Place(producers=ProducerBound(100, MANY))
    log = place.open()
    ids = count()

    def write() -> None:
        log.append_as_leader(batch_of(b"v", producer=(next(ids), 0, 0)), 0)

    for _ in range(90):
        write()
    log = again(place, log)
    for _ in range(200):
        write()
        assert log.producers.load(BLOCKING).count <= 100


@pytest.mark.parametrize("is_snapshot_lost", [False, True])
@pytest.mark.parametrize("again", [closed, killed, cut, forgotten])
def test_no_more_are_read_than_a_partition_remembers(
    again: Callable[[Place, Log], Log], is_snapshot_lost: bool
) -> None:
    place = Place(producers=ProducerBound(100, MANY))
    log = place.open()
    for producer_id in range(300):
        log.append_as_leader(batch_of(b"v", producer=(producer_id, 0, 0)), 0)
    if is_snapshot_lost:
        for name in names_in(place.disk, ".snapshot"):
            place.disk.remove(f"{place.path}/{name}")
    known = again(place, log).producers.load(BLOCKING)
    assert known.count <= 100
    assert 290 in known.producers


@pytest.mark.parametrize("lost", [slice(None), slice(-2, None)])
def test_a_snapshot_that_deletion_has_to_write_has_no_more_than_a_partition_remembers(
    lost: slice,
) -> None:
    place = Place()
    log = place.open()
    for producer_id in range(300):
        log.append_as_leader(batch_of(b"v", producer=(producer_id, 0, 0)), 0)
    place.producers = ProducerBound(100, MANY)  # the snapshots are of a time without a bound
    log = place.reopen_clean(log)
    log.snapshots.remove(log.snapshots.offsets()[lost])
    last = log.segments[-1].base_offset
    assert last not in log.snapshots
    log.delete_oldest(len(log.segments) - 1)
    known = read_snapshot(place.disk, log.snapshots.path(last))
    assert last - 1 in known
    assert len(known) <= 100


def test_producers_that_were_read_count_for_all_partitions() -> None:
    bound = ProducerBound(MANY, 1000)  # of a broker that has just started
    kept = []
    for _ in range(2):
        place = Place()
        log = place.open()
        for producer_id in range(300):
            log.append_as_leader(batch_of(b"v", producer=(producer_id, 0, 0)), 0)
        place.producers = bound
        kept.append(place.reopen_clean(log).producers.load(BLOCKING))
    other = Partition(bound)
    for producer_id in range(3 * COUNTED_EACH):
        other.write(producer_id)
    assert sum(each.count for each in kept) + other.states.count <= 1000 + COUNTED_EACH


def test_a_frozen_copy_does_not_change_with_what_is_written_later() -> None:
    partition = Partition(ProducerBound(MANY, MANY))
    for producer_id in range(20):
        partition.write(producer_id, is_transactional=producer_id % 2 == 0)
    before = encode_snapshot(partition.states.producers)
    frozen = partition.states.freeze()
    for producer_id in range(5, 25):
        partition.write(producer_id, 1)
    partition.abort(4)
    partition.states.evict(3)
    assert encode_snapshot(frozen) == before
    assert encode_snapshot(partition.states.producers) != before
    partition.states.thaw()
    newest = partition.states.producers[24]
    partition.write(24, 2)
    assert partition.states.producers[24] is newest  # no reader needs a copy any more


def test_producers_expire_in_slices_while_others_write() -> None:
    partition = Partition(ProducerBound(MANY, MANY))
    for producer_id in range(100):
        partition.write(producer_id)
    last_ms = partition.states.producers[0].last_timestamp
    expiring = partition.states.expiring(last_ms + 1000, 1000)
    for _ in range(10):
        next(expiring)
    partition.states.evict(20)
    partition.write(500, 0)
    assert sum(1 for _ in expiring) >= 70
    assert partition.known == {500}


def test_verifications_of_producers_that_never_write_do_not_pile_up() -> None:
    verifications = Verifications()
    first = verifications.start(-1, 0, 0, True, 0)
    for producer_id in range(PENDING_MAX + 10):
        verifications.start(producer_id, 0, 0, True, 0)
    assert len(verifications) == PENDING_MAX
    assert verifications.get(-1) is None
    assert verifications.start(-1, 0, 0, True, 0) != first
