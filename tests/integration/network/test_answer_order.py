"""Whatever requests are answered at once, wait or work, and whenever they finish: order is kept."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.integration.network.harness import (
    LOOPS,
    PATIENCE_S,
    RunningNetwork,
    ScriptedServer,
    framed,
    network_settings,
    running,
)

from ottla.network.settings import ConnectionSettings

FEW_IN_FLIGHT = ConnectionSettings(requests_in_flight_max=5, in_flight_bytes_max=5000)
KINDS = {
    "immediate": b"E",
    "waiting": b"W",
    "waiting, as a coroutine": b"A",
    "working": b"K",
    "without answer": b"N",
}


@pytest.fixture(scope="module", params=LOOPS)
def network(request: pytest.FixtureRequest) -> Iterator[RunningNetwork]:
    with running(network_settings(FEW_IN_FLIGHT), loop_kind=request.param) as network:
        yield network


async def release_in_any_order(server: ScriptedServer, bodies: list[bytes], seed: int) -> None:
    """Let what is held finish, some at a time, until none is left to come."""
    rng, left = random.Random(seed), {body for body in bodies if body[:1] in (b"W", b"A", b"K")}
    while left:
        held = [body for body in bodies if server.is_held(body)]
        working = [body for body in held if body.startswith(b"K")]
        assert not working or working == server.begun[-1:]  # nothing begins behind it
        for body in rng.sample(held, rng.randint(0, len(held))):
            server.release(body)
            left.remove(body)
        await asyncio.sleep(0)


@settings(
    max_examples=80,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(
    kinds=st.lists(st.sampled_from(sorted(KINDS)), min_size=1, max_size=40),
    seed=st.integers(0, 2**32),
)
def test_answers_leave_in_the_order_of_the_requests(
    network: RunningNetwork, kinds: list[str], seed: int
) -> None:
    server, rng = network.server, random.Random(seed)
    network.call(server.begun.clear)
    bodies = [
        KINDS[kind] + b"%d " % number + bytes(rng.choice([0, 10, 3000]))
        for number, kind in enumerate([*kinds, "immediate"])  # when it is answered, all is done
    ]
    releasing = asyncio.run_coroutine_threadsafe(
        release_in_any_order(server, bodies, seed), network.loop
    )
    stream = b"".join(map(framed, bodies))
    with network.connect() as client:
        while stream:
            cut = rng.choice([1, 7, 100, 5000])
            client.socket.sendall(stream[:cut])
            stream = stream[cut:]
        expected = [body for body in bodies if not body.startswith(b"N")]
        assert [client.receive() for _ in expected] == expected
    releasing.result(PATIENCE_S)
    assert server.begun == bodies
