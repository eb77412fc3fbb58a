"""The topics of an image: by name, by id, and their partitions.

Promises  partition numbers have no gaps and epochs only increase; a record that violates this
          raises ImageError before anything changes.
"""

from __future__ import annotations

from collections import OrderedDict
from operator import attrgetter
from typing import TypeVar

from ottla.base.ids import TopicId
from ottla.base.topic_deletion import TopicDeletion
from ottla.base.uuids import uuid_to_text
from ottla.metadata.changes import Changes
from ottla.metadata.entities import PartitionRegistration, Topic
from ottla.metadata.records import PartitionChanged, PartitionCreated, TopicCreated, TopicDeleted
from ottla.metadata.topic_names import has_collision_characters, unified_name

T = TypeVar("T")
DELETED_MAX = 10_000
INTERNED_MAX = 10_000
RECENT_CHANGES_MAX = 1000
_partition_fields = attrgetter(*PartitionRegistration._fields)


class ImageError(Exception):
    """A record that is inconsistent with earlier ones: a bug, or a record of another log."""


class TopicTable:
    def __init__(self) -> None:
        self.by_name: dict[str, Topic] = {}
        self.by_id: dict[TopicId, Topic] = {}
        self.partition_count = 0
        # The last deleted topics, oldest first: a broker that finds their files may delete them.
        self.deleted: OrderedDict[TopicId, TopicDeletion] = OrderedDict()
        self._collisions: dict[str, list[str]] = {}  # unified name to names
        # Interned: most partitions have the same replicas as many others.
        self._shared: dict[tuple[object, ...], tuple[object, ...]] = {}
        # New partitions differ only in their replicas: reusing one is faster than creating it.
        self._new_registrations: dict[tuple[object, ...], PartitionRegistration] = {}
        # When a broker stops, thousands of partitions change in the same way.
        self._recent_changes: dict[tuple[object, ...], PartitionRegistration] = {}

    def copy(self) -> TopicTable:
        copied = TopicTable()
        for name, topic in self.by_name.items():
            copied.by_name[name] = copied.by_id[topic.id] = topic.copy()
        copied.partition_count = self.partition_count
        copied.deleted = self.deleted.copy()
        copied._collisions = {name: list(names) for name, names in self._collisions.items()}
        copied._shared = dict(self._shared)
        return copied

    def colliding(self, name: str) -> str | None:
        if not has_collision_characters(name):
            return None
        names = self._collisions.get(unified_name(name))
        return names[0] if names else None

    def create(self, record: TopicCreated, changes: Changes) -> None:
        if record.name in self.by_name or record.topic_id in self.by_id:
            raise ImageError(f"topic {record.name} is there already")
        topic = Topic(record.topic_id, record.name)
        self.by_name[topic.name] = self.by_id[topic.id] = topic
        if has_collision_characters(topic.name):
            self._collisions.setdefault(unified_name(topic.name), []).append(topic.name)
        changes.note_topic_created(topic)

    def delete(self, record: TopicDeleted, changes: Changes) -> Topic:
        topic = self._known(record.topic_id)
        del self.by_id[topic.id]
        del self.by_name[topic.name]
        self.partition_count -= len(topic.partitions)
        if has_collision_characters(topic.name):
            names = self._collisions[unified_name(topic.name)]
            names.remove(topic.name)
            if not names:
                del self._collisions[unified_name(topic.name)]
        changes.note_topic_deleted(topic, self.note_deleted(record))
        return topic

    def note_deleted(self, record: TopicDeleted) -> TopicDeletion:
        deletion = self.deleted[record.topic_id] = TopicDeletion(record.topic_id)
        if len(self.deleted) > DELETED_MAX:
            self.deleted.popitem(last=False)
        return deletion

    def create_partition(self, record: PartitionCreated, changes: Changes) -> None:
        topic = self._known(record.topic_id)
        if record.partition != len(topic.partitions):
            raise ImageError(
                f"partition {record.partition} of {topic.name} is not the next: it has "
                f"{len(topic.partitions)}"
            )
        partition = self._created(_partition_fields(record))
        topic.put(record.partition, partition)
        self.partition_count += 1
        changes.note_partition(topic, record.partition, None, partition)

    def change_partition(self, record: PartitionChanged, changes: Changes) -> None:
        topic = self._known(record.topic_id)
        if not 0 <= record.partition < len(topic.partitions):
            raise ImageError(f"{topic.name} has no partition {record.partition}")
        before = topic.partitions[record.partition]
        if record.partition_epoch != before.partition_epoch + 1:
            raise ImageError(
                f"{topic.name}-{record.partition}: partition epoch {record.partition_epoch} does "
                f"not follow {before.partition_epoch}"
            )
        if record.leader_epoch is not None and record.leader_epoch <= before.leader_epoch:
            raise ImageError(
                f"{topic.name}-{record.partition}: leader epoch {record.leader_epoch} does not "
                f"follow {before.leader_epoch}"
            )
        after = self._changed(before, record)
        topic.put(record.partition, after)
        changes.note_partition(topic, record.partition, before, after)

    def _created(self, fields: tuple[object, ...]) -> PartitionRegistration:
        known = self._new_registrations.get(fields)
        if known is None:
            known = self._with_shared(PartitionRegistration._make(fields))
            if len(self._new_registrations) >= INTERNED_MAX:
                self._new_registrations.clear()
            self._new_registrations[known] = known
        return known

    def _changed(
        self, before: PartitionRegistration, record: PartitionChanged
    ) -> PartitionRegistration:
        key = before, record.changes
        after = self._recent_changes.get(key)
        if after is None:
            after = self._with_shared(before.changed(record))
            if len(self._recent_changes) >= RECENT_CHANGES_MAX:
                self._recent_changes.clear()
            self._recent_changes[key] = after
        return after

    def _with_shared(self, partition: PartitionRegistration) -> PartitionRegistration:
        return partition._replace(
            replicas=self._share(partition.replicas),
            in_sync_replicas=self._share(partition.in_sync_replicas),
            directories=self._share(partition.directories),
        )

    def _share(self, value: tuple[T, ...]) -> tuple[T, ...]:
        return self._shared.setdefault(value, value)  # type: ignore[return-value]

    def _known(self, topic_id: TopicId) -> Topic:
        topic = self.by_id.get(topic_id)
        if topic is None:
            raise ImageError(f"there is no topic with id {uuid_to_text(topic_id)}")
        return topic
