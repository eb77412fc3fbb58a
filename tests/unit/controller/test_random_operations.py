"""Whatever is asked of a cluster in whatever order, what must hold does hold after every step."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from random import Random

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.unit.controller.clusters import Cluster, directory
from tests.unit.controller.partition_model import Expected, Model

from ottla.base.ids import NO_LEADER, TopicId
from ottla.controller.alter_configs import DELETE, SET, decide_incremental_alter_configs
from ottla.controller.alter_partition import decide_alter_partition
from ottla.controller.assign_directories import decide_assign_directories
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
from ottla.controller.eligible_replicas import MIN_IN_SYNC
from ottla.controller.reassignment import decide_alter_partition_reassignments
from ottla.metadata.codec import decode_records, encode_records
from ottla.metadata.entities import PartitionRegistration, Topic
from ottla.metadata.image import Batch, Image
from ottla.metadata.records import PartitionCreated
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.messages import assign_replicas_to_dirs_request as assign
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
from ottla.protocol.messages.elect_leaders_request import ElectLeadersRequest, TopicPartitions

BROKERS = range(1, 6)
TOPICS = ("a", "b.c", "b_c", "d")
ELECTIONS = ("preferred", "unclean")


def some_partition(rng: Random, image: Image) -> tuple[Topic, int, PartitionRegistration] | None:
    found = list(image.all_partitions())
    return rng.choice(found) if found else None


def some_index(rng: Random, topic: Topic) -> int:
    """One that is there, mostly; else the nearest that is not."""
    count = len(topic.partitions)
    return rng.choice((-1, count)) if rng.random() < 0.1 else rng.randrange(count)


# Operations. Each answers which partitions it changes, besides those it makes or deletes.


def create(rng: Random, cluster: Cluster) -> Expected:
    topic = CreatableTopic(rng.choice(TOPICS), rng.randrange(1, 4), rng.randrange(1, 4))
    records = decide_create_topics(cluster.state, CreateTopicsRequest([topic])).records
    if rng.random() < 0.2:  # as a version without directories made it
        records = tuple(
            replace(each, directories=()) if isinstance(each, PartitionCreated) else each
            for each in records
        )
    cluster.apply(records)
    return {}


def add_partitions(rng: Random, cluster: Cluster) -> Expected:
    wanted = CreatePartitionsTopic(rng.choice(TOPICS), rng.randrange(1, 8), None)
    request = CreatePartitionsRequest([wanted])
    cluster.carry_out(decide_create_partitions(cluster.state, request))
    return {}


def delete(rng: Random, cluster: Cluster) -> Expected:
    request = DeleteTopicsRequest([DeleteTopicState(rng.choice(TOPICS))])
    cluster.carry_out(decide_delete_topics(cluster.state, request, 6))
    return {}


def register(rng: Random, cluster: Cluster) -> Expected:
    broker_id, model = rng.choice(BROKERS), Model(cluster.image.copy())
    known = cluster.image.broker(broker_id)
    previous = known.epoch if known is not None and rng.random() < 0.5 else -1
    is_same = known is not None and rng.random() < 0.2
    request = cluster.registration(
        broker_id,
        previous_epoch=previous,
        directories=rng.randrange(1, 3),
        incarnation=known.incarnation_id if known is not None and is_same else None,
    )
    is_ready = rng.random() < 0.3
    epoch = cluster.carry_out(
        decide_register_broker(cluster.state, request, has_session=is_same, is_ready=is_ready)
    )
    broker = cluster.image.brokers[broker_id]
    assert broker.epoch == epoch
    assert broker.log_directories == tuple(request.log_dirs)
    if known is not None and is_same:
        assert broker == replace(known, log_directories=broker.log_directories)
        return {}
    assert broker.is_fenced is not is_ready
    assert not broker.is_shutting_down
    is_clean = known is None or previous == known.epoch
    return model.after_registering(broker, is_clean=is_clean)


def on_broker(rng: Random, cluster: Cluster) -> Expected:
    if not cluster.image.brokers:
        return {}
    broker, model = rng.choice(list(cluster.image.brokers.values())), Model(cluster.image.copy())
    match rng.randrange(6):
        case 0 | 1:
            cluster.carry_out(decide_unfence_broker(cluster.state, broker.id, broker.epoch))
            assert not cluster.image.brokers[broker.id].is_fenced
            return model.after_unfencing(broker) if broker.is_fenced else {}
        case 2:
            cluster.carry_out(decide_fence_broker(cluster.state, broker.id))
            assert cluster.image.brokers[broker.id].is_fenced
            return {} if broker.is_fenced else model.after_fencing(broker)
        case 3:
            decision = decide_controlled_shutdown(cluster.state, broker.id, broker.epoch)
            may_stop = cluster.carry_out(decision)
            assert cluster.image.brokers[broker.id].is_shutting_down
            led = [
                each for _, _, each in cluster.image.all_partitions() if each.leader == broker.id
            ]
            assert may_stop is not bool(led)
            return model.after_shutdown(broker)
        case 4:
            lost = broker.log_directories[: rng.randrange(2)]
            cluster.carry_out(
                decide_directories_offline(cluster.state, broker.id, broker.epoch, lost)
            )
            left = tuple(each for each in broker.log_directories if each not in lost)
            assert cluster.image.brokers[broker.id].log_directories == left
            return model.after_losing(broker, lost)
        case _:
            if rng.random() < 0.7:
                return {}
            cluster.carry_out(decide_unregister_broker(cluster.state, broker.id))
            assert broker.id not in cluster.image.brokers
            return model.after_unregistering(broker)


def alter_isr(rng: Random, cluster: Cluster) -> Expected:
    found = some_partition(rng, cluster.image)
    if found is None or found[2].leader == NO_LEADER:
        return {}
    topic, index, old = found
    model, brokers = Model(cluster.image.copy()), cluster.image.brokers
    members = [each for each in old.replicas if rng.random() < 0.7]
    leader_leaves = set(members) == set(old.in_sync_replicas) - {old.leader}
    if old.leader not in members and not leader_leaves and rng.random() < 0.95:
        members.append(old.leader)
    version = rng.choice((2, 3))
    claimed = {each: rng.choice((-1, brokers[each].epoch)) for each in members if each in brokers}
    if claimed and rng.random() < 0.1:
        claimed[rng.choice(list(claimed))] -= 1
    recovery = rng.choice((0, old.leader_recovery))
    leader_epoch, partition_epoch = (
        epoch + (rng.choice((-1, 1)) if rng.random() < 0.1 else 0)
        for epoch in (old.leader_epoch, old.partition_epoch)
    )
    with_epochs = [BrokerState(each, claimed.get(each, -1)) for each in members]
    data = PartitionData(
        index,
        leader_epoch,
        members if version < 3 else [],
        with_epochs if version >= 3 else [],
        recovery,
        partition_epoch,
    )
    leader = brokers[old.leader]
    request = AlterPartitionRequest(leader.id, leader.epoch, [TopicData(topic.id, [data])])
    answer = cluster.carry_out(decide_alter_partition(cluster.state, request, version))
    reported = answer.topics[0].partitions[0]
    leaves = bool(members) and set(members) == set(old.in_sync_replicas) - {old.leader}
    code = ErrorCode.NONE
    if leader_epoch > old.leader_epoch or partition_epoch > old.partition_epoch:
        code = ErrorCode.NOT_CONTROLLER
    elif leader_epoch < old.leader_epoch:
        code = ErrorCode.FENCED_LEADER_EPOCH
    elif partition_epoch < old.partition_epoch:
        code = ErrorCode.INVALID_UPDATE_VERSION
    elif not leaves and (old.leader not in members or (recovery and members != [old.leader])):
        code = ErrorCode.INVALID_REQUEST
    elif not all(is_up(cluster, each) for each in members) or (
        version >= 3 and any(claimed[each] not in (-1, brokers[each].epoch) for each in members)
    ):
        code = ErrorCode.INELIGIBLE_REPLICA
    elif any(
        each not in old.in_sync_replicas and not model.can_lead(each, old) for each in members
    ):
        code = ErrorCode.INELIGIBLE_REPLICA  # its directory is offline
    if code is not ErrorCode.NONE:
        assert reported.error_code == code
        return {}
    recovery = old.leader_recovery if leaves else recovery
    expected = model.after_altering((topic.name, index), members, recovery)
    now = expected.get((topic.name, index), old)
    if now.leader == NO_LEADER:  # one that is in sync has lost its directory
        assert reported.error_code == ErrorCode.INELIGIBLE_REPLICA
        return {}
    if now.leader != old.leader:
        assert reported.error_code == ErrorCode.NEW_LEADER_ELECTED
    else:
        assert (reported.error_code, reported.leader_id) == (ErrorCode.NONE, now.leader)
        assert (reported.leader_epoch, reported.partition_epoch) == (
            now.leader_epoch,
            now.partition_epoch,
        )
        assert (tuple(reported.isr), reported.leader_recovery_state) == (
            now.in_sync_replicas,
            now.leader_recovery,
        )
    return expected


def is_up(cluster: Cluster, broker_id: int) -> bool:
    broker = cluster.image.broker(broker_id)
    return broker is not None and not broker.is_fenced and not broker.is_shutting_down


def reassign(rng: Random, cluster: Cluster) -> Expected:
    found = some_partition(rng, cluster.image)
    if found is None:
        return {}
    model, topic = Model(cluster.image.copy()), found[0]
    index = some_index(rng, topic)
    replicas = None if rng.random() < 0.3 else rng.sample(BROKERS, rng.randrange(1, 4))
    may_change_factor = rng.random() < 0.7
    target = ReassignableTopic(topic.name, [ReassignablePartition(index, replicas)])
    request = AlterPartitionReassignmentsRequest(
        allow_replication_factor_change=may_change_factor, topics=[target]
    )
    answer = cluster.carry_out(decide_alter_partition_reassignments(cluster.state, request))
    code = answer.responses[0].partitions[0].error_code
    if not 0 <= index < len(topic.partitions):
        assert code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        return {}
    if replicas is None:
        expected = model.after_cancelling((topic.name, index))
        assert (code == ErrorCode.NONE) is (expected is not None)
        return expected or {}
    if any(each not in model.image.brokers for each in replicas):
        assert code == ErrorCode.INVALID_REPLICA_ASSIGNMENT
        return {}
    old = topic_partition(model.image, topic, index)
    factor = len({*old.replicas} - {*old.removing_replicas})  # after a move that is under way
    if not may_change_factor and factor != len(replicas):
        assert code == ErrorCode.INVALID_REPLICATION_FACTOR
        return {}
    assert code == ErrorCode.NONE
    return model.after_moving((topic.name, index), replicas)


def topic_partition(image: Image, topic: Topic, index: int) -> PartitionRegistration:
    return image.topics[topic.name].partitions[index]


def elect(rng: Random, cluster: Cluster) -> Expected:
    """All partitions, or one of them, named twice."""
    model, kind = Model(cluster.image.copy()), rng.randrange(2)
    found = some_partition(rng, cluster.image)
    if found is None or rng.random() < 0.5:
        named, places = None, [place for place, _ in model.places()]
    else:
        index = some_index(rng, found[0])
        named, places = [TopicPartitions(found[0].name, [index] * 2)], [(found[0].name, index)]
    answer = cluster.carry_out(
        decide_elect_leaders(cluster.state, ElectLeadersRequest(kind, named))
    )
    reported = {
        (topic.topic, each.partition_id): each.error_code
        for topic in answer.replica_election_results
        for each in topic.partition_result
    }
    expected: Expected = {}
    for place in places:
        if not 0 <= place[1] < len(model.image.topics[place[0]].partitions):
            assert reported[place] == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
            continue
        changes = model.after_electing(place, ELECTIONS[kind])
        if changes is None:
            not_needed = None if named is None else ErrorCode.ELECTION_NOT_NEEDED
            assert reported.get(place) == not_needed
        elif changes:
            assert reported[place] == ErrorCode.NONE
            expected |= changes
        elif kind == 0:
            assert reported[place] == ErrorCode.PREFERRED_LEADER_NOT_AVAILABLE
        else:
            assert reported[place] == ErrorCode.ELIGIBLE_LEADERS_NOT_AVAILABLE
    return expected


def balance(_rng: Random, cluster: Cluster) -> Expected:
    model = Model(cluster.image.copy())
    assert not cluster.carry_out(decide_balance_leaders(cluster.state)), "nothing is left"
    return model.after_balancing()


def elect_uncleanly(_rng: Random, cluster: Cluster) -> Expected:
    model = Model(cluster.image.copy())
    assert not cluster.carry_out(decide_unclean_elections(cluster.state)), "nothing is left"
    return model.after_unclean_elections()


def assign_directory(rng: Random, cluster: Cluster) -> Expected:
    found = some_partition(rng, cluster.image)
    if found is None or not cluster.image.brokers:
        return {}
    topic, _, _ = found
    index, model = some_index(rng, topic), Model(cluster.image.copy())
    broker = rng.choice(list(cluster.image.brokers.values()))
    chosen = directory(broker.id, rng.randrange(3))
    asked = assign.DirectoryData(
        chosen, [assign.TopicData(topic.id, [assign.PartitionData(index)])]
    )
    request = assign.AssignReplicasToDirsRequest(broker.id, broker.epoch, [asked])
    answer = cluster.carry_out(decide_assign_directories(cluster.state, request))
    code = answer.directories[0].topics[0].partitions[0].error_code
    if not 0 <= index < len(topic.partitions):
        assert code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        return {}
    if broker.id not in topic_partition(model.image, topic, index).replicas:
        assert code == ErrorCode.NOT_LEADER_OR_FOLLOWER
        return {}
    assert code == ErrorCode.NONE
    return model.after_assigning((topic.name, index), broker, chosen)


def configure(rng: Random, cluster: Cluster) -> Expected:
    name, value = rng.choice(
        [
            (MIN_IN_SYNC, str(rng.randrange(1, 4))),
            (MIN_IN_SYNC, str(rng.randrange(1, 4))),
            ("unclean.leader.election.enable", rng.choice(("true", "false"))),
            ("retention.ms", "5"),
        ]
    )
    kind, resource = rng.choice([(2, rng.choice(TOPICS)), (4, "")])
    model = Model(cluster.image.copy())
    is_deleted = rng.random() < 0.2
    config = incremental.AlterableConfig(name, DELETE if is_deleted else SET, value)
    asked = incremental.AlterConfigsResource(kind, resource, [config])
    request = incremental.IncrementalAlterConfigsRequest([asked])
    answer = cluster.carry_out(decide_incremental_alter_configs(cluster.state, request, 1))
    if answer.responses[0].error_code or name != MIN_IN_SYNC:
        return {}
    if kind == 4:
        is_other = model.image.broker_config(None).get(name) != value
        return model.after_new_minimum(model.image.topics if is_other else ())
    is_other = model.image.topic_config(resource).get(name) != (None if is_deleted else value)
    return model.after_new_minimum([resource] if is_other else [])


def restart(_rng: Random, cluster: Cluster) -> Expected:
    """The next controller continues with what a snapshot says."""
    cluster.image = reloaded(cluster.image)
    return {}


OPERATIONS: tuple[Callable[[Random, Cluster], Expected], ...] = (
    create,
    create,
    add_partitions,
    delete,
    register,
    register,
    *[on_broker] * 4,
    *[alter_isr] * 4,
    *[reassign] * 3,
    elect,
    balance,
    elect_uncleanly,
    assign_directory,
    configure,
    configure,
    restart,
)


def check(image: Image, before: dict[tuple[TopicId, int], PartitionRegistration]) -> None:
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
        assert len(now.directories) in (0, len(now.replicas)), where
        assert (now.last_known_leader == NO_LEADER) or now.leader == NO_LEADER, where
        if now.leader != NO_LEADER:
            assert image.is_active(now.leader), where
        check_epochs(before.get((topic.id, index)), now)
        if (topic.id, index) not in before:
            check_new(image, now)


def check_epochs(old: PartitionRegistration | None, now: PartitionRegistration) -> None:
    if old is None or old == now:
        return
    assert now.partition_epoch > old.partition_epoch
    assert now.leader_epoch >= old.leader_epoch
    if now.leader != old.leader:
        assert now.leader_epoch > old.leader_epoch


def check_new(image: Image, now: PartitionRegistration) -> None:
    up = tuple(each for each in now.replicas if image.is_active(each))
    directories = tuple(Model(image).only_directory(each) for each in now.replicas)
    if not now.directories:
        directories = ()
    assert now == PartitionRegistration(now.replicas, up, up[0], directories=directories)


@settings(max_examples=150, deadline=None)
@given(st.integers(0, 2**32))
def test_every_operation_does_what_the_model_says_and_keeps_what_must_hold(seed: int) -> None:
    rng = Random(seed)
    cluster = Cluster(seed)
    for broker_id in (1, 2, 3):
        cluster.add_broker(broker_id)
    for _ in range(40):
        before = {(t.id, i): p for t, i, p in cluster.image.all_partitions()}
        operation = rng.choice(OPERATIONS)
        expected = operation(rng, cluster)
        check(cluster.image, before)
        for topic, index, now in cluster.image.all_partitions():
            old = before.get((topic.id, index), now)
            assert now == expected.get((topic.name, index), old), operation.__name__
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
