"""Random clients share a request memory: who may continue does, and all of them end.

A client sends its next frame while earlier ones are worked on, so that an account holds whole
frames and an incomplete one at the same time.
"""

from __future__ import annotations

from random import Random

import pytest

from ottla.network.memory_queue import Reputation
from ottla.network.request_memory import (
    LARGE_SHARE,
    ORDINARY_BYTES_MAX,
    REPUTATION_SHARE,
    RequestAccount,
    RequestMemory,
)
from ottla.network.timeouts import Reason

KIB = 1024
MIB = 1024 * KIB
MEMORY = 8 * MIB
SIZES = (20 * KIB, 500 * KIB, MIB, ORDINARY_BYTES_MAX, ORDINARY_BYTES_MAX + 1, 3 * MIB, 12 * MIB)


class Client:
    def __init__(self, memory: RequestMemory, rng: Random) -> None:
        self.memory = memory
        self.account = RequestAccount(self, f"10.0.0.{rng.randrange(3)}")
        self.account.reputation = rng.choice(list(Reputation))
        self.complete: list[int] = []  # requests that are worked on
        self.frame = 0  # announced, and not whole yet
        self.received = 0
        self.is_waiting = False

    def resume_after_memory(self) -> None:
        assert self.is_waiting
        self.is_waiting = False

    def evict(self, reason: Reason) -> None:
        raise AssertionError(f"no client is slow here: {reason}")

    def announce(self, size: int) -> None:
        self.frame, self.received = size, min(size - 1, 16 * KIB)
        self._report()
        self._ask()

    def receive(self) -> None:
        """All that there is room for; the frame may be whole then."""
        room = self.account.reserved_bytes - sum(self.complete)
        self.received = max(self.received, min(self.frame, room))
        if self.received == self.frame:
            self.complete.append(self.frame)
            self.frame = self.received = 0
            self._report()
            self.memory.leave(self.account)
        else:
            self._report()
            self._ask()

    def answer(self) -> None:
        """The first of its requests."""
        del self.complete[0]
        self._report()

    def close(self) -> None:
        self.complete, self.frame, self.received, self.is_waiting = [], 0, 0, False
        self.memory.leave(self.account)
        self.memory.change(self.account, 0, 0, 0)

    def _report(self) -> None:
        whole = sum(self.complete)
        self.memory.change(self.account, whole + self.received, whole, self.frame)

    def _ask(self) -> None:
        lacking = self.frame - self.received
        growth = lacking if self.frame <= ORDINARY_BYTES_MAX else min(lacking, self.received)
        self.is_waiting = True  # until it is resumed, now or later
        if self.memory.may_grow(self.account, growth, now_s=0.0):
            self.is_waiting = False

    def act(self, rng: Random) -> None:
        if self.frame and not self.is_waiting and rng.random() < 0.6:
            self.receive()
        elif self.complete and rng.random() < 0.5:
            self.answer()
        elif not self.frame and len(self.complete) < 3:
            self.announce(rng.choice(SIZES))
        elif rng.random() < 0.05:
            self.close()


def check(memory: RequestMemory, clients: list[Client]) -> None:
    accounts = [each.account for each in clients]
    waiting = [each.account for each in clients if each.is_waiting]
    assert memory.held_bytes == sum(each.held_bytes for each in accounts)
    assert memory.waiting == len(waiting)
    for client in clients:
        assert client.account.held_bytes <= sum(client.complete) + client.frame, "held for nothing"
    has_room = rooms(accounts, memory.exempt_excess_bytes)
    large = [each for each in accounts if each.is_large]
    large_bytes = sum(each.held_bytes for each in large)
    assert 0 <= memory.exempt_excess_bytes <= max(SIZES)
    for each in waiting:
        is_kept_out = each.is_large and large_bytes >= MEMORY * LARGE_SHARE
        assert is_kept_out or not has_room[each.counted_as], "it waits, though there is room"
    if any(each.is_large for each in waiting) and not any(each.complete_bytes for each in large):
        # The exempt one may have been large only by a request that is answered meanwhile.
        able = [each for each in accounts if each.is_large or each is memory._exempt]
        assert any(each.frame_bytes and each not in waiting for each in able), "none can continue"
    if any(not each.is_large for each in waiting):
        able = [each for each in accounts if each.complete_bytes or each not in waiting]
        assert any(each.held_bytes for each in able), "all wait for one another"


def rooms(accounts: list[RequestAccount], exempt_bytes: int) -> dict[Reputation, bool]:
    """For whom there is some: of what all share, or of what is kept for those of their standing."""
    kept = int(MEMORY * REPUTATION_SHARE)
    held = dict.fromkeys(Reputation, 0)
    for each in accounts:
        held[each.counted_as] += each.held_bytes
    common = sum(max(0, size - kept) for size in held.values())
    is_common = common - exempt_bytes < MEMORY - len(Reputation) * kept
    return {standing: is_common or size < kept for standing, size in held.items()}


@pytest.mark.parametrize("seed", range(40))
def test_who_may_go_on_does_and_all_end(seed: int) -> None:
    rng, memory = Random(seed), RequestMemory(MEMORY)
    clients = [Client(memory, rng) for _ in range(rng.choice((2, 5, 15)))]
    for _ in range(400):
        rng.choice(clients).act(rng)
        check(memory, clients)
    while busy := [each for each in clients if each.frame or each.complete]:
        able = [each for each in busy if each.complete or not each.is_waiting]
        assert able, "all wait for one another"
        client = rng.choice(able)
        if client.frame and not client.is_waiting:
            client.receive()
        else:
            client.answer()
        check(memory, clients)
    assert memory.held_bytes == memory.waiting == memory.exempt_excess_bytes == 0
    assert not memory.is_tight
