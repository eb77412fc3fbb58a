"""AlterClientQuotas (key 49), versions 0 and 1.

v1 flexible encoding
"""

from __future__ import annotations

from ottla.controller.alter_quotas import decide_alter_client_quotas
from ottla.handlers.administration.deciding import decide
from ottla.handlers.serving.context import Context
from ottla.handlers.serving.registry import handles
from ottla.protocol.api_keys import ApiKey
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.messages.alter_client_quotas_request import AlterClientQuotasRequest
from ottla.protocol.messages.alter_client_quotas_response import (
    AlterClientQuotasResponse,
    EntityData,
    EntryData,
)


def refuse_alter_client_quotas(
    request: AlterClientQuotasRequest, code: ErrorCode, message: str
) -> AlterClientQuotasResponse:
    return AlterClientQuotasResponse(
        entries=[
            EntryData(
                code,
                message or None,
                [EntityData(each.entity_type, each.entity_name) for each in entry.entity],
            )
            for entry in request.entries
        ]
    )


@handles(ApiKey.ALTER_CLIENT_QUOTAS, refuse=refuse_alter_client_quotas)
async def alter_client_quotas(
    request: AlterClientQuotasRequest, context: Context
) -> AlterClientQuotasResponse:
    return await decide(context, lambda state: decide_alter_client_quotas(state, request))
