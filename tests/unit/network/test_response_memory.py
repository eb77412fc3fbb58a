"""The bound on response memory holds, and who waits for room is served fairly."""

from __future__ import annotations

import asyncio

import pytest

from ottla.network.response_memory import ResponseAccount, ResponseMemory
from ottla.network.settings import EvictionRules
from ottla.network.timeouts import Reason


async def settle() -> None:
    """Let everything run that can."""
    for _ in range(20):
        await asyncio.sleep(0)


class Builders:
    """Each waits for room, and then holds `size` bytes."""

    def __init__(self, memory: ResponseMemory, size: int, address: str = "10.0.0.1") -> None:
        self.memory = memory
        self.size = size
        self.address = address
        self.served: list[int] = []
        self.tasks: list[asyncio.Task[None]] = []

    async def start(self, count: int) -> None:
        for number in range(len(self.tasks), len(self.tasks) + count):
            self.tasks.append(asyncio.create_task(self._build(number)))
        await settle()

    async def _build(self, number: int) -> None:
        await self.memory.reserve(self.size, self.address)
        self.served.append(number)


def test_below_the_bound_no_response_waits() -> None:
    async def story() -> None:
        memory = ResponseMemory(100)
        memory.change(99)
        builders = Builders(memory, size=50)
        await builders.start(1)
        assert builders.served == [0]
        assert memory.held_bytes == 149

    asyncio.run(story())


def test_at_the_bound_builders_wait_and_the_newest_and_the_oldest_take_turns() -> None:
    async def story() -> None:
        memory = ResponseMemory(100)
        memory.change(100)
        builders = Builders(memory, size=1)
        await builders.start(4)
        assert builders.served == []
        assert memory.waiting == 4
        memory.change(-2)
        await settle()
        assert builders.served == [3, 0]
        assert memory.held_bytes == 100
        memory.change(-100)
        await settle()
        assert sorted(builders.served) == [0, 1, 2, 3]
        assert memory.waiting == 0

    asyncio.run(story())


def test_room_that_one_builder_fills_is_not_given_twice() -> None:
    async def story() -> None:
        memory = ResponseMemory(100)
        memory.change(100)
        builders = Builders(memory, size=1000)
        await builders.start(3)
        memory.change(-60)
        assert memory.held_bytes == 1040, "counted before the builder runs"
        await settle()
        assert len(builders.served) == 1
        assert memory.held_bytes == 1040

    asyncio.run(story())


def test_no_response_overtakes_those_that_wait() -> None:
    async def story() -> None:
        memory = ResponseMemory(100)
        memory.change(100)
        builders = Builders(memory, size=100)
        await builders.start(1)
        memory.change(-100)  # the first may run, but has not run yet
        await builders.start(1)
        assert builders.served == [0]
        assert memory.waiting == 1

    asyncio.run(story())


def test_builders_of_one_address_do_not_delay_those_of_another() -> None:
    async def story() -> None:
        memory = ResponseMemory(100)
        memory.change(100)
        crowd = Builders(memory, size=1)
        await crowd.start(50)
        others = [Builders(memory, 1, address) for address in ("10.0.0.2", "10.0.0.3")]
        for each in others:
            await each.start(2)
        await crowd.start(50)
        memory.change(-8)
        await settle()
        assert [len(each.served) for each in others] == [2, 2]
        assert len(crowd.served) == 4

    asyncio.run(story())


def test_room_that_was_granted_to_one_who_has_left_is_free_again() -> None:
    async def story() -> None:
        memory = ResponseMemory(100)
        memory.change(100)
        builders = Builders(memory, size=60)
        await builders.start(1)
        memory.change(-1)
        assert memory.held_bytes == 159
        builders.tasks[0].cancel()
        await settle()
        assert memory.held_bytes == 99
        assert builders.served == []

    asyncio.run(story())


def test_room_is_not_granted_to_one_who_is_just_leaving() -> None:
    async def story() -> None:
        memory = ResponseMemory(100)
        memory.change(100)
        builders = Builders(memory, size=60)
        await builders.start(2)
        builders.tasks[1].cancel()
        memory.change(-1)  # before the task has run
        await settle()
        assert builders.served == [0]
        assert memory.held_bytes == 159

    asyncio.run(story())


@pytest.mark.parametrize("is_woken", [False, True])
def test_one_who_gives_up_leaves_its_turn_to_the_next(is_woken: bool) -> None:
    async def story() -> None:
        memory = ResponseMemory(100)
        memory.change(100)
        builders = Builders(memory, size=1)
        await builders.start(3)
        if is_woken:
            memory.change(-1)  # for the newest
        builders.tasks[2].cancel()
        await settle()
        if not is_woken:
            memory.change(-1)
            await settle()
        assert builders.served == [0 if is_woken else 1]
        assert memory.waiting == 1

    asyncio.run(story())


