"""PushTelemetry (key 72), version 0: metrics of a client, in the OpenTelemetry protocol."""

from __future__ import annotations

from ottla.handlers.serving.context import Context
from ottla.handlers.serving.registry import handles
from ottla.protocol.api_keys import ApiKey
from ottla.protocol.messages.push_telemetry_request import PushTelemetryRequest
from ottla.protocol.messages.push_telemetry_response import PushTelemetryResponse


@handles(ApiKey.PUSH_TELEMETRY)
async def push_telemetry(request: PushTelemetryRequest, context: Context) -> PushTelemetryResponse:
    await context.parts.telemetry.push(
        context,
        request.client_instance_id,
        request.subscription_id,
        request.compression_type,
        request.metrics,
        is_terminating=request.terminating,
    )
    return PushTelemetryResponse()
