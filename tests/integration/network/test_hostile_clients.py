"""Clients that lie about lengths, dawdle, or do not read: closed in time, within bounds."""

from __future__ import annotations

import socket
from collections.abc import Iterator

import pytest
from tests.integration.network.harness import (
    LOOPS,
    Client,
    RunningNetwork,
    answer_of,
    framed,
    need_descriptors,
    network_settings,
    running,
)

from ottla.network.settings import ConnectionSettings
from ottla.network.timeouts import Reason

MIB = 1024 * 1024
IMPATIENT = ConnectionSettings(
    frame_bytes_max=100 * MIB,
    unsent_bytes_max=256 * 1024,
    idle_ms=200,
    frame_ms=50,
    frame_bytes_per_s_min=1024,
    unread_ms=100,
)


@pytest.fixture(params=LOOPS)
def network(request: pytest.FixtureRequest) -> Iterator[RunningNetwork]:
    with running(network_settings(IMPATIENT), loop_kind=request.param) as network:
        yield network


def reaped(network: RunningNetwork, reason: Reason) -> int:
    return network.network.listeners["PLAINTEXT"].counters.connections_reaped[reason]


@pytest.mark.parametrize("length", [-1, -(2**31), 2**31 - 1, 100 * MIB + 1, 0])
def test_an_impossible_length_is_closed_at_once(network: RunningNetwork, length: int) -> None:
    client = network.connect()
    client.socket.sendall(length.to_bytes(4, "big", signed=True) + b"more")
    assert client.receive_to_the_end() == b""
    network.wait_until(lambda: not network.network.connections)
    assert not network.network.listeners["PLAINTEXT"].counters.connections_reaped
    assert network.connect().ask(b"others") == b"others"


def test_what_came_before_an_impossible_length_is_not_answered_twice(
    network: RunningNetwork,
) -> None:
    client = network.connect()
    assert client.ask(b"good") == b"good"
    client.socket.sendall(b"\xff\xff\xff\xff")
    assert client.receive_to_the_end() == b""


def test_a_frame_that_does_not_arrive_is_given_up(network: RunningNetwork) -> None:
    clients = [network.connect() for _ in range(3)]
    for client, beginning in zip(clients, [b"\0", b"\0\0\0\x0a", b"\0\0\0\x0ahalf"], strict=True):
        client.socket.sendall(beginning)
    for client in clients:
        assert client.receive_to_the_end() == b""
    assert reaped(network, Reason.FRAME) == 3


def is_open(client: Client) -> bool:
    """Whether the server has not closed within the client's timeout."""
    try:
        client.socket.recv(1)
    except TimeoutError:
        return True
    except ConnectionError:
        pass
    return False


def test_a_frame_that_arrives_byte_by_byte_is_given_up_although_it_moves(
    network: RunningNetwork,
) -> None:
    client = network.connect()
    client.socket.sendall(framed(bytes(1000))[:5])
    client.socket.settimeout(0.02)  # the client's own pace: a byte every 20 ms
    while is_open(client):
        client.socket.sendall(b"x")
    assert reaped(network, Reason.FRAME) == 1
    assert not network.server.begun


def test_a_slow_frame_that_keeps_to_the_slowest_rate_is_served() -> None:
    settings = ConnectionSettings(frame_ms=50, frame_bytes_per_s_min=10)
    with running(network_settings(settings)) as network:
        client, stream = network.connect(), framed(bytes([7]) * 20)
        begin_s = network.call(network.loop.time)
        client.socket.sendall(stream[:20])  # pays for two seconds
        network.wait_until(lambda: network.loop.time() > begin_s + 0.2)
        client.socket.sendall(stream[20:])
        assert client.receive() == bytes([7]) * 20


def test_an_idle_client_is_closed_and_a_waiting_one_is_not(network: RunningNetwork) -> None:
    idle, waiting = network.connect(), network.connect()
    waiting.send(b"W1")
    assert idle.receive_to_the_end() == b""
    assert reaped(network, Reason.IDLE) == 1
    network.call(lambda: network.server.release(b"W1"))
    assert waiting.receive() == b"W1"
    assert waiting.receive_to_the_end() == b""
    assert reaped(network, Reason.IDLE) == 2


def small_window(client: Client) -> None:
    client.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)


def test_a_client_that_never_reads_is_not_served_beyond_a_bound_and_then_dropped(
    network: RunningNetwork,
) -> None:
    peak, server = [0], network.server
    chunk = bytes(100_000)

    def large(body: bytes, connection: object) -> object:
        peak[0] = max(peak[0], connection.unsent_bytes)  # type: ignore[attr-defined]
        return answer_of(chunk)

    server.script(b"G", large)  # type: ignore[arg-type]
    client, other = network.connect(), network.connect()
    small_window(client)
    client.send(*[b"G"] * 1000)  # a hundred megabytes of answers
    for _ in range(20):
        assert other.ask(b"meanwhile") == b"meanwhile"
    network.wait_until(lambda: reaped(network, Reason.UNREAD) == 1)
    assert len([body for body in server.begun if body == b"G"]) < 200
    assert peak[0] <= IMPATIENT.unsent_bytes_max + len(chunk)


def test_a_client_that_reads_slowly_keeps_its_connection() -> None:
    settings = ConnectionSettings(unread_ms=200, unsent_bytes_max=64 * 1024)
    with running(network_settings(settings)) as network:
        network.server.script(b"G", lambda *_: answer_of(bytes(16 * MIB)))
        client = network.connect()
        client.send(b"G")
        begin_s, received = network.call(network.loop.time), 0
        while (now_s := network.call(network.loop.time)) < begin_s + 0.6:
            received += len(client.receive_bytes(256 * 1024))
            network.wait_until(lambda now_s=now_s: network.loop.time() > now_s + 0.02)  # type: ignore[misc]
        assert network.call(lambda: network.network.connections[0].unsent_bytes) > 0
        client.receive_bytes(4 + 16 * MIB - received)
        assert client.ask(b"still here") == b"still here"


@pytest.mark.parametrize("loop_kind", LOOPS)
def test_two_thousand_slow_clients_are_given_up_and_a_good_one_is_served(loop_kind: str) -> None:
    need_descriptors(4200)
    settings = network_settings(ConnectionSettings(frame_ms=500))
    with running(settings, loop_kind=loop_kind) as network:
        good = network.connect()
        for number in range(2000):
            network.connect().socket.sendall(b"\0")
            if number % 10 == 0:
                assert good.ask(b"%d" % number) == b"%d" % number
        network.wait_until(lambda: reaped(network, Reason.FRAME) == 2000)
        assert good.ask(b"still here") == b"still here"
        assert network.network.gate.open_connections == len(network.network.connections) == 1
