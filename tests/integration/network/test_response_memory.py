"""What all clients together leave unread in memory is bounded, and others are served meanwhile."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from tests.integration.network.harness import (
    LOOPS,
    Client,
    RunningNetwork,
    ScriptedServer,
    answer_of,
    network_settings,
)

from ottla.network.network import Network
from ottla.network.response_memory import ResponseMemory
from ottla.network.settings import ConnectionSettings, EvictionRules
from ottla.network.timeouts import Reason

KIB = 1024
MIB = 1024 * KIB
PATIENT = EvictionRules(slow_after_s=1e9, long_after_s=1e9)


@contextmanager
def running(
    bytes_max: int, rules: EvictionRules, loop_kind: str = "asyncio"
) -> Iterator[RunningNetwork]:
    settings = network_settings(ConnectionSettings(unsent_bytes_max=8 * MIB), eviction=rules)
    server = ScriptedServer()
    server.script(b"G", lambda *_: answer_of(bytes(8 * MIB)))
    server.script(b"H", lambda *_: answer_of(bytes(32 * MIB)))
    network = RunningNetwork(
        Network(settings, server, ResponseMemory(bytes_max)), server, loop_kind
    )
    network.start()
    try:
        yield network
    finally:
        network.stop()


def hoard(network: RunningNetwork, count: int) -> list[Client]:
    """Clients that ask for eight megabytes each, and read none."""
    memory = network.network.response_memory
    clients = []
    for _ in range(count):
        before = network.call(lambda: memory.held_bytes)
        client = network.connect()
        client.send(b"G")
        network.wait_until(lambda before=before: memory.held_bytes != before)  # type: ignore[misc]
        clients.append(client)
    return clients


@pytest.mark.parametrize("loop_kind", LOOPS)
def test_small_requests_are_served_beside_hoarders_who_are_not(loop_kind: str) -> None:
    with running(32 * MIB, PATIENT, loop_kind) as network:
        memory = network.network.response_memory
        hoarders = hoard(network, 4)
        assert network.call(lambda: memory.is_full)
        hoarders[0].send(b"more")
        small = network.connect()
        for number in range(20):
            assert small.ask(b"%d" % number) == b"%d" % number
        network.wait_until(lambda: memory.stopped_connections == 1)
        assert b"more" not in network.server.begun
        assert len(hoarders[0].receive()) == 8 * MIB  # it reads, and is served
        assert hoarders[0].receive() == b"more"


def test_hoarders_are_closed_when_somebody_waits() -> None:
    rules = EvictionRules(slow_after_s=0.0)
    with running(32 * MIB, rules) as network:
        memory = network.network.response_memory
        hoard(network, 5)
        waiting = network.connect()
        waiting.send(b"W1")
        network.wait_until(lambda: network.server.is_held(b"W1"))
        waiting.send(b"behind it")  # it is busy, and so has to wait for room
        network.wait_until(lambda: not memory.is_full)
        reaped = network.network.listeners["PLAINTEXT"].counters.connections_reaped
        assert reaped[Reason.UNREAD_MEMORY] >= 1
        network.call(lambda: network.server.release(b"W1"))
        assert waiting.receive() == b"W1"
        assert waiting.receive() == b"behind it"


def test_unread_responses_never_exceed_the_bound_by_much() -> None:
    with running(32 * MIB, PATIENT) as network:
        memory = network.network.response_memory
        peak = 0
        for _ in range(30):
            network.connect().send(b"G")
            peak = max(peak, network.call(lambda: memory.held_bytes))
        network.wait_until(lambda: len(network.server.begun) == 30)
        peak = max(peak, network.call(lambda: memory.held_bytes))
        assert 32 * MIB < peak <= 32 * MIB * 1.25 + 2 * 8 * MIB
        assert network.connect().ask(b"still here") == b"still here"


def test_responses_that_wait_behind_an_earlier_one_count() -> None:
    with running(32 * MIB, PATIENT) as network:
        memory = network.network.response_memory
        client = network.connect()
        client.send(b"W1", b"G", b"G", b"G")
        network.wait_until(lambda: memory.held_bytes >= 8 * MIB)
        assert network.server.begun == [b"W1", b"G"]  # the bound of one connection
        network.call(lambda: network.server.release(b"W1"))
        assert client.receive() == b"W1"
        for _ in range(3):
            assert len(client.receive()) == 8 * MIB
        network.wait_until(lambda: memory.held_bytes == 0)


def test_a_piece_counts_until_all_of_it_is_sent() -> None:
    with running(64 * MIB, PATIENT) as network:
        memory = network.network.response_memory
        client = network.connect()
        client.send(b"H")
        network.wait_until(lambda: memory.held_bytes >= 32 * MIB)
        client.receive_bytes(8 * MIB)
        sent = network.network.connections[0]
        network.wait_until(lambda: sent.sent_bytes >= 8 * MIB)
        assert network.call(lambda: memory.held_bytes) >= 31 * MIB
        client.receive_bytes(4 + 24 * MIB)
        network.wait_until(lambda: memory.held_bytes == 0)


def test_what_vanishing_clients_left_unread_is_released() -> None:
    with running(64 * MIB, PATIENT) as network:
        for client in hoard(network, 3):
            client.reset()
        network.wait_until(lambda: not network.network.connections)
        assert network.network.response_memory.held_bytes == 0
        assert network.network.response_memory.unsent_bytes == 0