class Connection:
    """Holds responses, as the memory knows it; its client takes them, or does not."""

    def __init__(self, memory: ResponseMemory, held: int = 0, address: str = "10.0.0.1") -> None:
        self.memory = memory
        self.account = ResponseAccount(self, address)
        self.sent_bytes = 0
        self.woken = 0
        self.evicted: list[Reason] = []
        memory.hold(self.account, held, 0.0)

    def send(self, count: int, now_s: float) -> None:
        self.sent_bytes += count
        self.memory.hold(self.account, self.account.held_bytes - count, now_s)

    def may_begin(self, *, is_busy: bool = False) -> bool:
        return self.memory.may_begin(self.account, is_busy=is_busy)

    def resume_after_memory(self) -> None:
        self.woken += 1

    def evict(self, reason: Reason) -> None:
        self.evicted.append(reason)
        self.memory.close(self.account, 0.0)


def test_with_room_every_request_begins() -> None:
    memory = ResponseMemory(100)
    assert Connection(memory, 99).may_begin(is_busy=True)


def test_without_room_only_those_begin_who_hold_nothing_and_have_nothing_in_progress() -> None:
    memory = ResponseMemory(100)
    hoarder, other = Connection(memory, 100), Connection(memory)
    assert not hoarder.may_begin()
    assert not other.may_begin(is_busy=True)
    assert other.may_begin()
    assert memory.stopped_connections == 2
    hoarder.send(1, 0.0)
    assert (hoarder.woken, other.woken) == (1, 1)
    assert hoarder.may_begin()


def test_above_the_bound_no_response_begins_until_connections_are_evicted() -> None:
    memory, calls = ResponseMemory(100), []
    memory.when_overfull(lambda: calls.append(1))
    hoarders = [Connection(memory, 25) for _ in range(5)]
    assert not calls
    small = Connection(memory)
    assert not small.may_begin()
    assert calls
    assert memory.evict(0.0) == 2
    assert memory.held_bytes == 75
    assert small.woken == 1
    assert sum(len(each.evicted) for each in hoarders) == 2


def test_who_takes_nothing_is_closed_while_others_wait_the_largest_first() -> None:
    memory = ResponseMemory(100)
    small, large, moving = (Connection(memory, held) for held in (20, 30, 50))
    assert not Connection(memory).may_begin(is_busy=True)
    memory.rules = EvictionRules(bytes_per_s_min=0)
    for second in range(5):
        moving.sent_bytes += 1000
        memory.evict(float(second))
        if second == 2:
            assert not large.evicted  # it is too early to decide
    assert large.evicted == [Reason.UNREAD_MEMORY]
    assert not small.evicted  # enough is free
    assert not moving.evicted


def test_while_no_request_waits_no_connection_is_closed() -> None:
    memory = ResponseMemory(100)
    hoarder = Connection(memory, 120)
    for second in range(100):
        assert memory.evict(float(second)) == 0
    assert not hoarder.may_begin()
    for second in range(100, 200):  # it waits for itself alone
        assert memory.evict(float(second)) == 0


def test_who_reads_below_the_minimum_rate_is_closed_and_who_reads_well_is_not() -> None:
    memory = ResponseMemory(100)
    slow, quick = Connection(memory, 60), Connection(memory, 60)
    assert not Connection(memory).may_begin(is_busy=True)
    for second in range(5):
        slow.sent_bytes += 60 * 1024
        quick.sent_bytes += 70 * 1024
        memory.evict(float(second))
    assert slow.evicted
    assert not quick.evicted


def test_those_of_an_address_beyond_its_share_are_closed_first() -> None:
    memory = ResponseMemory(100)
    one = Connection(memory, 40, address="10.0.0.2")
    many = [Connection(memory, 10) for _ in range(6)]
    assert not Connection(memory).may_begin(is_busy=True)
    for second in range(5):
        memory.evict(float(second))
    assert not one.evicted
    assert sum(len(each.evicted) for each in many) == 3


def test_one_who_waits_to_build_a_response_counts_as_waiting() -> None:
    async def story() -> None:
        memory = ResponseMemory(100)
        hoarder, builders = Connection(memory, 100), Builders(memory, size=1)
        await builders.start(1)
        for second in range(5):
            memory.evict(float(second))
        await settle()
        assert hoarder.evicted
        assert builders.served == [0]

    asyncio.run(story())


def test_a_connection_that_closes_releases_all_and_is_not_woken() -> None:
    memory = ResponseMemory(100)
    gone = Connection(memory, 100)
    assert not gone.may_begin()
    memory.close(gone.account, 0.0)
    assert memory.held_bytes == memory.unsent_bytes == memory.stopped_connections == 0
    assert gone.woken == 0
