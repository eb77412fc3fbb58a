"""The changes made by a batch of records, for components that react to them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from ottla.base.ids import TopicId
from ottla.base.topic_deletion import TopicDeletion
from ottla.metadata.entities import PartitionRegistration, Topic
from ottla.metadata.records import ConfigResource, QuotaEntity


class PartitionChange(NamedTuple):
    topic: Topic
    partition: int
    before: PartitionRegistration | None  # None if it was created
    after: PartitionRegistration | None  # None if it was deleted


@dataclass(slots=True)
class Changes:
    """For several changes to one object, the first `before` and the last `after` are kept."""

    created_topics: dict[TopicId, Topic] = field(default_factory=dict)
    deleted_topics: dict[TopicId, Topic] = field(default_factory=dict)
    deletions: dict[TopicId, TopicDeletion] = field(default_factory=dict)  # with a deletion record
    vanished_topics: dict[TopicId, Topic] = field(default_factory=dict)  # without a deletion record
    partitions: dict[tuple[TopicId, int], PartitionChange] = field(default_factory=dict)
    brokers: set[int] = field(default_factory=set)
    configs: set[ConfigResource] = field(default_factory=set)
    quotas: set[QuotaEntity] = field(default_factory=set)
    features: set[str] = field(default_factory=set)

    @property
    def is_empty(self) -> bool:
        return not any(getattr(self, name) for name in self.__slots__)

    def note_topic_created(self, topic: Topic) -> None:
        self.created_topics[topic.id] = topic

    def note_topic_deleted(self, topic: Topic, deletion: TopicDeletion) -> None:
        if self.created_topics.pop(topic.id, None) is None:
            self.deleted_topics[topic.id] = topic
            self.deletions[topic.id] = deletion
        self._note_removed(topic)

    def note_topic_vanished(self, topic: Topic) -> None:
        """The topic is missing in a newer image that has no record of its deletion."""
        self.vanished_topics[topic.id] = topic
        self._note_removed(topic)

    def _note_removed(self, topic: Topic) -> None:
        for index, partition in enumerate(topic.partitions):
            self.note_partition(topic, index, partition, None)

    def note_partition(
        self,
        topic: Topic,
        index: int,
        before: PartitionRegistration | None,
        after: PartitionRegistration | None,
    ) -> None:
        key = topic.id, index
        earlier = self.partitions.get(key)
        if earlier is not None:
            before = earlier.before
        if before == after:
            self.partitions.pop(key, None)
        else:
            self.partitions[key] = PartitionChange(topic, index, before, after)
