"""Listeners come up on the addresses they are given, and stop in order."""

from __future__ import annotations

import asyncio
import errno
import gc
import os
import resource
import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import pytest
from tests.integration.network.harness import (
    LOOPS,
    PATIENCE_S,
    Client,
    ScriptedServer,
    answer_of,
    framed,
    network_settings,
    running,
)

from ottla.network import listener as listener_module
from ottla.network.network import Network
from ottla.network.settings import ListenerSettings, NetworkSettings


def has_ipv6() -> bool:
    try:
        with socket.create_server(("::1", 0), family=socket.AF_INET6):
            return True
    except OSError:
        return False


def listeners(*settings: ListenerSettings) -> NetworkSettings:
    return NetworkSettings(settings, tick_ms=10)


def test_each_listener_has_its_port_and_its_name() -> None:
    both = listeners(ListenerSettings("A", "127.0.0.1"), ListenerSettings("B", "127.0.0.1"))
    with running(both) as network:
        for name in "AB":
            assert network.connect(name).ask(b"hello") == b"hello"
        names = [each.listener_name for each in network.server.opened_connections]
        assert names == ["A", "B"]
        assert network.network.listeners["A"].port != network.network.listeners["B"].port


def test_a_port_that_is_taken_is_named_and_none_is_kept() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        network = Network(
            listeners(ListenerSettings("A", "127.0.0.1"), ListenerSettings("B", "127.0.0.1", port)),
            ScriptedServer(),
        )
        with pytest.raises(OSError, match=f"listener B on 127.0.0.1:{port}") as caught:
            asyncio.run(network.open())
        assert caught.value.errno == errno.EADDRINUSE


def test_an_address_that_the_machine_does_not_have_is_named() -> None:
    network = Network(listeners(ListenerSettings("A", "192.0.2.1", 9092)), ScriptedServer())
    with pytest.raises(OSError, match=r"listener A on 192\.0\.2\.1:9092") as caught:
        asyncio.run(network.open())
    assert caught.value.errno == errno.EADDRNOTAVAIL


def test_the_port_can_be_taken_again_at_once() -> None:
    with running() as network:
        port = network.network.listeners["PLAINTEXT"].port
        assert network.connect().ask(b"one") == b"one"
    with running(listeners(ListenerSettings("PLAINTEXT", "127.0.0.1", port))) as network:
        assert network.connect().ask(b"two") == b"two"


@pytest.mark.skipif(not has_ipv6(), reason="the machine has no IPv6")
@pytest.mark.parametrize("loop_kind", LOOPS)
def test_ipv6_clients_are_served(loop_kind: str) -> None:
    with running(listeners(ListenerSettings("SIX", "::1")), loop_kind=loop_kind) as network:
        with Client(("::1", network.network.listeners["SIX"].port)) as client:
            assert client.ask(b"hello") == b"hello"
        assert network.server.opened_connections[0].peer_host == "::1"


@pytest.mark.parametrize("host", ["", "localhost"])
def test_a_host_may_have_several_addresses_and_ipv4_clients_keep_their_name(host: str) -> None:
    with running(listeners(ListenerSettings("PLAINTEXT", host))) as network:
        assert network.connect().ask(b"hello") == b"hello"
        connection = network.server.opened_connections[0]
        assert connection.peer_host == "127.0.0.1"
        port = network.network.listeners["PLAINTEXT"].port
        assert connection.connection_id == f"127.0.0.1:{port}-127.0.0.1:{connection.peer_port}-1"


def test_a_connection_is_opened_and_closed_once() -> None:
    with running() as network:
        clients = [network.connect() for _ in range(20)]
        for client in clients:
            client.ask(b"hello")
        for client in clients:
            client.close()
        network.wait_until(lambda: len(network.server.closed_connections) == 20)
    assert set(network.server.opened_connections) == set(network.server.closed_connections)
    counters = network.network.listeners["PLAINTEXT"].counters
    assert (counters.connections_accepted, counters.connections_open) == (20, 0)
    assert (counters.requests, counters.answers) == (20, 20)
    assert (counters.bytes_in, counters.bytes_out) == (180, 180)


