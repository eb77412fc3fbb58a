"""ExpireDelegationToken (key 40), versions 1 and 2: anonymous clients have no tokens.

v2 flexible encoding
"""

from __future__ import annotations

from ottla.handlers.serving.context import Context
from ottla.handlers.serving.registry import handles
from ottla.protocol.api_keys import ApiKey
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.messages.expire_delegation_token_request import ExpireDelegationTokenRequest
from ottla.protocol.messages.expire_delegation_token_response import ExpireDelegationTokenResponse

NO_TIME = -1


@handles(ApiKey.EXPIRE_DELEGATION_TOKEN)
def expire_delegation_token(
    _request: ExpireDelegationTokenRequest,
    context: Context,  # noqa: ARG001
) -> ExpireDelegationTokenResponse:
    return ExpireDelegationTokenResponse(ErrorCode.DELEGATION_TOKEN_REQUEST_NOT_ALLOWED, NO_TIME)
