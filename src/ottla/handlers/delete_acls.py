"""DeleteAcls (key 31), versions 1 to 3.

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
from ottla.protocol.messages.delete_acls_request import DeleteAclsRequest
from ottla.protocol.messages.delete_acls_response import DeleteAclsFilterResult, DeleteAclsResponse


def refuse_delete_acls(
    request: DeleteAclsRequest, code: ErrorCode, message: str
) -> DeleteAclsResponse:
    return DeleteAclsResponse(
        filter_results=[DeleteAclsFilterResult(code, message or None) for _ in request.filters]
    )


@handles(ApiKey.DELETE_ACLS, refuse=refuse_delete_acls)
def delete_acls(
    request: DeleteAclsRequest,
    context: Context,  # noqa: ARG001
) -> Steps[DeleteAclsResponse]:
    for each in request.filters:
        check_known(
            each.resource_type_filter,
            each.pattern_type_filter,
            each.operation,
            each.permission_type,
        )
        yield 0
    raise BrokerError(ErrorCode.SECURITY_DISABLED, "No Authorizer is configured.")
