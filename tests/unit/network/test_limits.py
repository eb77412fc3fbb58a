"""Connections are counted exactly, against all quotas or none."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ottla.network.addresses import normal_address
from ottla.network.limits import (
    AdmissionControl,
    ConnectionLimits,
    ConnectionQuota,
    Refusal,
    Refused,
)


def through(gate: ConnectionQuota) -> AdmissionControl:
    return AdmissionControl(gate, ConnectionQuota(ConnectionLimits()))


def admitted(gate: ConnectionQuota, address: str, count: int, now_ms: int = 0) -> int:
    """How many of so many that wait, as the listener takes them."""
    way_in = through(gate)
    return sum(
        way_in.full_quota is None and way_in.admit(address, now_ms) is None for _ in range(count)
    )


def test_nothing_is_limited_by_default() -> None:
    assert admitted(ConnectionQuota(ConnectionLimits()), "a", 10_000) == 10_000


def test_the_total_is_exact() -> None:
    gate = ConnectionQuota(ConnectionLimits(connections_max=7))
    assert admitted(gate, "a", 5) + admitted(gate, "b", 5) == 7
    assert through(gate).full_quota is gate


def test_a_waiting_connection_is_notified_once_that_there_is_room() -> None:
    reported: list[str] = []
    gate = ConnectionQuota(ConnectionLimits(connections_max=2))
    assert admitted(gate, "a", 3) == 2
    gate.when_room(lambda: reported.append("released"))
    gate.release("a")
    assert admitted(gate, "b", 2) == 1
    gate.release("a")
    assert admitted(gate, "b", 2) == 1
    gate.when_room(lambda: reported.append("raised"))
    gate.limits = ConnectionLimits(connections_max=2)
    assert reported == ["released"]
    gate.limits = ConnectionLimits(connections_max=3)
    assert reported == ["released", "raised"]


def test_the_exempt_pass_a_full_quota_and_are_counted_there() -> None:
    brokers = ConnectionQuota(ConnectionLimits(connections_max=1, creations_per_s_max=1))
    exempt = AdmissionControl(ConnectionQuota(ConnectionLimits()), brokers, is_exempt=True)
    for _ in range(3):
        assert exempt.full_quota is None
        assert exempt.charge(0) == 0
        assert exempt.admit("a", 0) is None
    assert (brokers.open_connections, brokers.excess) == (3, 2)
    exempt.release("a")
    assert (brokers.open_connections, brokers.excess) == (2, 1)


def test_a_released_connection_makes_room_for_one() -> None:
    gate = ConnectionQuota(ConnectionLimits(connections_max=2))
    assert admitted(gate, "a", 5) == 2
    gate.release("a")
    assert admitted(gate, "b", 5) == 1


def test_an_override_may_be_more_or_less_than_the_rule() -> None:
    limits = ConnectionLimits(
        connections_per_address_max=3, per_address_overrides={"many": 5, "none": 0}
    )
    gate = ConnectionQuota(limits)
    assert [admitted(gate, name, 9) for name in ("any", "many", "none")] == [3, 5, 0]
    assert through(gate).admit("any", 0) == Refused(Refusal.ADDRESS)


def test_what_one_gate_refuses_is_counted_at_none() -> None:
    open_gate = ConnectionQuota(ConnectionLimits())
    closed_gate = ConnectionQuota(ConnectionLimits(connections_per_address_max=0))
    for _ in range(50):
        assert AdmissionControl(open_gate, closed_gate).admit("a", 0) == Refused(Refusal.ADDRESS)
    assert open_gate.open_connections == open_gate.open_of("a") == 0


def test_ten_seconds_of_a_rate_may_come_at_once_and_then_each_waits() -> None:
    way_in = through(ConnectionQuota(ConnectionLimits(creations_per_s_max=4)))
    assert [way_in.charge(0) for _ in range(43)] == [0] * 40 + [250, 500, 750]
    assert [way_in.charge(0) for _ in range(2)] == [1000, 1000]  # never longer than a window
    assert way_in.charge(30_000) == 0


def test_where_no_connection_may_come_each_waits_for_a_window() -> None:
    way_in = through(ConnectionQuota(ConnectionLimits(creations_per_s_max=0)))
    assert [way_in.charge(at * 1000) for at in range(3)] == [1000] * 3


def test_each_address_has_its_own_pace_and_is_left_waiting_before_it_is_refused() -> None:
    limits = ConnectionLimits(
        address_creations_per_s_max=2, address_creation_overrides={"quick": 5}
    )
    gate = ConnectionQuota(limits)
    assert [admitted(gate, name, 99) for name in ("a", "b", "quick")] == [20, 20, 50]
    refused = Refused(Refusal.ADDRESS_RATE, 500)
    assert [through(gate).admit("a", 0) for _ in range(3)] == [refused] * 3  # and not counted
    assert admitted(gate, "a", 9, now_ms=500) == 1


def test_what_an_address_has_too_much_of_costs_the_others_nothing() -> None:
    limits = ConnectionLimits(creations_per_s_max=4, address_creation_overrides={"a": 1})
    gate = ConnectionQuota(limits)
    way_in = through(gate)
    for _ in range(100):
        way_in.charge(0)
        way_in.admit("a", 0)
    assert gate.open_connections == 10
    assert [way_in.charge(0) for _ in range(31)] == [0] * 30 + [250]


def test_the_paces_of_many_addresses_take_little_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ottla.network.limits.RATES_MAX", 10)
    gate = ConnectionQuota(ConnectionLimits(address_creations_per_s_max=2))
    for at in range(100):
        through(gate).admit(f"address {at}", 0)
    assert len(gate._rates) == 10


def test_new_limits_hold_for_new_connections_only() -> None:
    gate = ConnectionQuota(ConnectionLimits())
    admitted(gate, "a", 10)
    gate.limits = ConnectionLimits(connections_max=5)
    assert gate.open_connections == 10
    for _ in range(6):
        gate.release("a")
    assert admitted(gate, "a", 10) == 1


@given(st.lists(st.tuples(st.sampled_from("abc"), st.booleans()), max_size=200))
def test_counts_agree_with_a_plain_list(events: list[tuple[str, bool]]) -> None:
    gate = ConnectionQuota(ConnectionLimits(connections_max=8, connections_per_address_max=4))
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
