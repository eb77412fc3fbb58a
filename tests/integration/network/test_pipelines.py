"""Requests of one connection that arrive together: how many begin before their responses leave."""

from __future__ import annotations

import pytest
from tests.integration.network.harness import LOOPS, ScriptedServer, answer_of, framed, running

from ottla.network import request_flow
from ottla.network.connection import Connection
from ottla.network.served import Answer

BODIES = [b"%02d" % number for number in range(50)]
RESPONSE_BYTES = len(framed(BODIES[0]))


@pytest.mark.parametrize("loop_kind", LOOPS)
@pytest.mark.parametrize(
    ("request_s", "together"), [(0.000_035, 50), (0.001_5, 2), (0.000_25, 8), (1.0, 1)]
)
def test_requests_begin_for_two_milliseconds_before_the_responses_leave(
    monkeypatch: pytest.MonkeyPatch, loop_kind: str, request_s: float, together: int
) -> None:
    """Otherwise a pipeline of small requests would take several sends."""
    now_s, unsent = [0.0], list[int]()
    monkeypatch.setattr(request_flow, "monotonic", lambda: now_s[0])

    def serve(body: bytes, connection: Connection) -> Answer:
        now_s[0] += request_s
        unsent.append(connection.unsent_bytes // RESPONSE_BYTES)
        return answer_of(body)

    server = ScriptedServer()
    for first in b"01234":
        server.script(bytes([first]), serve)
    with running(server=server, loop_kind=loop_kind) as network:
        client = network.connect()
        client.send(*BODIES)  # few bytes: they arrive in one read
        assert [client.receive() for _ in BODIES] == BODIES
    assert unsent == [number % together for number in range(len(BODIES))]
