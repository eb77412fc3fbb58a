"""Requests of one connection take effect and are answered in order, however they arrive."""

from __future__ import annotations

import socket
from collections.abc import Iterator

import pytest
from tests.integration.network.harness import (
    LOOPS,
    RunningNetwork,
    answer_of,
    framed,
    network_settings,
    running,
)

from ottla.network.connection import Connection
from ottla.network.request_server import Answer, AwaitingAnswer, Served, TakingEffect
from ottla.network.settings import ConnectionSettings
from ottla.protocol.errors import MalformedMessage


@pytest.fixture(params=LOOPS)
def network(request: pytest.FixtureRequest) -> Iterator[RunningNetwork]:
    with running(loop_kind=request.param) as network:
        yield network


def test_two_frames_in_one_segment_are_two_requests(network: RunningNetwork) -> None:
    client = network.connect()
    client.send(b"one", b"two")
    assert [client.receive(), client.receive()] == [b"one", b"two"]


def test_a_frame_split_at_every_byte_is_one_request(network: RunningNetwork) -> None:
    client, stream = network.connect(), framed(b"a request in many pieces")
    for position in range(len(stream)):
        client.socket.sendall(stream[position : position + 1])
    assert client.receive() == b"a request in many pieces"


def test_a_thousand_pipelined_requests_are_answered_in_order(network: RunningNetwork) -> None:
    client, bodies = network.connect(), [b"request %d" % number for number in range(1000)]
    client.send(*bodies)
    assert [client.receive() for _ in bodies] == bodies


def test_pipelined_requests_of_many_connections_do_not_mix(network: RunningNetwork) -> None:
    clients = [network.connect() for _ in range(20)]
    for number, client in enumerate(clients):
        client.send(*[b"client %d request %d" % (number, request) for request in range(100)])
    for number, client in enumerate(clients):
        for request in range(100):
            assert client.receive() == b"client %d request %d" % (number, request)


def test_large_frames_arrive_and_leave_whole(network: RunningNetwork) -> None:
    client, body = network.connect(), bytes(range(256)) * (5 * 4096)
    client.send(b"x" + body)
    assert client.receive() == b"x" + body


def test_requests_behind_a_waiting_one_begin_but_their_answers_wait(
    network: RunningNetwork,
) -> None:
    client, server = network.connect(), network.server
    client.send(b"W1", b"two", b"W3", b"four")
    network.wait_until(lambda: len(server.begun) == 4)
    network.call(lambda: server.release(b"W3"))
    network.call(lambda: server.release(b"W1"))
    assert [client.receive() for _ in range(4)] == [b"W1", b"two", b"W3", b"four"]


def test_requests_behind_a_working_one_begin_when_it_is_done(network: RunningNetwork) -> None:
    client, server = network.connect(), network.server
    client.send(b"K1", b"two", b"three")
    network.wait_until(lambda: server.is_held(b"K1"))
    assert network.call(lambda: list(server.begun)) == [b"K1"]
    network.call(lambda: server.release(b"K1"))
    assert [client.receive() for _ in range(3)] == [b"K1", b"two", b"three"]
    assert server.begun == [b"K1", b"two", b"three"]


def test_requests_behind_one_that_was_worked_on_begin_when_it_only_waits(
    network: RunningNetwork,
) -> None:
    client, server = network.connect(), network.server
    client.send(b"D1", b"second")
    network.wait_until(lambda: server.is_held(b"work of D1"))
    assert server.begun == [b"D1"]
    network.call(lambda: server.release(b"work of D1"))
    network.wait_until(lambda: server.begun == [b"D1", b"second"])
    network.call(lambda: server.release(b"D1"))
    assert [client.receive(), client.receive()] == [b"D1", b"second"]


def test_one_that_is_worked_on_while_its_client_leaves_does_not_wait_afterwards(
    network: RunningNetwork,
) -> None:
    client, server = network.connect(), network.server
    client.send(b"D1")
    network.wait_until(lambda: server.is_held(b"work of D1"))
    client.reset()
    network.wait_until(lambda: len(server.closed_connections) == 1)
    network.call(lambda: server.release(b"work of D1"))
    network.wait_until(lambda: server.is_held(b"D1") and server._held[b"D1"].cancelled())


def test_a_request_without_an_answer_leaves_no_gap(network: RunningNetwork) -> None:
    client = network.connect()
    client.send(b"one", b"N", b"two")
    assert [client.receive(), client.receive()] == [b"one", b"two"]


