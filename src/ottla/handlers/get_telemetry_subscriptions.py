"""GetTelemetrySubscriptions (key 71), version 0: the metrics to push, and how often."""

from __future__ import annotations

from ottla.handlers.serving.context import Context
from ottla.handlers.serving.registry import handles
from ottla.protocol.api_keys import ApiKey
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.messages.get_telemetry_subscriptions_request import (
    GetTelemetrySubscriptionsRequest,
)
from ottla.protocol.messages.get_telemetry_subscriptions_response import (
    GetTelemetrySubscriptionsResponse,
)
from ottla.protocol.records.compression import Codec

ACCEPTED_CODECS = (Codec.ZSTD, Codec.LZ4, Codec.GZIP, Codec.SNAPPY)  # the best first


@handles(ApiKey.GET_TELEMETRY_SUBSCRIPTIONS)
async def get_telemetry_subscriptions(
    request: GetTelemetrySubscriptionsRequest, context: Context
) -> GetTelemetrySubscriptionsResponse:
    telemetry = context.parts.telemetry
    instance_id, subscription = await telemetry.subscribe(context, request.client_instance_id)
    return GetTelemetrySubscriptionsResponse(
        0,
        ErrorCode.NONE,
        instance_id,
        subscription.id,
        ACCEPTED_CODECS,
        subscription.interval_ms,
        telemetry.bytes_max,
        delta_temporality=True,
        requested_metrics=subscription.metrics,
    )
