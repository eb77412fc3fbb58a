"""The records of the metadata log, one class for each kind.

Owns      the fields of each kind. Encoding is in `codec.py`, the effect in `image.py`.
Promises  records are immutable values of numbers, strings and tuples.

Kinds for SCRAM credentials, ACLs and delegation tokens are reserved in `codec.py`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from enum import IntEnum
from operator import attrgetter
from typing import Any, NamedTuple

from ottla.base.ids import NO_LEADER, TopicId

LOST_DIRECTORY = bytes(15) + b"\1"  # of a replica whose records cannot be used, as in Kafka
RECOVERED = 0
RECOVERING = 1  # elected uncleanly; the leader has not completed recovery


class ResourceType(IntEnum):
    """The kind of object that a setting belongs to, with Kafka's numbers."""

    UNKNOWN = 0
    TOPIC = 2
    BROKER = 4
    BROKER_LOGGER = 8
    CLIENT_METRICS = 16
    GROUP = 32


class ConfigResource(NamedTuple):
    """A topic, group, or broker by its id; an empty broker name means all brokers."""

    type: ResourceType
    name: str


ALL_BROKERS = ConfigResource(ResourceType.BROKER, "")


class Endpoint(NamedTuple):
    listener: str
    host: str
    port: int
    protocol: str


class VersionRange(NamedTuple):
    least: int
    greatest: int


# The entity of a quota: (type, name) pairs sorted by type; a null name is the default.
QuotaEntity = tuple[tuple[str, str | None], ...]


@dataclass(frozen=True, slots=True)
class ClusterNamed:
    """The first record of every log."""

    cluster_id: str


@dataclass(frozen=True, slots=True)
class FeatureLevelSet:
    name: str
    level: int  # 0 removes the feature


@dataclass(frozen=True, slots=True)
class BrokerRegistered:
    """A broker has registered, for the first time or again. Replaces its earlier registration."""

    broker_id: int
    broker_epoch: int
    incarnation_id: bytes
    endpoints: tuple[Endpoint, ...]
    features: tuple[tuple[str, VersionRange], ...] = ()
    rack: str | None = None
    is_fenced: bool = True
    is_shutting_down: bool = False
    log_directories: tuple[bytes, ...] = ()


@dataclass(frozen=True, slots=True)
class BrokerChanged:
    """Fields that are None are unchanged."""

    broker_id: int
    broker_epoch: int
    is_fenced: bool | None = None
    is_shutting_down: bool | None = None
    log_directories: tuple[bytes, ...] | None = None


@dataclass(frozen=True, slots=True)
class BrokerUnregistered:
    broker_id: int
    broker_epoch: int


@dataclass(frozen=True, slots=True)
class TopicCreated:
    topic_id: TopicId
    name: str


@dataclass(frozen=True, slots=True)
class TopicDeleted:
    """Includes its partitions and settings."""

    topic_id: TopicId


@dataclass(frozen=True, slots=True)
class PartitionCreated:
    topic_id: TopicId
    partition: int
    replicas: tuple[int, ...]  # the first is the preferred leader
    in_sync_replicas: tuple[int, ...]
    leader: int
    leader_epoch: int = 0
    partition_epoch: int = 0
    eligible_replicas: tuple[int, ...] = ()
    last_known_leader: int = NO_LEADER
    adding_replicas: tuple[int, ...] = ()
    removing_replicas: tuple[int, ...] = ()
    leader_recovery: int = RECOVERED
    directories: tuple[bytes, ...] = ()  # of each replica; all zero is "not known"


@dataclass(frozen=True, slots=True)
class PartitionChanged:
    """Fields that are None are unchanged. Every change has the next partition epoch."""

    topic_id: TopicId
    partition: int
    partition_epoch: int
    leader: int | None = None
    leader_epoch: int | None = None
    replicas: tuple[int, ...] | None = None
    in_sync_replicas: tuple[int, ...] | None = None
    eligible_replicas: tuple[int, ...] | None = None
    last_known_leader: int | None = None
    adding_replicas: tuple[int, ...] | None = None
    removing_replicas: tuple[int, ...] | None = None
    leader_recovery: int | None = None
    directories: tuple[bytes, ...] | None = None

    @property
    def changes(self) -> tuple[Any, ...]:
        """Everything but the partition."""
        return _changes(self)

    def of_partition(self, topic_id: TopicId, partition: int) -> PartitionChanged:
        """The same change of another partition, whose state was the same."""
        return PartitionChanged(topic_id, partition, *_changes(self))


_changes: Callable[[PartitionChanged], tuple[Any, ...]] = attrgetter(
    *(each.name for each in fields(PartitionChanged)[2:])
)


@dataclass(frozen=True, slots=True)
class ConfigChanged:
    resource: ConfigResource
    name: str
    value: str | None  # None removes the setting


@dataclass(frozen=True, slots=True)
class QuotaChanged:
    entity: QuotaEntity
    key: str
    value: float | None  # None removes the quota


@dataclass(frozen=True, slots=True)
class ProducerIdsAllocated:
    broker_id: int
    broker_epoch: int
    next_producer_id: int  # the first unallocated id


Record = (
    ClusterNamed
    | FeatureLevelSet
    | BrokerRegistered
    | BrokerChanged
    | BrokerUnregistered
    | TopicCreated
    | TopicDeleted
    | PartitionCreated
    | PartitionChanged
    | ConfigChanged
    | QuotaChanged
    | ProducerIdsAllocated
)
