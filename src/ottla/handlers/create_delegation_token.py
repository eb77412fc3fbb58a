"""CreateDelegationToken (key 38), versions 1 to 3: anonymous clients get no token.

v2 flexible encoding · v3 tokens for others
"""

from __future__ import annotations

from ottla.handlers.administration.permissions import ANONYMOUS, USER
from ottla.handlers.serving.context import Context
from ottla.handlers.serving.registry import handles
from ottla.protocol.api_keys import ApiKey
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.messages.create_delegation_token_request import CreateDelegationTokenRequest
from ottla.protocol.messages.create_delegation_token_response import CreateDelegationTokenResponse

NO_TIME = -1
OTHERS_FROM = 3


def refuse_create_delegation_token(
    request: CreateDelegationTokenRequest, code: ErrorCode, _message: str, version: int
) -> CreateDelegationTokenResponse:
    owner = requester = (USER, ANONYMOUS)
    if request.owner_principal_name:
        owner = (request.owner_principal_type or "", request.owner_principal_name)
    if version < OTHERS_FROM:
        requester = ("", "")
    return CreateDelegationTokenResponse(code, *owner, *requester, NO_TIME, NO_TIME, NO_TIME)


@handles(
    ApiKey.CREATE_DELEGATION_TOKEN,
    refuse_in_version=refuse_create_delegation_token,
)
def create_delegation_token(
    request: CreateDelegationTokenRequest,
    context: Context,
) -> CreateDelegationTokenResponse:
    code = ErrorCode.DELEGATION_TOKEN_REQUEST_NOT_ALLOWED
    return refuse_create_delegation_token(request, code, "", context.version)