@pytest.mark.parametrize("loop_kind", LOOPS)
def test_draining_lets_answers_finish_and_refuses_the_rest(loop_kind: str) -> None:
    with running(loop_kind=loop_kind) as network:
        server, idle, busy = network.server, network.connect(), network.connect()
        assert idle.ask(b"hello") == b"hello"
        busy.send(b"W1", b"K2", b"queued")
        network.wait_until(lambda: server.is_held(b"K2"))
        port = network.network.listeners["PLAINTEXT"].port
        draining = asyncio.run_coroutine_threadsafe(network.network.drain(PATIENCE_S), network.loop)
        assert idle.receive_to_the_end() == b""
        with pytest.raises(ConnectionError):
            Client(("127.0.0.1", port))
        network.call(lambda: server.release(b"W1"))
        network.call(lambda: server.release(b"K2"))
        draining.result(PATIENCE_S)
        assert [busy.receive(), busy.receive()] == [b"W1", b"K2"]
        assert busy.receive_to_the_end() == b""
        assert b"queued" not in server.begun


def test_draining_ends_at_its_deadline() -> None:
    with running() as network:
        client = network.connect()
        client.send(b"W1")
        network.wait_until(lambda: network.server.is_held(b"W1"))
        network.drain(0.05)
        assert len(network.network.connections) == 1
    assert client.socket.fileno() == -1


@pytest.mark.parametrize("loop_kind", LOOPS)
def test_stopping_ends_everything_that_was_begun(loop_kind: str) -> None:
    with running(loop_kind=loop_kind) as network:
        server = network.server
        for body in (b"W1", b"K2"):
            network.connect().send(body)
        network.wait_until(lambda: server.is_held(b"W1") and server.is_held(b"K2"))
    assert all(server._held[body].cancelled() for body in (b"W1", b"K2"))
    assert len(server.closed_connections) == 2
    assert network.network.request_memory.held_bytes == 0
    assert network.network.quota.open_connections == 0


@contextmanager
def no_descriptor_left() -> Iterator[None]:
    """Nothing more can be opened here; and nothing is closed by a garbage collection meanwhile."""
    taken: list[int] = []
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    gc.disable()
    try:
        taken.append(os.open(os.devnull, os.O_RDONLY))
        resource.setrlimit(resource.RLIMIT_NOFILE, (taken[0] + 1, hard))
        with suppress(OSError):  # there are too many
            while True:
                taken.append(os.dup(taken[0]))
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
        for descriptor in taken:
            os.close(descriptor)
        gc.enable()


def test_running_out_of_descriptors_delays_a_connection_and_loses_none(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(listener_module, "ACCEPT_AGAIN_S", 0.01)
    with running() as network, socket.socket() as sock:
        assert network.connect().ask(b"before") == b"before"
        with no_descriptor_left():
            sock.settimeout(PATIENCE_S)
            sock.connect(("127.0.0.1", network.network.listeners["PLAINTEXT"].port))
            network.wait_until(lambda: "cannot accept" in caplog.text)
        sock.sendall(framed(b"after"))
        assert sock.recv(100) == framed(b"after")


@pytest.mark.parametrize("loop_kind", LOOPS)
def test_a_large_last_answer_is_sent_in_full_before_the_connection_closes(loop_kind: str) -> None:
    with running(network_settings(), loop_kind=loop_kind) as network:
        body = bytes(range(256)) * 65536
        network.server.script(b"L", lambda *_: answer_of(body, is_last=True))
        client = network.connect()
        client.send(b"L")
        assert client.receive() == body
        assert client.receive_to_the_end() == b""


@pytest.mark.parametrize("loop_kind", LOOPS)
def test_stopping_while_many_connect_counts_every_connection(loop_kind: str) -> None:
    with running(loop_kind=loop_kind) as network:
        for _ in range(200):
            network.connect()
    assert network.network.quota.open_connections == 0
    server = network.server
    assert set(server.opened_connections) == set(server.closed_connections)
