"""The state of the cluster at one offset of the metadata log.

Owns      topics and partitions by name and id, brokers, settings, quotas, features, producer ids.
Promises  it changes only in `apply` and `exchange`, by whole batches; between two calls every
          reader on the event loop sees one consistent state. Elements (a Partition, a Broker, a
          Topic's name and id, a mapping of settings) are never modified. A Topic's list of
          partitions, and the mappings of the image itself, are valid only until the next await.
Leaves    decisions to the controller, reactions to the readers of the Changes that `apply` returns.

Partitions are tuples, and equal lists of replicas are one object: ten thousand partitions take a
few megabytes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from operator import itemgetter
from types import MappingProxyType
from typing import NamedTuple, TypeVar, assert_never

from ottla.base.ids import TopicId
from ottla.base.scheduling.sorting import sorted_in_thread
from ottla.base.topic_deletion import DeletionEvidence, ReplicaRemoval, TopicDeletion
from ottla.metadata.changes import Changes
from ottla.metadata.entities import BrokerRegistration, PartitionRegistration, Topic
from ottla.metadata.records import (
    ALL_BROKERS,
    BrokerChanged,
    BrokerRegistered,
    BrokerUnregistered,
    ClusterNamed,
    ConfigChanged,
    ConfigResource,
    FeatureLevelSet,
    PartitionChanged,
    PartitionCreated,
    ProducerIdsAllocated,
    QuotaChanged,
    QuotaEntity,
    Record,
    ResourceType,
    TopicCreated,
    TopicDeleted,
)
from ottla.metadata.topic_table import ImageError, TopicTable

V = TypeVar("V")
# Records, or partitions of deleted topics; more of them are applied in a thread.
APPLIED_HERE_MAX = 50
SETTING_BYTES = 64  # overhead of a setting, without its strings
_NO_CONFIG: Mapping[str, str] = MappingProxyType({})


class Batch(NamedTuple):
    """Records that are applied together, at the offsets from `base_offset` on."""

    base_offset: int
    controller_epoch: int
    records: tuple[Record, ...]

    @property
    def end_offset(self) -> int:
        return self.base_offset + len(self.records)


class Image:
    def __init__(self) -> None:
        self.offset = 0  # of the next record
        self.controller_epoch = 0  # of the last batch
        self.cluster_id = ""
        self.next_producer_id = 0
        self._topics = TopicTable()
        self._brokers: dict[int, BrokerRegistration] = {}
        self.config_bytes = 0  # estimated size of all settings
        self.client_metrics_count = 0  # number of client-metrics resources with settings
        self._configs: dict[ConfigResource, Mapping[str, str]] = {}
        self._quotas: dict[QuotaEntity, Mapping[str, float]] = {}
        self._features: dict[str, int] = {}

    # Reading

    @property
    def topics(self) -> Mapping[str, Topic]:
        return self._topics.by_name

    @property
    def brokers(self) -> Mapping[int, BrokerRegistration]:
        return self._brokers

    @property
    def configs(self) -> Mapping[ConfigResource, Mapping[str, str]]:
        return self._configs

    @property
    def quotas(self) -> Mapping[QuotaEntity, Mapping[str, float]]:
        return self._quotas

    @property
    def features(self) -> Mapping[str, int]:
        """The finalised feature levels."""
        return self._features

    @property
    def features_epoch(self) -> int:
        """Incremented with every record, as clients require; -1 before the first record."""
        return self.offset - 1

    @property
    def partition_count(self) -> int:
        return self._topics.partition_count

    def topic(self, name: str) -> Topic | None:
        return self._topics.by_name.get(name)

    def topic_by_id(self, topic_id: TopicId) -> Topic | None:
        return self._topics.by_id.get(topic_id)

    def deletion_of(self, topic_id: TopicId) -> TopicDeletion | None:
        """The last ten thousand deleted topics are stored."""
        return self._topics.deleted.get(topic_id)

    def deletion_evidence(
        self, broker_id: int, topic_id: TopicId, index: int
    ) -> DeletionEvidence | None:
        """Why a broker may delete its records of a partition, if it may."""
        topic = self.topic_by_id(topic_id)
        if topic is None or not 0 <= index < len(topic.partitions):
            return self.deletion_of(topic_id)
        if broker_id in topic.partitions[index].replicas:
            return None
        return ReplicaRemoval(topic_id, index)

    def partition(self, name: str, index: int) -> PartitionRegistration | None:
        topic = self._topics.by_name.get(name)
        if topic is None or not 0 <= index < len(topic.partitions):
            return None
        return topic.partitions[index]

    def all_partitions(self) -> Iterator[tuple[Topic, int, PartitionRegistration]]:
        for topic in self._topics.by_name.values():
            for index, partition in enumerate(topic.partitions):
                yield topic, index, partition

    def colliding_topic(self, name: str) -> str | None:
        """An existing topic whose name differs from this one at most in `.` and `_`."""
        return self._topics.colliding(name)

    def broker(self, broker_id: int) -> BrokerRegistration | None:
        return self._brokers.get(broker_id)

    def is_active(self, broker_id: int) -> bool:
        broker = self._brokers.get(broker_id)
        return broker is not None and broker.is_active

    def config(self, resource: ConfigResource) -> Mapping[str, str]:
        return self._configs.get(resource, _NO_CONFIG)

    def topic_config(self, name: str) -> Mapping[str, str]:
        return self.config(ConfigResource(ResourceType.TOPIC, name))

    def broker_config(self, broker_id: int | None) -> Mapping[str, str]:
        """The dynamic settings of one broker; None for the cluster-wide ones."""
        if broker_id is None:
            return self.config(ALL_BROKERS)
        return self.config(ConfigResource(ResourceType.BROKER, str(broker_id)))

    # Applying records

    def is_long(self, records: Sequence[Record]) -> bool:
        """Whether applying these takes so long that it is done in a thread."""
        if len(records) > APPLIED_HERE_MAX:
            return True
        deleted = (
            self.topic_by_id(each.topic_id) for each in records if type(each) is TopicDeleted
        )
        return sum(len(each.partitions) for each in deleted if each is not None) > APPLIED_HERE_MAX

    def apply(self, batch: Batch, changes: Changes | None = None) -> Changes:
        """Apply the next batch. After an ImageError the image must not be used any more.

        Changes are added to `changes`, if given.
        """
        if batch.base_offset != self.offset:
            raise ImageError(f"batch at offset {batch.base_offset}, but {self.offset} comes next")
        changes = Changes() if changes is None else changes
        for record in batch.records:
            self._apply(record, changes)
        self.offset = batch.end_offset
        self.controller_epoch = batch.controller_epoch
        return changes

    def load(self, records: Iterable[Record], offset: int, controller_epoch: int) -> None:
        """Fill a new image from a snapshot of the log up to `offset`."""
        ignored = Changes()
        for record in records:
            if isinstance(record, TopicDeleted):  # the only record of a deleted topic in a snapshot
                self._topics.note_deleted(record)
            else:
                self._apply(record, ignored)
        self.offset = offset
        self.controller_epoch = controller_epoch

    def _apply(self, record: Record, changes: Changes) -> None:
        match record:
            case PartitionChanged():
                self._topics.change_partition(record, changes)
            case PartitionCreated():
                self._topics.create_partition(record, changes)
            case TopicCreated():
                self._topics.create(record, changes)
            case TopicDeleted():
                topic = self._topics.delete(record, changes)
                self._forget_config(ConfigResource(ResourceType.TOPIC, topic.name), changes)
            case ConfigChanged():
                self._change_config(record, changes)
            case BrokerRegistered():
                self._brokers[record.broker_id] = BrokerRegistration.registered(record)
                changes.brokers.add(record.broker_id)
            case BrokerChanged():
                broker = self._registered(record.broker_id, record.broker_epoch)
                self._brokers[record.broker_id] = broker.changed(record)
                changes.brokers.add(record.broker_id)
            case BrokerUnregistered():
                self._registered(record.broker_id, record.broker_epoch)
                del self._brokers[record.broker_id]
                changes.brokers.add(record.broker_id)
            case QuotaChanged():
                self._change_quota(record, changes)
            case FeatureLevelSet():
                self._set_feature(record, changes)
            case ProducerIdsAllocated():
                if record.next_producer_id < self.next_producer_id:
                    raise ImageError(f"producer ids go back to {record.next_producer_id}")
                self.next_producer_id = record.next_producer_id
            case ClusterNamed():
                self.cluster_id = record.cluster_id
            case _:
                assert_never(record)

    def _change_config(self, record: ConfigChanged, changes: Changes) -> None:
        resource = record.resource
        old = self._configs.get(resource, _NO_CONFIG)
        settings = _with(old, record.name, record.value)
        if settings:
            self._configs[resource] = settings
        else:
            self._configs.pop(resource, None)
        self.config_bytes += setting_bytes(resource, record.name, record.value)
        self.config_bytes -= setting_bytes(resource, record.name, old.get(record.name))
        if resource.type is ResourceType.CLIENT_METRICS:
            self.client_metrics_count += bool(settings) - bool(old)
        changes.configs.add(resource)

    def _forget_config(self, resource: ConfigResource, changes: Changes) -> None:
        settings = self._configs.pop(resource, None)
        if settings is not None:
            self.config_bytes -= sum(setting_bytes(resource, *item) for item in settings.items())
            changes.configs.add(resource)

    def _change_quota(self, record: QuotaChanged, changes: Changes) -> None:
        limits = _with(self._quotas.get(record.entity), record.key, record.value)
        if limits:
            self._quotas[record.entity] = limits
        else:
            self._quotas.pop(record.entity, None)
        changes.quotas.add(record.entity)

    def _set_feature(self, record: FeatureLevelSet, changes: Changes) -> None:
        if record.level:
            self._features[record.name] = record.level
        else:
            self._features.pop(record.name, None)
        changes.features.add(record.name)

    def _registered(self, broker_id: int, epoch: int) -> BrokerRegistration:
        broker = self._brokers.get(broker_id)
        if broker is None or broker.epoch != epoch:
            raise ImageError(f"broker {broker_id} is not registered with epoch {epoch}")
        return broker

    # Snapshots and copies

    def to_records(self) -> Iterator[Record]:
        """Records that reproduce this image, in a deterministic order. For a thread, if the image
        may be large."""
        yield ClusterNamed(self.cluster_id)
        for name, level in sorted(self._features.items()):
            yield FeatureLevelSet(name, level)
        for _, broker in sorted(self._brokers.items()):
            yield broker.to_record()
        yield from map(TopicDeleted, self._topics.deleted)
        for _, topic in sorted_in_thread(self._topics.by_name.items(), key=itemgetter(0)):
            yield TopicCreated(topic.id, topic.name)
            for index, partition in enumerate(topic.partitions):
                yield partition.to_record(topic.id, index)
        for resource, settings in sorted_in_thread(self._configs.items(), key=itemgetter(0)):
            yield from (ConfigChanged(resource, *item) for item in sorted(settings.items()))
        for entity, limits in sorted_in_thread(self._quotas.items(), key=_entity_order):
            yield from (QuotaChanged(entity, *item) for item in sorted(limits.items()))
        yield ProducerIdsAllocated(-1, -1, self.next_producer_id)

    def copy(self) -> Image:
        """An independent image at the same offset. Immutable elements are shared."""
        copied = Image()
        copied.become(self)
        copied._topics = self._topics.copy()
        copied._brokers = dict(self._brokers)
        copied._configs = dict(self._configs)
        copied._quotas = dict(self._quotas)
        copied._features = dict(self._features)
        return copied

    def become(self, other: Image) -> None:
        """Take over the content of another image, which must not be used any more."""
        self.__dict__.update(other.__dict__)

    def exchange(self, other: Image) -> None:
        """Swap the contents of two images."""
        mine = dict(self.__dict__)
        self.become(other)
        other.__dict__.update(mine)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Image):
            return NotImplemented
        mine, theirs = ((i.offset, i.controller_epoch, *i.to_records()) for i in (self, other))
        return mine == theirs

    __hash__ = None  # type: ignore[assignment]  # it changes


def setting_bytes(resource: ConfigResource, name: str, value: str | None) -> int:
    """The estimated size of a setting in memory; 0 if it is not set."""
    return 0 if value is None else SETTING_BYTES + len(resource.name) + len(name) + len(value)


def _with(old: Mapping[str, V] | None, key: str, value: V | None) -> Mapping[str, V]:
    """A modified copy: readers of the old mapping are not affected."""
    new = dict(old or {})
    if value is None:
        new.pop(key, None)
    else:
        new[key] = value
    return new


def _entity_order(item: tuple[QuotaEntity, object]) -> list[tuple[str, bool, str]]:
    return [(kind, name is not None, name or "") for kind, name in item[0]]
