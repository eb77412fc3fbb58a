"""AlterConfigs (key 33), versions 0 to 2: replaces all settings of a resource.

v2 flexible encoding. Old tools use it; IncrementalAlterConfigs replaces it.
"""

from __future__ import annotations

from collections.abc import Sequence

from ottla.controller.alter_configs import decide_alter_configs
from ottla.handlers.administration.deciding import decide
from ottla.handlers.serving.context import Context
from ottla.handlers.serving.registry import handles
from ottla.metadata.records import ResourceType
from ottla.protocol.api_keys import ApiKey
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.messages.alter_configs_request import (
    AlterConfigsRequest,
    AlterConfigsResource,
)
from ottla.protocol.messages.alter_configs_response import (
    AlterConfigsResourceResponse,
    AlterConfigsResponse,
)
from ottla.protocol.messages.incremental_alter_configs_request import (
    AlterConfigsResource as IncrementalResource,
)

# A broker's setting may concern every partition, and a pattern of client metrics may take ten
# milliseconds to compile.
SLOW = (ResourceType.BROKER, ResourceType.CLIENT_METRICS)


def refuse_alter_configs(
    request: AlterConfigsRequest, code: ErrorCode, message: str
) -> AlterConfigsResponse:
    return AlterConfigsResponse(
        responses=[
            AlterConfigsResourceResponse(
                code, message or None, each.resource_type, each.resource_name
            )
            for each in request.resources
        ]
    )


@handles(ApiKey.ALTER_CONFIGS, refuse=refuse_alter_configs)
async def alter_configs(request: AlterConfigsRequest, context: Context) -> AlterConfigsResponse:
    broker_id = context.received_by
    return await decide(
        context,
        lambda state: decide_alter_configs(state, request, broker_id),
        is_large=context.is_large or are_slow(request.resources),
    )


def are_slow(
    resources: Sequence[AlterConfigsResource] | Sequence[IncrementalResource],
) -> bool:
    return any(each.resource_type in SLOW for each in resources)
