"""ApiVersions (key 18), versions 0 to 4.

v1 throttle time · v3 flexible encoding, client software, features · v4 features may begin at 0
The header of the response never has tagged fields. The response to an unknown version is encoded in
version 0 (see `serving/dispatch.py`).
"""

from __future__ import annotations

import string
from collections.abc import Iterable

from ottla.handlers.serving.context import Context
from ottla.handlers.serving.registry import handles
from ottla.handlers.serving.served_apis import ANNOUNCED, INTER_BROKER
from ottla.metadata.features import SUPPORTED
from ottla.network.channel.channel import SOFTWARE_NAME as BROKER_SOFTWARE
from ottla.protocol.api_keys import ApiKey
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.errors import BrokerError
from ottla.protocol.messages.api_versions_request import ApiVersionsRequest
from ottla.protocol.messages.api_versions_response import (
    ApiVersion,
    ApiVersionsResponse,
    FinalizedFeatureKey,
    SupportedFeatureKey,
)

TELEMETRY = frozenset({ApiKey.GET_TELEMETRY_SUBSCRIPTIONS, ApiKey.PUSH_TELEMETRY})
_ENDS = frozenset(string.ascii_letters + string.digits)
_INSIDE = _ENDS | set("-.")


@handles(ApiKey.API_VERSIONS)
def api_versions(request: ApiVersionsRequest, context: Context) -> ApiVersionsResponse:
    if context.version >= 3:
        note_software(request, context)
    image = context.parts.metadata
    return ApiVersionsResponse(
        api_keys=[announced_range(key) for key in announced_keys(context)],
        supported_features=[
            SupportedFeatureKey(name, versions.least, versions.greatest)
            for name, versions in sorted(SUPPORTED.items())
            if versions.least > 0 or context.version >= 4  # older clients refuse a minimum of 0
        ],
        finalized_features_epoch=image.features_epoch,
        finalized_features=[
            FinalizedFeatureKey(name, level, level)
            for name, level in sorted(image.features.items())
        ],
    )


def announced_keys(context: Context) -> list[ApiKey]:
    """All that are announced. Telemetry only if there are subscriptions to client metrics, requests
    between brokers only to brokers."""
    keys = set(ANNOUNCED)
    if not context.parts.telemetry.has_subscriptions:
        keys -= TELEMETRY
    if is_from_broker(context):
        keys |= INTER_BROKER.keys()
    return sorted(keys)


def is_from_broker(context: Context) -> bool:
    cluster, peer = context.parts.cluster, context.peer
    return (
        cluster is not None
        and peer.listener == cluster.listener
        and peer.software_name == BROKER_SOFTWARE
    )


def announced_range(key: ApiKey) -> ApiVersion:
    versions = (ANNOUNCED.get(key) or INTER_BROKER[key]).versions
    # If Produce does not begin at 0, librdkafka assumes a broker without modern features.
    # Versions below the served ones are still refused.
    first = 0 if key == ApiKey.PRODUCE else versions[0]
    return ApiVersion(key, first, versions[-1])


def note_software(request: ApiVersionsRequest, context: Context) -> None:
    words: Iterable[str] = (request.client_software_name, request.client_software_version)
    if not all(map(is_software_word, words)):
        raise BrokerError(ErrorCode.INVALID_REQUEST, "client software name or version is malformed")
    context.peer.software_name = request.client_software_name
    context.peer.software_version = request.client_software_version


def is_software_word(text: str) -> bool:
    """ASCII letters and digits, with `-` and `.` between them, as in Kafka."""
    return bool(text) and text[0] in _ENDS and text[-1] in _ENDS and _INSIDE.issuperset(text)
