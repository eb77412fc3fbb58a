"""Clients that vanish at any moment leave nothing behind, and no alarm."""

from __future__ import annotations

import asyncio
import gc
import random
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.integration.network.harness import (
    LOOPS,
    RunningNetwork,
    ScriptedServer,
    answer_of,
    network_settings,
    running,
)
from tests.support.paused_collector import paused_collector

from ottla.base.files.disk import DiskFileSystem
from ottla.network.connection import Connection
from ottla.network.request_server import Answer, AwaitingAnswer
from ottla.network.settings import ConnectionSettings
from ottla.storage.files.file_range import FileRange

SMALL = ConnectionSettings(requests_in_flight_max=4, unsent_bytes_max=64 * 1024)
FILE_BYTES = 1_000_000


@pytest.fixture(params=LOOPS)
def network(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[RunningNetwork]:
    (tmp_path / "records").write_bytes(bytes(FILE_BYTES))
    file = DiskFileSystem().open(str(tmp_path / "records"))
    server = ScriptedServer()
    header = FILE_BYTES.to_bytes(4, "big")
    server.script(b"F", lambda *_: Answer([header, FileRange(file, 0, FILE_BYTES)]))
    server.script(b"G", lambda *_: answer_of(bytes(300_000)))
    server.script(b"T", lambda body, _: answer_of(body, throttle_ms=1))
    server.script(b"L", lambda body, _: answer_of(body, is_last=True))
    with running(network_settings(SMALL), server, request.param) as network:
        yield network
    file.close()


async def keep_releasing(server: ScriptedServer, rng: random.Random) -> None:
    while True:
        held = list(server._held)
        for body in rng.sample(held, rng.randint(0, len(held))):
            server.release(body)
        await asyncio.sleep(0)


def test_clients_that_vanish_at_any_moment_leave_nothing_behind(
    network: RunningNetwork, caplog: pytest.LogCaptureFixture
) -> None:
    rng = random.Random(11)
    releasing = asyncio.run_coroutine_threadsafe(
        keep_releasing(network.server, random.Random(12)), network.loop
    )
    for number in range(400):
        client = network.connect()
        kinds = rng.choices([b"E", b"W", b"A", b"K", b"D", b"N", b"F", b"G", b"T", b"L"], k=8)
        client.send(*[kind + b"%d-%d" % (number, at) for at, kind in enumerate(kinds)])
        if rng.random() < 0.5:
            client.socket.recv(rng.choice([1, 1000, 500_000]))
        rng.choice([client.close, client.reset])()
    network.wait_until(lambda: not network.network.connections)
    releasing.cancel()
    network.wait_until(lambda: not len(network.network._context.tasks))  # type: ignore[union-attr]
    server = network.server
    assert len(server.opened_connections) == len(set(server.closed_connections))
    assert network.network.request_memory.held_bytes == network.network.quota.open_connections == 0
    # Not what clients of other tests say that are found dead by now.
    said = [each for each in caplog.records if each.threadName == "network"]
    assert [each.getMessage() for each in said] == []


def test_a_request_that_ends_with_its_connection_in_the_turn_it_began_in_is_cleaned_up(
    network: RunningNetwork,
) -> None:
    """What was set up for it is removed by its coroutine, which has not run by then."""
    begun, set_up = list[bytes](), set[bytes]()

    async def wait(body: bytes) -> Answer:
        try:
            await asyncio.get_running_loop().create_future()
            return answer_of(body)
        finally:
            set_up.discard(body)

    def begin(body: bytes, _connection: Connection) -> AwaitingAnswer:
        begun.append(body)
        set_up.add(body)
        return AwaitingAnswer(wait(body))

    network.server.script(b"S", begin)
    malformed = b""
    client = network.connect()
    client.send(b"S1", b"S2", malformed)
    assert client.receive_to_the_end() == b""
    network.wait_until(lambda: not len(network.network._context.tasks))  # type: ignore[union-attr]
    assert begun == [b"S1", b"S2"]
    assert network.call(lambda: set(set_up)) == set()


def test_a_connection_that_has_ended_is_gone_without_a_search_for_garbage(
    network: RunningNetwork,
) -> None:
    """A broker keeps the garbage collector away from what it holds at some moments."""
    with paused_collector():
        for _ in range(3):
            with network.connect() as answered, network.connect() as waiting:
                assert answered.ask(b"E") == b"E"
                waiting.send(b"W")
                waiting.reset()
        server = network.server
        network.wait_until(lambda: len(server.closed_connections) == 6)
        names = {each.connection_id for each in server.opened_connections}
        server.opened_connections.clear()
        server.closed_connections.clear()
        network.wait_until(lambda: not names & living_connections())


def living_connections() -> set[str]:
    return {each.connection_id for each in gc.get_objects() if type(each) is Connection}
