"""ListConfigResources (key 74), versions 0 and 1: the resources that have settings.

v0 client metrics only · v1 topics, brokers, groups, broker loggers and client metrics
"""

from __future__ import annotations

from collections.abc import Iterable

from ottla.base.scheduling.sorting import sorting
from ottla.base.scheduling.steps import Steps
from ottla.handlers.serving.context import Context
from ottla.handlers.serving.registry import handles
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

RESOURCE_BYTES = 4  # estimate of its encoded size, besides the name
LISTED = (
    ResourceType.TOPIC,
    ResourceType.BROKER,
    ResourceType.BROKER_LOGGER,
    ResourceType.CLIENT_METRICS,
    ResourceType.GROUP,
)


@handles(ApiKey.LIST_CONFIG_RESOURCES)
def list_config_resources(
    request: ListConfigResourcesRequest, context: Context
) -> Steps[ListConfigResourcesResponse]:
    wanted = {ResourceType.CLIENT_METRICS} if context.version == 0 else wanted_types(request)
    resources = []
    for kind in LISTED:
        if kind in wanted:
            names = yield from names_of(kind, context.parts.metadata)
            for name in names:
                resources.append(ConfigResource(name, kind))
                yield RESOURCE_BYTES + len(name)
    return ListConfigResourcesResponse(config_resources=resources)


def wanted_types(request: ListConfigResourcesRequest) -> set[ResourceType]:
    asked = set(request.resource_types)
    unknown = asked - set(LISTED)
    if unknown:
        what = f"Unsupported resource types: {sorted(unknown)}"
        raise BrokerError(ErrorCode.UNSUPPORTED_VERSION, what)
    return {ResourceType(kind) for kind in asked} or set(LISTED)


def names_of(kind: ResourceType, image: Image) -> Steps[Iterable[str]]:
    match kind:
        case ResourceType.TOPIC:
            return list(image.topics)
        case ResourceType.BROKER | ResourceType.BROKER_LOGGER:
            return [str(each) for each in image.brokers]
    names = []
    for resource in list(image.configs):
        if resource.type == kind:
            names.append(resource.name)
        yield 0
    return (yield from sorting(names))
