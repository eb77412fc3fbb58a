"""DescribeClientQuotas (key 48), versions 0 and 1: which quotas are set.

v1 flexible encoding
"""

from __future__ import annotations

from ottla.base.scheduling.steps import Steps
from ottla.handlers.serving.context import Context
from ottla.handlers.serving.registry import handles
from ottla.metadata import quota_filter
from ottla.protocol.api_keys import ApiKey
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.messages.describe_client_quotas_request import DescribeClientQuotasRequest
from ottla.protocol.messages.describe_client_quotas_response import DescribeClientQuotasResponse


def refuse_describe_client_quotas(
    _request: DescribeClientQuotasRequest, code: ErrorCode, message: str
) -> DescribeClientQuotasResponse:
    return DescribeClientQuotasResponse(0, code, message or None, None)


@handles(ApiKey.DESCRIBE_CLIENT_QUOTAS, refuse=refuse_describe_client_quotas)
def describe_client_quotas(
    request: DescribeClientQuotasRequest, context: Context
) -> Steps[DescribeClientQuotasResponse]:
    return (yield from quota_filter.describe_client_quotas(context.parts.metadata, request))
