"""Changes that an administrator makes while clients work: leaders and replicas move, settings
change, topics grow and are replaced."""

from __future__ import annotations

import time

from confluent_kafka import Producer
from tests.chaos.cluster.asking import ask
from tests.chaos.cluster.topics import PartitionState, states
from tests.chaos.faults.context import Fault, FaultContext
from tests.support.waiting import wait_until

from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.messages.alter_partition_reassignments_request import (
    AlterPartitionReassignmentsRequest,
    ReassignablePartition,
    ReassignableTopic,
)
from ottla.protocol.messages.create_partitions_request import (
    CreatePartitionsRequest,
    CreatePartitionsTopic,
)
from ottla.protocol.messages.create_topics_request import CreatableTopic, CreateTopicsRequest
from ottla.protocol.messages.delete_topics_request import DeleteTopicsRequest, DeleteTopicState
from ottla.protocol.messages.elect_leaders_request import ElectLeadersRequest
from ottla.protocol.messages.incremental_alter_configs_request import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)
from ottla.protocol.messages.list_partition_reassignments_request import (
    ListPartitionReassignmentsRequest,
)

PREFERRED = 0
SET = 0
TOPIC_RESOURCE, BROKER_RESOURCE = 2, 4
FLEETING = "fleeting"
FLEETING_RECORDS = 20
ADMIN_S = 30.0
ELECT_LEADERS_VERSION = 2


def elect(context: FaultContext) -> str:
    """The preferred leader of every partition."""
    asked = context.pick("any")
    request = ElectLeadersRequest(PREFERRED, None, 20_000)
    answer = ask(context.cluster.address(asked), request, ELECT_LEADERS_VERSION, ADMIN_S)
    count = sum(
        each.error_code == ErrorCode.NONE
        for topic in answer.replica_election_results
        for each in topic.partition_result
    )
    return f"election of preferred leaders, {count} moved"


def reassign(context: FaultContext) -> str:
    """Other preferred leaders; or first fewer replicas, then all of them again."""
    asked = context.pick("any")
    state = context.rng.choice(states(context.cluster, asked, *context.topics))
    replicas = context.rng.sample(list(state.replicas), len(state.replicas))
    moves = [replicas]
    if len(replicas) > 2 and context.rng.random() < 0.7:
        moves.insert(0, replicas[: context.rng.randint(1, 2)])
    for move in moves:
        change(context, asked, state, move)
        time.sleep(context.rng.uniform(0.0, 2.0))
    return f"{state.key} moved from {state.replicas} to {' and then '.join(map(str, moves))}"


def change(context: FaultContext, asked: int, state: PartitionState, replicas: list[int]) -> None:
    """Until it is done."""
    address = context.cluster.address(asked)
    part = ReassignablePartition(state.partition, replicas)
    topic = ReassignableTopic(state.topic, [part])
    request = AlterPartitionReassignmentsRequest(20_000, True, [topic])
    answer = ask(address, request, timeout_s=ADMIN_S)
    codes = {answer.error_code, answer.responses[0].partitions[0].error_code}
    assert codes == {ErrorCode.NONE}, answer

    def is_done() -> bool:
        question = ListPartitionReassignmentsRequest(20_000, None)
        return not ask(address, question, timeout_s=ADMIN_S).topics

    wait_until(is_done, f"the reassignment of {state.key} to {replicas}", 60.0)


def configure(context: FaultContext) -> str:
    """Settings of a topic, and of all brokers, that change how records are stored and copied."""
    topic = context.rng.choice(context.topics)
    of_topic = {
        "segment.bytes": context.rng.choice(["1048576", "4194304"]),
        "flush.messages": context.rng.choice(["1", "1000", "9223372036854775807"]),
        "max.message.bytes": context.rng.choice(["1048588", "2097152"]),
    }
    of_brokers = {
        "num.replica.fetchers": context.rng.choice(["1", "2"]),
        "log.retention.ms": context.rng.choice(["3600000", "604800000"]),
    }
    set_config(context, TOPIC_RESOURCE, topic, of_topic)
    set_config(context, BROKER_RESOURCE, "", of_brokers)
    return f"settings of {topic}: {of_topic}, of brokers: {of_brokers}"


def set_config(context: FaultContext, kind: int, name: str, wanted: dict[str, str]) -> None:
    configs = [AlterableConfig(key, SET, value) for key, value in wanted.items()]
    request = IncrementalAlterConfigsRequest([AlterConfigsResource(kind, name, configs)])
    address = context.cluster.address(context.pick("any"))
    (answer,) = ask(address, request, timeout_s=ADMIN_S).responses
    assert answer.error_code == ErrorCode.NONE, answer


def grow(context: FaultContext) -> str:
    """A topic that groups read gets another partition, without records."""
    topic = context.topics[-1]
    asked = context.pick("any")
    count = 1 + sum(each.topic == topic for each in states(context.cluster, asked, topic))
    request = CreatePartitionsRequest([CreatePartitionsTopic(topic, count, None)], 20_000)
    (answer,) = ask(context.cluster.address(asked), request, timeout_s=ADMIN_S).results
    assert answer.error_code == ErrorCode.NONE, answer
    return f"{topic} has {count} partitions"


def replace_topic(context: FaultContext) -> str:
    """A topic is deleted, and another one created with its name: it has none of its records."""
    address = context.cluster.address(context.pick("any"))
    deletion = DeleteTopicsRequest([DeleteTopicState(FLEETING)], timeout_ms=20_000)
    (deleted,) = ask(address, deletion, timeout_s=ADMIN_S).responses
    assert deleted.error_code in (ErrorCode.NONE, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION), deleted
    creation = CreateTopicsRequest([CreatableTopic(FLEETING, 1, context.cluster.replication)])
    creation.timeout_ms = 20_000
    (created,) = ask(address, creation, timeout_s=ADMIN_S).topics
    assert created.error_code == ErrorCode.NONE, created
    producer = Producer({"bootstrap.servers": context.cluster.bootstrap_servers, "log_level": 0})
    offsets: list[int | None] = []
    for _ in range(FLEETING_RECORDS):
        producer.produce(FLEETING, b"v", on_delivery=lambda _e, sent: offsets.append(sent.offset()))
    assert not producer.flush(ADMIN_S), "records of a new topic are not acknowledged"
    assert offsets == list(range(FLEETING_RECORDS)), f"a new topic has the offsets {offsets}"
    return f"{FLEETING} deleted and created again"


ELECT: list[Fault] = [elect]
REASSIGN: list[Fault] = [reassign]
CONFIGURE: list[Fault] = [configure]
TOPICS: list[Fault] = [grow, replace_topic]
