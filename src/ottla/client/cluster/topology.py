"""What a client knows of a cluster: brokers, topics, leaders.

Owns      the content of Metadata responses, and leaders that other responses name.
Promises  a leader of an older epoch never replaces a newer one.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple, TypeVar

from ottla.base.ids import NO_LEADER, TopicPartition
from ottla.client.errors import code_of
from ottla.config.addresses import Address
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.messages.metadata_response import MetadataResponse, MetadataResponseTopic

T = TypeVar("T")


class Leader(NamedTuple):
    broker_id: int
    epoch: int


@dataclass(frozen=True)
class PartitionDescription:
    partition: int
    leader: int  # -1 while there is none
    leader_epoch: int
    replicas: tuple[int, ...] = ()
    in_sync_replicas: tuple[int, ...] = ()


@dataclass(frozen=True)
class TopicDescription:
    name: str
    topic_id: bytes  # zeros if the cluster is too old to have ids
    partitions: tuple[PartitionDescription, ...]  # in order of their numbers
    is_internal: bool = False

    @property
    def topic_partitions(self) -> list[TopicPartition]:
        return [TopicPartition(self.name, each.partition) for each in self.partitions]


class Topology:
    """The last known state."""

    def __init__(self) -> None:
        self.brokers: dict[int, Address] = {}
        self.controller_id = -1
        self.topics: dict[str, TopicDescription] = {}
        self.leaders: dict[TopicPartition, Leader] = {}

    def learn(self, answer: MetadataResponse) -> dict[str, ErrorCode]:
        """Apply a response; returns the error codes of topics that it does not describe."""
        if answer.brokers:  # none if the broker that responded is just starting
            self.brokers = {each.node_id: Address(each.host, each.port) for each in answer.brokers}
        self.controller_id = answer.controller_id
        problems: dict[str, ErrorCode] = {}
        for topic in answer.topics:
            name = topic.name or ""
            code = code_of(topic.error_code)
            if code == ErrorCode.NONE:
                self._learn_topic(describe(topic))
            else:
                problems[name] = code
                self.forget_topic(name)
        return problems

    def is_newer_than(self, answer: MetadataResponse) -> bool:
        """Whether a leader is known here that is newer than the one in the response: the broker
        that answered does not know it yet, or is partitioned from the others."""
        for topic in answer.topics:
            known = self.topics.get(topic.name or "")
            if known is not None and known.topic_id != bytes(topic.topic_id):
                continue  # epochs of another topic of this name do not count
            for each in topic.partitions:
                at = TopicPartition(topic.name or "", each.partition_index)
                if at in self.leaders and 0 <= each.leader_epoch < self.leaders[at].epoch:
                    return True
        return False

    def demand_epoch(self, partition: TopicPartition, epoch: int) -> None:
        """A leader of this epoch is known to have existed: older ones are not accepted."""
        known = self.leaders.get(partition)
        if known is None or known.epoch < epoch:
            self.leaders[partition] = Leader(NO_LEADER, epoch)

    def _learn_topic(self, topic: TopicDescription) -> None:
        known = self.topics.get(topic.name)
        if known is None or known.topic_id != topic.topic_id:
            self.forget_topic(topic.name)  # epochs of another topic of this name do not count
        self.topics[topic.name] = topic
        for each in topic.partitions:
            self.note_leader(
                TopicPartition(topic.name, each.partition), Leader(each.leader, each.leader_epoch)
            )

    def forget_topic(self, name: str) -> None:
        if self.topics.pop(name, None) is not None:
            self.leaders = {at: who for at, who in self.leaders.items() if at.topic != name}

    def forget_leader(self, partition: TopicPartition) -> None:
        """Look it up again. Its epoch is kept, so that an older leader is not accepted."""
        known = self.leaders.get(partition)
        if known is not None:
            self.leaders[partition] = Leader(NO_LEADER, known.epoch)

    def has_partition(self, partition: TopicPartition) -> bool:
        topic = self.topics.get(partition.topic)
        if topic is None:
            return False
        numbers, wanted = topic.partitions, partition.partition
        at = bisect_left(numbers, wanted, key=lambda each: each.partition)
        return at < len(numbers) and numbers[at].partition == wanted

    def note_leader(self, partition: TopicPartition, leader: Leader) -> bool:
        """Whether the leader changed. A leader without an epoch (-1) is always accepted."""
        known = self.leaders.get(partition)
        if known is not None and 0 <= leader.epoch < known.epoch:
            return False
        self.leaders[partition] = leader
        return known != leader

    def note_hint(
        self, partition: TopicPartition, leader: Leader, endpoints: Mapping[int, Address]
    ) -> bool:
        """A response with an error named the new leader and its address: whether it is usable."""
        if leader.broker_id < 0 or leader.epoch < 0:
            return False
        known = self.leaders.get(partition)
        if known is not None and leader.epoch <= known.epoch:
            return False
        if leader.broker_id in endpoints:
            self.brokers[leader.broker_id] = endpoints[leader.broker_id]
        if leader.broker_id not in self.brokers:
            return False
        return self.note_leader(partition, leader)


def describe(topic: MetadataResponseTopic) -> TopicDescription:
    partitions = [
        PartitionDescription(
            each.partition_index,
            each.leader_id if not each.error_code else NO_LEADER,
            each.leader_epoch,
            tuple(each.replica_nodes),
            tuple(each.isr_nodes),
        )
        for each in topic.partitions
    ]
    partitions.sort(key=lambda each: each.partition)
    return TopicDescription(
        topic.name or "", bytes(topic.topic_id), tuple(partitions), topic.is_internal
    )


def with_leaders(topic: TopicDescription, topology: Topology) -> TopicDescription:
    """The description with the newest leaders known."""
    partitions = []
    for each in topic.partitions:
        leader = topology.leaders[TopicPartition(topic.name, each.partition)]
        partitions.append(replace(each, leader=leader.broker_id, leader_epoch=leader.epoch))
    return replace(topic, partitions=tuple(partitions))


def by_leader(
    wanted: Mapping[TopicPartition, T], leaders: Mapping[TopicPartition, Leader]
) -> tuple[dict[int, dict[TopicPartition, T]], list[TopicPartition]]:
    """The partitions of each leader, and those without a known leader."""
    shares: dict[int, dict[TopicPartition, T]] = {}
    without_leader = []
    for partition, value in wanted.items():
        leader = leaders.get(partition)
        if leader is None or leader.broker_id == NO_LEADER:
            without_leader.append(partition)
        else:
            shares.setdefault(leader.broker_id, {})[partition] = value
    return shares, without_leader


def by_topic(partitions: Iterable[TopicPartition]) -> dict[str, list[int]]:
    """Partitions grouped by topic, as most requests list them."""
    topics: dict[str, list[int]] = {}
    for topic, partition in partitions:
        topics.setdefault(topic, []).append(partition)
    return topics
