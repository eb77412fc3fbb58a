"""Clients that lie about lengths, dawdle, or do not read: closed in time, within bounds."""

from __future__ import annotations

import logging
import socket
from collections.abc import Iterator
from contextlib import AbstractContextManager, suppress

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

from ottla.network.request_server import Served
from ottla.network.settings import ConnectionSettings
from ottla.network.timeouts import Reason
from ottla.protocol.errors import MalformedMessage

MIB = 1024 * 1024
# Each is impatient in one way: a test that is held up by a busy machine fails in no other.
NO_FRAME = ConnectionSettings(frame_ms=50, frame_bytes_per_s_min=1024)
NO_REQUEST = ConnectionSettings(idle_ms=300)
NO_READING = ConnectionSettings(unread_ms=100, unsent_bytes_max=256 * 1024)


@pytest.fixture(params=LOOPS)
def loop_kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def network(loop_kind: str) -> Iterator[RunningNetwork]:
    """As patient as ever."""
    with running(network_settings(), loop_kind=loop_kind) as network:
        yield network


def impatient(
    settings: ConnectionSettings, loop_kind: str
) -> AbstractContextManager[RunningNetwork]:
    return running(network_settings(settings), loop_kind=loop_kind)


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


def test_what_is_logged_of_a_malformed_request_stays_on_its_line(
    network: RunningNetwork, caplog: pytest.LogCaptureFixture
) -> None:
    def malformed(body: bytes, _: object) -> Served:
        raise MalformedMessage(body.decode())

    network.server.script(b"M", malformed)
    client = network.connect()
    with caplog.at_level(logging.INFO):
        client.send(b"M\n\x1b[2Jforged line")
        assert client.receive_to_the_end() == b""
    line = next(each for each in caplog.messages if "forged" in each)
    assert line.endswith(r"M\x0a\x1b[2Jforged line")


def test_what_came_before_an_impossible_length_is_not_answered_twice(
    network: RunningNetwork,
) -> None:
    client = network.connect()
    assert client.ask(b"good") == b"good"
    client.socket.sendall(b"\xff\xff\xff\xff")
    assert client.receive_to_the_end() == b""


@pytest.mark.parametrize("beginning", [b"\0", b"\0\0\0\x0a", b"\0\0\0\x0ahalf"])
def test_a_frame_that_does_not_arrive_is_given_up(loop_kind: str, beginning: bytes) -> None:
    with impatient(NO_FRAME, loop_kind) as network:
        client = network.connect()
        client.socket.sendall(beginning)
        assert client.receive_to_the_end() == b""
        assert reaped(network, Reason.FRAME) == 1


def is_open(client: Client) -> bool:
    """Whether the server has not closed within the client's timeout."""
    try:
        client.socket.recv(1)
    except TimeoutError:
        return True
    except ConnectionError:
        pass
    return False


def test_a_frame_that_arrives_byte_by_byte_is_given_up_although_it_moves(loop_kind: str) -> None:
    with impatient(NO_FRAME, loop_kind) as network:
        client = network.connect()
        client.socket.sendall(framed(bytes(1000))[:5])
        client.socket.settimeout(0.02)  # the client's own pace: a byte every 20 ms
        while is_open(client):
            with suppress(ConnectionError):  # closed since it was looked at
                client.socket.sendall(b"x")
        assert reaped(network, Reason.FRAME) == 1
        assert not network.server.begun


def test_a_slow_frame_that_keeps_to_the_slowest_rate_is_served() -> None:
    settings = ConnectionSettings(frame_ms=50, frame_bytes_per_s_min=1)
    with running(network_settings(settings)) as network:
        client, stream = network.connect(), framed(bytes([7]) * 80)
        begin_s = network.call(network.loop.time)
        client.socket.sendall(stream[:60])  # pays for a minute
        network.wait_until(lambda: network.loop.time() > begin_s + 0.2)
        client.socket.sendall(stream[60:])
        assert client.receive() == bytes([7]) * 80


def test_an_idle_client_is_closed_and_a_waiting_one_is_not(loop_kind: str) -> None:
    with impatient(NO_REQUEST, loop_kind) as network:
        with network.paused():  # its request is there when the server first looks
            waiting = network.connect()
            waiting.send(b"W1")
        network.wait_until(lambda: network.server.is_held(b"W1"))
        assert network.connect().receive_to_the_end() == b""
        assert reaped(network, Reason.IDLE) == 1
        network.call(lambda: network.server.release(b"W1"))
        assert waiting.receive() == b"W1"
        assert waiting.receive_to_the_end() == b""
        assert reaped(network, Reason.IDLE) == 2


def small_window(client: Client) -> None:
    client.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)


def test_a_client_that_never_reads_is_not_served_beyond_a_bound_and_then_dropped(
    loop_kind: str,
) -> None:
    peak, chunk = [0], bytes(100_000)

    def large(body: bytes, connection: object) -> object:
        peak[0] = max(peak[0], connection.unsent_bytes)  # type: ignore[attr-defined]
        return answer_of(chunk)

    with impatient(NO_READING, loop_kind) as network:
        server = network.server
        server.script(b"G", large)  # type: ignore[arg-type]
        client, other = network.connect(), network.connect()
        small_window(client)
        client.send(*[b"G"] * 1000)  # a hundred megabytes of answers
        for _ in range(20):
            assert other.ask(b"meanwhile") == b"meanwhile"
        network.wait_until(lambda: reaped(network, Reason.UNREAD) == 1)
        assert len([body for body in server.begun if body == b"G"]) < 200
        assert peak[0] <= NO_READING.unsent_bytes_max + len(chunk)


def test_a_client_that_reads_slowly_keeps_its_connection() -> None:
    settings = ConnectionSettings(unread_ms=1000, unsent_bytes_max=64 * 1024)
    with running(network_settings(settings)) as network:
        network.server.script(b"G", lambda *_: answer_of(bytes(16 * MIB)))
        client = network.connect()
        client.send(b"G")
        begin_s, received = network.call(network.loop.time), 0
        while (now_s := network.call(network.loop.time)) < begin_s + 1.5:
            received += len(client.receive_bytes(64 * 1024))
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
        assert network.network.quota.open_connections == len(network.network.connections) == 1