def test_requests_sent_before_the_client_closed_still_take_effect(
    network: RunningNetwork,
) -> None:
    client, bodies = network.connect(), [b"N%d" % number for number in range(500)]
    client.send(*bodies)
    client.close()
    network.wait_until(lambda: len(network.server.closed_connections) == 1)
    assert network.server.begun == bodies


def test_a_client_that_only_stops_sending_gets_all_its_answers(network: RunningNetwork) -> None:
    client, server = network.connect(), network.server
    client.send(*[b"%d" % number for number in range(300)], b"W1", b"W2", b"K3", b"N", b"last")
    client.socket.sendall(framed(b"the beginning of another")[:9])
    client.socket.shutdown(socket.SHUT_WR)
    for body in (b"W1", b"W2", b"K3"):
        network.wait_until(lambda body=body: server.is_held(body))  # type: ignore[misc]
    for body in (b"K3", b"W2", b"W1"):
        network.call(lambda body=body: server.release(body))  # type: ignore[misc]
    expected = [*(b"%d" % number for number in range(300)), b"W1", b"W2", b"K3", b"last"]
    assert client.receive_to_the_end() == b"".join(map(framed, expected))
    network.wait_until(lambda: not network.network.connections)
    assert network.network.request_memory.held_bytes == 0


def test_a_client_that_stopped_sending_is_kept_as_long_as_an_idle_one() -> None:
    with running(network_settings(ConnectionSettings(idle_ms=50))) as network:
        with network.paused():  # else they might be idle for too long before they have asked
            stopped, waiting = network.connect(), network.connect()
            waiting.send(b"W1")
            stopped.send(b"W2")
            stopped.socket.shutdown(socket.SHUT_WR)
        assert stopped.receive_to_the_end() == b""
        network.call(lambda: network.server.release(b"W1"))
        assert waiting.receive() == b"W1"


def test_the_last_answer_closes_the_connection_and_what_follows_is_not_served(
    network: RunningNetwork,
) -> None:
    network.server.script(b"L", lambda body, _: answer_of(body, is_last=True))
    client = network.connect()
    client.send(b"one", b"L", b"never")
    assert client.receive() == b"one"
    assert client.receive() == b"L"
    assert client.receive_to_the_end() == b""
    assert b"never" not in network.server.begun


def test_waiting_is_given_up_and_work_is_finished_when_the_client_leaves(
    network: RunningNetwork,
) -> None:
    server, ended = network.server, []
    client, other = network.connect(), network.connect()
    client.send(b"W1")
    other.send(b"K1")
    network.wait_until(lambda: server.is_held(b"W1") and server.is_held(b"K1"))
    client.reset()
    other.reset()
    network.wait_until(lambda: len(server.closed_connections) == 2)
    held = server._held
    network.wait_until(held[b"W1"].cancelled)
    assert not held[b"K1"].cancelled()
    network.call(lambda: held[b"K1"].add_done_callback(lambda _: ended.append(1)))
    network.call(lambda: server.release(b"K1"))
    network.wait_until(lambda: ended == [1])


def test_a_bug_in_the_server_closes_one_connection_and_no_other(
    network: RunningNetwork, caplog: pytest.LogCaptureFixture
) -> None:
    async def fail() -> Answer:
        raise KeyError("a bug")

    def fail_at_once(body: bytes, connection: object) -> Answer:
        raise KeyError("a bug")

    network.server.script(b"B", fail_at_once)
    network.server.script(b"C", lambda *_: AwaitingAnswer(fail()))
    good = network.connect()
    for first in (b"B", b"C"):
        bad = network.connect()
        bad.send(first)
        assert bad.receive_to_the_end() == b""
    assert good.ask(b"still here") == b"still here"
    said = [record for record in caplog.records if record.name.startswith("ottla")]
    assert [record.levelname for record in said] == ["ERROR", "ERROR"]


def test_a_request_that_turns_out_malformed_closes_its_connection_without_alarm(
    network: RunningNetwork, caplog: pytest.LogCaptureFixture
) -> None:
    async def look_up_later() -> Answer:
        raise MalformedMessage("not a request")

    network.server.script(b"M", lambda *_: TakingEffect(look_up_later()))
    client = network.connect()
    client.send(b"M")
    assert client.receive_to_the_end() == b""
    said = [record for record in caplog.records if record.name.startswith("ottla")]
    assert [record for record in said if record.levelname == "ERROR"] == []
    assert network.network.listeners["PLAINTEXT"].counters.connections_malformed == 1


