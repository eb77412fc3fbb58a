"""Bytes through doors: passed on, held in one direction, delayed, reset and refused."""

from __future__ import annotations

import socket
import struct
import threading
import time
from collections.abc import Iterator

import pytest
from tests.chaos.clients.values import decode as decode_value
from tests.chaos.clients.values import encode as encode_value
from tests.chaos.network.client_id import client_id
from tests.chaos.network.network import Network
from tests.chaos.network.rules import Direction, Passage, Rule, decode, encode, passage

from ottla.base.ports import non_ephemeral_ports

SHORT_S, LONG_S = 0.3, 30.0


def request(source: str, text: str) -> bytes:
    body = struct.pack(">hhih", 18, 3, 1, len(source)) + source.encode() + text.encode()
    return struct.pack(">i", len(body)) + body


class Echo:
    """A server that returns all it gets, and notes it."""

    def __init__(self) -> None:
        self.received = b""
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.port = self._socket.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._socket.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection: socket.socket) -> None:
        with connection:
            try:
                while data := connection.recv(65536):
                    self.received += data
                    connection.sendall(data)
            except OSError:
                pass

    def close(self) -> None:
        self._socket.close()


@pytest.fixture
def echo() -> Iterator[Echo]:
    server = Echo()
    yield server
    server.close()


@pytest.fixture
def network() -> Iterator[Network]:
    running = Network().start()
    yield running
    running.close()


def connect(port: int) -> socket.socket:
    return socket.create_connection(("127.0.0.1", port), LONG_S)


def exchange(client: socket.socket, data: bytes) -> bytes:
    client.sendall(data)
    return receive(client, len(data))


def receive(client: socket.socket, count: int) -> bytes:
    data = b""
    while len(data) < count and (more := client.recv(count - len(data))):
        data += more
    return data


def is_silent(client: socket.socket) -> bool:
    client.settimeout(SHORT_S)
    try:
        return client.recv(1) is None
    except TimeoutError:
        return True
    finally:
        client.settimeout(LONG_S)


def wait_for(echo: Echo, data: bytes) -> None:
    end_s = time.monotonic() + LONG_S
    while data not in echo.received:
        assert time.monotonic() < end_s
        time.sleep(0.01)


def test_a_cut_holds_the_bytes_of_one_source_until_it_is_healed(
    network: Network, echo: Echo
) -> None:
    (port,) = non_ephemeral_ports(1)
    network.add("brokers-2", port, echo.port)
    with connect(port) as one, connect(port) as three:
        for client, name in ((one, "broker-1"), (three, "broker-3")):
            assert exchange(client, request(name, "a")) == request(name, "a")
        network.apply([Rule("broker-1", "brokers-2")])
        one.sendall(b"held")
        assert exchange(three, b"passed") == b"passed"
        assert is_silent(one)
        assert b"held" not in echo.received
        network.heal()
        assert receive(one, 4) == b"held"


def test_a_one_way_cut_lets_requests_pass_and_holds_their_answers(
    network: Network, echo: Echo
) -> None:
    (port,) = non_ephemeral_ports(1)
    network.add("brokers-2", port, echo.port)
    with connect(port) as one:
        exchange(one, request("broker-1", "a"))
        network.apply([Rule("broker-*", "brokers-2", (Direction.ANSWERS,))])
        one.sendall(b"unanswered")
        wait_for(echo, b"unanswered")
        assert is_silent(one)
        network.heal()
        assert receive(one, 10) == b"unanswered"


def test_bytes_are_delayed(network: Network, echo: Echo) -> None:
    (port,) = non_ephemeral_ports(1)
    network.add("brokers-2", port, echo.port)
    with connect(port) as one:
        exchange(one, request("broker-1", "a"))
        network.apply([Rule("*", "*", (Direction.REQUESTS,), SHORT_S)])
        began_s = time.monotonic()
        assert exchange(one, b"late") == b"late"
        assert time.monotonic() - began_s >= SHORT_S


