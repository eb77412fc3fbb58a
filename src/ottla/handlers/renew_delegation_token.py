"""RenewDelegationToken (key 39), versions 1 and 2: anonymous clients have no tokens.

v2 flexible encoding
"""

from __future__ import annotations

from ottla.handlers.serving.context import Context
from ottla.handlers.serving.registry import handles
from ottla.protocol.api_keys import ApiKey
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.messages.renew_delegation_token_request import RenewDelegationTokenRequest
from ottla.protocol.messages.renew_delegation_token_response import RenewDelegationTokenResponse

NO_TIME = -1


@handles(ApiKey.RENEW_DELEGATION_TOKEN)
def renew_delegation_token(
    _request: RenewDelegationTokenRequest,
    context: Context,  # noqa: ARG001
) -> RenewDelegationTokenResponse:
    return RenewDelegationTokenResponse(ErrorCode.DELEGATION_TOKEN_REQUEST_NOT_ALLOWED, NO_TIME)
