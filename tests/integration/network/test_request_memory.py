"""What all clients together have in memory is bounded, and the bound never locks them out."""

from __future__ import annotations

import socket
import threading
from contextlib import suppress

import pytest
from tests.integration.network.harness import LOOPS, Client, framed, network_settings, running

from ottla.network.read_budget import ReadBudget
from ottla.network.settings import ConnectionSettings

KIB = 1024


@pytest.mark.parametrize("loop_kind", LOOPS)
def test_frames_wait_while_the_memory_is_full_and_are_served_after(loop_kind: str) -> None:
    settings = network_settings(request_bytes_max=1024 * KIB)
    with running(settings, loop_kind=loop_kind) as network:
        memory, server = network.network.request_memory, network.server
        first, second, small = network.connect(), network.connect(), network.connect()
        body, other = b"K" + bytes(900 * KIB), b"x" + bytes(900 * KIB)
        first.send(body)
        network.wait_until(lambda: server.is_held(body))
        sending = threading.Thread(target=send_until_closed, args=(second, framed(other) * 20))
        sending.start()  # far more than sockets buffer
        network.wait_until(lambda: memory.waiting == 1)
        assert memory.held_bytes < 2 * 1024 * KIB
        assert small.ask(b"small ones pass") == b"small ones pass"
        network.call(lambda: server.release(body))
        network.wait_until(lambda: other in server.begun)
        second.socket.shutdown(socket.SHUT_RDWR)
        sending.join()


def send_until_closed(client: Client, data: bytes) -> None:
    with suppress(OSError):
        client.socket.sendall(data)


@pytest.mark.parametrize("loop_kind", LOOPS)
def test_incomplete_frames_alone_cannot_lock_the_memory(loop_kind: str) -> None:
    settings = network_settings(ConnectionSettings(frame_ms=120_000), request_bytes_max=1024 * KIB)
    with running(settings, loop_kind=loop_kind) as network:
        clients = [network.connect() for _ in range(8)]
        bodies = [b"%d" % number + bytes(500 * KIB) for number in range(8)]
        for client, body in zip(clients, bodies, strict=True):
            client.socket.sendall(framed(body)[: 300 * KIB])
        network.wait_until(lambda: network.network.request_memory.waiting > 0)
        for client, body in zip(clients, bodies, strict=True):
            client.socket.sendall(framed(body)[300 * KIB :])
        for client, body in zip(clients, bodies, strict=True):
            assert client.receive() == body
        network.wait_until(lambda: network.network.request_memory.held_bytes == 0)


def test_memory_is_given_back_when_clients_vanish() -> None:
    with running(network_settings(request_bytes_max=1024 * KIB)) as network:
        clients = [network.connect() for _ in range(8)]
        for client in clients:
            client.socket.sendall(framed(bytes(500 * KIB))[: 300 * KIB])
        network.wait_until(lambda: network.network.request_memory.waiting > 0)
        for client in clients:
            client.close()
        network.wait_until(lambda: not network.network.connections)
        assert network.network.request_memory.held_bytes == 0
        assert network.network.request_memory.waiting == 0


def test_memory_that_is_cleared_for_a_slow_sender_counts_as_read(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Hundreds of such clients would otherwise block the event loop with a few bytes each."""
    spent: list[int] = []
    spend = ReadBudget.spend

    def noted(budget: ReadBudget, count: int) -> None:
        spent.append(count)
        spend(budget, count)

    monkeypatch.setattr(ReadBudget, "spend", noted)
    size, sent = 900_000, 70_000
    with running(network_settings()) as network:
        client = network.connect()
        client.socket.sendall(framed(bytes(size))[:sent])
        network.wait_until(lambda: network.network.request_memory.held_bytes >= size)
        client.socket.sendall(b"x")
        network.wait_until(lambda: sum(spent) > size)
    assert max(spent) > size - sent - 10
