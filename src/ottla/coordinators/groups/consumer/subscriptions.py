"""What a group is subscribed to, and the epoch that follows it.

The group's epoch grows when members or their subscriptions change, and when the topics themselves
do: a hash over their ids and partition counts, kept with the epoch, tells that even after a
restart.
"""

from __future__ import annotations

from collections.abc import Set
from functools import lru_cache
from hashlib import blake2b

from ottla.coordinators.groups.consumer.draft import Draft
from ottla.coordinators.groups.consumer.records import (
    group_record,
    partition_metadata_tombstone,
)
from ottla.metadata.image import Image


def metadata_hash(topics: Set[str], image: Image) -> int:
    """Of the topics that exist; 0 where none does. A sum, so that their order means nothing."""
    known = image.topics
    total = sum(
        topic_hash(known[name].id, len(known[name].partitions)) for name in topics & known.keys()
    )
    return (total + 2**63) % 2**64 - 2**63  # as a signed number of 64 bits


@lru_cache(maxsize=65_536)
def topic_hash(topic_id: bytes, partitions: int) -> int:
    digest = blake2b(topic_id + partitions.to_bytes(4, "big"), digest_size=8).digest()
    return int.from_bytes(digest, "big", signed=True)


def update_epoch(draft: Draft, *, has_changed: bool) -> None:
    """Begin a new epoch if the group has changed, or its topics have."""
    shared, group = draft.shared, draft.group
    version = shared.topics_version
    if not has_changed and shared.checked.get(group.group_id) == version:
        return
    shared.when_written(lambda: shared.checked.update({group.group_id: version}))
    found = metadata_hash(group.subscribed_topics(), shared.image)
    if has_changed or found != group.metadata_hash:
        draft.put(group_record(group.group_id, group.epoch + 1, found))
    if group.has_partition_metadata:
        draft.put(partition_metadata_tombstone(group.group_id))
