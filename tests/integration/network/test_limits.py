"""Caps on connections are exact, per listener and for the broker, and given back at the end."""

from __future__ import annotations

import pytest
from tests.integration.network.harness import (
    LOOPS,
    Client,
    RunningNetwork,
    need_descriptors,
    running,
)

from ottla.network.limits import ConnectionLimits, Refusal
from ottla.network.settings import ListenerSettings, NetworkSettings


def settings(
    limits: ConnectionLimits | None = None, broker: ConnectionLimits | None = None
) -> NetworkSettings:
    listeners = (
        ListenerSettings(
            "PLAINTEXT", "127.0.0.1", backlog=1024, limits=limits or ConnectionLimits()
        ),
        ListenerSettings("REPLICATION", "127.0.0.1", backlog=1024, is_exempt=True),
    )
    return NetworkSettings(listeners, limits=broker or ConnectionLimits(), tick_ms=10)


def is_served(client: Client) -> bool:
    try:
        return client.ask(b"hello") == b"hello"
    except (ConnectionError, OSError):
        return False


def served(network: RunningNetwork, count: int, **options: str) -> list[Client]:
    """Open so many connections at once; those of them that are served."""
    clients = [network.connect(**options) for _ in range(count)]
    return [client for client in clients if is_served(client)]


@pytest.mark.parametrize("loop_kind", LOOPS)
def test_the_total_is_exact_and_given_back(loop_kind: str) -> None:
    with running(settings(ConnectionLimits(connections_max=10)), loop_kind=loop_kind) as network:
        good = served(network, 50)
        assert len(good) == 10
        for client in good[:4]:
            client.close()
        network.wait_until(lambda: network.network.gate.open_connections == 6)
        assert len(served(network, 20)) == 4
        refused = network.network.listeners["PLAINTEXT"].counters.connections_refused
        assert refused == {Refusal.TOTAL: 56}


def test_the_brokers_total_counts_all_listeners_but_the_exempt_one() -> None:
    with running(settings(broker=ConnectionLimits(connections_max=5))) as network:
        assert len(served(network, 7, listener="REPLICATION")) == 7
        assert len(served(network, 20)) == 5
        assert len(served(network, 3, listener="REPLICATION")) == 3


def test_an_address_has_its_own_cap_and_overrides_hold() -> None:
    limits = ConnectionLimits(
        connections_per_address_max=3, per_address_overrides={"127.0.0.9": 6, "127.0.0.8": 0}
    )
    with running(settings(limits)) as network:
        assert len(served(network, 10, source="127.0.0.2")) == 3
        assert len(served(network, 10, source="127.0.0.3")) == 3
        assert len(served(network, 10, source="127.0.0.9")) == 6
        assert len(served(network, 10, source="127.0.0.8")) == 0


def test_new_connections_wait_until_their_rate_allows_them() -> None:
    limits = ConnectionLimits(creations_per_s_max=100)
    with running(settings(limits)) as network:
        begin_s = network.call(network.loop.time)
        assert len(served(network, 150)) == 150
        assert network.call(network.loop.time) - begin_s >= 0.49  # 50 of them had to wait
        assert len(served(network, 50, listener="REPLICATION")) == 50


def test_five_thousand_connects_leave_exactly_the_cap() -> None:
    need_descriptors(10_200)
    with running(settings(ConnectionLimits(connections_max=100))) as network:
        clients = [network.connect() for _ in range(5000)]
        listener = network.network.listeners["PLAINTEXT"]
        network.wait_until(lambda: listener.counters.connections_refused.total() == 4900)
        assert network.network.gate.open_connections == 100
        assert sum(map(is_served, clients)) == 100


def test_limits_can_be_changed_while_connections_are_open() -> None:
    with running(settings(ConnectionLimits(connections_max=2))) as network:
        assert len(served(network, 5)) == 2
        gate = network.network.listeners["PLAINTEXT"].gate
        network.call(lambda: setattr(gate, "limits", ConnectionLimits(connections_max=4)))
        assert len(served(network, 5)) == 2
        network.call(lambda: setattr(gate, "limits", ConnectionLimits(connections_max=1)))
        assert gate.open_connections == 4
