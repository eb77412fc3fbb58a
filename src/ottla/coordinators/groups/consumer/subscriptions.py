"""The subscribed topics of a group, and its epoch.

The group epoch is incremented when members or their subscriptions change, and when the topics
change: a hash over their ids and partition counts is stored with the epoch, so changes are detected
even after a restart.
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
    """The hash of existing topics; 0 if there are none. A sum, which does not depend on their
    order."""
    known = image.topics
    total = sum(
        topic_hash(known[name].id, len(known[name].partitions)) for name in topics & known.keys()
    )
    return (total + 2**63) % 2**64 - 2**63  # as a signed int64


@lru_cache(maxsize=65_536)
def topic_hash(topic_id: bytes, partitions: int) -> int:
    digest = blake2b(topic_id + partitions.to_bytes(4, "big"), digest_size=8).digest()
    return int.from_bytes(digest, "big", signed=True)


def update_epoch(draft: Draft, *, has_changed: bool) -> None:
    """Start a new epoch if the group or its topics have changed."""
    context, group = draft.context, draft.group
    version = context.topics_version
    if not has_changed and context.checked.get(group.group_id) == version:
        return
    context.when_written(lambda: context.checked.update({group.group_id: version}))
    found = metadata_hash(group.subscribed_topics(), context.image)
    if has_changed or found != group.metadata_hash:
        draft.put(group_record(group.group_id, group.epoch + 1, found))
    if group.has_partition_metadata:
        draft.put(partition_metadata_tombstone(group.group_id))
