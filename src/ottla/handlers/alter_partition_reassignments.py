"""AlterPartitionReassignments (key 45), versions 0 and 1: starts and cancels moves of replicas."""

from __future__ import annotations

from ottla.controller.reassignment import decide_alter_partition_reassignments
from ottla.handlers.administration.deciding import decide
from ottla.handlers.serving.context import Context
from ottla.handlers.serving.registry import handles
from ottla.protocol.api_keys import ApiKey
from ottla.protocol.messages.alter_partition_reassignments_request import (
    AlterPartitionReassignmentsRequest,
)
from ottla.protocol.messages.alter_partition_reassignments_response import (
    AlterPartitionReassignmentsResponse,
)


@handles(ApiKey.ALTER_PARTITION_REASSIGNMENTS)
async def alter_partition_reassignments(
    request: AlterPartitionReassignmentsRequest, context: Context
) -> AlterPartitionReassignmentsResponse:
    return await decide(context, lambda state: decide_alter_partition_reassignments(state, request))
