"""ListConfigResources (key 74), versions 0 and 1: what has settings.

v0 client metrics only · v1 topics, brokers, groups, broker loggers and client metrics
"""

from __future__ import annotations

from collections.abc import Iterable

from ottla.handlers.context import Context
from ottla.handlers.registry import handles
from ottla.metadata.image import Image
from ottla.metadata.records import ResourceType
from ottla.protocol.api_keys import ApiKey
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.errors import BrokerError
from ottla.protocol.messages.list_config_resources_request import ListConfigResourcesRequest
from ottla.protocol.messages.list_config_resources_response import (
    ConfigResource,
    ListConfigResourcesResponse,
)

LISTED = (
    ResourceType.TOPIC,
    ResourceType.BROKER,
    ResourceType.BROKER_LOGGER,
    ResourceType.CLIENT_METRICS,
    ResourceType.GROUP,
)


@handles(ApiKey.LIST_CONFIG_RESOURCES, versions=range(0, 2))
def list_config_resources(
    request: ListConfigResourcesRequest, context: Context
) -> ListConfigResourcesResponse:
    wanted = {ResourceType.CLIENT_METRICS} if context.version == 0 else wanted_types(request)
    return ListConfigResourcesResponse(
        config_resources=[
            ConfigResource(name, kind)
            for kind in LISTED
            if kind in wanted
            for name in names_of(kind, context.parts.metadata)
        ]
    )


def wanted_types(request: ListConfigResourcesRequest) -> set[ResourceType]:
    unknown = set(request.resource_types) - set(LISTED)
    if unknown:
        what = f"Unsupported resource types: {sorted(unknown)}"
        raise BrokerError(ErrorCode.UNSUPPORTED_VERSION, what)
    return {ResourceType(kind) for kind in request.resource_types} or set(LISTED)


def names_of(kind: ResourceType, image: Image) -> Iterable[str]:
    match kind:
        case ResourceType.TOPIC:
            return image.topics
        case ResourceType.BROKER | ResourceType.BROKER_LOGGER:
            return map(str, image.brokers)
    return sorted(resource.name for resource in image.configs if resource.type == kind)
