"""SaslHandshake (key 17), versions 0 and 1: on a listener without authentication.

v1 SaslAuthenticate requests follow
"""

from __future__ import annotations

from ottla.handlers.serving.context import Context
from ottla.handlers.serving.registry import handles
from ottla.protocol.api_keys import ApiKey
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.messages.sasl_handshake_request import SaslHandshakeRequest
from ottla.protocol.messages.sasl_handshake_response import SaslHandshakeResponse


@handles(ApiKey.SASL_HANDSHAKE)
def sasl_handshake(
    _request: SaslHandshakeRequest,
    context: Context,  # noqa: ARG001
) -> SaslHandshakeResponse:
    return SaslHandshakeResponse(ErrorCode.ILLEGAL_SASL_STATE)
