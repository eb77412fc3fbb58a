"""A script of admin requests, right and wrong ones, for a cluster of one broker.

`record_kafka_answers.py` sends it to Apache Kafka and keeps the answers;
`test_answers_as_kafka.py` puts the same to our decisions. Each step may depend on those before it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ottla.protocol.message import Message
from ottla.protocol.messages import alter_configs_request as legacy
from ottla.protocol.messages import alter_partition_reassignments_request as reassign
from ottla.protocol.messages import incremental_alter_configs_request as incremental
from ottla.protocol.messages.alter_client_quotas_request import (
    AlterClientQuotasRequest,
    EntityData,
    EntryData,
    OpData,
)
from ottla.protocol.messages.create_partitions_request import (
    CreatePartitionsAssignment,
    CreatePartitionsRequest,
    CreatePartitionsTopic,
)
from ottla.protocol.messages.create_topics_request import (
    CreatableReplicaAssignment,
    CreatableTopic,
    CreatableTopicConfig,
    CreateTopicsRequest,
)
from ottla.protocol.messages.delete_topics_request import DeleteTopicsRequest, DeleteTopicState
from ottla.protocol.messages.describe_client_quotas_request import (
    ComponentData,
    DescribeClientQuotasRequest,
)
from ottla.protocol.messages.describe_configs_request import (
    DescribeConfigsRequest,
    DescribeConfigsResource,
)
from ottla.protocol.messages.elect_leaders_request import ElectLeadersRequest, TopicPartitions
from ottla.protocol.messages.list_partition_reassignments_request import (
    ListPartitionReassignmentsRequest,
    ListPartitionReassignmentsTopics,
)
from ottla.protocol.messages.unregister_broker_request import UnregisterBrokerRequest
from ottla.protocol.messages.update_features_request import FeatureUpdateKey, UpdateFeaturesRequest

TOPIC, BROKER, LOGGER, METRICS, GROUP = 2, 4, 8, 16, 32
SET, DELETE, APPEND, SUBTRACT = range(4)
UNKNOWN_ID = b"0123456789abcdef"


class Step(NamedTuple):
    label: str
    version: int
    request: Message


def script() -> list[Step]:
    steps = [
        *create_topics(),
        *topic_settings(),
        *create_partitions(),
        *delete_topics(),
        *alter_topic_configs(),
        *alter_broker_configs(),
        *alter_other_configs(),
        *legacy_alter_configs(),
        *describe_configs(),
        *quotas(),
        *features(),
        *elections(),
        *reassignments(),
        Step("unregister a stranger", 0, UnregisterBrokerRequest(9)),
    ]
    return [Step(f"{number}: {s.label}", s.version, s.request) for number, s in enumerate(steps)]


def create(*topics: CreatableTopic, version: int = 7, validate_only: bool = False) -> Step:
    request = CreateTopicsRequest(topics, 10_000, validate_only)
    shown = ", ".join(t.name[:20] for t in topics)
    return Step(f"create {shown!r}", version, request)


def topic(name: str, partitions: int = 1, replicas: int = 1) -> CreatableTopic:
    return CreatableTopic(name, partitions, replicas)


def assigned(name: str, *brokers: tuple[int, Sequence[int]], **numbers: int) -> CreatableTopic:
    chosen = [CreatableReplicaAssignment(index, ids) for index, ids in brokers]
    return CreatableTopic(name, numbers.get("partitions", -1), numbers.get("replicas", -1), chosen)


def create_topics() -> Iterator[Step]:
    yield create(topic("a.b", 2))
    yield create(topic("a.b"))
    yield create(topic("a_b"))
    yield create(topic("one", 1), topic("two", 2), topic("a_b"))
    yield create(topic("d"), topic("d", 2))
    names = ["", ".", "..", "x" * 250, "a/b", "a b", "\u00e9", "__cluster_metadata", "a\nb", "../x"]
    for name in [*names, "x" * 249, "a" * 2000, "..."]:
        yield create(topic(name))
    for partitions, replicas in [(1, 0), (1, -2), (1, 5), (0, 1), (-5, 1), (0, 0), (-1, -1)]:
        yield create(topic("e1", partitions, replicas))
    yield create(assigned("as1", (1, [1]), (0, [1])))
    yield create(assigned("as2", (0, [1]), replicas=1))
    yield create(assigned("as2", (0, [1]), partitions=1))
    yield create(assigned("as2", (0, [1]), (0, [1])))
    yield create(assigned("as2", (0, [1]), (2, [1])))
    for brokers in ([9], [1, 1], [], [1, 2]):
        yield create(assigned("as2", (0, brokers)))
    yield create(assigned("as2", (-1, [1])))
    yield create(topic("v1"), validate_only=True)
    yield create(topic("a.b"), validate_only=True)
    yield create(topic("v4", -1, -1), version=4)
    yield create(topic("big", 10_001))
    yield create(topic("small"), topic("big", 10_000))
    yield create(topic("many", 2_000_000_000))


def with_configs(name: str, *configs: tuple[str, str | None]) -> CreatableTopic:
    chosen = [CreatableTopicConfig(key, value) for key, value in configs]
    return CreatableTopic(name, 1, 1, (), chosen)


TOPIC_VALUES: list[tuple[str, list[str | None]]] = [
    ("leader.replication.throttled.replicas", ["a", "0:1,1:2", "*,0:1", "", "*", "none"]),
    ("min.insync.replicas", ["0", "1"]),
    ("min.cleanable.dirty.ratio", ["abc", "0.5f", "1e-1", "-0.1", "2"]),
    ("message.timestamp.type", ["abc", "LogAppendTime"]),
    ("retention.ms", ["+5", "1_000", " 1 ", "", "x", "-1", "-2", "9999999999999999999", None]),
    ("segment.bytes", ["", "100", "99999999999", "1048576"]),
    ("preallocate", ["", "TRUE", "yes"]),
    ("compression.type", ["", "foo", "zstd"]),
    ("cleanup.policy", ["", "delete,delete", " delete , compact ", ",delete", "delete,nope"]),
    ("compression.gzip.level", ["0", "10", "-1"]),
    ("compression.zstd.level", ["23"]),
    ("compression.lz4.level", ["0"]),
    ("segment.index.bytes", ["3"]),
    ("flush.messages", ["0"]),
    ("segment.ms", ["0"]),
    ("max.compaction.lag.ms", ["0"]),
    ("local.retention.ms", ["-3", "5"]),
    ("remote.storage.enable", ["true", "false"]),
    ("retention.bytes", ["-5"]),
    ("max.message.bytes", ["-1"]),
    ("message.timestamp.before.max.ms", ["-1"]),
    ("message.timestamp.difference.max.ms", ["5"]),
    ("message.format.version", ["2.8"]),
    ("internal.segment.bytes", ["500"]),
    ("nope", ["1"]),
]


def topic_settings() -> Iterator[Step]:
    for name, values in TOPIC_VALUES:
        for value in values:
            yield create(with_configs("zz", (name, value)), validate_only=True)
    both = ("min.compaction.lag.ms", "100"), ("max.compaction.lag.ms", "50")
    yield create(with_configs("zz", *both), validate_only=True)
    yield create(with_configs("zz", ("retention.ms", "x"), ("nope", "1")), validate_only=True)
    yield create(with_configs("zz", ("retention.ms", "1"), ("retention.ms", "2")))


def more(name: str, count: int, *brokers: Sequence[int], none: bool = True) -> Step:
    chosen = [CreatePartitionsAssignment(ids) for ids in brokers] if brokers or not none else None
    return partitions(CreatePartitionsTopic(name, count, chosen))


def partitions(*topics: CreatePartitionsTopic, validate_only: bool = False) -> Step:
    request = CreatePartitionsRequest(topics, 10_000, validate_only)
    return Step(f"partitions of {', '.join(t.name for t in topics)}", 3, request)


def create_partitions() -> Iterator[Step]:
    for name, count in [("nope", 3), ("a.b", 2), ("a.b", 1), ("a.b", 0), ("a.b", -1), ("a.b", 3)]:
        yield more(name, count)
    yield partitions(CreatePartitionsTopic("a.b", 4, None), CreatePartitionsTopic("a.b", 5, None))
    yield more("a.b", 5, [1])
    yield more("a.b", 4, [1], [1])
    for brokers in ([7], [], [1, 2], [1, 1]):
        yield more("a.b", 4, brokers)
    yield more("a.b", 4, none=False)
    yield partitions(CreatePartitionsTopic("a.b", 4, None), validate_only=True)
    yield more("a.b", 4, [1])


def delete(*topics: DeleteTopicState, names: Sequence[str] = (), version: int = 6) -> Step:
    return Step("delete", version, DeleteTopicsRequest(topics, names, 10_000))


def delete_topics() -> Iterator[Step]:
    yield create(*(topic(f"del{number}") for number in range(4)))
    yield delete(DeleteTopicState("nope"))
    yield delete(DeleteTopicState(None, UNKNOWN_ID))
    yield delete(DeleteTopicState(None))
    yield delete(DeleteTopicState("del1", UNKNOWN_ID))
    yield delete(DeleteTopicState("del1"), DeleteTopicState("del1"))
    yield delete(DeleteTopicState(None, UNKNOWN_ID), DeleteTopicState(None, UNKNOWN_ID))
    yield delete(DeleteTopicState("del1"))
    yield delete(DeleteTopicState("del1"))
    yield delete(names=["del2", "nope"], version=5)
    yield delete(names=["del3", "del3"], version=5)
    yield delete(DeleteTopicState("../x"))
    yield delete(DeleteTopicState("__cluster_metadata"))


def alter(
    kind: int, name: str, *changes: tuple[str, int, str | None], validate_only: bool = False
) -> Step:
    configs = [incremental.AlterableConfig(*change) for change in changes]
    resource = incremental.AlterConfigsResource(kind, name, configs)
    request = incremental.IncrementalAlterConfigsRequest([resource], validate_only)
    return Step(f"alter {kind} {name!r} {changes}", 1, request)


def alter_topic_configs() -> Iterator[Step]:
    yield alter(TOPIC, "a.b", ("retention.ms", SET, "5"))
    for name in ("nope", "", "a/b"):
        yield alter(TOPIC, name, ("retention.ms", SET, "5"))
    yield alter(TOPIC, "nope", ("retention.ms", SET, "x"))
    for change in [
        ("nope", SET, "5"),
        ("nope", DELETE, None),
        ("retention.ms", SET, "x"),
        ("retention.ms", SET, None),
        ("retention.ms", APPEND, "1"),
        ("retention.ms", SUBTRACT, "1"),
        ("nope", APPEND, "1"),
        ("cleanup.policy", APPEND, "compact"),
        ("cleanup.policy", APPEND, "compact"),
        ("cleanup.policy", APPEND, "compact,nope"),
        ("cleanup.policy", SUBTRACT, "delete"),
        ("cleanup.policy", SUBTRACT, "nope"),
        ("cleanup.policy", SUBTRACT, "compact"),
        ("leader.replication.throttled.replicas", APPEND, "0:1"),
        ("leader.replication.throttled.replicas", APPEND, "1:1"),
        ("leader.replication.throttled.replicas", SUBTRACT, "0:1,5:5"),
        ("retention.ms", DELETE, None),
        ("flush.ms", DELETE, "5"),
    ]:
        yield alter(TOPIC, "a.b", change)
    yield alter(TOPIC, "a.b", ("retention.ms", SET, "5"), ("retention.ms", SET, "6"))
    yield alter(TOPIC, "a.b", ("retention.ms", SET, "7"), ("segment.bytes", SET, "x"))
    yield alter(TOPIC, "a.b", ("retention.ms", SET, "77"), validate_only=True)
    twice = incremental.AlterConfigsResource(
        TOPIC, "a.b", [incremental.AlterableConfig("retention.ms", SET, "6")]
    )
    yield Step("alter twice", 1, incremental.IncrementalAlterConfigsRequest([twice, twice], False))
    for kind in (99, 1, 0):
        yield alter(kind, "a", ("x", SET, "6"))


def alter_broker_configs() -> Iterator[Step]:
    yield alter(BROKER, "1", ("log.cleaner.threads", SET, "2"))
    yield alter(BROKER, "", ("log.retention.ms", SET, "123456"))
    for name in ("2", "x", "-1"):
        yield alter(BROKER, name, ("log.cleaner.threads", SET, "2"))
    for name, change in [
        ("1", ("num.partitions", SET, "2")),
        ("", ("broker.rack", SET, "2")),
        ("", ("log.retention.hours", SET, "2")),
        ("1", ("log.cleaner.threads", SET, "x")),
        ("1", ("log.cleaner.threads", SET, "-1")),
        ("1", ("log.retention.ms", SET, "99")),
        ("1", ("log.retention.ms", APPEND, "99")),
        ("1", ("log.retention.ms", SUBTRACT, "99")),
        ("", ("log.cleanup.policy", APPEND, "compact")),
        ("", ("log.cleanup.policy", SET, "nope")),
        ("", ("log.cleanup.policy", DELETE, None)),
        ("1", ("min.insync.replicas", SET, "1")),
        ("", ("min.insync.replicas", SET, "1")),
        ("", ("min.insync.replicas", SET, "0")),
        ("", ("min.insync.replicas", DELETE, None)),
        ("1", ("leader.replication.throttled.rate", SET, "1000")),
        ("1", ("leader.replication.throttled.rate", SET, "-1")),
        ("", ("max.connections", SET, "1000")),
        ("1", ("message.max.bytes", SET, "-1")),
        ("1", ("log.message.timestamp.type", SET, "x")),
        ("1", ("unclean.leader.election.enable", SET, "maybe")),
        ("1", ("log.segment.bytes", SET, "5")),
        ("1", ("log.cleaner.io.buffer.load.factor", SET, "x")),
        ("", ("log.retention.ms", SET, "123456")),
        ("1", ("compression.type", SET, "lz4")),
        ("", ("compression.type", SET, "zstd")),
    ]:
        yield alter(BROKER, name, change)
    yield alter(BROKER, "1", ("log.cleaner.threads", DELETE, None))


def alter_other_configs() -> Iterator[Step]:
    for name, value in [
        ("consumer.session.timeout.ms", "50000"),
        ("consumer.session.timeout.ms", "5"),
        ("consumer.session.timeout.ms", "70000"),
        ("consumer.session.timeout.ms", "x"),
        ("consumer.heartbeat.interval.ms", "60000"),
        ("consumer.heartbeat.interval.ms", "1"),
        ("consumer.assignment.interval.ms", "20000"),
        ("nope", "5"),
    ]:
        yield alter(GROUP, "g1", (name, SET, value))
    yield alter(GROUP, "", ("consumer.session.timeout.ms", SET, "50000"))
    yield alter(GROUP, "g1", ("consumer.session.timeout.ms", APPEND, "1"))
    for name, value in [
        ("metrics", "org.apache"),
        ("interval.ms", "1000"),
        ("interval.ms", "5"),
        ("interval.ms", "3600001"),
        ("interval.ms", "x"),
        ("nope", "5"),
        ("match", "client_id=["),
        ("match", "foo=1"),
        ("match", "foo"),
        ("match", "client_id=a.*,client_source_address=1.2.3.4"),
        ("match", ""),
    ]:
        yield alter(METRICS, "m1", (name, SET, value))
    yield alter(METRICS, "", ("interval.ms", SET, "1000"))
    yield alter(METRICS, "m1", ("metrics", APPEND, "b"))


def replace(kind: int, name: str, *settings: tuple[str, str | None]) -> Step:
    configs = [legacy.AlterableConfig(*setting) for setting in settings]
    request = legacy.AlterConfigsRequest([legacy.AlterConfigsResource(kind, name, configs)], False)
    return Step(f"replace {kind} {name!r} {settings}", 2, request)


def legacy_alter_configs() -> Iterator[Step]:
    yield replace(TOPIC, "a.b", ("retention.ms", "9"), ("compression.type", "gzip"))
    yield replace(TOPIC, "nope", ("retention.ms", "9"))
    yield replace(TOPIC, "a.b", ("retention.ms", None))
    yield replace(TOPIC, "a.b", ("retention.ms", "9"), ("retention.ms", "8"))
    yield replace(TOPIC, "a.b", ("nope", "8"))
    yield replace(77, "x", ("a", "b"))
    yield replace(LOGGER, "1", ("a", "INFO"))
    yield replace(BROKER, "1", ("num.partitions", "3"))
    yield replace(BROKER, "1", ("log.retention.ms", "99"), ("compression.type", "lz4"))


def describe(kind: int, name: str) -> Step:
    resource = DescribeConfigsResource(kind, name, None)
    return Step(f"describe {kind} {name!r}", 4, DescribeConfigsRequest([resource], True, False))


def describe_configs() -> Iterator[Step]:
    for kind, name in [
        (TOPIC, "a.b"),
        (TOPIC, "one"),
        (BROKER, "1"),
        (BROKER, ""),
        (GROUP, "g1"),
        (GROUP, "never"),
        (METRICS, "m1"),
        (METRICS, "never"),
    ]:
        yield describe(kind, name)


def quota(*entries: tuple[list[tuple[str, str | None]], list[tuple[str, float]]]) -> Step:
    data = [
        EntryData([EntityData(*each) for each in entity], [OpData(*each) for each in limits])
        for entity, limits in entries
    ]
    return Step(f"quota {entries}", 1, AlterClientQuotasRequest(data, False))


def quotas() -> Iterator[Step]:
    rate = "producer_byte_rate"
    yield quota(([("user", "u")], [(rate, 1000.0)]))
    yield quota(([("user", None)], [("consumer_byte_rate", 1000.0)]))
    yield quota(([("ip", "127.0.0.1")], [("connection_creation_rate", 10.0)]))
    yield quota(([("ip", None)], [("connection_creation_rate", 10.0)]))
    yield quota(([("ip", "not an ip")], [("connection_creation_rate", 10.0)]))
    yield quota(([("ip", "127.0.0.1"), ("user", "u")], [("connection_creation_rate", 10.0)]))
    yield quota(([("ip", "127.0.0.1")], [(rate, 10.0)]))
    yield quota(([("ip", "127.0.0.1")], [("connection_creation_rate", 3e9)]))
    entities: list[list[tuple[str, str | None]]] = [
        [],
        [("foo", "u")],
        [("user", "")],
        [("user", "u"), ("user", "v")],
    ]
    for entity in entities:
        yield quota((entity, [(rate, 1.0)]))
    for limit in [("nope", 1.0), (rate, 0.0), (rate, -1.0), (rate, 1.5), (rate, 1e30)]:
        yield quota(([("user", "u")], [limit]))
    yield quota(([("user", "u")], [(rate, 1.0), (rate, 2.0)]))
    yield quota(([("user", "u")], [(rate, 1000.0)]), ([("user", "u")], [(rate, 2.0)]))
    pair: list[tuple[str, str | None]] = [("user", "u"), ("client-id", "c")]
    yield quota((pair, [("request_percentage", 50.5), (rate, 5.0)]))
    for op in [OpData("nope", 1.0, True), OpData("consumer_byte_rate", 0.0, True)]:
        entry = EntryData([EntityData("user", "u")], [op])
        yield Step(f"quota without {op.key}", 1, AlterClientQuotasRequest([entry], False))
    filters: list[tuple[list[tuple[str, int, str | None]], bool]] = [
        ([], False),
        ([("user", 0, "u")], False),
        ([("user", 0, "u")], True),
        ([("user", 1, None)], False),
        ([("user", 2, None)], True),
        ([("user", 2, None), ("client-id", 2, None)], True),
        ([("client-id", 2, None)], False),
        ([("foo", 0, "u")], True),
        ([("user", 0, None)], True),
        ([("user", 9, "u")], True),
        ([("user", 0, "u"), ("user", 0, "u")], True),
        ([("ip", 2, None), ("user", 2, None)], True),
        ([("ip", 2, None)], True),
        ([("user", 1, "x")], True),
        ([("user", 2, "x")], True),
        ([("", 0, "u")], True),
    ]
    for components, is_strict in filters:
        data = [ComponentData(*each) for each in components]
        request = DescribeClientQuotasRequest(data, is_strict)
        yield Step(f"quotas of {components}", 1, request)


def feature(*updates: tuple[str, int, int], version: int = 2, validate_only: bool = True) -> Step:
    data = [FeatureUpdateKey(name, level, False, kind) for name, level, kind in updates]
    request = UpdateFeaturesRequest(10_000, data, validate_only if version else False)
    return Step(f"features {updates}", version, request)


def features() -> Iterator[Step]:
    txn, meta = "transaction.version", "metadata.version"
    for update in [
        ("nope", 1, 1),
        (txn, 2, 1),
        (txn, 1, 1),
        (txn, 9, 1),
        (txn, 1, 2),
        (txn, -1, 1),
        (txn, 2, 9),
        (txn, 2, 0),
        (txn, 2, 2),
        (meta, 1, 1),
        (meta, 20, 2),
        (meta, 20, 3),
        (meta, 28, 2),
        (meta, 99, 1),
        (meta, 30, 1),
        ("group.version", 0, 2),
        ("group.version", 1, 3),
        ("eligible.leader.replicas.version", 1, 1),
    ]:
        yield feature(update)
    yield feature((txn, 1, 1), version=0)
    yield feature((txn, 1, 1), version=1)
    yield feature((txn, 2, 1), ("group.version", 1, 1), version=1)
    yield feature((txn, 2, 1), ("nope", 1, 1))
    yield feature()


def elections() -> Iterator[Step]:
    for kind, wanted in [
        (0, [("a.b", [0, 99])]),
        (0, [("nope", [0])]),
        (1, [("a.b", [0])]),
        (7, [("a.b", [0])]),
        (0, []),
    ]:
        named = [TopicPartitions(name, numbers) for name, numbers in wanted]
        yield Step(f"elect {kind} {wanted}", 2, ElectLeadersRequest(kind, named, 10_000))
    yield Step("elect all", 2, ElectLeadersRequest(0, None, 10_000))


def reassignments() -> Iterator[Step]:
    moves: list[tuple[str, int, list[int] | None, bool]] = [
        ("nope", 0, [1], True),
        ("a.b", 99, [1], True),
        ("a.b", 0, None, True),
        ("a.b", 0, [9], True),
        ("a.b", 0, [], True),
        ("a.b", 0, [1, 1], True),
        ("a.b", 0, [-1], True),
        ("a.b", 0, [1], True),
        ("a.b", 0, [1], False),
    ]
    for name, index, replicas, may_change in moves:
        move = reassign.ReassignableTopic(name, [reassign.ReassignablePartition(index, replicas)])
        request = reassign.AlterPartitionReassignmentsRequest(10_000, may_change, [move])
        yield Step(f"reassign {name} {index} {replicas}", 1, request)
    yield Step("all moves", 0, ListPartitionReassignmentsRequest(10_000, None))
    named = [ListPartitionReassignmentsTopics("nope", [0])]
    yield Step("moves of a stranger", 0, ListPartitionReassignmentsRequest(10_000, named))
