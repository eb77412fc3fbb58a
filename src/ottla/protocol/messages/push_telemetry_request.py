"""Generated from schemas/push_telemetry.schema: PushTelemetryRequest, versions 0. Do not edit."""

from __future__ import annotations

from struct import Struct as Layout

from ottla.base.uuids import ZERO_UUID
from ottla.protocol.message import Message
from ottla.protocol.primitives import (
    read_compact_bytes,
    skip_tags,
    write_compact_bytes,
)

_unpack_uitb = Layout(">16si?b").unpack_from
_pack_uitb = Layout(">16si?b").pack


class PushTelemetryRequest(Message):
    __slots__ = ("client_instance_id", "subscription_id", "terminating", "compression_type", "metrics",)
    API_KEY = 72
    VERSIONS = range(0, 1)
    FLEXIBLE_FROM = 0

    def __init__(
        self,
        client_instance_id: bytes = ZERO_UUID,
        subscription_id: int = 0,
        terminating: bool = False,
        compression_type: int = 0,
        metrics: bytes = b"",
    ) -> None:
        self.client_instance_id = client_instance_id
        self.subscription_id = subscription_id
        self.terminating = terminating
        self.compression_type = compression_type
        self.metrics = metrics


def _read_push_telemetry_request_v0(data: memoryview, at: int) -> tuple[PushTelemetryRequest, int]:
    client_instance_id, subscription_id, terminating, compression_type = _unpack_uitb(data, at)
    at += 22
    metrics, at = read_compact_bytes(data, at)
    at = skip_tags(data, at) if data[at] else at + 1
    return PushTelemetryRequest(client_instance_id, subscription_id, terminating, compression_type, metrics), at


def _write_push_telemetry_request_v0(item: PushTelemetryRequest, out: bytearray) -> None:
    out += _pack_uitb(item.client_instance_id, item.subscription_id, item.terminating, item.compression_type)
    write_compact_bytes(item.metrics, out)
    out.append(0)


PushTelemetryRequest.DECODERS = {
    0: _read_push_telemetry_request_v0,
}
PushTelemetryRequest.ENCODERS = {
    0: _write_push_telemetry_request_v0,
}
