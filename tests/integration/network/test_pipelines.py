"""Requests of one connection that arrive together: how many begin before their responses leave."""

from __future__ import annotations

import pytest
from tests.integration.network.harness import LOOPS, ScriptedServer, answer_of, framed, running

from ottla.base.clock import SystemClock
from ottla.network.connection import Connection
from ottla.network.request_server import Answer

BODIES = [b"%02d" % number for number in range(50)]
RESPONSE_BYTES = len(framed(BODIES[0]))


class Stopwatch(SystemClock):
    """Its monotonic time is what requests have taken."""

    elapsed_s = 0.0

    def monotonic_s(self) -> float:
        return self.elapsed_s


@pytest.mark.parametrize("loop_kind", LOOPS)
@pytest.mark.parametrize(
    ("request_s", "together"), [(0.000_035, 50), (0.001_5, 2), (0.000_25, 8), (1.0, 1)]
)
def test_requests_begin_for_two_milliseconds_before_the_responses_leave(
    loop_kind: str, request_s: float, together: int
) -> None:
    """Otherwise a pipeline of small requests would take several sends."""
    clock, unsent = Stopwatch(), list[int]()

    def serve(body: bytes, connection: Connection) -> Answer:
        clock.elapsed_s += request_s
        unsent.append(connection.unsent_bytes // RESPONSE_BYTES)
        return answer_of(body)

    server = ScriptedServer()
    for first in b"01234":
        server.script(bytes([first]), serve)
    with running(server=server, loop_kind=loop_kind, clock=clock) as network:
        client = network.connect()
        client.send(*BODIES)  # few bytes: they arrive in one read
        assert [client.receive() for _ in BODIES] == BODIES
    assert unsent == [number % together for number in range(len(BODIES))]
