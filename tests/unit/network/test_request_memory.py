"""The bound on request memory holds, and readers are woken when there is room."""

from __future__ import annotations

import pytest

from ottla.network.memory_queue import Reputation
from ottla.network.request_memory import RequestAccount, RequestMemory
from ottla.network.timeouts import Reason
from ottla.network.transfer_rate import TransferRate

KIB = 1024
MIB = 1024 * KIB


class Reader:
    """A connection: its account, and the calls of the memory."""

    def __init__(self, memory: RequestMemory, standing: Reputation = Reputation.UNKNOWN) -> None:
        self.memory = memory
        self.account = RequestAccount(self, "10.0.0.1")
        self.account.reputation = standing
        self.woken = 0
        self.evicted: list[Reason] = []

    def resume_after_memory(self) -> None:
        self.woken += 1

    def evict(self, reason: Reason) -> None:
        self.evicted.append(reason)
        self.leave()

    def begin(self, frame: int, used: int = 100) -> bool:
        """Announce a frame, send some of it, and ask for what an ordinary one needs at once."""
        self.account.rate = TransferRate(0.0)
        self.memory.change(self.account, used, 0, frame)
        return self.grow(frame - used)

    def grow(self, growth: int) -> bool:
        return self.memory.may_grow(self.account, growth, now_s=0.0)

    def fill(self, frame: int) -> None:
        """Use what was granted."""
        self.memory.change(self.account, self.account.reserved_bytes, 0, frame)

    def complete(self, size: int) -> None:
        """The frame is whole, and its request is worked on."""
        self.account.rate = None
        self.memory.change(self.account, size, size, 0)
        self.memory.leave(self.account)

    def leave(self) -> None:
        self.memory.leave(self.account)
        self.memory.change(self.account, 0, 0, 0)


def working(memory: RequestMemory, size: int) -> Reader:
    reader = Reader(memory)
    reader.complete(size)
    return reader


def test_readers_go_on_below_the_bound_and_their_room_counts_at_once() -> None:
    memory = RequestMemory(8 * MIB)
    assert Reader(memory).begin(MIB)
    assert memory.held_bytes == MIB


def test_a_reader_at_the_bound_is_stopped_and_woken_when_others_release() -> None:
    memory = RequestMemory(8 * MIB)
    other, reader = working(memory, 8 * MIB), Reader(memory)
    assert not reader.begin(MIB)
    assert memory.waiting == 1
    other.leave()
    assert reader.woken == 1
    assert reader.grow(MIB - 100)
    assert memory.held_bytes == MIB


def test_no_more_readers_are_woken_than_there_is_room_for() -> None:
    memory = RequestMemory(8 * MIB)
    first = working(memory, 8 * MIB)
    readers = [Reader(memory) for _ in range(10)]
    for reader in readers:
        assert not reader.begin(MIB)
    first.leave()
    assert sum(reader.woken for reader in readers) == 6
    assert memory.held_bytes <= 8 * MIB


@pytest.mark.parametrize("crowd", Reputation)
@pytest.mark.parametrize("one", Reputation)
def test_those_of_one_standing_leave_room_for_those_of_another(
    crowd: Reputation, one: Reputation
) -> None:
    memory = RequestMemory(8 * MIB)
    reader = Reader(memory, standing=crowd)
    while reader.begin(500 * KIB):
        reader = Reader(memory, standing=crowd)
    assert 6 * MIB <= memory.held_bytes < 6 * MIB + 500 * KIB
    assert Reader(memory, standing=one).begin(500 * KIB) == (crowd is not one)


def test_large_frames_leave_half_of_the_memory_to_ordinary_ones() -> None:
    memory = RequestMemory(16 * MIB)
    for _ in range(20):
        large = Reader(memory)
        memory.change(large.account, 100, 0, 50 * MIB)
        large.grow(MIB)
    assert memory.waiting > 0
    assert memory.held_bytes <= 10 * MIB  # their half, and one that is favoured
    assert Reader(memory).begin(MIB)


def test_of_incomplete_large_frames_alone_the_one_that_lacks_least_continues() -> None:
    memory = RequestMemory(8 * MIB)
    full, most, least = Reader(memory), Reader(memory), Reader(memory)
    for reader, size in ((full, 90 * MIB), (most, 80 * MIB), (least, 20 * MIB)):
        memory.change(reader.account, 2 * MIB, 0, size)
    assert full.grow(2 * MIB)  # favoured: no other request could continue
    assert not most.grow(2 * MIB)
    assert not least.grow(2 * MIB)
    full.complete(90 * MIB)
    assert (most.woken, least.woken) == (0, 0)  # its memory will be released
    full.leave()
    assert (most.woken, least.woken) == (0, 1)
    least.leave()
    assert most.woken == 1


def test_beginnings_of_frames_alone_cannot_lock_the_memory() -> None:
    memory = RequestMemory(100 * KIB)
    readers = [Reader(memory) for _ in range(20)]
    for reader in readers:
        reader.begin(60 * KIB, used=16 * KIB)
    served = 0
    while memory.waiting:
        going = [each for each in readers if each.account.reserved_bytes]
        assert going
        for reader in going:
            reader.leave()
            readers.remove(reader)
            served += 1
    assert served + len([each for each in readers if each.account.reserved_bytes]) == 20


def test_a_favoured_reader_grows_until_its_frame_is_whole() -> None:
    memory = RequestMemory(MIB)
    reader = Reader(memory)
    memory.change(reader.account, 2 * MIB, 0, 50 * MIB)
    for used in (2, 4, 8, 16, 32):
        assert reader.grow(used * MIB)
        memory.change(reader.account, 2 * used * MIB, 0, 50 * MIB)
    reader.leave()
    assert memory.held_bytes == memory.waiting == 0


def test_a_reader_that_left_is_not_woken() -> None:
    memory = RequestMemory(8 * MIB)
    other, gone = working(memory, 8 * MIB), Reader(memory)
    assert not gone.begin(MIB)
    gone.leave()
    other.leave()
    assert gone.woken == 0
    assert memory.held_bytes == memory.waiting == 0


def test_memory_is_tight_while_somebody_may_get_no_room() -> None:
    memory = RequestMemory(8 * MIB)
    assert not memory.is_tight
    other = working(memory, 6 * MIB)
    assert memory.is_tight
    other.leave()
    assert not memory.is_tight
    large = Reader(memory)
    memory.change(large.account, 4 * MIB, 0, 50 * MIB)
    assert memory.is_tight  # for large frames


def test_small_frames_count_and_are_evicted_when_the_memory_is_overfull() -> None:
    memory, calls = RequestMemory(8 * MIB), []
    memory.when_overfull(lambda: calls.append(1))
    readers = [Reader(memory) for _ in range(200)]
    for reader in readers:
        reader.account.rate = TransferRate(0.0)
        memory.change(reader.account, 60 * KIB, 0, 64 * KIB)
        if calls:
            break
    assert 10 * MIB <= memory.held_bytes <= 10 * MIB + 60 * KIB
    assert memory.evict(0.0) > 0
    assert 8 * MIB - 60 * KIB < memory.held_bytes <= 8 * MIB


def test_whole_requests_are_not_evicted_however_full_the_memory_is() -> None:
    memory = RequestMemory(8 * MIB)
    reader = working(memory, 20 * MIB)
    assert memory.evict(1000.0) == 0
    assert reader.evicted == []