def test_answers_are_dropped_with_their_connections(network: Network, echo: Echo) -> None:
    (port,) = non_ephemeral_ports(1)
    network.add("clients-2", port, echo.port)
    network.apply([Rule("p*", "clients-*", (Direction.ANSWERS,), drop_share=1.0)])
    with connect(port) as one:
        one.sendall(request("p1", "carried out"))
        with pytest.raises(ConnectionResetError):
            one.recv(1)
    assert b"carried out" in echo.received
    assert network.dropped() == 1
    with connect(port) as other:
        assert exchange(other, request("q", "a")) == request("q", "a")


def test_a_bit_of_filler_is_changed_and_nothing_else(network: Network, echo: Echo) -> None:
    (port,) = non_ephemeral_ports(1)
    network.add("clients-2", port, echo.port)
    network.apply([Rule("*", "clients-*", (Direction.REQUESTS,), flip_share=1.0)])
    with connect(port) as one:
        sent = request("p1", "header")
        assert exchange(one, sent) == sent
        sent = encode_value("p1:17", 100)
        changed = exchange(one, sent)
    assert [a ^ b for a, b in zip(sent, changed, strict=True) if a != b] == [1]
    assert decode_value(sent) == "p1:17"
    assert decode_value(changed).startswith("damaged ")
    assert network.flipped() == 1


def test_connections_are_reset(network: Network, echo: Echo) -> None:
    (port,) = non_ephemeral_ports(1)
    network.add("brokers-2", port, echo.port)
    with connect(port) as one:
        exchange(one, request("broker-1", "a"))
        assert network.reset("broker-3", "*") == 0
        assert network.reset("broker-1", "brokers-*") == 1
        with pytest.raises(ConnectionResetError):
            one.recv(1)
    with connect(port) as again:
        assert exchange(again, request("broker-1", "b")) == request("broker-1", "b")


def test_a_shut_door_refuses_connections_and_keeps_those_it_has(
    network: Network, echo: Echo
) -> None:
    (port,) = non_ephemeral_ports(1)
    network.add("brokers-2", port, echo.port)
    with connect(port) as one:
        exchange(one, request("broker-1", "a"))
        network.shut("brokers-2")
        assert exchange(one, b"still") == b"still"
        with pytest.raises(ConnectionRefusedError):
            connect(port)
    network.open("brokers-2")
    with connect(port) as again:
        assert exchange(again, request("broker-1", "b")) == request("broker-1", "b")


def test_the_end_of_a_server_ends_connections_that_have_sent_nothing(network: Network) -> None:
    (port,) = non_ephemeral_ports(1)
    with socket.create_server(("127.0.0.1", 0)) as server:
        network.add("brokers-2", port, server.getsockname()[1])
        with connect(port) as silent:
            accepted, _ = server.accept()
            accepted.close()
            assert silent.recv(1) == b""


def test_rules_are_encoded() -> None:
    rules = [Rule("a", "b"), Rule("*", "c", (Direction.ANSWERS,), 0.5, 0.25, 0.125)]
    assert decode(encode(rules)) == rules


def test_several_rules_for_one_link() -> None:
    rules = [Rule("a", "b", delay_s=1.0), Rule("*", "b", delay_s=2.0), Rule("x", "b")]
    assert passage(rules, "a", "b", Direction.REQUESTS) == Passage(True, 2.0)
    assert passage(rules, "x", "b", Direction.REQUESTS) == Passage(False, 2.0)
    assert passage(rules, "a", "c", Direction.REQUESTS) == Passage(True, 0.0)


@pytest.mark.parametrize("size", [0, 4, 13, 20])
def test_a_client_id_that_has_not_arrived(size: int) -> None:
    whole = request("broker-1", "")
    assert client_id(whole[:size]) is None
    assert client_id(whole) == "broker-1"
