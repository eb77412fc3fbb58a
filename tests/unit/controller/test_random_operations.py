"""Whatever is asked of a cluster in whatever order, what must hold does hold after every step."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.unit.controller.clusters import Cluster

from ottla.base.ids import TopicId
from ottla.controller.alter_configs import SET, decide_incremental_alter_configs
from ottla.controller.alter_partition import decide_alter_partition
from ottla.controller.brokers import (
    decide_controlled_shutdown,
    decide_directories_offline,
    decide_fence_broker,
    decide_register_broker,
    decide_unfence_broker,
    decide_unregister_broker,
)
from ottla.controller.create_partitions import decide_create_partitions
from ottla.controller.create_topics import decide_create_topics
from ottla.controller.delete_topics import decide_delete_topics
from ottla.controller.elect_leaders import (
    decide_balance_leaders,
    decide_elect_leaders,
    decide_unclean_elections,
)
from ottla.controller.reassignment import decide_alter_partition_reassignments
from ottla.metadata.codec import decode_records, encode_records
from ottla.metadata.entities import Partition, Topic
from ottla.metadata.image import Batch, Image
from ottla.metadata.records import NO_LEADER
from ottla.protocol.messages import incremental_alter_configs_request as incremental
from ottla.protocol.messages.alter_partition_reassignments_request import (
    AlterPartitionReassignmentsRequest,
    ReassignablePartition,
    ReassignableTopic,
)
from ottla.protocol.messages.alter_partition_request import (
    AlterPartitionRequest,
    BrokerState,
    PartitionData,
    TopicData,
)
from ottla.protocol.messages.create_partitions_request import (
    CreatePartitionsRequest,
    CreatePartitionsTopic,
)
from ottla.protocol.messages.create_topics_request import CreatableTopic, CreateTopicsRequest
from ottla.protocol.messages.delete_topics_request import DeleteTopicsRequest, DeleteTopicState
from ottla.protocol.messages.elect_leaders_request import ElectLeadersRequest

BROKERS = range(1, 6)
TOPICS = ("a", "b.c", "b_c", "d")


def some_partition(rng: Random, image: Image) -> tuple[Topic, int, Partition] | None:
    found = list(image.all_partitions())
    return rng.choice(found) if found else None


def create(rng: Random, cluster: Cluster) -> None:
    topic = CreatableTopic(rng.choice(TOPICS), rng.randrange(1, 4), rng.randrange(1, 4))
    cluster.carry_out(decide_create_topics(cluster.state, CreateTopicsRequest([topic])))


def add_partitions(rng: Random, cluster: Cluster) -> None:
    wanted = CreatePartitionsTopic(rng.choice(TOPICS), rng.randrange(1, 8), None)
    request = CreatePartitionsRequest([wanted])
    cluster.carry_out(decide_create_partitions(cluster.state, request))


def delete(rng: Random, cluster: Cluster) -> None:
    request = DeleteTopicsRequest([DeleteTopicState(rng.choice(TOPICS))])
    cluster.carry_out(decide_delete_topics(cluster.state, request, 6))


def register(rng: Random, cluster: Cluster) -> None:
    broker_id = rng.choice(BROKERS)
    known = cluster.image.broker(broker_id)
    previous = known.epoch if known is not None and rng.random() < 0.5 else -1
    request = cluster.registration(
        broker_id, previous_epoch=previous, directories=rng.randrange(1, 3)
    )
    cluster.carry_out(
        decide_register_broker(
            cluster.state, request, has_session=False, is_ready=rng.random() < 0.3
        )
    )


def on_broker(rng: Random, cluster: Cluster) -> None:
    if not cluster.image.brokers:
        return
    broker = rng.choice(list(cluster.image.brokers.values()))
    match rng.randrange(6):
        case 0 | 1:
            cluster.carry_out(decide_unfence_broker(cluster.state, broker.id, broker.epoch))
        case 2:
            cluster.carry_out(decide_fence_broker(cluster.state, broker.id))
        case 3:
            cluster.carry_out(decide_controlled_shutdown(cluster.state, broker.id, broker.epoch))
        case 4:
            lost = broker.log_directories[: rng.randrange(2)]
            decision = decide_directories_offline(cluster.state, broker.id, broker.epoch, lost)
            cluster.carry_out(decision)
        case _:
            if rng.random() < 0.3:
                cluster.carry_out(decide_unregister_broker(cluster.state, broker.id))


def alter_isr(rng: Random, cluster: Cluster) -> None:
    found = some_partition(rng, cluster.image)
    if found is None or found[2].leader == NO_LEADER:
        return
    topic, index, partition = found
    members = [each for each in partition.replicas if rng.random() < 0.7]
    if partition.leader not in members:
        members.append(partition.leader)
    data = PartitionData(
        index,
        partition.leader_epoch,
        members,
        [BrokerState(each, -1) for each in members],
        0,
        partition.partition_epoch - rng.randrange(2),
    )
    leader = cluster.image.brokers[partition.leader]
    request = AlterPartitionRequest(leader.id, leader.epoch, [TopicData(topic.id, [data])])
    cluster.carry_out(decide_alter_partition(cluster.state, request, 3))


def reassign(rng: Random, cluster: Cluster) -> None:
    found = some_partition(rng, cluster.image)
    if found is None:
        return
    topic, index, _ = found
    replicas = None if rng.random() < 0.3 else rng.sample(BROKERS, rng.randrange(1, 4))
    target = ReassignableTopic(topic.name, [ReassignablePartition(index, replicas)])
    request = AlterPartitionReassignmentsRequest(topics=[target])
    cluster.carry_out(decide_alter_partition_reassignments(cluster.state, request))


def elect(rng: Random, cluster: Cluster) -> None:
    request = ElectLeadersRequest(rng.randrange(2), None)
    cluster.carry_out(decide_elect_leaders(cluster.state, request))


def by_itself(rng: Random, cluster: Cluster) -> None:
    cluster.carry_out(decide_balance_leaders(cluster.state))
    cluster.carry_out(decide_unclean_elections(cluster.state))


def configure(rng: Random, cluster: Cluster) -> None:
    name, value = rng.choice(
        [
            ("min.insync.replicas", str(rng.randrange(1, 4))),
            ("unclean.leader.election.enable", rng.choice(("true", "false"))),
            ("retention.ms", "5"),
        ]
    )
    kind, resource = rng.choice([(2, rng.choice(TOPICS)), (4, "")])
    config = incremental.AlterableConfig(name, SET, value)
    asked = incremental.AlterConfigsResource(kind, resource, [config])
    request = incremental.IncrementalAlterConfigsRequest([asked])
    cluster.carry_out(decide_incremental_alter_configs(cluster.state, request, 1))


def restart(_rng: Random, cluster: Cluster) -> None:
    """The next controller goes on with what a snapshot says."""
    cluster.image = reloaded(cluster.image)


OPERATIONS: tuple[Callable[[Random, Cluster], None], ...] = (
    create,
    create,
    add_partitions,
    delete,
    register,
    register,
    on_broker,
    on_broker,
    on_broker,
    on_broker,
    alter_isr,
    alter_isr,
    alter_isr,
    reassign,
    reassign,
    elect,
    by_itself,
    configure,
    restart,
)


def check(image: Image, before: dict[tuple[TopicId, int], Partition]) -> None:
    for topic, index, now in image.all_partitions():
        where = f"{topic.name}-{index}: {now}"
        replicas, in_sync = set(now.replicas), set(now.in_sync_replicas)
        eligible = set(now.eligible_replicas)
        assert now.replicas, where
        assert len(replicas) == len(now.replicas), where
        assert len(in_sync) == len(now.in_sync_replicas), where
        assert in_sync <= replicas, where
        assert eligible <= replicas, where
        assert not in_sync & eligible, where
        assert now.leader == NO_LEADER or now.leader in in_sync, where
        assert set(now.adding_replicas) <= replicas, where
        assert set(now.removing_replicas) <= replicas, where
        assert len(now.directories) == len(now.replicas), where
        assert (now.last_known_leader == NO_LEADER) or now.leader == NO_LEADER, where
        if now.leader != NO_LEADER:
            assert image.is_active(now.leader), where
        check_epochs(before.get((topic.id, index)), now)


def check_epochs(old: Partition | None, now: Partition) -> None:
    if old is None or old == now:
        return
    assert now.partition_epoch > old.partition_epoch
    assert now.leader_epoch >= old.leader_epoch
    if now.leader != old.leader:
        assert now.leader_epoch > old.leader_epoch


@settings(max_examples=120, deadline=None)
@given(st.integers(0, 2**32))
def test_what_must_hold_holds_after_every_operation(seed: int) -> None:
    rng = Random(seed)
    cluster = Cluster(seed)
    for broker_id in (1, 2, 3):
        cluster.add_broker(broker_id)
    for _ in range(40):
        before = {(t.id, i): p for t, i, p in cluster.image.all_partitions()}
        rng.choice(OPERATIONS)(rng, cluster)
        check(cluster.image, before)
    reloaded(cluster.image)


def reloaded(image: Image) -> Image:
    """What was decided, written down and read again, makes the same image."""
    records = decode_records(encode_records(list(image.to_records())))
    loaded = Image()
    loaded.load(records, image.offset, image.controller_epoch)
    assert loaded == image
    assert loaded.partition_count == image.partition_count
    assert loaded.config_bytes == image.config_bytes
    for name in TOPICS:
        assert loaded.colliding_topic(name) == image.colliding_topic(name)
    return loaded


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**32))
def test_the_same_seed_decides_the_same(seed: int) -> None:
    images = []
    for _ in range(2):
        rng, cluster = Random(seed), Cluster(seed)
        cluster.add_broker(1)
        cluster.add_broker(2)
        for _ in range(25):
            rng.choice(OPERATIONS)(rng, cluster)
        images.append(cluster.image)
    assert images[0] == images[1]


def test_a_decision_changes_nothing_by_itself() -> None:
    cluster = Cluster()
    cluster.add_broker(1)
    before = cluster.image.copy()
    request = CreateTopicsRequest([CreatableTopic("t", 5, 1)])
    decision = decide_create_topics(cluster.state, request)
    assert cluster.image == before
    cluster.image.apply(Batch(cluster.image.offset, 1, decision.records))
    assert cluster.image != before
