"""ListPartitionReassignments (key 46), version 0: the replicas that are being moved."""

from __future__ import annotations

from ottla.base.scheduling.steps import Steps
from ottla.controller import reassignment
from ottla.handlers.serving.context import Context
from ottla.handlers.serving.registry import handles
from ottla.protocol.api_keys import ApiKey
from ottla.protocol.messages.list_partition_reassignments_request import (
    ListPartitionReassignmentsRequest,
)
from ottla.protocol.messages.list_partition_reassignments_response import (
    ListPartitionReassignmentsResponse,
)


@handles(ApiKey.LIST_PARTITION_REASSIGNMENTS)
def list_partition_reassignments(
    request: ListPartitionReassignmentsRequest, context: Context
) -> Steps[ListPartitionReassignmentsResponse]:
    return (yield from reassignment.list_partition_reassignments(context.parts.metadata, request))
