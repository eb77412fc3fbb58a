"""OffsetDelete (key 47), version 0: forget single offsets of a group.

Not of topics that a member of the group is subscribed to.
"""

from __future__ import annotations

from collections.abc import Awaitable

from ottla.handlers.context import Context
from ottla.handlers.merging import merged
from ottla.handlers.registry import handles
from ottla.handlers.waiting import combine
from ottla.metadata.image import Image
from ottla.protocol.api_keys import ApiKey
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.messages.offset_delete_request import (
    OffsetDeleteRequest,
    OffsetDeleteRequestTopic,
)
from ottla.protocol.messages.offset_delete_response import (
    OffsetDeleteResponse,
    OffsetDeleteResponsePartition,
    OffsetDeleteResponseTopic,
)


@handles(ApiKey.OFFSET_DELETE, versions=range(1))
def offset_delete(
    request: OffsetDeleteRequest, context: Context
) -> OffsetDeleteResponse | Awaitable[OffsetDeleteResponse]:
    image = context.parts.metadata
    asked = request.topics
    request.topics = [topic for topic in (known_part(each, image) for each in asked) if topic]
    outcome = context.parts.groups.delete_offsets(request)
    unknown = [answer for answer in (unknown_part(each, image) for each in asked) if answer]
    if not unknown:
        return outcome
    return combine(
        [outcome], lambda done: OffsetDeleteResponse(topics=merged(unknown, done[0].topics))
    )


def known_part(topic: OffsetDeleteRequestTopic, image: Image) -> OffsetDeleteRequestTopic | None:
    partitions = [p for p in topic.partitions if image.partition(topic.name, p.partition_index)]
    return OffsetDeleteRequestTopic(topic.name, partitions) if partitions else None


def unknown_part(topic: OffsetDeleteRequestTopic, image: Image) -> OffsetDeleteResponseTopic | None:
    code = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    partitions = [
        OffsetDeleteResponsePartition(p.partition_index, code)
        for p in topic.partitions
        if image.partition(topic.name, p.partition_index) is None
    ]
    is_unknown = image.topic(topic.name) is None
    return OffsetDeleteResponseTopic(topic.name, partitions) if partitions or is_unknown else None
