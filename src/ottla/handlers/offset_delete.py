"""OffsetDelete (key 47), version 0: delete single offsets of a group.

Offsets of topics that a member of the group is subscribed to are kept.
"""

from __future__ import annotations

from collections.abc import Sequence

from ottla.base.scheduling.steps import Steps
from ottla.coordinators.replicated_answers import unreplicated
from ottla.handlers.groups.known_partitions import splitting
from ottla.handlers.groups.merging import merging
from ottla.handlers.serving.context import Context
from ottla.handlers.serving.registry import Deferred, handles
from ottla.protocol.api_keys import ApiKey
from ottla.protocol.messages.offset_delete_request import (
    OffsetDeleteRequest,
    OffsetDeleteRequestTopic,
)
from ottla.protocol.messages.offset_delete_response import (
    OffsetDeleteResponse,
    OffsetDeleteResponsePartition,
    OffsetDeleteResponseTopic,
)


@handles(ApiKey.OFFSET_DELETE)
def offset_delete(
    request: OffsetDeleteRequest, context: Context
) -> Steps[OffsetDeleteResponse | Deferred]:
    request.topics, unknown = yield from splitting(
        request.topics,
        context.parts.metadata,
        OffsetDeleteRequestTopic,
        OffsetDeleteResponseTopic,
        OffsetDeleteResponsePartition,
    )
    return Deferred(delete_known(request, unknown, context))


async def delete_known(
    request: OffsetDeleteRequest, unknown: Sequence[OffsetDeleteResponseTopic], context: Context
) -> OffsetDeleteResponse:
    """Completed even if the client disconnects."""
    groups, scheduler = context.parts.groups, context.parts.scheduler
    shard = groups.shard_of(request.group_id)
    response = await scheduler.run(groups.offsets.delete(shard, request))
    shard.check_current()
    for error in (await groups.replicated(unreplicated([shard]))).values():
        raise error
    if unknown:  # else the response keeps duplicate topics, as in Kafka
        response.topics = await scheduler.run(merging(unknown, response.topics))
    return response
