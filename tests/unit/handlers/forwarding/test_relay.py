"""What a broker passes on to the controller arrives there as it was, and so does the answer."""

from __future__ import annotations

from random import Random

import pytest

from ottla.handlers.forwarding.relay import (
    BROKER,
    ForwardedAnswer,
    ForwardedClient,
    ForwardedRequest,
)
from ottla.protocol.errors import MalformedMessage
from ottla.protocol.messages.envelope_request import EnvelopeRequest

PRINCIPALS = (
    "User:ANONYMOUS",
    "User:alice",
    "User:CN=host:9092,OU=a:b",  # a name with colons
    "User:",
    "Group:Überall",
    BROKER.principal,
)
HOSTS = ("127.0.0.1", "::1", "fe80::1%eth0", "")


def random_request(rng: Random) -> ForwardedRequest:
    client = ForwardedClient(rng.choice(PRINCIPALS), rng.choice(HOSTS))
    received_by = rng.choice([0, 1, 1000, 2**31 - 1])
    return ForwardedRequest(rng.randbytes(rng.randrange(100)), client, received_by)


def test_requests_arrive_as_they_were_sent() -> None:
    rng = Random(1)
    for _ in range(300):
        request = random_request(rng)
        sent = request.to_envelope().encode(0)
        assert ForwardedRequest.from_envelope(EnvelopeRequest.decode(memoryview(sent), 0)) == (
            request
        )


@pytest.mark.parametrize("offset", [0, 1, 2**31, 2**62])
@pytest.mark.parametrize("throttle_ms", [0, 1, 2**31 - 1])
def test_answers_arrive_as_they_were_sent(offset: int, throttle_ms: int) -> None:
    for frame in (b"", b"frame", bytes(1000)):
        answer = ForwardedAnswer(frame, offset, throttle_ms)
        assert ForwardedAnswer.decode(answer.encode()) == answer


@pytest.mark.parametrize("data", [None, b"", bytes(11)])
def test_an_answer_that_is_too_short_is_malformed(data: bytes | None) -> None:
    with pytest.raises(MalformedMessage):
        ForwardedAnswer.decode(data)


@pytest.mark.parametrize(("data", "principal"), [(b"", b"x"), (bytes(3), b"x"), (bytes(9), b"")])
def test_an_envelope_that_lacks_a_part_is_malformed(data: bytes, principal: bytes) -> None:
    with pytest.raises(MalformedMessage):
        ForwardedRequest.from_envelope(EnvelopeRequest(data, principal, b"host"))
