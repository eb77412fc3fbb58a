"""Caps on connections are exact, per listener and for the broker, and given back at the end."""

from __future__ import annotations

import select
import socket

import pytest
from tests.integration.network.harness import (
    LOOPS,
    Client,
    RunningNetwork,
    running,
)

from ottla.base.rates import Windows
from ottla.network.limits import ConnectionLimits
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


def asking(network: RunningNetwork, count: int, **options: str) -> list[Client]:
    """Open so many connections, and ask on all of them; none may have been answered yet."""
    clients = [network.connect(**options) for _ in range(count)]
    for client in clients:
        client.send(b"hello")
    return clients


def is_closed(client: Client) -> bool:
    """Whether it is closed by now, without having been answered."""
    readable, _, _ = select.select([client.socket], [], [], 0)
    return bool(readable) and client.socket.recv(1, socket.MSG_PEEK) == b""


@pytest.mark.parametrize("loop_kind", LOOPS)
def test_one_beyond_the_total_waits_until_another_has_ended(loop_kind: str) -> None:
    with running(settings(ConnectionLimits(connections_max=10)), loop_kind=loop_kind) as network:
        clients = asking(network, 50)
        for at in range(40):
            assert clients[at].receive() == b"hello"
            network.wait_until(lambda: network.network.quota.open_connections == 10)
            assert not any(map(is_closed, clients[at + 1 :]))
            clients[at].close()
        assert [client.receive() for client in clients[40:]] == [b"hello"] * 10
        counters = network.network.listeners["PLAINTEXT"].counters
        assert not counters.connections_refused


def test_a_broker_can_be_stopped_while_connections_wait() -> None:
    with running(settings(ConnectionLimits(connections_max=1))) as network:
        first, waiting = asking(network, 2)
        assert first.receive() == b"hello"
        network.drain(60)
        assert first.receive_to_the_end() == waiting.receive_to_the_end() == b""


def test_the_brokers_total_counts_all_listeners_and_never_stops_the_exempt_one() -> None:
    with running(settings(broker=ConnectionLimits(connections_max=5))) as network:
        good = served(network, 5)
        assert len(good) == 5
        (waiting,) = asking(network, 1)
        assert len(served(network, 3, listener="REPLICATION")) == 3
        # What is too much now is made up for by those that were quiet for longest.
        assert [each.receive_to_the_end() for each in good[:3]] == [b""] * 3
        assert [is_served(each) for each in good[3:]] == [True, True]
        good[3].close()
        assert waiting.receive() == b"hello"


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
    limits = ConnectionLimits(creations_per_s_max=10)
    with running(settings(limits)) as network:
        begin_s = network.call(network.loop.time)
        assert len(served(network, 103)) == 103
        assert network.call(network.loop.time) - begin_s >= 0.1  # three of them had to wait
        assert len(served(network, 150, listener="REPLICATION")) == 150


def test_connections_of_an_address_that_come_too_fast_are_closed() -> None:
    hours = Windows(1_000_000, 10)  # so that no test is too slow to be too fast
    limits = ConnectionLimits(address_creation_overrides={"127.0.0.4": 0.00035}, windows=hours)
    with running(settings(broker=limits)) as network:
        clients = asking(network, 5, source="127.0.0.4")
        assert [client.receive() for client in clients[:3]] == [b"hello"] * 3
        assert [client.receive_to_the_end() for client in clients[3:]] == [b""] * 2
        assert len(served(network, 3, source="127.0.0.5")) == 3


def test_a_broker_can_be_stopped_while_clients_wait_that_came_too_fast() -> None:
    long = Windows(2, 3_600_000)
    limits = ConnectionLimits(creations_per_s_max=1 / 3600, windows=long)
    with running(settings(limits)) as network:
        first, waiting = asking(network, 2)
        assert first.receive() == b"hello"
        network.drain(60)
        assert first.receive_to_the_end() == waiting.receive_to_the_end() == b""


def test_limits_can_be_changed_while_connections_are_open() -> None:
    with running(settings(broker=ConnectionLimits(connections_max=2))) as network:
        gate = network.network.quota
        clients = asking(network, 6)
        network.call(lambda: setattr(gate, "limits", ConnectionLimits(connections_max=4)))
        assert [client.receive() for client in clients[:4]] == [b"hello"] * 4
        assert clients[0].ask(b"again") == b"again"
        network.call(lambda: setattr(gate, "limits", ConnectionLimits(connections_max=1)))
        assert [client.receive_to_the_end() for client in clients[1:4]] == [b""] * 3
        assert clients[0].ask(b"still") == b"still"
        assert not any(map(is_closed, clients[4:]))
