"""Waiting requests: the order in which they are woken, and that none is too early or twice."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from functools import partial
from itertools import pairwise
from random import Random
from typing import Any

import pytest
from tests.unit.replication.test_high_watermark import ME, OTHER, World, data_waiter, run_pending

from ottla.base.scheduling.callback_queue import TASKS_MAX, CallbackQueue
from ottla.base.scheduling.loop_timers import LoopTimers
from ottla.config.topic_options import TopicConfig
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.errors import BrokerError
from ottla.replication.fetch_sessions import Watcher
from ottla.replication.fetch_waiters import (
    UNREGISTERED_AT_ONCE,
    DataWaiter,
    LargeWaiter,
    ParkedFetches,
)
from ottla.replication.offset_waiters import CALLED_AT_ONCE, OffsetWaiter, OffsetWaiters


def run(story: Coroutine[Any, Any, None]) -> None:
    asyncio.run(asyncio.wait_for(story, 30))


# Acknowledgements


def test_waiters_below_the_high_watermark_are_called_in_order_and_once() -> None:
    waiters, reported = OffsetWaiters(), []
    assert not waiters
    for end in (1, 2, 2, 5):
        waiters.add(end, lambda error, end=end: reported.append((end, error)))  # type: ignore[misc]
    waiters.reached(0)
    assert reported == []
    waiters.reached(2)
    assert reported == [(1, None), (2, None), (2, None)]
    assert waiters
    waiters.reached(4)
    assert len(reported) == 3
    error = BrokerError(ErrorCode.NOT_LEADER_OR_FOLLOWER)
    waiters.fail(error)
    assert reported[3:] == [(5, error)]
    assert not waiters
    waiters.reached(9)
    assert len(reported) == 4


def test_a_late_waiter_is_called_before_those_with_higher_offsets() -> None:
    waiters, reported = OffsetWaiters(), []
    for end in (3, 7, 7, 5, 1, 9, 5):
        waiters.add(end, lambda _error, end=end: reported.append(end))  # type: ignore[misc]
    waiters.reached(1)
    assert reported == [1]
    waiters.reached(5)
    assert reported == [1, 3, 5, 5]
    waiters.reached(9)
    assert reported == [1, 3, 5, 5, 7, 7, 9]


@pytest.mark.parametrize("seed", range(5))
def test_waiters_are_called_once_lowest_offset_first_in_success_and_failure(seed: int) -> None:
    random, waiters = Random(seed), OffsetWaiters()
    reported: list[tuple[int, int, bool]] = []
    model: list[tuple[int, int]] = []  # offset, and number in the order of their coming

    def note(each: tuple[int, int], error: BrokerError | None) -> None:
        reported.append((*each, error is None))

    for number in range(200):
        step = random.choice("aaaarf") if number % 20 else "f"
        before, expected = len(reported), []
        if step == "a":
            end = random.randrange(100)
            model.append((end, number))
            waiters.add(end, partial(note, (end, number)))
        elif step == "r":
            reached = random.randrange(100)
            expected = [(*each, True) for each in sorted(model) if each[0] <= reached]
            waiters.reached(reached)
        else:
            expected = [(*each, False) for each in sorted(model)]
            waiters.fail(BrokerError(ErrorCode.NOT_LEADER_OR_FOLLOWER))
        assert reported[before:] == expected
        model = [each for each in model if each not in {one[:2] for one in expected}]
        assert bool(waiters) == bool(model)


@pytest.mark.parametrize("seed", range(5))
def test_who_has_left_is_not_called_and_not_kept(seed: int) -> None:
    random, waiters = Random(seed), OffsetWaiters()
    called: list[int] = []
    waiting: dict[int, OffsetWaiter] = {}
    offsets: dict[int, int] = {}
    for number in range(2000):
        step = random.choice("aaallr")
        if step == "a":
            offsets[number] = random.randrange(100) if number % 10 == 0 else number
            waiting[number] = waiters.add(offsets[number], lambda _, n=number: called.append(n))  # type: ignore[misc]
        elif step == "l" and waiting:
            gone = random.choice(list(waiting))
            waiters.remove(waiting[gone])
            waiters.remove(waiting.pop(gone))  # a second time changes nothing
        elif step == "r":
            reached = random.randrange(number + 1) if number % 7 == 0 else 0
            before = len(called)
            waiters.reached(reached)
            expected = sorted(each for each in waiting if offsets[each] <= reached)
            assert sorted(called[before:]) == expected
            for each in expected:
                waiters.remove(waiting.pop(each))
        assert len(waiters) == len(waiting)
        assert waiters.queued <= 2 * len(waiting)
    for waiter in waiting.values():
        waiters.remove(waiter)
    assert not waiters


def test_a_future_that_was_given_up_is_left_alone() -> None:
    async def story() -> None:
        waiters = OffsetWaiters()
        first, second, third = (asyncio.ensure_future(waiters.wait_for(each)) for each in (1, 1, 2))
        await run_pending()
        assert len(waiters) == 3
        first.cancel()
        await run_pending()
        assert len(waiters) == 2
        waiters.reached(1)
        await run_pending()
        assert (second.done(), third.done()) == (True, False)
        waiters.fail(BrokerError(ErrorCode.NOT_LEADER_OR_FOLLOWER))
        with pytest.raises(BrokerError):
            await third

    run(story())


def test_who_waits_without_a_task_is_called_with_the_outcome() -> None:
    async def story() -> None:
        world = World(TopicConfig(), replicas=(ME, OTHER))
        end = world.append()
        world.fetched(OTHER, end)
        reported: list[Exception | None] = []
        world.partition.when_replicated(end, reported.append)
        assert reported == [None], "it is replicated already"
        world.append()
        world.partition.when_replicated(end + 1, reported.append)
        assert len(reported) == 1
        world.decide(OTHER)
        world.partition.when_replicated(end + 1, reported.append)
        codes = [error.code for error in reported[1:] if isinstance(error, BrokerError)]
        assert codes == [ErrorCode.NOT_LEADER_OR_FOLLOWER] * 2

    run(story())


@pytest.mark.parametrize("is_replicated", [False, True])
def test_an_append_is_not_acknowledged_once_another_broker_has_led(is_replicated: bool) -> None:
    async def story() -> None:
        world = World(TopicConfig(), replicas=(ME, OTHER))
        epoch, end = world.partition.leader_epoch, world.append()
        world.decide(OTHER)  # which may have replaced what is below `end`
        world.decide(ME)
        if is_replicated:
            world.fetched(OTHER, end)
        reported: list[Exception | None] = []
        world.partition.when_replicated(end, reported.append, epoch)
        world.partition.when_synced(end, reported.append, epoch)
        with pytest.raises(BrokerError) as waiting:
            await world.partition.wait_replicated(end, epoch)
        codes = [each.code for each in (*reported, waiting.value) if isinstance(each, BrokerError)]
        assert codes == [ErrorCode.NOT_LEADER_OR_FOLLOWER] * 3

    run(story())


def test_an_append_is_not_acknowledged_by_a_follower_whose_log_reaches_as_far() -> None:
    world = World(TopicConfig(), replicas=(ME, OTHER))
    epoch, end = world.partition.leader_epoch, world.append()
    world.fetched(OTHER, end)
    world.decide(OTHER)
    reported: list[Exception | None] = []
    world.partition.when_replicated(end, reported.append, epoch)
    (error,) = reported
    assert isinstance(error, BrokerError)
    assert error.code is ErrorCode.NOT_LEADER_OR_FOLLOWER


def test_a_leader_that_continues_in_a_new_epoch_acknowledges_what_it_appended_before() -> None:
    async def story() -> None:
        world = World(TopicConfig(), replicas=(ME, OTHER))
        epoch, end = world.partition.leader_epoch, world.append()
        world.decide(ME)
        waiting = asyncio.ensure_future(world.partition.wait_replicated(end, epoch))
        await run_pending()
        assert not waiting.done()
        world.fetched(OTHER, end)
        await waiting
        reported: list[Exception | None] = []
        world.partition.when_replicated(end, reported.append, epoch)
        assert reported == [None]

    run(story())


# Readers


class Place:
    def __init__(self) -> None:
        self.watchers: dict[Watcher, None] = {}


@pytest.mark.parametrize("is_committed", [False, True])
def test_a_reader_wakes_with_the_last_byte_that_it_wants(is_committed: bool) -> None:
    async def story() -> None:
        place = Place()
        waiter = data_waiter([place], 10, is_committed=is_committed)
        waiting = asyncio.ensure_future(waiter.wait(60_000))
        await run_pending()
        waiter.data_arrived(9, is_stable=True)
        await run_pending()
        assert not waiting.done()
        waiter.data_arrived(1, is_stable=False)
        await run_pending()
        assert waiting.done() != is_committed, "what is not stable is nothing to read for some"
        waiter.data_arrived(0, is_stable=True)
        await waiting
        assert not place.watchers

    run(story())


def test_a_fetch_of_many_partitions_unregisters_in_slices() -> None:
    async def story() -> None:
        places = [Place() for _ in range(3 * UNREGISTERED_AT_ONCE)]
        waiter = data_waiter(places, 1)
        waiter.wake()
        left = sum(not place.watchers for place in places)
        assert left == UNREGISTERED_AT_ONCE
        await waiter.wait(60_000)
        for _ in range(5):
            await asyncio.sleep(0)
        assert not any(place.watchers for place in places)

    run(story())


def test_many_fetches_of_one_record_are_woken_in_several_iterations() -> None:
    async def story() -> None:
        place, timers, queue = Place(), LoopTimers(), CallbackQueue(TASKS_MAX)
        waiters = [DataWaiter([place], 1, timers, queue) for _ in range(3 * TASKS_MAX)]
        waits = [asyncio.ensure_future(each.wait(60_000)) for each in waiters]
        await run_pending()
        assert len(timers) == len(waits)
        waits[-1].cancel()
        for each in waiters:
            each.data_arrived(1, is_stable=True)
        assert not place.watchers
        woken = [0]
        while woken[-1] < len(waits):
            await asyncio.sleep(0)
            woken.append(sum(each.done() for each in waits))
        assert max(after - before for before, after in pairwise(woken)) <= TASKS_MAX + 1
        assert len(timers) == 0

    run(story())


def test_a_reader_whose_time_is_up_is_woken() -> None:
    async def story() -> None:
        place = Place()
        await asyncio.wait_for(data_waiter([place], 1).wait(5), 30)
        assert not place.watchers

    run(story())


@pytest.mark.parametrize("count", [1, UNREGISTERED_AT_ONCE, 2 * UNREGISTERED_AT_ONCE + 1])
def test_a_reader_that_has_left_gives_the_event_loop_nothing_more_to_do(count: int) -> None:
    async def story() -> None:
        loop = asyncio.get_running_loop()
        scheduled: list[object] = []
        call_soon = loop.call_soon

        def noted(callback: Callable[..., object], *args: Any, **keywords: Any) -> asyncio.Handle:
            scheduled.append(callback)
            return call_soon(callback, *args, **keywords)

        async def cost_of_turns() -> int:
            before = len(scheduled)
            await run_pending()
            return len(scheduled) - before

        loop.call_soon = noted  # type: ignore[method-assign,assignment]
        idle = await cost_of_turns()
        places = [Place() for _ in range(count)]
        for waiter in (data_waiter(places, 1), data_waiter(places, 1)):
            waiter.wake()
            await waiter.wait(60_000)
        await run_pending()
        assert not any(place.watchers for place in places)
        assert await cost_of_turns() == idle

    run(story())


@pytest.mark.parametrize("is_committed", [False, True])
def test_a_large_reader_hears_of_what_came_while_it_looked(is_committed: bool) -> None:
    async def story() -> None:
        waiter = LargeWaiter(is_committed=is_committed)
        place = Place()
        waiter.join(place)
        assert list(place.watchers) == [waiter]
        for size, missing in ((1000, 1000), (1, 0)):
            waiter.begin()
            waiter.data_arrived(size, is_stable=True)
            waiter.expect(missing)
            await asyncio.wait_for(waiter.wait(60), 5)  # at once
        waiter.begin()
        waiter.expect(10)
        waiting = asyncio.ensure_future(waiter.wait(60))
        await run_pending()
        waiter.data_arrived(9, is_stable=True)
        await run_pending()
        assert not waiting.done()
        waiter.data_arrived(1, is_stable=not is_committed)
        await run_pending()
        assert waiting.done() != is_committed
        waiter.wake()
        await waiting
        waiter.begin()
        waiter.expect(10)
        await waiter.wait(0.01)  # until its time is up
        waiter.close()
        assert not place.watchers

    run(story())


def test_bytes_that_come_while_a_large_reader_looks_end_its_wait_only_if_they_are_enough() -> None:
    async def story() -> None:
        waiter = LargeWaiter(is_committed=False)
        waiter.begin()
        waiter.data_arrived(6, is_stable=True)
        waiter.expect(10)
        waiting = asyncio.ensure_future(waiter.wait(60))
        await run_pending()
        assert not waiting.done()
        waiter.data_arrived(4, is_stable=True)
        await waiting

    run(story())


def test_what_is_not_stable_ends_no_wait_of_a_large_reader_of_committed_data() -> None:
    async def story() -> None:
        waiter = LargeWaiter(is_committed=True)
        for _ in range(2):  # nothing is left of the first time
            waiter.begin()
            waiter.data_arrived(10, is_stable=False)
            waiter.expect(10)
            waiting = asyncio.ensure_future(waiter.wait(60))
            await run_pending()
            assert not waiting.done()
            waiter.data_arrived(1, is_stable=True)
            await waiting

    run(story())


def test_urgent_changes_end_the_wait_of_a_large_reader_even_while_it_reads() -> None:
    async def story() -> None:
        waiter = LargeWaiter(is_committed=True)
        waiter.begin()
        waiter.wake()
        waiter.expect(1000)
        await asyncio.wait_for(waiter.wait(60), 5)

    run(story())


def test_a_large_reader_pauses_between_looks_but_not_beyond_its_time() -> None:
    async def story() -> None:
        waiter = LargeWaiter(is_committed=False)
        waiter.begin()
        waiter.wake()
        waiting = asyncio.ensure_future(waiter.wait(600, pause_s=600))
        await run_pending()
        assert not waiting.done()
        waiting.cancel()
        await asyncio.wait_for(waiter.wait(600, pause_s=0), 5)
        await asyncio.wait_for(waiter.wait(0, pause_s=600), 5)

    run(story())


def test_waiting_fetches_share_a_bound() -> None:
    parked = ParkedFetches(10)
    assert [parked.has_room(each) for each in (0, 10, 11)] == [True, True, False]
    parked.add(6)
    parked.remove(2)
    assert [parked.has_room(each) for each in (6, 7)] == [True, False]


@pytest.mark.parametrize("is_failed", [False, True])
def test_very_many_waiters_are_called_some_in_each_iteration_of_the_loop(is_failed: bool) -> None:
    outcomes: list[tuple[int, Exception | None]] = []
    count, reached = 6 * CALLED_AT_ONCE, 5 * CALLED_AT_ONCE

    def note(at: int, error: Exception | None) -> None:
        outcomes.append((at, error))

    async def run() -> None:
        waiters = OffsetWaiters()
        for end_offset in range(1, count + 1):
            waiters.add(end_offset, partial(note, end_offset))
        waiters.reached(reached // 2)
        waiters.reached(reached)
        assert len(outcomes) == CALLED_AT_ONCE
        error = BrokerError(ErrorCode.NOT_LEADER_OR_FOLLOWER)
        if is_failed:
            waiters.fail(error)
        for number in range(2, 10):
            await asyncio.sleep(0)
            if not is_failed:
                assert len(outcomes) == min(number * CALLED_AT_ONCE, reached)
        last = range(reached + 1, count + 1) if is_failed else ()
        expected = [(at, None) for at in range(1, reached + 1)]
        assert outcomes == expected + [(at, error) for at in last]

    asyncio.run(run())
