"""The differences between two images, for readers that missed the batches in between."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import zip_longest
from typing import Any, TypeVar

from ottla.metadata.changes import Changes
from ottla.metadata.image import Image

K = TypeVar("K")


def changes_between(old: Image, new: Image) -> Changes:
    changes = Changes(
        brokers=_different(old.brokers, new.brokers),
        configs=_different(old.configs, new.configs),
        quotas=_different(old.quotas, new.quotas),
        features=_different(old.features, new.features),
    )
    for topic in old.topics.values():
        if new.topic_by_id(topic.id) is None:
            deletion = new.deletion_of(topic.id)
            if deletion is None:
                changes.note_topic_vanished(topic)
            else:
                changes.note_topic_deleted(topic, deletion)
    for topic in new.topics.values():
        earlier = old.topic_by_id(topic.id)
        if earlier is None:
            changes.note_topic_created(topic)
        pairs = zip_longest(earlier.partitions if earlier else (), topic.partitions)
        for index, (before, after) in enumerate(pairs):
            changes.note_partition(topic, index, before, after)
    return changes


def _different(old: Mapping[K, Any], new: Mapping[K, Any]) -> set[K]:
    return {key for key in old.keys() | new.keys() if old.get(key) != new.get(key)}
