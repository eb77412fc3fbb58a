"""Who waits for memory is served in turn, whatever the number of others."""

from ottla.network.waiting_readers import EVERY, Standing, WaitingReaders


def taken(waiting: WaitingReaders[str], count: int, *standings: Standing) -> list[str | None]:
    return [waiting.take(standings or EVERY) for _ in range(count)]


def test_of_one_address_the_last_and_the_first_are_served_in_turn() -> None:
    waiting: WaitingReaders[str] = WaitingReaders()
    for name in "abcde":
        waiting.add(name, "10.0.0.1", Standing.STRANGER)
    assert taken(waiting, 6) == ["e", "a", "d", "b", "c", None]
    assert len(waiting) == 0


def test_addresses_are_served_in_turn() -> None:
    waiting: WaitingReaders[str] = WaitingReaders()
    for number in range(100):
        waiting.add(f"many {number}", "10.0.0.1", Standing.STRANGER)
    waiting.add("few 0", "10.0.0.2", Standing.STRANGER)
    waiting.add("few 1", "10.0.0.2", Standing.STRANGER)
    served = taken(waiting, 6)
    assert [each for each in served if each and each.startswith("few")] == ["few 1", "few 0"]


def test_every_second_turn_is_for_newcomers() -> None:
    waiting: WaitingReaders[str] = WaitingReaders()
    for number in range(100):
        waiting.add(str(number), f"10.0.0.{number}", Standing.STRANGER)
    assert taken(waiting, 4) == ["99", "0", "98", "1"]
    waiting.add("new", "10.0.1.1", Standing.STRANGER)
    assert taken(waiting, 2) == ["new", "2"]


def test_a_prompt_one_does_not_wait_for_strangers_nor_strangers_for_prompt_ones() -> None:
    waiting: WaitingReaders[str] = WaitingReaders()
    for number in range(3):
        waiting.add(f"stranger {number}", "10.0.0.1", Standing.STRANGER)
        waiting.add(f"prompt {number}", "10.0.0.1", Standing.PROMPT)
    order = ["prompt 2", "stranger 2", "prompt 0", "stranger 0", "prompt 1", "stranger 1"]
    assert taken(waiting, 6) == order


def test_where_there_is_room_for_prompt_ones_alone_others_keep_their_place() -> None:
    waiting: WaitingReaders[str] = WaitingReaders()
    waiting.add("stranger", "10.0.0.1", Standing.STRANGER)
    waiting.add("prompt", "10.0.0.1", Standing.PROMPT)
    assert taken(waiting, 2, Standing.KNOWN, Standing.PROMPT) == ["prompt", None]
    assert taken(waiting, 1) == ["stranger"]


def test_one_that_left_is_not_served_and_one_that_asks_again_keeps_its_place() -> None:
    waiting: WaitingReaders[str] = WaitingReaders()
    for name in "abc":
        waiting.add(name, "10.0.0.1", Standing.STRANGER)
    waiting.remove("b")
    waiting.remove("b")
    waiting.add("a", "10.0.0.1", Standing.PROMPT)
    assert "b" not in waiting
    assert waiting.items() == ["a", "c"]
    assert taken(waiting, 3) == ["c", "a", None]
