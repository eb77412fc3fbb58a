"""A client with small requests beside many that keep the event loop busy, on real sockets."""

from __future__ import annotations

import threading
import time
from contextlib import suppress

import pytest
from tests.integration.network.harness import (
    LOOPS,
    Client,
    RunningNetwork,
    ScriptedServer,
    answer_of,
    need_descriptors,
    running,
)

from ottla.network.connection import Connection
from ottla.network.request_server import Answer

CROWD = 40
HEAVY_CPU_S = 0.004
ASKED = 20
NEW_CONNECTIONS = 600


def serve_heavy(body: bytes, _connection: Connection) -> Answer:
    end_s = time.thread_time() + HEAVY_CPU_S
    while time.thread_time() < end_s:
        pass
    return answer_of(body)


def keep_asking(client: Client, is_over: threading.Event) -> None:
    with suppress(OSError):
        while not is_over.is_set():
            client.ask(b"heavy")


@pytest.mark.parametrize("loop_kind", LOOPS)
def test_small_requests_do_not_wait_for_a_large_one_of_each_connection(loop_kind: str) -> None:
    server = ScriptedServer()
    server.script(b"h", serve_heavy)
    is_over = threading.Event()
    with running(server=server, loop_kind=loop_kind) as network:
        small = network.connect()
        crowd = begin_crowd(network, is_over)
        network.wait_until(lambda: server.begun.count(b"heavy") > CROWD)
        before = network.call(lambda: len(server.begun))
        for _ in range(ASKED):
            assert small.ask(b"small") == b"small"
        heavy = network.call(lambda: server.begun[before:].count(b"heavy"))
        is_over.set()
        for thread in crowd:
            thread.join()
    # One after the other it would be nearly the whole crowd each time.
    assert heavy < ASKED * CROWD / 2


def begin_crowd(network: RunningNetwork, is_over: threading.Event) -> list[threading.Thread]:
    crowd = [
        threading.Thread(target=keep_asking, args=(network.connect(), is_over))
        for _ in range(CROWD)
    ]
    for thread in crowd:
        thread.start()
    return crowd


@pytest.mark.parametrize("loop_kind", LOOPS)
def test_connections_are_not_accepted_faster_than_they_are_served(loop_kind: str) -> None:
    """Each accepted one has an equal part of the time: an open connection would wait for all."""
    server = ScriptedServer()
    unserved: list[int] = []

    def serve(body: bytes, connection: Connection) -> Answer:
        unserved.append(len(server.opened_connections) - len(server.begun))
        return serve_heavy(body, connection)

    server.script(b"h", serve)
    need_descriptors(2 * NEW_CONNECTIONS + 200)
    with running(server=server, loop_kind=loop_kind) as network:
        with network.paused():
            for _ in range(NEW_CONNECTIONS):
                network.connect().send(b"heavy")
        network.wait_until(lambda: len(server.begun) == NEW_CONNECTIONS)
    # The first batches are accepted before the loop is known to be busy.
    assert max(unserved) < NEW_CONNECTIONS / 2
