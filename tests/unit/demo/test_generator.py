"""Pace and gates, without a broker."""

from demo.generator import Gates
from demo.scenario import Scenario

SCENARIO = Scenario(trucks=10, rate=100, seconds=10)  # a hundred reports for each truck


def test_trucks_wait_at_each_gate_until_it_is_opened() -> None:
    gates = Gates(SCENARIO)
    assert not gates.is_closed_at(29)
    assert gates.is_closed_at(30)
    gates.open_next()
    assert not gates.is_closed_at(69)
    assert gates.is_closed_at(70)
    gates.open_next()
    assert not gates.is_closed_at(100)


def test_a_gate_may_be_opened_before_it_is_reached() -> None:
    gates = Gates(SCENARIO)
    for _ in range(3):
        gates.open_next()
    assert not gates.is_closed_at(100)
