"""A topic in the Metadata response, encoded once for each version and cached until it changes.

A topic of a thousand partitions takes a millisecond to encode, and every client requests it
repeatedly. It is built in slices, because a topic may have very many partitions.
"""

from __future__ import annotations

from ottla.base.ids import NO_LEADER, TopicId
from ottla.base.scheduling.steps import Steps
from ottla.handlers.administration.permissions import NOT_REQUESTED, TOPIC_OPERATIONS
from ottla.handlers.serving.chunks import chunks
from ottla.metadata.changes import Changes
from ottla.metadata.entities import PartitionRegistration, Topic
from ottla.metadata.image import Image
from ottla.metadata.topic_names import INTERNAL_TOPICS, fault_of_name
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.messages.metadata_response import (
    MetadataResponsePartition,
    MetadataResponseTopic,
)
from ottla.replication.following.lost_leaders import LostLeaders

VERSIONS_MAX = 4  # cached for each topic: the clients of a cluster use few


class TopicAnswers:
    def __init__(self, image: Image, lost_leaders: LostLeaders) -> None:
        self._image = image
        self._lost_leaders = lost_leaders
        lost_leaders.subscribe(self._forget_all)
        self._kept: dict[tuple[TopicId, bool], MetadataResponseTopic] = {}
        self._changes = 0  # batches of metadata since the start

    def find(self, topic_id: TopicId, with_operations: bool) -> MetadataResponseTopic | None:
        answer = self._kept.get((topic_id, with_operations))
        if answer is not None and answer.kept is not None and len(answer.kept) > VERSIONS_MAX:
            answer.kept.clear()
        return answer

    @staticmethod
    def is_encoded(answer: MetadataResponseTopic, version: int) -> bool:
        return answer.kept is not None and version in answer.kept

    def describing(self, topic: Topic, with_operations: bool) -> Steps[MetadataResponseTopic]:
        """A new entry. It is cached, unless the metadata has changed meanwhile."""
        changes = self._changes
        answer = yield from describing_topic(
            topic, self._image, with_operations, self._lost_leaders
        )
        if changes == self._changes:
            answer.keep()
            self._kept[topic.id, with_operations] = answer
        return answer

    def forget(self, _image: Image, changes: Changes) -> Steps[None]:
        """Called after each change of the metadata: removes the entries that it changes."""
        self._changes += 1
        if changes.brokers:
            self._forget_all()
        last = None
        for topic_id, _ in changes.partitions:
            if topic_id != last:
                self._kept.pop((topic_id, False), None)
                self._kept.pop((topic_id, True), None)
                last = topic_id
            yield 0

    def _forget_all(self) -> None:
        self._changes += 1
        self._kept = {}  # users of the old dict keep it


def describing_topic(
    topic: Topic, image: Image, with_operations: bool, lost_leaders: LostLeaders
) -> Steps[MetadataResponseTopic]:
    described: list[MetadataResponsePartition] = []
    for chunk in chunks(list(topic.partitions)):
        described += [
            describe_partition(index, partition, image, lost_leaders)
            for index, partition in enumerate(chunk, len(described))
        ]
        yield 0
    return MetadataResponseTopic(
        ErrorCode.NONE,
        topic.name,
        topic.id,
        topic.name in INTERNAL_TOPICS,
        described,
        TOPIC_OPERATIONS if with_operations else NOT_REQUESTED,
    )


def describe_partition(
    index: int, partition: PartitionRegistration, image: Image, lost_leaders: LostLeaders
) -> MetadataResponsePartition:
    """A leader that was lost a moment ago is not named: the client would wait for it."""
    has_leader = partition.has_leader and partition.leader not in lost_leaders
    return MetadataResponsePartition(
        ErrorCode.NONE if has_leader else ErrorCode.LEADER_NOT_AVAILABLE,
        index,
        partition.leader if has_leader else NO_LEADER,
        partition.leader_epoch,
        partition.replicas,
        partition.in_sync_replicas,
        offline_replicas(partition, image),
    )


def offline_replicas(partition: PartitionRegistration, image: Image) -> list[int]:
    offline = []
    for broker_id in partition.replicas:
        broker = image.broker(broker_id)
        directory_id = partition.directory_of(broker_id)
        if broker is None or broker.is_fenced or not broker.has_directory(directory_id):
            offline.append(broker_id)
    return offline


def missing_topic_code(name: str) -> ErrorCode:
    if fault_of_name(name) is not None:
        return ErrorCode.INVALID_TOPIC_EXCEPTION
    return ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
