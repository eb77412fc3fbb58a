"""ListPartitionReassignments (key 46), version 0: which replicas are being moved now."""

from __future__ import annotations

from collections.abc import Iterator

from ottla.handlers.context import Context
from ottla.handlers.registry import handles
from ottla.metadata.entities import Topic
from ottla.metadata.image import Image
from ottla.protocol.api_keys import ApiKey
from ottla.protocol.messages.list_partition_reassignments_request import (
    ListPartitionReassignmentsRequest,
)
from ottla.protocol.messages.list_partition_reassignments_response import (
    ListPartitionReassignmentsResponse,
    OngoingPartitionReassignment,
    OngoingTopicReassignment,
)


@handles(ApiKey.LIST_PARTITION_REASSIGNMENTS, versions=range(0, 1))
def list_partition_reassignments(
    request: ListPartitionReassignmentsRequest, context: Context
) -> ListPartitionReassignmentsResponse:
    found = []
    for topic, indexes in asked_topics(request, context.parts.metadata):
        moving = [
            OngoingPartitionReassignment(
                index, each.replicas, each.adding_replicas, each.removing_replicas
            )
            for index, each in enumerate(topic.partitions)
            if index in indexes and each.is_reassigning
        ]
        if moving:
            found.append(OngoingTopicReassignment(topic.name, moving))
    return ListPartitionReassignmentsResponse(topics=found)


def asked_topics(
    request: ListPartitionReassignmentsRequest, image: Image
) -> Iterator[tuple[Topic, set[int] | range]]:
    if request.topics is None:
        for topic in image.topics.values():
            yield topic, range(len(topic.partitions))
        return
    for asked in request.topics:
        found = image.topic(asked.name)
        if found is not None:
            yield found, set(asked.partition_indexes)
