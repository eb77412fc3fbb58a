"""Whatever others do with the memory of requests, a good client gets its part of it soon.

The time is moved by hand, so that delays are exact: they are those that the rules cause.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest
from tests.unit.network.crowd import STEP_S, Client, Crowd

from ottla.network.memory_queue import Reputation

KIB = 1024
MIB = 1024 * KIB
MEMORY = 32 * MIB
LARGE = 36 * MIB  # more than the memory: one such frame at a time is exempt
MINUTE_S = 60.0

Attack = Callable[[Client], None]  # what an attacker does in one step
BYTES_PER_STEP = int(64 * KIB * STEP_S) + 1  # just above the minimum rate


class Attackers:
    """Each does the same in every step, and comes back when it is closed."""

    def __init__(
        self,
        crowd: Crowd,
        count: int,
        attack: Attack,
        addresses: int = 1,
        standing: Reputation = Reputation.UNKNOWN,
    ) -> None:
        self._crowd = crowd
        self._attack = attack
        self.closed = 0
        self._standing = standing
        self._clients = [
            self._connect(f"127.0.0.{1 + number % addresses}") for number in range(count)
        ]

    def _connect(self, address: str) -> Client:
        client = self._crowd.client(address)
        client.account.reputation = self._standing
        return client

    def act(self) -> None:
        for index, client in enumerate(self._clients):
            if client.evicted is not None:
                self.closed += 1
                self._crowd.clients.remove(client)
                self._clients[index] = client = self._connect(client.address)
            self._attack(client)


class Victim:
    """Sends a frame every half second, as fast as it is read; notes how long each took."""

    def __init__(
        self,
        crowd: Crowd,
        size: int,
        standing: Reputation = Reputation.ANSWERED,
        address: str = "127.0.0.1",
    ) -> None:
        self._crowd = crowd
        self._size = size
        self._standing = standing
        self._client = self._connect(address)
        self._begun_s: float | None = None
        self._next_s = 0.0
        self.delays_s: list[float] = []
        self.closed = 0

    def _connect(self, address: str) -> Client:
        client = self._crowd.client(address)
        client.account.reputation = self._standing
        return client

    def act(self) -> None:
        if self._client.evicted is not None:
            self.closed += 1
            self._client = self._connect(self._client.address)
            self._begun_s = None
        if self._begun_s is None and self._crowd.now_s >= self._next_s:
            self._begun_s = self._crowd.now_s
            self._client.announce(self._size)
        if self._begun_s is not None:
            self._client.send(self._size)
            if self._client.is_whole:
                self.delays_s.append(self._crowd.now_s - self._begun_s)
                self._next_s = self._begun_s + 0.5
                self._begun_s = None


def trickle(frame: int, first: int, then: int = 1) -> Attack:
    """Announce a frame, send its beginning at once, and the rest byte by byte."""

    def act(client: Client) -> None:
        if client.is_whole:
            client.announce(frame)
            client.send(first)
        else:
            client.send(then)

    return act


def stick(frame: int) -> Attack:
    """Send a whole request behind one that waits for long."""

    def act(client: Client) -> None:
        client.keeps = client.is_stuck = True
        if client.is_whole and not client.complete_bytes:
            client.announce(frame)
        client.send(frame)

    return act


ATTACKS: dict[str, tuple[int, Attack]] = {
    "100 MiB announced, 4 MB sent": (70, trickle(100 * MIB, 4_000_000)),
    "100 MiB announced, at the minimum rate": (70, trickle(100 * MIB, 4_000_000, BYTES_PER_STEP)),
    "36 MiB announced, sent fast up to the last byte": (12, trickle(LARGE, LARGE - 1)),
    "just above an ordinary frame": (100, trickle(1200 * KIB, 1100 * KIB)),
    "1 MiB announced, just enough for its room": (300, trickle(MIB, 65 * KIB)),
    "1 MiB announced, all but the last byte": (300, trickle(MIB, MIB - 5000)),
    "at the minimum rate": (300, trickle(MIB, 65 * KIB, BYTES_PER_STEP)),
    "small frames all but whole": (600, trickle(60 * KIB, 59 * KIB)),
    "announced and nothing sent": (300, trickle(100 * MIB, 0, 0)),
    "whole requests behind one that waits": (100, stick(MIB)),
    "large whole requests behind one that waits": (20, stick(8 * MIB)),
}


EXEMPT_BYTES = {"36 MiB announced, sent fast up to the last byte": LARGE - MEMORY // 2}


def test_a_frame_larger_than_the_memory_arrives_at_any_sufficient_rate() -> None:
    crowd = Crowd(MEMORY)
    client = crowd.client()
    client.announce(100 * MIB)
    for _ in crowd.steps(MINUTE_S):
        client.send(4 * MIB)
    assert client.evicted is None
    assert client.is_whole


def test_a_frame_larger_than_the_memory_does_not_stop_ordinary_ones() -> None:
    crowd = Crowd(MEMORY)
    large = crowd.client()
    large.announce(100 * MIB)
    large.send(99 * MIB)
    assert large.account.held_bytes > MEMORY
    victim = Victim(crowd, MIB, Reputation.UNKNOWN)
    run(crowd, 5.0, victim)
    assert large.evicted is None
    assert victim.closed == 0
    assert max(victim.delays_s) <= 2 * STEP_S


def run(crowd: Crowd, seconds: float, *actors: Attackers | Victim) -> None:
    for _ in crowd.steps(seconds):
        for each in actors:
            each.act()


@pytest.mark.parametrize("standing", Reputation)
@pytest.mark.parametrize("name", ATTACKS)
def test_ordinary_requests_beside_an_attack_wait_for_seconds_at_most(
    name: str, standing: Reputation
) -> None:
    crowd, (count, attack) = Crowd(MEMORY), ATTACKS[name]
    attackers = Attackers(crowd, count, attack, standing=standing)
    victim = Victim(crowd, 500_000)
    run(crowd, 6.0, attackers)  # it is well under way
    run(crowd, 20.0, attackers, victim)
    assert victim.closed == 0
    assert max(victim.delays_s) <= 4.0
    assert crowd.held_peak <= 1.25 * MEMORY + EXEMPT_BYTES.get(name, 0)


@pytest.mark.parametrize("name", ATTACKS)
def test_it_is_the_same_with_many_addresses(name: str) -> None:
    crowd, (count, attack) = Crowd(MEMORY), ATTACKS[name]
    attackers = Attackers(crowd, count, attack, addresses=100, standing=Reputation.PROMPT)
    victim = Victim(crowd, 500_000, address="10.0.0.1")
    run(crowd, 6.0, attackers)
    run(crowd, 20.0, attackers, victim)
    assert victim.closed == 0
    assert max(victim.delays_s) <= 4.0


def test_strangers_do_not_delay_a_client_that_is_known_at_all() -> None:
    for name, (count, attack) in ATTACKS.items():
        crowd = Crowd(MEMORY)
        attackers, victim = Attackers(crowd, count, attack), Victim(crowd, 500_000)
        run(crowd, 6.0, attackers)
        run(crowd, 10.0, attackers, victim)
        assert max(victim.delays_s) == 0, name


def test_large_requests_beside_large_ones_that_trickle_get_through() -> None:
    crowd = Crowd(MEMORY)
    attackers = Attackers(crowd, 70, trickle(100 * MIB, 4_000_000, BYTES_PER_STEP))
    victim = Victim(crowd, 5 * MIB)
    run(crowd, 6.0, attackers)
    run(crowd, MINUTE_S, attackers, victim)
    assert victim.closed == 0
    assert max(victim.delays_s) <= 15.0


def test_slow_clients_that_delay_no_other_are_not_closed() -> None:
    crowd = Crowd(MEMORY)
    slow = Attackers(crowd, 20, trickle(MIB, 65 * KIB))
    run(crowd, MINUTE_S, slow)
    assert slow.closed == 0


def test_good_clients_that_fill_the_memory_by_their_number_are_not_closed() -> None:
    crowd = Crowd(MEMORY)
    good = Attackers(crowd, 100, trickle(MIB, 65 * KIB, int(MIB * STEP_S)))
    run(crowd, MINUTE_S, good)
    assert crowd.memory.is_tight
    assert good.closed == 0


def test_a_client_that_is_paused_for_long_is_not_slow_afterwards() -> None:
    crowd = Crowd(MEMORY)
    holders = [crowd.client() for _ in range(24)]
    for holder in holders:
        holder.keeps = True  # being handled, without a limit of time
        holder.announce(MIB)
        holder.send(MIB)
    waiting = crowd.client()
    waiting.announce(MIB)
    for _ in crowd.steps(MINUTE_S):
        waiting.send(MIB)
    assert not waiting.is_whole
    for holder in holders:
        holder.complete_bytes = 0
    for _ in crowd.steps(1.0):
        waiting.send(MIB)
    assert waiting.is_whole
    assert waiting.evicted is None


def test_an_address_beyond_its_share_gives_way_to_another_one() -> None:
    crowd = Crowd(MEMORY)
    steady = trickle(MIB, 65 * KIB, int(200 * KIB * STEP_S))
    many = Attackers(crowd, 100, steady)
    run(crowd, 6.0, many)
    victim = Victim(crowd, 500_000, Reputation.UNKNOWN, address="10.0.0.1")
    run(crowd, 10.0, many, victim)
    assert many.closed > 0
    assert victim.closed == 0
    assert max(victim.delays_s) <= 3.0
