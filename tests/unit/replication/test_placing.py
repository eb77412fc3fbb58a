"""From decisions of the cluster to partitions that serve: which ones change, and which do not."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.unit.coordinators.groups.broker_world import BROKER, BrokerWorld
from tests.unit.storage.log_making import append, batch_of, values_of

from ottla.base.ids import TopicId, TopicPartition
from ottla.base.scheduling.steps import PAUSE, Steps, run_blocking
from ottla.config.topic_options import TopicConfig
from ottla.metadata.records import (
    ALL_BROKERS,
    ConfigChanged,
    ConfigResource,
    PartitionChanged,
    PartitionCreated,
    ResourceType,
    TopicCreated,
    TopicDeleted,
)
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.errors import BrokerError
from ottla.replication.fetch_sessions import FetchKey, FetchSession
from ottla.replication.partition import Partition
from ottla.storage.files.directory_health import StorageUnavailable
from ottla.storage.log.flushing import flush

OTHER = 2


class Reports:
    def __init__(self, world: BrokerWorld) -> None:
        self.events: list[tuple[str, TopicPartition, int]] = []
        world.replicas.listeners.append(self)

    def leads(self, partition: Partition) -> None:
        self.events.append(("leads", partition.name, partition.leader_epoch))

    def resigned(self, name: TopicPartition) -> None:
        self.events.append(("resigned", name, -1))

    def take(self) -> list[tuple[str, TopicPartition, int]]:
        events, self.events = self.events, []
        return events


@pytest.fixture
def world() -> BrokerWorld:
    world = BrokerWorld()
    world.replicas.load(world.image)
    return world


def change(world: BrokerWorld, topic_id: TopicId, index: int = 0, **changes: object) -> None:
    found = world.image.topic_by_id(topic_id)
    assert found is not None
    epoch = found.partitions[index].partition_epoch + 1
    world.publish(PartitionChanged(topic_id, index, epoch, **changes))  # type: ignore[arg-type]


T0 = TopicPartition("t", 0)


@pytest.mark.parametrize("is_deleted", [True, False])
def test_a_partition_that_leaves_while_it_is_truncated_does_not_come_back(
    world: BrokerWorld, is_deleted: bool
) -> None:
    """A change of its leader waits for the end of the truncation, and is not applied then."""
    topic_id = world.create_topic("t", replicas=(BROKER, OTHER))
    change(world, topic_id, leader=OTHER, leader_epoch=1)
    truncation = world.replicas.partition(*T0).truncating(pausing())
    next(truncation)
    change(world, topic_id, leader=BROKER, leader_epoch=2)
    if is_deleted:
        world.publish(TopicDeleted(topic_id))
    else:
        change(world, topic_id, replicas=(OTHER,), in_sync_replicas=(OTHER,), leader=OTHER,
               leader_epoch=3)  # fmt: skip
    run_blocking(truncation)
    assert len(world.replicas) == 0
    assert world.replicas.logs.get(T0) is None


def pausing() -> Steps[None]:
    yield PAUSE


def test_listeners_hear_of_every_epoch_in_which_this_broker_leads(world: BrokerWorld) -> None:
    reported = Reports(world)
    topic_id = world.create_topic("t", replicas=(BROKER, OTHER))
    assert reported.take() == [("leads", T0, 0)]
    change(world, topic_id, in_sync_replicas=(BROKER,))
    assert reported.take() == [], "the same leader in the same epoch"
    change(world, topic_id, leader=BROKER, leader_epoch=1)
    assert reported.take() == [("leads", T0, 1)]
    change(world, topic_id, leader=OTHER, leader_epoch=2)
    assert reported.take() == [("resigned", T0, -1)]
    change(world, topic_id, leader=OTHER, leader_epoch=3)
    assert reported.take() == []
    change(world, topic_id, leader=BROKER, leader_epoch=4)
    assert reported.take() == [("leads", T0, 4)]


def test_a_replica_that_is_out_of_sync_is_placed_nevertheless(world: BrokerWorld) -> None:
    topic_id = TopicId(b"t" * 16)
    created = PartitionCreated(topic_id, 0, (OTHER, BROKER), (OTHER,), OTHER)
    world.publish(TopicCreated(topic_id, "t"), created)
    partition = world.replicas.partition("t", 0)
    assert not partition.is_leader
    assert partition.leadership.replicas == (OTHER, BROKER)
    assert partition.leadership.in_sync_replicas == (OTHER,)


def test_partitions_of_other_brokers_and_unknown_ones_have_different_errors(
    world: BrokerWorld,
) -> None:
    topic_id = TopicId(b"t" * 16)
    world.publish(
        TopicCreated(topic_id, "t"),
        PartitionCreated(topic_id, 0, (BROKER,), (BROKER,), BROKER),
        PartitionCreated(topic_id, 1, (OTHER,), (OTHER,), OTHER),
    )
    found = world.replicas.partition("t", 0)
    assert world.replicas.partition_by_id(topic_id, 0) is found
    assert world.replicas.partition_by_key(FetchKey("t", 0)) is found
    assert world.replicas.partition_by_key(FetchKey(topic_id, 0)) is found
    for key, code in (
        (FetchKey("t", 1), ErrorCode.NOT_LEADER_OR_FOLLOWER),
        (FetchKey(topic_id, 1), ErrorCode.NOT_LEADER_OR_FOLLOWER),
        (FetchKey("t", 2), ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
        (FetchKey("t", -1), ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
        (FetchKey("u", 0), ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
        (FetchKey(b"u" * 16, 0), ErrorCode.UNKNOWN_TOPIC_ID),
    ):
        with pytest.raises(BrokerError) as raised:
            world.replicas.partition_by_key(key)
        assert raised.value.code is code, key


def test_a_reader_leaves_the_partitions_it_has_forgotten_and_no_others(world: BrokerWorld) -> None:
    world.create_topic("t", 2)
    session = FetchSession(1, False, False, 0)
    keys = [FetchKey("t", 0), FetchKey("t", 1)]
    for key in keys:
        world.replicas.partition_by_key(key).fetches.sessions[session] = key
    for key in (FetchKey("gone", 0), keys[0], keys[0]):
        world.replicas.leave(session, key)
    left = [session in world.replicas.partition_by_key(key).fetches.sessions for key in keys]
    assert left == [False, True]


def test_a_setting_of_a_topic_reaches_its_partitions_and_that_of_a_broker_all(
    world: BrokerWorld,
) -> None:
    world.create_topic("t", 2)
    world.create_topic("u")
    configs = {"t": TopicConfig(), "u": TopicConfig()}
    world.replicas._configs.of_topic = configs.__getitem__

    def retentions() -> list[int]:
        names = (("t", 0), ("t", 1), ("u", 0))
        return [world.replicas.partition(*name).log.config.retention_ms for name in names]

    before = retentions()
    configs["t"] = replace(configs["t"], retention_ms=7)
    configs["u"] = replace(configs["u"], retention_ms=8)
    world.publish(ConfigChanged(ConfigResource(ResourceType.GROUP, "t"), "x", "y"))
    assert retentions() == before
    world.publish(ConfigChanged(ConfigResource(ResourceType.TOPIC, "t"), "retention.ms", "7"))
    assert retentions() == [7, 7, before[2]]
    world.publish(ConfigChanged(ALL_BROKERS, "log.retention.ms", "8"))
    assert retentions() == [7, 7, 8]


def test_nothing_is_committed_below_a_minimum_that_changes_with_the_in_sync_replicas(
    world: BrokerWorld,
) -> None:
    """The controller has set the minimum first: the replica that leaves may be elected."""
    configs = {"t": TopicConfig()}
    world.replicas._configs.of_topic = configs.__getitem__
    topic_id = world.create_topic("t", replicas=(BROKER, OTHER))
    partition = world.replicas.partition(*T0)
    partition.append(batch_of(b"v"), 1)
    configs["t"] = TopicConfig(min_insync_replicas=2)
    minimum = ConfigResource(ResourceType.TOPIC, "t"), "min.insync.replicas", "2"
    leaves = PartitionChanged(
        topic_id, 0, 1, in_sync_replicas=(BROKER,), eligible_replicas=(OTHER,)
    )
    world.publish(ConfigChanged(*minimum), leaves)
    assert partition.leadership.in_sync_replicas == (BROKER,)
    assert partition.log.high_watermark == 0


def test_topics_whose_batches_are_opened_are_known_by_name_and_id_until_they_are_not(
    world: BrokerWorld,
) -> None:
    configs = {"t": TopicConfig(compression_type="gzip"), "u": TopicConfig()}
    zipped = TopicConfig(compression_type="gzip")
    world.replicas._configs.of_topic = lambda topic: configs.get(topic, zipped)
    first, second = world.create_topic("t"), world.create_topic("u")
    assert world.replicas.opening == {"t", first}
    configs.update(t=TopicConfig(), u=TopicConfig(compression_type="lz4"))
    world.publish(ConfigChanged(ALL_BROKERS, "compression.type", "x"))
    assert world.replicas.opening == {"u", second}
    world.publish(ConfigChanged(ConfigResource(ResourceType.TOPIC, "elsewhere"), "x", "y"))
    assert world.replicas.opening == {"u", second}
    world.delete_topic("u")
    assert world.replicas.opening == set()
    asked: list[str] = []

    def of_topic(topic: str) -> TopicConfig:
        asked.append(topic)
        return TopicConfig()

    world.replicas._configs.of_topic = of_topic
    world.publish(ConfigChanged(ALL_BROKERS, "compression.type", "y"))
    assert asked == ["t"], "nothing is left of the deleted one"


def test_a_partition_that_goes_offline_resigns_and_fails_with_its_own_error(
    world: BrokerWorld,
) -> None:
    reported = Reports(world)
    world.create_topic("t", 2)
    reported.take()
    follower = world.create_topic("f", replicas=(OTHER, BROKER))
    waiting = world.replicas.partition("t", 0)
    append(waiting.log, b"v")
    world.disk.fail("sync", "*", times=None)
    with pytest.raises(StorageUnavailable):
        flush(waiting.log)
    assert sorted(reported.take()) == [
        ("resigned", T0, -1),
        ("resigned", TopicPartition("t", 1), -1),
    ]
    for name in ("t", "f"):
        with pytest.raises(BrokerError) as raised:
            world.replicas.partition(name, 0)
        assert raised.value.code is ErrorCode.KAFKA_STORAGE_ERROR
    assert world.image.topic_by_id(follower) is not None
    assert not waiting.is_leader
    world.delete_topic("t")
    with pytest.raises(BrokerError) as raised:
        world.replicas.partition("t", 0)
    assert raised.value.code is ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


def restarted(world: BrokerWorld, *, is_clean: bool) -> BrokerWorld:
    if is_clean:
        world.replicas.close()
        world.logs.close()
    else:
        world.disk.kill()
    again = BrokerWorld(disk=world.disk, image=world.image)
    again.replicas.load(again.image)
    return again


@pytest.mark.parametrize("is_clean", [True, False], ids=["stopped", "killed"])
def test_after_a_restart_every_partition_is_what_it_was(world: BrokerWorld, is_clean: bool) -> None:
    topic_id = world.create_topic("t", 3, replicas=(BROKER, OTHER))
    world.create_topic("away", replicas=(OTHER,))
    change(world, topic_id, 1, leader=OTHER, leader_epoch=5)
    change(world, topic_id, 2, in_sync_replicas=(BROKER,))
    for number in range(3):
        append(world.replicas.partition("t", number).log, b"%d" % number)
    before = {each.name: (each.leadership, each.is_leader) for each in world.replicas}
    reported = Reports(again := restarted(world, is_clean=is_clean))
    assert {each.name: (each.leadership, each.is_leader) for each in again.replicas} == before
    values = [values_of(again.replicas.partition("t", number).log) for number in range(3)]
    assert values == [[b"0"], [b"1"], [b"2"]]
    assert reported.take() == [], "it subscribed after the load"
    assert again.replicas.partition_by_id(topic_id, 2) is again.replicas.partition("t", 2)


@pytest.mark.parametrize("is_clean", [True, False], ids=["stopped", "killed"])
def test_a_partition_that_was_moved_away_is_not_led_again_after_a_restart(
    world: BrokerWorld, is_clean: bool
) -> None:
    topic_id = world.create_topic("t", replicas=(BROKER, OTHER))
    append(world.replicas.partition("t", 0).log, b"v")
    change(world, topic_id, replicas=(OTHER,), in_sync_replicas=(OTHER,), leader=OTHER,
           leader_epoch=1)  # fmt: skip
    with pytest.raises(BrokerError):
        world.replicas.partition("t", 0)
    again = restarted(world, is_clean=is_clean)
    with pytest.raises(BrokerError) as raised:
        again.replicas.partition("t", 0)
    assert raised.value.code is ErrorCode.NOT_LEADER_OR_FOLLOWER
    assert len(again.replicas) == 0
