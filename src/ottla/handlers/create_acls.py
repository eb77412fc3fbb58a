"""CreateAcls (key 30), versions 1 to 3.

v1 pattern types · v2 flexible encoding · v3 user resources

There are no ACLs: the response is that of a Kafka broker without an authorizer.
"""

from __future__ import annotations

from ottla.base.scheduling.steps import Steps
from ottla.handlers.administration.permissions import check_known
from ottla.handlers.serving.context import Context
from ottla.handlers.serving.registry import handles
from ottla.protocol.api_keys import ApiKey
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.errors import BrokerError
from ottla.protocol.messages.create_acls_request import CreateAclsRequest
from ottla.protocol.messages.create_acls_response import AclCreationResult, CreateAclsResponse


def refuse_create_acls(
    request: CreateAclsRequest, code: ErrorCode, message: str
) -> CreateAclsResponse:
    return CreateAclsResponse(
        results=[AclCreationResult(code, message or None) for _ in request.creations]
    )


@handles(ApiKey.CREATE_ACLS, refuse=refuse_create_acls)
def create_acls(
    request: CreateAclsRequest,
    context: Context,  # noqa: ARG001
) -> Steps[CreateAclsResponse]:
    for each in request.creations:
        check_known(
            each.resource_type, each.resource_pattern_type, each.operation, each.permission_type
        )
        yield 0
    raise BrokerError(ErrorCode.SECURITY_DISABLED, "No Authorizer is configured.")
