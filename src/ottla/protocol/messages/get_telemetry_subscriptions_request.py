"""Generated from schemas/get_telemetry_subscriptions.schema: GetTelemetrySubscriptionsRequest, versions 0. Do not edit."""

from __future__ import annotations

from struct import Struct as Layout

from ottla.base.uuids import ZERO_UUID
from ottla.protocol.message import Message
from ottla.protocol.primitives import (
    skip_tags,
)

_unpack_uB = Layout(">16sB").unpack_from
_pack_ux = Layout(">16sx").pack


class GetTelemetrySubscriptionsRequest(Message):
    __slots__ = ("client_instance_id",)
    API_KEY = 71
    VERSIONS = range(0, 1)
    FLEXIBLE_FROM = 0

    def __init__(
        self,
        client_instance_id: bytes = ZERO_UUID,
    ) -> None:
        self.client_instance_id = client_instance_id


def _read_get_telemetry_subscriptions_request_v0(data: memoryview, at: int) -> tuple[GetTelemetrySubscriptionsRequest, int]:
    client_instance_id, more = _unpack_uB(data, at)
    at += 17
    if more:
        at = skip_tags(data, at - 1)
    return GetTelemetrySubscriptionsRequest(client_instance_id), at


def _write_get_telemetry_subscriptions_request_v0(item: GetTelemetrySubscriptionsRequest, out: bytearray) -> None:
    out += _pack_ux(item.client_instance_id)


GetTelemetrySubscriptionsRequest.DECODERS = {
    0: _read_get_telemetry_subscriptions_request_v0,
}
GetTelemetrySubscriptionsRequest.ENCODERS = {
    0: _write_get_telemetry_subscriptions_request_v0,
}
