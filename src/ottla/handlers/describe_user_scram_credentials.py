"""DescribeUserScramCredentials (key 50), version 0.

There are no credentials, so the list is empty and each requested user is unknown. Kafka's tools
request them together with the quotas of users.
"""

from __future__ import annotations

from collections import Counter

from ottla.base.scheduling.steps import Steps
from ottla.handlers.serving.context import Context
from ottla.handlers.serving.registry import handles
from ottla.protocol.api_keys import ApiKey
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.errors import BrokerError
from ottla.protocol.messages.describe_user_scram_credentials_request import (
    DescribeUserScramCredentialsRequest,
)
from ottla.protocol.messages.describe_user_scram_credentials_response import (
    DescribeUserScramCredentialsResponse,
    DescribeUserScramCredentialsResult,
)

RESULT_BYTES = 48  # estimate of its encoded size, besides the name


@handles(ApiKey.DESCRIBE_USER_SCRAM_CREDENTIALS)
def describe_user_scram_credentials(
    request: DescribeUserScramCredentialsRequest,
    context: Context,  # noqa: ARG001
) -> Steps[DescribeUserScramCredentialsResponse]:
    named: Counter[str] = Counter()
    for user in request.users or ():
        named[user.name] += 1
        yield 0
    results = []
    for name, times in named.items():
        results.append(nothing_about(name, times))
        yield RESULT_BYTES + 2 * len(name)
    return DescribeUserScramCredentialsResponse(results=results)


def nothing_about(user: str, times: int) -> DescribeUserScramCredentialsResult:
    """The result for a user without credentials that the request names `count` times."""
    if times > 1:
        code, why = ErrorCode.DUPLICATE_RESOURCE, f"User {user!r} is named more than once"
    else:
        code, why = ErrorCode.RESOURCE_NOT_FOUND, f"User {user!r} has no SCRAM credentials"
    return DescribeUserScramCredentialsResult(user, code, BrokerError(code, why).message, [])
