"""The effect of a changed `min.insync.replicas` on eligible leader replicas.

They were eligible because nothing could be committed without them. With another minimum that may
not hold, so replicas that are not in sync lose their eligibility.
"""

from __future__ import annotations

from collections.abc import Iterable

from ottla.controller.state import ControllerState
from ottla.metadata.records import ALL_BROKERS, ConfigChanged, PartitionChanged, ResourceType

MIN_IN_SYNC = "min.insync.replicas"


def records_for_new_min_in_sync(
    state: ControllerState, changes: Iterable[ConfigChanged]
) -> list[PartitionChanged]:
    """Records of the topics whose setting changes, or of all if the cluster-wide one does."""
    changed = [
        change.resource
        for change in changes
        if change.name == MIN_IN_SYNC
        and state.image.config(change.resource).get(MIN_IN_SYNC) != change.value
    ]
    names = [resource.name for resource in changed if resource.type is ResourceType.TOPIC]
    if ALL_BROKERS in changed:
        topics = list(state.image.topics.values())
    else:
        found = (state.image.topic(name) for name in names)
        topics = [topic for topic in found if topic is not None]
    return [
        PartitionChanged(topic.id, index, partition.partition_epoch + 1, eligible_replicas=())
        for topic in topics
        for index, partition in enumerate(topic.partitions)
        if partition.eligible_replicas
    ]
