"""A topic in the Metadata response, encoded once for each version and cached until it changes.

A topic of a thousand partitions takes a millisecond to encode, and every client requests it
repeatedly. It is built in slices, because a topic may have very many partitions. Clients of a
listener that some broker does not have get another one: they cannot connect to its partitions.
"""

from __future__ import annotations

from typing import NamedTuple

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
LISTENER_ERROR_FROM = 6  # version of Metadata


class Reach(NamedTuple):
    """What clients of one listener cannot connect to."""

    unreachable: frozenset[int]  # brokers without this listener
    error: ErrorCode  # of the partitions that they lead


ALL_REACHED = Reach(frozenset(), ErrorCode.LEADER_NOT_AVAILABLE)


class TopicAnswers:
    def __init__(self, image: Image, lost_leaders: LostLeaders) -> None:
        self._image = image
        self._lost_leaders = lost_leaders
        lost_leaders.subscribe(self._forget_all)
        self._kept: dict[Reach, dict[tuple[TopicId, bool], MetadataResponseTopic]] = {}
        self._unreachable: dict[str, frozenset[int]] = {}  # by listener
        self._changes = 0  # batches of metadata since the start

    def unreachable(self, listener: str) -> frozenset[int]:
        """The brokers without this listener: usually none."""
        found = self._unreachable.get(listener)
        if found is None:
            brokers = self._image.brokers.values()
            found = frozenset(each.id for each in brokers if each.endpoint(listener) is None)
            self._unreachable[listener] = found
        return found

    def reach(self, listener: str, version: int) -> Reach:
        unreachable = self.unreachable(listener)
        if not unreachable:
            return ALL_REACHED
        has_error = version >= LISTENER_ERROR_FROM
        return Reach(
            unreachable,
            ErrorCode.LISTENER_NOT_FOUND if has_error else ErrorCode.LEADER_NOT_AVAILABLE,
        )

    def find(
        self, topic_id: TopicId, with_operations: bool, reach: Reach = ALL_REACHED
    ) -> MetadataResponseTopic | None:
        answer = self._kept.get(reach, {}).get((topic_id, with_operations))
        if answer is not None and answer.kept is not None and len(answer.kept) > VERSIONS_MAX:
            answer.kept.clear()
        return answer

    @staticmethod
    def is_encoded(answer: MetadataResponseTopic, version: int) -> bool:
        return answer.kept is not None and version in answer.kept

    def describing(
        self, topic: Topic, with_operations: bool, reach: Reach = ALL_REACHED
    ) -> Steps[MetadataResponseTopic]:
        """A new entry. It is cached, unless the metadata has changed meanwhile."""
        changes = self._changes
        answer = yield from describing_topic(
            topic, self._image, with_operations, self._lost_leaders, reach
        )
        if changes == self._changes:
            answer.keep()
            self._kept.setdefault(reach, {})[topic.id, with_operations] = answer
        return answer

    def forget(self, _image: Image, changes: Changes) -> Steps[None]:
        """Called after each change of the metadata: removes the entries that it changes."""
        self._changes += 1
        if changes.brokers:
            self._forget_all()
        last = None
        for topic_id, _ in changes.partitions:
            if topic_id != last:
                for kept in self._kept.values():
                    kept.pop((topic_id, False), None)
                    kept.pop((topic_id, True), None)
                last = topic_id
            yield 0

    def _forget_all(self) -> None:
        self._changes += 1
        self._kept = {}  # users of the old dict keep it
        self._unreachable = {}


def describing_topic(
    topic: Topic, image: Image, with_operations: bool, lost_leaders: LostLeaders, reach: Reach
) -> Steps[MetadataResponseTopic]:
    described: list[MetadataResponsePartition] = []
    for chunk in chunks(list(topic.partitions)):
        described += [
            describe_partition(index, partition, image, lost_leaders, reach)
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
    index: int,
    partition: PartitionRegistration,
    image: Image,
    lost_leaders: LostLeaders,
    reach: Reach,
) -> MetadataResponsePartition:
    """A leader that was lost a moment ago is not named: the client would wait for it."""
    if not partition.has_leader or partition.leader in lost_leaders:
        code = ErrorCode.LEADER_NOT_AVAILABLE
    elif partition.leader in reach.unreachable:
        code = reach.error
    else:
        code = ErrorCode.NONE
    return MetadataResponsePartition(
        code,
        index,
        partition.leader if code == ErrorCode.NONE else NO_LEADER,
        partition.leader_epoch,
        partition.replicas,
        partition.in_sync_replicas,
        offline_replicas(partition, image, reach.unreachable),
    )


def offline_replicas(
    partition: PartitionRegistration, image: Image, unreachable: frozenset[int]
) -> list[int]:
    offline = []
    for broker_id in partition.replicas:
        broker = image.broker(broker_id)
        directory_id = partition.directory_of(broker_id)
        if (
            broker is None
            or broker.is_fenced
            or broker_id in unreachable
            or not broker.has_directory(directory_id)
        ):
            offline.append(broker_id)
    return offline


def missing_topic_code(name: str) -> ErrorCode:
    if fault_of_name(name) is not None:
        return ErrorCode.INVALID_TOPIC_EXCEPTION
    return ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
