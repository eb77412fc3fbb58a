"""The state of followers on the leader, as arithmetic."""

from __future__ import annotations

from random import Random

import pytest

from ottla.base.ids import NO_OFFSET
from ottla.replication.partition_state import FollowerProgress, LeaderState

ME, OTHER, THIRD = 1, 2, 3
LATEST = 2**63 - 1


def state(
    in_sync: tuple[int, ...] = (ME, OTHER, THIRD), *, start: int = 0, now_ms: int = 100
) -> LeaderState:
    return LeaderState(ME, (ME, OTHER, THIRD), in_sync, start, now_ms)


def at(leader: LeaderState, **ends: int) -> LeaderState:
    for name, end in ends.items():
        leader.followers[{"other": OTHER, "third": THIRD}[name]].log_end_offset = end
    return leader


def test_the_high_watermark_is_the_least_end_of_those_in_sync() -> None:
    assert at(state(), other=8, third=6).high_watermark(2, 10, 1) == 6
    assert at(state((ME, OTHER)), other=8, third=6).high_watermark(2, 10, 1) == 8
    assert at(state(), other=8, third=9).high_watermark(2, 7, 1) == 7, "the own copy counts too"
    assert at(state((ME,)), other=1, third=1).high_watermark(2, 10, 1) == 10


def test_it_never_goes_back_and_waits_for_followers_that_have_not_asked_yet() -> None:
    assert at(state(), other=3, third=6).high_watermark(5, 10, 1) == 5
    assert state().high_watermark(5, 10, 1) == 5
    assert state().followers[OTHER].log_end_offset == NO_OFFSET == -1
    assert at(state(), other=LATEST, third=LATEST).high_watermark(5, LATEST, 1) == LATEST


def test_it_stands_still_while_too_few_are_in_sync() -> None:
    pair = at(state((ME, OTHER)), other=9, third=9)
    assert [pair.high_watermark(2, 10, least) for least in (1, 2, 3, 4)] == [9, 9, 2, 2]
    all_in_sync = at(state(), other=9, third=9)
    assert all_in_sync.high_watermark(2, 10, 99) == 9, "more than there are replicas"


def test_one_whose_joining_is_only_requested_does_not_make_up_for_too_few() -> None:
    alone = at(state((ME,)), other=9, third=9)
    alone.request((ME, OTHER))
    assert alone.high_watermark(2, 10, 2) == 2
    alone.update(alone.replicas, (ME, OTHER), 100)
    assert alone.high_watermark(2, 10, 2) == 9


@pytest.mark.parametrize("moved", [(), (OTHER,)])
def test_the_lag_of_one_that_joins_or_has_to_fetch_again_counts_from_then(
    moved: tuple[int, ...],
) -> None:
    leader = state((ME, OTHER))
    leader.forget_progress(moved)
    leader.update(leader.replicas, (ME, OTHER, THIRD), 1000)
    late = frozenset({OTHER, THIRD} if moved else {THIRD})
    assert not leader.lagging(10, 1050, 50) & late
    assert leader.lagging(10, 1051, 50) >= late


def test_a_leader_without_followers_goes_by_its_own_copy() -> None:
    alone = LeaderState(ME, (ME,), (ME,), 0, 0)
    assert alone.followers == {}
    assert [alone.high_watermark(5, end, 3) for end in (4, 5, 6)] == [5, 5, 6]


def test_a_follower_is_caught_up_when_it_asks_for_the_end() -> None:
    progress = FollowerProgress()
    progress.fetched(10, 2, leader_end=10, now_ms=500)
    assert progress == FollowerProgress(10, 2, 500, 10, 500)
    progress.fetched(9, 2, leader_end=20, now_ms=600)
    assert (progress.log_end_offset, progress.caught_up_ms) == (9, 500)


def test_a_follower_that_reaches_the_end_of_its_last_fetch_was_in_step_then() -> None:
    """It may never ask for the end itself while the leader is written to."""
    progress = FollowerProgress()
    progress.fetched(0, 0, leader_end=10, now_ms=100)
    progress.fetched(9, 0, leader_end=20, now_ms=200)
    assert progress.caught_up_ms == 0
    progress.fetched(20, 0, leader_end=30, now_ms=300)
    assert progress.caught_up_ms == 200
    progress.fetched(40, 0, leader_end=30, now_ms=250)  # a clock that went back
    assert progress.caught_up_ms == 250
    progress.fetched(40, 0, leader_end=30, now_ms=240)
    assert progress.caught_up_ms == 250


def test_who_lags_is_in_sync_behind_and_late() -> None:
    leader = at(state((ME, OTHER), now_ms=1000), other=5, third=5)
    assert leader.lagging(9, 1100, 100) == frozenset()
    assert leader.lagging(9, 1101, 100) == {OTHER}, "the third is not in sync"
    assert leader.lagging(5, 9999, 100) == frozenset(), "it has everything"
    leader.followers[OTHER].fetched(9, 0, 9, 1050)
    assert leader.lagging(12, 1150, 100) == frozenset()
    assert leader.lagging(12, 1151, 100) == {OTHER}


def test_a_new_leader_gives_those_in_sync_time_from_now_on_and_others_none() -> None:
    leader = state((ME, OTHER), now_ms=777)
    assert leader.followers[OTHER].caught_up_ms == 777
    assert leader.followers[THIRD].caught_up_ms == 0


def test_a_follower_may_rejoin_with_all_that_was_promised_and_all_of_this_epoch() -> None:
    leader = at(state((ME, OTHER), start=7), other=99, third=6)
    assert not leader.may_rejoin(THIRD, high_watermark=5)
    at(leader, third=7)
    assert leader.may_rejoin(THIRD, high_watermark=5)
    assert leader.may_rejoin(THIRD, high_watermark=7)
    assert not leader.may_rejoin(THIRD, high_watermark=8)
    assert not leader.may_rejoin(OTHER, high_watermark=0), "it is in sync already"
    assert not leader.may_rejoin(ME, high_watermark=0)
    assert not leader.may_rejoin(9, high_watermark=0)


@pytest.mark.parametrize("seed", range(10))
def test_the_high_watermark_never_passes_a_copy_that_counts(seed: int) -> None:
    random = Random(seed)
    for _ in range(200):
        in_sync = (ME, *(each for each in (OTHER, THIRD) if random.random() < 0.7))
        leader = at(state(in_sync), other=random.randrange(-1, 20), third=random.randrange(-1, 20))
        current, own, least = random.randrange(10), random.randrange(10, 20), random.randrange(1, 5)
        found = leader.high_watermark(current, own, least)
        ends = [leader.followers[each].log_end_offset for each in in_sync if each != ME]
        expected = max(current, min([own, *ends]))
        assert found == (expected if len(in_sync) >= min(least, 3) else current)
