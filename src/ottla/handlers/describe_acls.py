"""DescribeAcls (key 29), versions 1 to 3.

v1 pattern types · v2 flexible encoding · v3 user resources

There are no ACLs: the response is that of a Kafka broker without an authorizer.
"""

from __future__ import annotations

from ottla.handlers.administration.permissions import check_known
from ottla.handlers.serving.context import Context
from ottla.handlers.serving.registry import handles
from ottla.protocol.api_keys import ApiKey
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.errors import BrokerError
from ottla.protocol.messages.describe_acls_request import DescribeAclsRequest
from ottla.protocol.messages.describe_acls_response import DescribeAclsResponse


@handles(ApiKey.DESCRIBE_ACLS)
def describe_acls(
    request: DescribeAclsRequest,
    context: Context,  # noqa: ARG001
) -> DescribeAclsResponse:
    check_known(
        request.resource_type_filter,
        request.pattern_type_filter,
        request.operation,
        request.permission_type,
    )
    what = "No Authorizer is configured on the broker"
    raise BrokerError(ErrorCode.SECURITY_DISABLED, what)
