"""DescribeDelegationToken (key 41), versions 1 to 3: anonymous clients have no tokens.

v2 flexible encoding · v3 the requester of a token
"""

from __future__ import annotations

from ottla.handlers.serving.context import Context
from ottla.handlers.serving.registry import handles
from ottla.protocol.api_keys import ApiKey
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.messages.describe_delegation_token_request import (
    DescribeDelegationTokenRequest,
)
from ottla.protocol.messages.describe_delegation_token_response import (
    DescribeDelegationTokenResponse,
)


@handles(ApiKey.DESCRIBE_DELEGATION_TOKEN)
def describe_delegation_token(
    _request: DescribeDelegationTokenRequest,
    context: Context,  # noqa: ARG001
) -> DescribeDelegationTokenResponse:
    return DescribeDelegationTokenResponse(ErrorCode.DELEGATION_TOKEN_REQUEST_NOT_ALLOWED)
