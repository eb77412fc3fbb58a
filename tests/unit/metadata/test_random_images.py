"""Random histories, folded by the image and by a plain model of what each record says.

What is asked of an image after each batch is compared with the model, also of its copies and of one
that was made again from its records.
"""

from __future__ import annotations

from random import Random
from typing import Any

import pytest
from tests.unit.metadata.histories import NAMES, histories

from ottla.base.ids import TopicId
from ottla.metadata.image import Batch, Image
from ottla.metadata.records import (
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

PARTITION_FIELDS = (
    "replicas", "in_sync_replicas", "leader", "leader_epoch", "partition_epoch",
    "eligible_replicas", "last_known_leader", "adding_replicas", "removing_replicas",
    "leader_recovery", "directories",
)  # fmt: skip
BROKER_FIELDS = (
    "incarnation_id", "endpoints", "features", "rack", "is_fenced", "is_shutting_down",
    "log_directories",
)  # fmt: skip


class Model:
    """Dictionaries, changed as the records say."""

    def __init__(self) -> None:
        self.offset = self.epoch = self.next_producer_id = 0
        self.cluster_id = ""
        self.names: dict[str, TopicId] = {}
        self.partitions: dict[TopicId, list[dict[str, Any]]] = {}
        self.deleted: set[TopicId] = set()
        self.brokers: dict[int, dict[str, Any]] = {}
        self.configs: dict[ConfigResource, dict[str, str]] = {}
        self.quotas: dict[QuotaEntity, dict[str, float]] = {}
        self.features: dict[str, int] = {}

    def apply(self, batch: Batch) -> None:
        for record in batch.records:
            self._apply(record)
        self.offset += len(batch.records)
        self.epoch = batch.controller_epoch

    def _apply(self, record: Record) -> None:
        match record:
            case TopicCreated():
                self.names[record.name] = record.topic_id
                self.partitions[record.topic_id] = []
            case TopicDeleted():
                (name,) = (name for name, each in self.names.items() if each == record.topic_id)
                del self.names[name], self.partitions[record.topic_id]
                self.configs.pop(ConfigResource(ResourceType.TOPIC, name), None)
                self.deleted.add(record.topic_id)
            case PartitionCreated():
                fields = {name: getattr(record, name) for name in PARTITION_FIELDS}
                self.partitions[record.topic_id].append(fields)
            case PartitionChanged():
                update(self.partitions[record.topic_id][record.partition], record, PARTITION_FIELDS)
            case BrokerRegistered():
                fields = {name: getattr(record, name) for name in BROKER_FIELDS}
                self.brokers[record.broker_id] = {"epoch": record.broker_epoch, **fields}
            case BrokerChanged():
                names = ("is_fenced", "is_shutting_down", "log_directories")
                update(self.brokers[record.broker_id], record, names)
            case BrokerUnregistered():
                del self.brokers[record.broker_id]
            case ConfigChanged():
                put(self.configs, record.resource, record.name, record.value)
            case QuotaChanged():
                put(self.quotas, record.entity, record.key, record.value)
            case FeatureLevelSet():
                self.features[record.name] = record.level
            case ProducerIdsAllocated():
                self.next_producer_id = record.next_producer_id
            case ClusterNamed():
                self.cluster_id = record.cluster_id


def update(known: dict[str, Any], record: Record, names: tuple[str, ...]) -> None:
    for name in names:
        if (value := getattr(record, name)) is not None:
            known[name] = value


def put(known: dict[Any, dict[str, Any]], key: object, name: str, value: object) -> None:
    settings = known.setdefault(key, {})
    if value is None:
        settings.pop(name, None)
    else:
        settings[name] = value
    if not settings:
        del known[key]


def check(image: Image, model: Model) -> None:
    assert (image.offset, image.controller_epoch) == (model.offset, model.epoch)
    assert image.features_epoch == model.offset - 1
    assert (image.cluster_id, image.next_producer_id) == (model.cluster_id, model.next_producer_id)
    assert dict(image.features) == {name: level for name, level in model.features.items() if level}
    check_topics(image, model)
    check_brokers(image, model)
    check_settings(image, model)


def check_topics(image: Image, model: Model) -> None:
    assert {name: topic.id for name, topic in image.topics.items()} == model.names
    for name, topic_id in model.names.items():
        topic = image.topic(name)
        assert topic is not None
        assert topic is image.topic_by_id(topic_id)
        wanted = model.partitions[topic_id]
        found = [{key: getattr(each, key) for key in PARTITION_FIELDS} for each in topic.partitions]
        assert found == wanted
        assert image.partition(name, len(wanted) - 1) == topic.partitions[-1]
        assert image.partition(name, len(wanted)) is image.partition(name, -1) is None
        assert topic.replication_factor == len(wanted[0]["replicas"])
    assert image.partition_count == sum(map(len, model.partitions.values()))
    assert len(list(image.all_partitions())) == image.partition_count
    assert all(image.deletion_of(each) is not None for each in model.deleted)
    assert all(image.deletion_of(each) is None for each in model.partitions)
    for name in NAMES:
        colliding = {
            each for each in model.names if each.replace(".", "_") == name.replace(".", "_")
        }
        collides = "." in name or "_" in name
        assert image.colliding_topic(name) in (colliding if collides and colliding else {None})


def check_brokers(image: Image, model: Model) -> None:
    assert image.brokers.keys() == model.brokers.keys()
    for number, wanted in model.brokers.items():
        broker = image.broker(number)
        assert broker is not None
        assert {name: getattr(broker, name) for name in wanted} == wanted
        is_active = not wanted["is_fenced"] and not wanted["is_shutting_down"]
        assert image.is_active(number) == broker.is_active == is_active
        for listener in ("PLAINTEXT", "other"):
            endpoint = broker.endpoint(listener)
            known = [each for each in wanted["endpoints"] if each.listener == listener]
            assert endpoint == (known[0] if known else None)
    assert not image.is_active(99)


def check_settings(image: Image, model: Model) -> None:
    assert image.configs == model.configs
    assert image.quotas == model.quotas
    texts = [
        (resource.name, name, value)
        for resource, settings in model.configs.items()
        for name, value in settings.items()
    ]
    least = sum(len(text) for each in texts for text in each)
    assert least + len(texts) <= image.config_bytes <= least + 1000 * len(texts)
    kinds = [resource.type for resource in model.configs]
    assert image.client_metrics_count == kinds.count(ResourceType.CLIENT_METRICS)
    for resource, settings in model.configs.items():
        assert image.config(resource) == settings
    for name in NAMES:
        topic = ConfigResource(ResourceType.TOPIC, name)
        assert image.topic_config(name) == model.configs.get(topic, {})
    for number, text in ((None, ""), (1, "1")):
        broker = ConfigResource(ResourceType.BROKER, text)
        assert image.broker_config(number) == model.configs.get(broker, {})


@pytest.mark.parametrize("seed", range(12))
def test_an_image_answers_as_the_records_say_after_every_batch(seed: int) -> None:
    random, image, model = Random(seed), Image(), Model()
    check(image, model)
    for batch in histories(random, 40):
        image.apply(batch)
        model.apply(batch)
        match random.choice("---cls"):
            case "c":
                image = image.copy()
            case "l":
                again = Image()
                again.load(image.to_records(), image.offset, image.controller_epoch)
                image = again
            case "s":
                other, exchanged = Image(), image
                other.exchange(exchanged)
                check(exchanged, Model())
                image = other
        check(image, model)
