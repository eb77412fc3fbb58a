"""Connections are counted exactly, at all gates or at none."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ottla.network.limits import (
    ConnectionGate,
    ConnectionLimits,
    Refusal,
    TokenBucket,
    WayIn,
    normal_address,
)


def through(gate: ConnectionGate) -> WayIn:
    return WayIn(gate, ConnectionGate(ConnectionLimits()))


def admitted(gate: ConnectionGate, address: str, count: int, now_s: float = 0.0) -> int:
    """How many of so many that wait, as the listener takes them."""
    way_in = through(gate)
    return sum(
        way_in.full_gate is None
        and not way_in.seconds_to_next(now_s)
        and way_in.admit(address, now_s) is None
        for _ in range(count)
    )


def test_nothing_is_limited_by_default() -> None:
    assert admitted(ConnectionGate(ConnectionLimits()), "a", 10_000) == 10_000


def test_the_total_is_exact() -> None:
    gate = ConnectionGate(ConnectionLimits(connections_max=7))
    assert admitted(gate, "a", 5) + admitted(gate, "b", 5) == 7
    assert through(gate).full_gate is gate


def test_whoever_waits_is_told_once_that_there_is_room() -> None:
    told: list[str] = []
    gate = ConnectionGate(ConnectionLimits(connections_max=2))
    assert admitted(gate, "a", 3) == 2
    gate.when_room(lambda: told.append("released"))
    gate.release("a")
    assert admitted(gate, "b", 2) == 1
    gate.release("a")
    assert admitted(gate, "b", 2) == 1
    gate.when_room(lambda: told.append("raised"))
    gate.limits = ConnectionLimits(connections_max=2)
    assert told == ["released"]
    gate.limits = ConnectionLimits(connections_max=3)
    assert told == ["released", "raised"]


def test_the_exempt_pass_a_full_gate_and_are_counted_there() -> None:
    brokers = ConnectionGate(ConnectionLimits(connections_max=1, creations_per_s_max=1))
    exempt = WayIn(ConnectionGate(ConnectionLimits()), brokers, is_exempt=True)
    for _ in range(3):
        assert exempt.full_gate is None
        assert exempt.admit("a", 0.0) is None
    assert (brokers.open_connections, brokers.excess) == (3, 2)
    assert brokers.seconds_to_next(0.0) == 0
    exempt.release("a")
    assert (brokers.open_connections, brokers.excess) == (2, 1)


def test_a_released_connection_makes_room_for_one() -> None:
    gate = ConnectionGate(ConnectionLimits(connections_max=2))
    assert admitted(gate, "a", 5) == 2
    gate.release("a")
    assert admitted(gate, "b", 5) == 1


def test_an_override_may_be_more_or_less_than_the_rule() -> None:
    limits = ConnectionLimits(
        connections_per_address_max=3, per_address_overrides={"many": 5, "none": 0}
    )
    gate = ConnectionGate(limits)
    assert [admitted(gate, name, 9) for name in ("any", "many", "none")] == [3, 5, 0]
    assert gate.refusal("any", 0.0) is Refusal.ADDRESS


def test_what_one_gate_refuses_is_counted_at_none() -> None:
    open_gate = ConnectionGate(ConnectionLimits(creations_per_s_max=10))
    closed_gate = ConnectionGate(ConnectionLimits(connections_per_address_max=0))
    for _ in range(50):
        assert WayIn(open_gate, closed_gate).admit("a", 0.0) is Refusal.ADDRESS
    assert open_gate.open_connections == open_gate.open_of("a") == 0
    assert admitted(open_gate, "a", 50) == 10  # no token was lost either


def test_the_rate_allows_a_burst_of_a_second_and_then_its_pace() -> None:
    gate = ConnectionGate(ConnectionLimits(creations_per_s_max=10))
    assert admitted(gate, "a", 100, now_s=5.0) == 10
    assert admitted(gate, "a", 100, now_s=5.05) == 0
    assert admitted(gate, "a", 100, now_s=5.5) == 5
    assert admitted(gate, "a", 100, now_s=500.0) == 10


def test_what_comes_too_fast_is_told_how_long_to_wait() -> None:
    gate = ConnectionGate(ConnectionLimits(creations_per_s_max=4))
    assert admitted(gate, "a", 9, now_s=1.0) == 4
    assert gate.seconds_to_next(1.0) == 0.25
    assert gate.seconds_to_next(1.125) == 0.125
    assert gate.seconds_to_next(1.25) == 0.0
    closed = ConnectionGate(ConnectionLimits(creations_per_s_max=0))
    assert admitted(closed, "a", 9) <= 1
    assert closed.seconds_to_next(100.0) == math.inf


def test_a_rate_below_one_a_second_still_lets_one_pass() -> None:
    gate = ConnectionGate(ConnectionLimits(creations_per_s_max=0.5))
    assert [admitted(gate, "a", 3, now_s) for now_s in (0.0, 1.0, 2.0, 4.0)] == [1, 0, 1, 1]


def test_each_address_has_its_own_pace() -> None:
    limits = ConnectionLimits(
        address_creations_per_s_max=2, address_creation_overrides={"quick": 5}
    )
    gate = ConnectionGate(limits)
    assert [admitted(gate, name, 9) for name in ("a", "b", "quick")] == [2, 2, 5]
    assert gate.refusal("a", 0.1) is Refusal.ADDRESS_RATE
    assert admitted(gate, "a", 9, now_s=0.5) == 1


def test_the_paces_of_many_addresses_take_little_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ottla.network.limits.BUCKETS_MAX", 10)
    gate = ConnectionGate(ConnectionLimits(address_creations_per_s_max=2))
    for at in range(100):
        through(gate).admit(f"address {at}", now_s=0.0)
    assert len(gate._buckets) <= 10


def test_new_limits_hold_for_new_connections_only() -> None:
    gate = ConnectionGate(ConnectionLimits())
    admitted(gate, "a", 10)
    gate.limits = ConnectionLimits(connections_max=5)
    assert gate.open_connections == 10
    for _ in range(6):
        gate.release("a")
    assert admitted(gate, "a", 10) == 1


@given(st.lists(st.tuples(st.sampled_from("abc"), st.booleans()), max_size=200))
def test_counts_agree_with_a_plain_list(events: list[tuple[str, bool]]) -> None:
    gate = ConnectionGate(ConnectionLimits(connections_max=8, connections_per_address_max=4))
    connections: list[str] = []
    for address, opens in events:
        if opens:
            fits = len(connections) < 8 and connections.count(address) < 4
            assert admitted(gate, address, 1) == fits
            connections += [address] if fits else []
        elif address in connections:
            connections.remove(address)
            gate.release(address)
        assert gate.open_connections == len(connections)
        assert [gate.open_of(each) for each in "abc"] == [connections.count(e) for e in "abc"]


def test_a_clock_that_stands_still_gives_no_tokens() -> None:
    bucket = TokenBucket(2)
    taken = 0
    while bucket.has_token(1.0) and taken < 100:
        bucket.take()
        taken += 1
    assert taken == 2


@pytest.mark.parametrize(
    ("host", "address"),
    [
        ("10.0.0.1", "10.0.0.1"),
        ("::ffff:10.0.0.1", "10.0.0.1"),
        ("2001:DB8:0:0::1", "2001:db8::1"),
        ("fe80::1%eth0", "fe80::1%eth0"),
        ("a name", "a name"),
    ],
)
def test_an_address_has_one_text(host: str, address: str) -> None:
    assert normal_address(host) == address
