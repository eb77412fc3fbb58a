"""ElectLeaders (key 43), versions 0 to 2.

v1 unclean elections · v2 flexible encoding
"""

from __future__ import annotations

from ottla.controller.elect_leaders import decide_elect_leaders
from ottla.handlers.administration.deciding import decide
from ottla.handlers.serving.context import Context
from ottla.handlers.serving.registry import handles
from ottla.protocol.api_keys import ApiKey
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.messages.elect_leaders_request import ElectLeadersRequest
from ottla.protocol.messages.elect_leaders_response import (
    ElectLeadersResponse,
    PartitionResult,
    ReplicaElectionResult,
)

ERROR_FOR_ALL_FROM = 1


def refuse_elect_leaders(
    request: ElectLeadersRequest, code: ErrorCode, message: str, version: int
) -> ElectLeadersResponse:
    """The error of every requested partition; version 0 has no error for the whole request."""
    return ElectLeadersResponse(
        error_code=code if version >= ERROR_FOR_ALL_FROM else ErrorCode.NONE,
        replica_election_results=[
            ReplicaElectionResult(
                topic.topic, [PartitionResult(each, code, message) for each in topic.partitions]
            )
            for topic in request.topic_partitions or ()
        ],
    )


@handles(ApiKey.ELECT_LEADERS, refuse_in_version=refuse_elect_leaders)
async def elect_leaders(request: ElectLeadersRequest, context: Context) -> ElectLeadersResponse:
    return await decide(
        context,
        lambda state: decide_elect_leaders(state, request),
        is_large=context.is_large or request.topic_partitions is None,
    )
