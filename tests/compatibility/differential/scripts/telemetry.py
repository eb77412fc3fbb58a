"""GetTelemetrySubscriptions and PushTelemetry (KIP-714), with and without a subscription."""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from tests.compatibility.differential.scripting import script
from tests.compatibility.differential.scripts.configs import (
    DELETE,
    METRICS,
    SET,
    Change,
    change,
)
from tests.compatibility.differential.session import Session

from ottla.protocol.api_keys import ApiKey
from ottla.protocol.messages.get_telemetry_subscriptions_request import (
    GetTelemetrySubscriptionsRequest,
)
from ottla.protocol.messages.push_telemetry_request import PushTelemetryRequest

HOUR_MS = 3_600_000  # between pushes: one that follows at once is too early
NO_CLIENT = bytes(16)


def instance(number: int) -> bytes:
    return b"differential" + number.to_bytes(4, "big")


@contextmanager
def subscription(session: Session, *metrics: str) -> Iterator[None]:
    """All clients are asked for metrics, until the end."""
    chosen = {"metrics": ",".join(metrics), "interval.ms": str(HOUR_MS)}
    alter(session, [(key, SET, value) for key, value in chosen.items()])
    try:
        yield
    finally:
        alter(session, [(key, DELETE, None) for key in chosen])


def alter(session: Session, changes: Sequence[Change]) -> None:
    request = change((METRICS, session.name("m"), changes))
    session.once_ready(request, 1, lambda answer: answer.responses[0].error_code)
    session.settle()


@script(ApiKey.GET_TELEMETRY_SUBSCRIPTIONS)
def get_telemetry_subscriptions(session: Session) -> None:
    def ask(label: str, client: bytes) -> None:
        session.ask(label, GetTelemetrySubscriptionsRequest(client))

    ask("nothing is wanted", instance(1))
    ask("nothing is wanted, again", instance(1))
    ask("nothing is wanted of somebody new", NO_CLIENT)
    ask("id 1", bytes(15) + b"\1")
    with subscription(session, "org.apache.kafka.producer.", "org.apache.kafka.consumer."):
        ask("wanted", instance(2))
        ask("wanted, again at once", instance(2))
        ask("wanted of somebody new", NO_CLIENT)
        ask("wanted of somebody known before", instance(1))
    with subscription(session, "*"):
        ask("all wanted", instance(3))
    with subscription(session, ""):
        ask("none named", instance(4))
    ask("no longer wanted", instance(5))


@script(ApiKey.PUSH_TELEMETRY)
def push_telemetry(session: Session) -> None:
    def push(
        label: str,
        client: bytes,
        wish: int,
        data: bytes = b"",
        codec: int = 0,
        *,
        last: bool = False,
    ) -> None:
        session.ask(label, PushTelemetryRequest(client, wish, last, codec, data))

    def known(number: int) -> tuple[bytes, int]:
        request = GetTelemetrySubscriptionsRequest(instance(number))
        return instance(number), session.quietly(request, 0).subscription_id

    push("nobody", NO_CLIENT, 0)
    push("id 1", bytes(15) + b"\1", 0)
    push("never asked", instance(20), 7)
    with subscription(session, "*"):
        client, wish = known(21)
        push("nothing to tell", client, wish)
        push("again at once", client, wish)
        push("the last word at once", client, wish, last=True)
        push("after the last word", client, wish, last=True)
        client, wish = known(22)
        push("another wish", client, wish + 1)
        push("another wish again", client, wish + 1)
        for number, codec in enumerate((5, -1, 127), 23):
            push(f"codec {codec}", *known(number), b"x", codec)
        client, wish = known(26)
        push("too much", client, wish, bytes(1_048_577))
        client, wish = known(27)
        push("as much as may be", client, wish, b"", 0, last=True)
        client, wish = known(28)
        push("gzip", client, wish, zlib.compress(b"", wbits=31), 1)
        client, wish = known(29)
        push("not what gzip makes", client, wish, b"xyz", 1)
        client, wish = known(30)
        push("not metrics", client, wish, b"\xff\xff\xff")
