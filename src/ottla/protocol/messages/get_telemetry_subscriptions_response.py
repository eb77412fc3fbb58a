"""Generated from schemas/get_telemetry_subscriptions.schema: GetTelemetrySubscriptionsResponse, versions 0. Do not edit."""

from __future__ import annotations

from collections.abc import Sequence
from struct import Struct as Layout

from ottla.base.uuids import ZERO_UUID
from ottla.protocol.message import Message
from ottla.protocol.primitives import (
    read_compact_count,
    read_compact_strings,
    read_numbers,
    skip_tags,
    uvarint,
    write_compact_strings,
    write_numbers,
)

_unpack_ihui = Layout(">ih16si").unpack_from
_pack_ihui = Layout(">ih16si").pack
_unpack_iit = Layout(">ii?").unpack_from
_pack_iit = Layout(">ii?").pack


class GetTelemetrySubscriptionsResponse(Message):
    __slots__ = ("throttle_time_ms", "error_code", "client_instance_id", "subscription_id", "accepted_compression_types", "push_interval_ms", "telemetry_max_bytes", "delta_temporality", "requested_metrics",)
    API_KEY = 71
    VERSIONS = range(0, 1)
    FLEXIBLE_FROM = 0

    def __init__(
        self,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        client_instance_id: bytes = ZERO_UUID,
        subscription_id: int = 0,
        accepted_compression_types: Sequence[int] = (),
        push_interval_ms: int = 0,
        telemetry_max_bytes: int = 0,
        delta_temporality: bool = False,
        requested_metrics: Sequence[str] = (),
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.client_instance_id = client_instance_id
        self.subscription_id = subscription_id
        self.accepted_compression_types = accepted_compression_types
        self.push_interval_ms = push_interval_ms
        self.telemetry_max_bytes = telemetry_max_bytes
        self.delta_temporality = delta_temporality
        self.requested_metrics = requested_metrics


def _read_get_telemetry_subscriptions_response_v0(data: memoryview, at: int) -> tuple[GetTelemetrySubscriptionsResponse, int]:
    throttle_time_ms, error_code, client_instance_id, subscription_id = _unpack_ihui(data, at)
    at += 26
    count, at = read_compact_count(data, at, 1)
    accepted_compression_types, at = read_numbers(data, at, count, "b") if count else ([], at)
    push_interval_ms, telemetry_max_bytes, delta_temporality = _unpack_iit(data, at)
    at += 9
    count, at = read_compact_count(data, at, 1)
    requested_metrics, at = read_compact_strings(data, at, count) if count else ([], at)
    at = skip_tags(data, at) if data[at] else at + 1
    return GetTelemetrySubscriptionsResponse(throttle_time_ms, error_code, client_instance_id, subscription_id, accepted_compression_types, push_interval_ms, telemetry_max_bytes, delta_temporality, requested_metrics), at


def _write_get_telemetry_subscriptions_response_v0(item: GetTelemetrySubscriptionsResponse, out: bytearray) -> None:
    out += _pack_ihui(item.throttle_time_ms, item.error_code, item.client_instance_id, item.subscription_id)
    if item.accepted_compression_types:
        out += uvarint(len(item.accepted_compression_types) + 1)
        write_numbers(item.accepted_compression_types, "b", out)
    else:
        out.append(1)
    out += _pack_iit(item.push_interval_ms, item.telemetry_max_bytes, item.delta_temporality)
    if item.requested_metrics:
        out += uvarint(len(item.requested_metrics) + 1)
        write_compact_strings(item.requested_metrics, out)
    else:
        out.append(1)
    out.append(0)


GetTelemetrySubscriptionsResponse.DECODERS = {
    0: _read_get_telemetry_subscriptions_response_v0,
}
GetTelemetrySubscriptionsResponse.ENCODERS = {
    0: _write_get_telemetry_subscriptions_response_v0,
}
