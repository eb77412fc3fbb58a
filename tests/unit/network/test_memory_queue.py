"""Who waits for memory is served in turn, whatever the number of others."""

from random import Random

import pytest

from ottla.network.memory_queue import ALL, MemoryQueue, Reputation


def taken(waiting: MemoryQueue[str], count: int, *standings: Reputation) -> list[str | None]:
    return [waiting.take(standings or ALL) for _ in range(count)]


def test_of_one_address_the_last_and_the_first_are_served_in_turn() -> None:
    waiting: MemoryQueue[str] = MemoryQueue()
    for name in "abcde":
        waiting.add(name, "10.0.0.1", Reputation.UNKNOWN)
    assert taken(waiting, 6) == ["e", "a", "d", "b", "c", None]
    assert len(waiting) == 0


def test_addresses_are_served_in_turn() -> None:
    waiting: MemoryQueue[str] = MemoryQueue()
    for number in range(100):
        waiting.add(f"many {number}", "10.0.0.1", Reputation.UNKNOWN)
    waiting.add("few 0", "10.0.0.2", Reputation.UNKNOWN)
    waiting.add("few 1", "10.0.0.2", Reputation.UNKNOWN)
    served = taken(waiting, 6)
    assert [each for each in served if each and each.startswith("few")] == ["few 1", "few 0"]


def test_every_second_turn_is_for_newcomers() -> None:
    waiting: MemoryQueue[str] = MemoryQueue()
    for number in range(100):
        waiting.add(str(number), f"10.0.0.{number}", Reputation.UNKNOWN)
    assert taken(waiting, 4) == ["99", "0", "98", "1"]
    waiting.add("new", "10.0.1.1", Reputation.UNKNOWN)
    assert taken(waiting, 2) == ["new", "2"]


def test_a_prompt_one_does_not_wait_for_strangers_nor_strangers_for_prompt_ones() -> None:
    waiting: MemoryQueue[str] = MemoryQueue()
    for number in range(3):
        waiting.add(f"stranger {number}", "10.0.0.1", Reputation.UNKNOWN)
        waiting.add(f"prompt {number}", "10.0.0.1", Reputation.PROMPT)
    order = ["prompt 2", "stranger 2", "prompt 0", "stranger 0", "prompt 1", "stranger 1"]
    assert taken(waiting, 6) == order


def test_where_there_is_room_for_prompt_ones_alone_others_keep_their_place() -> None:
    waiting: MemoryQueue[str] = MemoryQueue()
    waiting.add("stranger", "10.0.0.1", Reputation.UNKNOWN)
    waiting.add("prompt", "10.0.0.1", Reputation.PROMPT)
    assert taken(waiting, 2, Reputation.ANSWERED, Reputation.PROMPT) == ["prompt", None]
    assert taken(waiting, 1) == ["stranger"]


def test_one_that_left_is_not_served_and_one_that_asks_again_keeps_its_place() -> None:
    waiting: MemoryQueue[str] = MemoryQueue()
    for name in "abc":
        waiting.add(name, "10.0.0.1", Reputation.UNKNOWN)
    waiting.remove("b")
    waiting.remove("b")
    waiting.add("a", "10.0.0.1", Reputation.PROMPT)
    assert "b" not in waiting
    assert waiting.items() == ["a", "c"]
    assert taken(waiting, 3) == ["c", "a", None]


class Address:
    """One that waits, as the rules see it."""

    def __init__(self, now: int) -> None:
        self.joined_at = self.moved_at = now
        self.was_served = False
        self.waiting: list[int] = []  # in the order in which they came


@pytest.mark.parametrize("seed", range(30))
def test_turns_follow_the_rules_whoever_comes_leaves_and_asks_again(seed: int) -> None:
    """Those of one standing: every second turn is for the newest address that was not served since
    it came, the others for the address whose last turn, or coming, is longest ago."""
    rng, waiting = Random(seed), MemoryQueue[int]()
    addresses: dict[str, Address] = {}
    is_for_newcomers = False
    for now in range(400):
        what = rng.random()
        known = [(name, item) for name, each in addresses.items() for item in each.waiting]
        if what < 0.5:
            name = f"10.0.0.{rng.randrange(6)}"
            addresses.setdefault(name, Address(now)).waiting.append(now)
            waiting.add(now, name, Reputation.ANSWERED)
        elif what < 0.6 and known:
            name, item = rng.choice(known)
            if rng.random() < 0.5:
                waiting.add(item, name, Reputation.ANSWERED)  # asks again
            else:
                waiting.remove(item)
                addresses[name].waiting.remove(item)
        elif not known:
            assert waiting.take() is None
        else:
            is_for_newcomers = not is_for_newcomers
            new = [name for name, each in addresses.items() if not each.was_served]
            if is_for_newcomers and new:
                name = max(new, key=lambda each: addresses[each].joined_at)
            else:
                name = min(addresses, key=lambda each: addresses[each].moved_at)
            address = addresses[name]
            address.was_served, address.moved_at = True, now
            assert waiting.take() == address.waiting.pop(-1 if is_for_newcomers else 0)
        addresses = {name: each for name, each in addresses.items() if each.waiting}
        assert len(waiting) == sum(len(each.waiting) for each in addresses.values())