def test_a_request_that_is_cancelled_from_elsewhere_closes_its_connection(
    network: RunningNetwork,
) -> None:
    client, server = network.connect(), network.server
    client.send(b"W1")
    network.wait_until(lambda: server.is_held(b"W1"))
    network.call(lambda: server._held[b"W1"].cancel())
    assert client.receive_to_the_end() == b""


def test_the_server_may_allow_smaller_frames_until_it_knows_the_client(
    network: RunningNetwork,
) -> None:
    def allow_more(body: bytes, connection: Connection) -> Answer:
        connection.frame_bytes_max = 2000
        return answer_of(body)

    def limit(connection: Connection) -> None:
        connection.frame_bytes_max = 100

    network.server.script(b"A", allow_more)
    network.call(lambda: setattr(network.server, "opened", limit))
    stranger, known = network.connect(), network.connect()
    stranger.send(bytes(1000))
    assert stranger.receive_to_the_end() == b""
    assert known.ask(b"A") == b"A"
    assert known.ask(b"x" * 1000) == b"x" * 1000


def test_a_bug_while_a_connection_is_opened_closes_that_connection(
    network: RunningNetwork, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(connection: Connection) -> None:
        raise KeyError("a bug")

    good = network.connect()
    assert good.ask(b"good") == b"good"
    network.call(lambda: setattr(network.server, "opened", fail))
    assert network.connect().receive_to_the_end() == b""
    assert good.ask(b"good") == b"good"
    assert "a bug" in caplog.text


def test_of_two_throttles_the_longer_counts(network: RunningNetwork) -> None:
    begun_s: dict[bytes, float] = {}

    def note(body: bytes, _: object) -> Served:
        begun_s[body] = network.loop.time()
        if body == b"T3":
            return answer_of(body)
        return AwaitingAnswer(
            answered_later(answer_of(body, throttle_ms=60 if body == b"T1" else 1))
        )

    async def answered_later(answer: Answer) -> Answer:
        return answer

    network.server.script(b"T", note)
    client = network.connect()
    client.send(b"T1", b"T2")
    assert [client.receive(), client.receive()] == [b"T1", b"T2"]
    assert client.ask(b"T3") == b"T3"
    assert begun_s[b"T3"] - begun_s[b"T2"] >= 0.059


def test_a_throttled_client_gets_its_answer_first_and_is_read_later(
    network: RunningNetwork,
) -> None:
    begun_s: dict[bytes, float] = {}

    def note(body: bytes, _: object) -> Answer:
        begun_s[body] = network.loop.time()
        return answer_of(body, throttle_ms=50 if body == b"T1" else 0)

    network.server.script(b"T", note)
    client = network.connect()
    client.send(b"T1", b"T2")
    assert client.receive() == b"T1"
    client.send(b"T3")
    assert [client.receive(), client.receive()] == [b"T2", b"T3"]
    assert begun_s[b"T2"] - begun_s[b"T1"] >= 0.049  # uvloop's clock counts milliseconds


def test_a_client_that_leaves_while_throttled_is_forgotten(network: RunningNetwork) -> None:
    network.server.script(b"T", lambda body, _: answer_of(body, throttle_ms=30))
    client = network.connect()
    assert client.ask(b"T") == b"T"
    client.close()
    network.wait_until(lambda: not network.network.connections)


@pytest.mark.parametrize("loop_kind", LOOPS)
def test_no_more_requests_are_in_flight_than_allowed(loop_kind: str) -> None:
    settings = network_settings(ConnectionSettings(requests_in_flight_max=3))
    with running(settings, loop_kind=loop_kind) as network:
        client, server = network.connect(), network.server
        bodies = [b"W%d" % number for number in range(10)]
        client.send(*bodies)
        for number, body in enumerate(bodies):
            network.wait_until(lambda body=body: server.is_held(body))  # type: ignore[misc]
            assert network.call(lambda: len(server.begun)) <= number + 3
            network.call(lambda body=body: server.release(body))  # type: ignore[misc]
        assert [client.receive() for _ in bodies] == bodies


@pytest.mark.parametrize("loop_kind", LOOPS)
def test_large_requests_in_flight_are_bounded_by_their_bytes(loop_kind: str) -> None:
    settings = network_settings(ConnectionSettings(in_flight_bytes_max=100_000))
    with running(settings, loop_kind=loop_kind) as network:
        client, server = network.connect(), network.server
        bodies = [b"W%d" % number + bytes(60_000) for number in range(4)]
        client.send(*bodies)
        network.wait_until(lambda: len(server.begun) == 2)
        network.call(lambda: server.release(bodies[0]))
        network.wait_until(lambda: len(server.begun) == 3)
        assert server.begun == bodies[:3]
