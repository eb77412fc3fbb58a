"""Random histories of a cluster: batches that follow from each other, from one seed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from random import Random

from ottla.base.ids import NO_LEADER, TopicId
from ottla.metadata.image import Batch, Image
from ottla.metadata.records import (
    ALL_BROKERS,
    BrokerChanged,
    BrokerRegistered,
    BrokerUnregistered,
    ClusterNamed,
    ConfigChanged,
    ConfigResource,
    Endpoint,
    FeatureLevelSet,
    PartitionChanged,
    PartitionCreated,
    ProducerIdsAllocated,
    QuotaChanged,
    Record,
    ResourceType,
    TopicCreated,
    TopicDeleted,
    VersionRange,
)

NAMES = ("a", "a.b", "a_b", "orders", "__consumer_offsets", "ünknown \u2028", "x" * 249)


def histories(rng: Random, batches: int) -> Iterator[Batch]:
    """Batches from the first of a cluster on."""
    image = Image()
    first = Batch(0, 1, (ClusterNamed("cluster"), FeatureLevelSet("group.version", 1)))
    image.apply(first)
    yield first
    for _ in range(batches):
        batch = random_batch(rng, image)
        image.apply(batch)
        yield batch


def random_batch(rng: Random, image: Image) -> Batch:
    future = image.copy()
    records: list[Record] = []
    for _ in range(rng.randrange(1, 6)):
        new = rng.choice(MAKERS)(rng, future)
        future.apply(Batch(future.offset, 0, tuple(new)))
        records += new
    if not records:
        records = [ConfigChanged(ALL_BROKERS, "log.retention.ms", str(rng.randrange(100)))]
    return Batch(image.offset, image.controller_epoch + rng.randrange(2), tuple(records))


def uuid(rng: Random) -> TopicId:
    return TopicId(rng.randbytes(16))


def replicas(rng: Random) -> tuple[int, ...]:
    return tuple(rng.sample(range(5), rng.randrange(1, 4)))


def create_topic(rng: Random, image: Image) -> list[Record]:
    name = rng.choice(NAMES)
    if image.topic(name) is not None:
        return []
    topic_id = uuid(rng)
    new: list[Record] = [TopicCreated(topic_id, name)]
    for index in range(rng.randrange(1, 4)):
        chosen = replicas(rng)
        directories = tuple(uuid(rng) for _ in chosen) if rng.random() < 0.5 else ()
        new.append(
            PartitionCreated(topic_id, index, chosen, chosen, chosen[0], directories=directories)
        )
    return new


def delete_topic(rng: Random, image: Image) -> list[Record]:
    return [TopicDeleted(rng.choice(list(image.topics.values())).id)] if image.topics else []


def change_partition(rng: Random, image: Image) -> list[Record]:
    if not image.topics:
        return []
    topic = rng.choice(list(image.topics.values()))
    index = rng.randrange(len(topic.partitions))
    now = topic.partitions[index]
    leads = rng.random() < 0.5
    return [
        PartitionChanged(
            topic.id,
            index,
            now.partition_epoch + 1,
            leader=rng.choice((NO_LEADER, *now.replicas)) if leads else None,
            leader_epoch=now.leader_epoch + rng.randrange(1, 3) if leads else None,
            in_sync_replicas=rng.choice((None, (), now.replicas)),
            eligible_replicas=rng.choice((None, (), now.replicas[:1])),
            last_known_leader=rng.choice((None, NO_LEADER, 3)),
            replicas=rng.choice((None, (*now.replicas, 9))),
            adding_replicas=rng.choice((None, (), (9,))),
            removing_replicas=rng.choice((None, (), (1,))),
            leader_recovery=rng.choice((None, 0, 1)),
            directories=rng.choice((None, (), (uuid(rng),))),
        )
    ]


def register_broker(rng: Random, image: Image) -> list[Record]:
    return [
        BrokerRegistered(
            rng.randrange(4),
            image.offset,
            uuid(rng),
            (Endpoint("PLAINTEXT", "host", 9092, "PLAINTEXT"),) * rng.randrange(3),
            (("group.version", VersionRange(0, 1)),) * rng.randrange(2),
            rng.choice((None, "", "rack")),
            rng.random() < 0.5,
            rng.random() < 0.5,
            tuple(uuid(rng) for _ in range(rng.randrange(3))),
        )
    ]


def change_broker(rng: Random, image: Image) -> list[Record]:
    if not image.brokers:
        return []
    broker = rng.choice(list(image.brokers.values()))
    if rng.random() < 0.2:
        return [BrokerUnregistered(broker.id, broker.epoch)]
    either = (None, True, False)
    return [
        BrokerChanged(
            broker.id,
            broker.epoch,
            rng.choice(either),
            rng.choice(either),
            rng.choice((None, (), (uuid(rng),))),
        )
    ]


def change_config(rng: Random, image: Image) -> list[Record]:
    kinds = (ResourceType.TOPIC, ResourceType.BROKER, ResourceType.GROUP)
    kind = rng.choice((*kinds, ResourceType.CLIENT_METRICS))
    name = rng.choice(("", "1", *NAMES))
    value = rng.choice((None, "", "5", 'a "quoted" line\n\u00e9'))
    return [ConfigChanged(ConfigResource(kind, name), rng.choice(("x.y", "z")), value)]


def change_quota(rng: Random, image: Image) -> list[Record]:
    users = (("user", None),), (("client-id", "c"), ("user", "u")), (("ip", "::1"),)
    value = rng.choice((None, 0.1, 1e9, 2.5e-9))
    return [QuotaChanged(rng.choice(users), rng.choice(("a", "b")), value)]


def others(rng: Random, image: Image) -> list[Record]:
    return [
        FeatureLevelSet(rng.choice(("transaction.version", "group.version")), rng.randrange(3)),
        ProducerIdsAllocated(1, 5, image.next_producer_id + 1000),
    ]


MAKERS: tuple[Callable[[Random, Image], list[Record]], ...] = (
    create_topic,
    create_topic,
    delete_topic,
    change_partition,
    change_partition,
    change_partition,
    register_broker,
    change_broker,
    change_config,
    change_config,
    change_quota,
    others,
)
