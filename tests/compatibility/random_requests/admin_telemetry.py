"""Steps of clients that request a subscription, and push metrics. A push too early is refused:
sequences are shorter than any interval, except the one that is set."""

from __future__ import annotations

from collections.abc import Callable
from hashlib import md5
from random import Random
from typing import NamedTuple

from tests.compatibility.random_requests.admin_model import AdminModel

from ottla.protocol.messages.get_telemetry_subscriptions_request import (
    GetTelemetrySubscriptionsRequest,
)
from ottla.protocol.messages.push_telemetry_request import PushTelemetryRequest

CLIENTS = (1, 2, 3)
NO_CLIENT = 0
STRANGER = 9  # has never asked


def instance(model: AdminModel, number: int) -> bytes:
    if number == NO_CLIENT:
        return bytes(16)
    known = model.instance_ids.get(number)
    # Each broker gives out ids of its own; a client may as well have made one.
    return known or md5(model.session.name(str(number)).encode()).digest()


class Subscribe(NamedTuple):
    client: int
    is_new: bool  # has no id yet, and takes what it is given

    def execute(self, model: AdminModel) -> None:
        asked = bytes(16) if self.is_new else instance(model, self.client)
        answer = model.ask(GetTelemetrySubscriptionsRequest(asked), 0)
        if answer is not None and answer.error_code == 0:
            model.subscription_ids[self.client] = answer.subscription_id
            if self.is_new:
                model.instance_ids[self.client] = answer.client_instance_id


def draw_subscribe(random: Random) -> Subscribe:
    return Subscribe(random.choice(CLIENTS), random.random() < 0.3)


class Push(NamedTuple):
    client: int
    other_subscription: int  # added to the right one
    is_last: bool
    codec: int
    data: bytes

    def execute(self, model: AdminModel) -> None:
        wish = model.subscription_ids.get(self.client, 0) + self.other_subscription
        client = instance(model, self.client)
        request = PushTelemetryRequest(client, wish, self.is_last, self.codec, self.data)
        model.ask(request, 0)


def draw_push(random: Random) -> Push:
    client = random.choice((*CLIENTS, *CLIENTS, STRANGER, NO_CLIENT))
    codec = random.choice((0, 0, 0, 5, -1))
    return Push(client, random.choice((0, 0, 0, 1)), random.random() < 0.3, codec, b"")


DRAWN: dict[Callable[[Random], object], int] = {draw_subscribe: 3, draw_push: 3}
