"""Items are looked at by their deadlines, and at most a tick later."""

from hypothesis import given
from hypothesis import strategies as st

from ottla.network.deadlines import DeadlineWheel


def test_an_item_is_due_at_its_deadline_and_not_before() -> None:
    wheel = DeadlineWheel[str](tick_s=1.0)
    wheel.watch("a", 10.0)
    wheel.watch("b", 10.5)
    assert wheel.take_due(9.9) == []
    assert wheel.take_due(10.0) == ["a"]
    assert wheel.take_due(10.9) == []
    assert wheel.take_due(11.0) == ["b"]
    assert len(wheel) == 0


def test_a_later_deadline_does_not_move_an_item_and_an_earlier_one_does() -> None:
    wheel = DeadlineWheel[str](tick_s=1.0)
    wheel.watch("a", 10.0)
    wheel.watch("a", 20.0)
    wheel.watch("b", 20.0)
    wheel.watch("b", 5.0)
    assert wheel.take_due(6.0) == ["b"]
    assert wheel.take_due(10.0) == ["a"]
    assert wheel.take_due(100.0) == []


def test_a_forgotten_item_is_never_due() -> None:
    wheel = DeadlineWheel[str](tick_s=1.0)
    wheel.watch("a", 10.0)
    wheel.forget("a")
    wheel.forget("never watched")
    assert wheel.take_due(100.0) == []


def test_after_a_long_pause_everything_overdue_is_due_at_once() -> None:
    wheel = DeadlineWheel[int](tick_s=0.01)
    for number in range(100):
        wheel.watch(number, number / 10)
    assert wheel.take_due(1e6) == list(range(100))


@given(st.lists(st.tuples(st.integers(0, 5), st.floats(0, 50)), max_size=60))
def test_each_item_is_due_once_for_its_earliest_deadline(watches: list[tuple[int, float]]) -> None:
    wheel, earliest = DeadlineWheel[int](tick_s=0.5), dict[int, float]()
    for item, deadline_s in watches:
        wheel.watch(item, deadline_s)
        earliest[item] = min(deadline_s, earliest.get(item, deadline_s))
    found: dict[int, float] = {}
    for tick in range(110):
        for item in wheel.take_due(tick / 2):
            assert item not in found
            found[item] = tick / 2
    assert found.keys() == earliest.keys()
    assert all(0 <= found[item] - earliest[item] <= 0.5 for item in found)
