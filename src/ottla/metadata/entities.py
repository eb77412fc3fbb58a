"""The elements of an image: brokers, topics and partitions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from ottla.base.ids import NO_LEADER, TopicId
from ottla.metadata.records import (
    RECOVERED,
    BrokerChanged,
    BrokerRegistered,
    Endpoint,
    PartitionChanged,
    PartitionCreated,
    VersionRange,
)


class PartitionRegistration(NamedTuple):
    """One partition. A tuple, because there may be very many."""

    replicas: tuple[int, ...]  # the first is the preferred leader
    in_sync_replicas: tuple[int, ...]
    leader: int
    leader_epoch: int = 0
    partition_epoch: int = 0
    # Eligible leader replicas: left the in-sync replicas when too few were in sync to commit
    # anything. They have all committed records and may lead.
    eligible_replicas: tuple[int, ...] = ()
    last_known_leader: int = NO_LEADER  # set while there is no leader
    adding_replicas: tuple[int, ...] = ()
    removing_replicas: tuple[int, ...] = ()
    leader_recovery: int = RECOVERED
    directories: tuple[bytes, ...] = ()  # per replica; all zero if unknown

    def to_record(self, topic_id: TopicId, partition: int) -> PartitionCreated:
        return PartitionCreated(topic_id, partition, *self)

    def changed(self, record: PartitionChanged) -> PartitionRegistration:
        given = {name: getattr(record, name) for name in self._fields}
        return self._replace(**{name: new for name, new in given.items() if new is not None})

    @property
    def has_leader(self) -> bool:
        return self.leader != NO_LEADER

    @property
    def has_preferred_leader(self) -> bool:
        return self.leader == self.replicas[0]

    @property
    def is_reassigning(self) -> bool:
        return bool(self.adding_replicas or self.removing_replicas)

    def directory_of(self, broker_id: int) -> bytes | None:
        """The id of the directory on a broker; None if it is unknown."""
        if broker_id not in self.replicas or not self.directories:
            return None
        return self.directories[self.replicas.index(broker_id)]


class Topic:
    """A topic. Its name and id never change; `partitions` is the current list."""

    __slots__ = ("_partitions", "id", "name")

    def __init__(self, topic_id: TopicId, name: str) -> None:
        self.id = topic_id
        self.name = name
        self._partitions: list[PartitionRegistration] = []

    @property
    def partitions(self) -> Sequence[PartitionRegistration]:
        return self._partitions

    @property
    def replication_factor(self) -> int:
        """The replication factor of the first partition, as in Kafka."""
        return len(self._partitions[0].replicas)

    def copy(self) -> Topic:
        copied = Topic(self.id, self.name)
        copied._partitions = self._partitions.copy()
        return copied

    def put(self, index: int, partition: PartitionRegistration) -> None:
        """Replace a partition, or append the next one. Only the image may call this."""
        if index == len(self._partitions):
            self._partitions.append(partition)
        else:
            self._partitions[index] = partition

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Topic):
            return NotImplemented
        return (self.id, self.name, self._partitions) == (other.id, other.name, other._partitions)

    def __hash__(self) -> int:
        return hash(self.id)

    def __repr__(self) -> str:
        return f"Topic({self.name!r}, {len(self._partitions)} partitions)"


@dataclass(frozen=True, slots=True)
class BrokerRegistration:
    id: int
    epoch: int
    incarnation_id: bytes
    endpoints: tuple[Endpoint, ...]
    features: tuple[tuple[str, VersionRange], ...]
    rack: str | None
    is_fenced: bool
    is_shutting_down: bool
    log_directories: tuple[bytes, ...]

    @classmethod
    def registered(cls, record: BrokerRegistered) -> BrokerRegistration:
        return cls(
            record.broker_id,
            record.broker_epoch,
            record.incarnation_id,
            record.endpoints,
            record.features,
            record.rack,
            record.is_fenced,
            record.is_shutting_down,
            record.log_directories,
        )

    def to_record(self) -> BrokerRegistered:
        return BrokerRegistered(
            self.id,
            self.epoch,
            self.incarnation_id,
            self.endpoints,
            self.features,
            self.rack,
            self.is_fenced,
            self.is_shutting_down,
            self.log_directories,
        )

    def changed(self, record: BrokerChanged) -> BrokerRegistration:
        return replace(
            self,
            is_fenced=self.is_fenced if record.is_fenced is None else record.is_fenced,
            is_shutting_down=self.is_shutting_down
            if record.is_shutting_down is None
            else record.is_shutting_down,
            log_directories=self.log_directories
            if record.log_directories is None
            else record.log_directories,
        )

    @property
    def is_active(self) -> bool:
        """Whether it may lead: neither fenced nor shutting down."""
        return not (self.is_fenced or self.is_shutting_down)

    def endpoint(self, listener: str) -> Endpoint | None:
        return next((each for each in self.endpoints if each.listener == listener), None)

    def has_directory(self, directory_id: bytes | None) -> bool:
        """Whether the directory is online; an unknown one is assumed to be."""
        return directory_id is None or not any(directory_id) or directory_id in self.log_directories
