"""IncrementalAlterConfigs (key 44), versions 0 and 1: changes single settings.

v1 flexible encoding
"""

from __future__ import annotations

from ottla.controller.alter_configs import decide_incremental_alter_configs
from ottla.handlers.context import Context
from ottla.handlers.registry import handles
from ottla.protocol.api_keys import ApiKey
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.messages.incremental_alter_configs_request import IncrementalAlterConfigsRequest
from ottla.protocol.messages.incremental_alter_configs_response import (
    AlterConfigsResourceResponse,
    IncrementalAlterConfigsResponse,
)


def refuse_incremental_alter_configs(
    request: IncrementalAlterConfigsRequest, code: ErrorCode, message: str
) -> IncrementalAlterConfigsResponse:
    return IncrementalAlterConfigsResponse(
        responses=[
            AlterConfigsResourceResponse(
                code, message or None, each.resource_type, each.resource_name
            )
            for each in request.resources
        ]
    )


@handles(
    ApiKey.INCREMENTAL_ALTER_CONFIGS, versions=range(0, 2), refuse=refuse_incremental_alter_configs
)
async def incremental_alter_configs(
    request: IncrementalAlterConfigsRequest, context: Context
) -> IncrementalAlterConfigsResponse:
    return await context.parts.controller.decide(
        lambda state: decide_incremental_alter_configs(state, request, context.parts.broker_id)
    )
