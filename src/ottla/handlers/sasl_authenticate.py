"""SaslAuthenticate (key 36), versions 0 to 2: on a listener without authentication.

v1 how long a session lasts · v2 flexible encoding
"""

from __future__ import annotations

from ottla.handlers.serving.context import Context
from ottla.handlers.serving.registry import handles
from ottla.protocol.api_keys import ApiKey
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.messages.sasl_authenticate_request import SaslAuthenticateRequest
from ottla.protocol.messages.sasl_authenticate_response import SaslAuthenticateResponse


@handles(ApiKey.SASL_AUTHENTICATE)
def sasl_authenticate(
    _request: SaslAuthenticateRequest,
    context: Context,  # noqa: ARG001
) -> SaslAuthenticateResponse:
    what = "SaslAuthenticate request received after successful authentication"
    return SaslAuthenticateResponse(ErrorCode.ILLEGAL_SASL_STATE, what)
