"""AlterConfigs (key 33), versions 0 to 2: replaces all settings of a resource.

v2 flexible encoding. Kept for old tools; IncrementalAlterConfigs is the better way.
"""

from __future__ import annotations

from ottla.controller.alter_configs import decide_alter_configs
from ottla.handlers.context import Context
from ottla.handlers.registry import handles
from ottla.protocol.api_keys import ApiKey
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.messages.alter_configs_request import AlterConfigsRequest
from ottla.protocol.messages.alter_configs_response import (
    AlterConfigsResourceResponse,
    AlterConfigsResponse,
)


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


@handles(ApiKey.ALTER_CONFIGS, versions=range(0, 3), refuse=refuse_alter_configs)
async def alter_configs(request: AlterConfigsRequest, context: Context) -> AlterConfigsResponse:
    return await context.parts.controller.decide(
        lambda state: decide_alter_configs(state, request, context.parts.broker_id)
    )
