"""While there is more to do than the event loop can, its time is shared; time is moved by hand."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import cast

import pytest

from ottla.network.fair_queue import CHARGE_S_MIN
from ottla.network.request_scheduler import IMMEDIATE_S_MAX, QUEUED_S_MAX, RequestScheduler

HEAVY_S = 0.005
ONE, OTHER = "10.0.0.1", "10.0.0.2"


class World:
    """An event loop of which only `call_soon` is used, and a clock."""

    def __init__(self) -> None:
        self.now_s = 50.0
        self._soon: list[Callable[[], None]] = []
        self.scheduler = RequestScheduler(cast(asyncio.AbstractEventLoop, self), lambda: self.now_s)
        self.served: list[Client] = []
        self.newcomers: list[Client] = []

    def call_soon(self, function: Callable[[], None]) -> None:
        self._soon.append(function)

    def iterate(self) -> None:
        functions, self._soon = self._soon, []
        for function in functions:
            function()

    def be_busy(self) -> None:
        self.scheduler.charge_immediate(2 * IMMEDIATE_S_MAX)

    def clients(self, count: int, cost_s: float, address: str = ONE) -> list[Client]:
        return [Client(self, cost_s, address) for _ in range(count)]

    def seconds_of(self, clients: list[Client]) -> float:
        return sum(each.cost_s for each in self.served if each in clients)


class Client:
    def __init__(self, world: World, cost_s: float, address: str) -> None:
        self.share = world.scheduler.new_share(address)
        self.cost_s = cost_s
        self.asks_again = False
        self.is_broken = False
        self.is_closed = False
        self._world = world

    def ask(self) -> None:
        """As a connection does that has received a request."""
        scheduler = self._world.scheduler
        if scheduler.is_busy:
            scheduler.enqueue(self)
        else:
            self.begin_requests()
            scheduler.charge_immediate(self.cost_s)

    def begin_requests(self) -> None:
        if self.is_broken:
            raise RuntimeError("a bug")
        self._world.served.append(self)
        self._world.now_s += self.cost_s
        if self.asks_again:
            self._world.call_soon(self.ask)

    def close(self, reason: str) -> None:
        self.is_closed = True


@pytest.fixture
def world() -> World:
    return World()


def flood(clients: list[Client]) -> None:
    for client in clients:
        client.asks_again = True
        client.ask()


def iterations_until_served(world: World, client: Client) -> int:
    for number in range(1, 10_000):
        world.iterate()
        if client in world.served:
            return number
    raise AssertionError("never served")


def test_no_connection_waits_while_iterations_are_short(world: World) -> None:
    world.scheduler.charge_immediate(IMMEDIATE_S_MAX / 2)
    assert not world.scheduler.is_busy


def test_after_a_long_iteration_later_connections_wait(world: World) -> None:
    world.scheduler.charge_immediate(IMMEDIATE_S_MAX / 2)
    world.scheduler.charge_immediate(IMMEDIATE_S_MAX)
    assert world.scheduler.is_busy
    (client,) = world.clients(1, HEAVY_S)
    client.ask()
    assert not world.served
    world.iterate()
    assert world.served == [client]


def test_the_next_iteration_is_not_busy_if_no_connection_waits(world: World) -> None:
    world.be_busy()
    world.iterate()
    assert not world.scheduler.is_busy


def test_an_iteration_ends_when_its_time_is_over(world: World) -> None:
    world.be_busy()
    flood(world.clients(100, CHARGE_S_MIN))
    began_s = world.now_s
    world.iterate()
    assert world.now_s - began_s == pytest.approx(QUEUED_S_MAX, abs=CHARGE_S_MIN)
    assert world.scheduler.is_busy


def test_equal_clients_are_served_one_after_the_other(world: World) -> None:
    world.be_busy()
    clients = world.clients(10, HEAVY_S)
    flood(clients)
    while len(world.served) < 30:
        world.iterate()
    assert world.served[:30] == clients * 3


def test_a_new_address_is_next_however_many_flood(world: World) -> None:
    world.be_busy()
    flood(world.clients(100, HEAVY_S))
    while len(world.served) < 150:
        world.iterate()
    (small,) = world.clients(1, CHARGE_S_MIN, OTHER)
    small.ask()
    assert iterations_until_served(world, small) <= 2


def test_a_small_request_waits_for_as_much_of_others_as_it_takes_itself(world: World) -> None:
    """One after the other, it would wait for a large request of each."""
    world.be_busy()
    heavy = world.clients(100, HEAVY_S)
    flood(heavy)
    (small,) = world.clients(1, CHARGE_S_MIN)
    small.asks_again = True
    small.ask()
    while world.served.count(small) < 100:
        world.iterate()
    waited = "".join("S" if each is small else "h" for each in world.served).split("S")
    fair = len(heavy) * CHARGE_S_MIN / HEAVY_S
    assert max(map(len, waited[1:])) <= 2 * fair


def test_new_connections_with_large_requests_do_not_come_first(world: World) -> None:
    world.be_busy()
    (small,) = world.clients(1, CHARGE_S_MIN)
    small.asks_again = True
    small.ask()
    for _ in range(200):  # as many new connections come as are served
        while len(world.served) - world.served.count(small) > len(world.newcomers) - 50:
            world.newcomers += world.clients(1, HEAVY_S)
            world.newcomers[-1].ask()
        world.iterate()
    waited = "".join("S" if each is small else "h" for each in world.served).split("S")
    assert max(map(len, waited[2:])) <= 50 / 2


def test_addresses_share_the_time_equally(world: World) -> None:
    world.be_busy()
    many, one = world.clients(50, HEAVY_S, ONE), world.clients(1, HEAVY_S, OTHER)
    flood(many + one)
    while len(world.served) < 400:
        world.iterate()
    assert world.seconds_of(one) == pytest.approx(world.seconds_of(many), rel=0.1)


def test_an_address_that_pauses_saves_up_no_time(world: World) -> None:
    world.be_busy()
    steady, pausing = world.clients(1, HEAVY_S, ONE), world.clients(1, HEAVY_S, OTHER)
    flood(steady)
    while len(world.served) < 200:
        world.iterate()
    world.served.clear()
    flood(pausing)
    while len(world.served) < 100:
        world.iterate()
    assert world.served.count(pausing[0]) <= 51


def test_what_was_served_while_no_other_waited_is_forgotten(world: World) -> None:
    world.be_busy()
    greedy, other = world.clients(2, HEAVY_S)
    flood([greedy])
    for _ in range(100):
        world.iterate()
    greedy.asks_again = False
    world.iterate()
    world.iterate()
    assert not world.scheduler.is_busy
    world.be_busy()
    world.served.clear()
    flood([other, greedy])
    while len(world.served) < 10:
        world.iterate()
    assert world.served.count(greedy) == 5


def test_a_bug_in_one_client_does_not_stop_the_others(world: World) -> None:
    world.be_busy()
    broken, other = world.clients(2, CHARGE_S_MIN)
    broken.is_broken = True
    broken.ask()
    other.ask()
    world.iterate()
    assert world.served == [other]
    assert broken.is_closed
    assert not world.scheduler.is_busy


def test_newcomers_are_the_connections_that_wait_for_their_first_turn() -> None:
    world = World()
    clients = world.clients(3, QUEUED_S_MAX)
    world.be_busy()
    for client in clients:
        client.ask()
    assert world.scheduler.newcomers == 3
    world.iterate()
    assert world.scheduler.newcomers == 2
    world.served[0].ask()
    assert world.scheduler.newcomers == 2, "this one had its first turn"
    for _ in range(3):
        world.iterate()
    assert world.scheduler.newcomers == 0
