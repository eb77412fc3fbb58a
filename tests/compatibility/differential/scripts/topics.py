"""CreateTopics, DeleteTopics, CreatePartitions."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from typing import Any

from tests.compatibility.differential.scripting import script
from tests.compatibility.differential.scripts.metadata import BAD_NAMES, named
from tests.compatibility.differential.session import Session, Topic

from ottla.protocol.api_keys import ApiKey
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

UNKNOWN_ID = b"0123456789abcdef"
TIMEOUT_MS = 10_000
DEFAULT = 5  # where a setting comes from


def without_defaults(answer: Any) -> Any:
    """Only the settings that were set somewhere."""
    out = copy(answer)
    out.topics = [copy(topic) for topic in answer.topics]
    for topic in out.topics:
        if topic.configs is not None:
            topic.configs = [each for each in topic.configs if each.config_source != DEFAULT]
    return out


def assigned(name: str, *partitions: tuple[int, Sequence[int]], **numbers: int) -> CreatableTopic:
    chosen = [CreatableReplicaAssignment(index, brokers) for index, brokers in partitions]
    return CreatableTopic(name, numbers.get("partitions", -1), numbers.get("replicas", -1), chosen)


def configured(name: str, **configs: str | None) -> CreatableTopic:
    chosen = [CreatableTopicConfig(key.replace("_", "."), value) for key, value in configs.items()]
    return CreatableTopic(name, 1, 1, (), chosen)


@script(ApiKey.CREATE_TOPICS)
def create_topics(session: Session) -> None:
    n = session.name

    def ask(
        label: str, *topics: CreatableTopic, timeout_ms: int = TIMEOUT_MS, dry: bool = False
    ) -> None:
        shown = None if label == "one" else without_defaults
        session.ask(label, CreateTopicsRequest(topics, timeout_ms, dry), shown=shown)

    def one(name: str, partitions: int = 1, replicas: int = 1) -> CreatableTopic:
        return CreatableTopic(n(name), partitions, replicas)

    ask("one", one("a.b", 2))
    ask("there already", one("a.b"))
    ask("there already, other case", one("A.B"))
    ask("collides", one("a_b"))
    ask("nothing")
    ask("two", one("c"), one("d"))
    ask("good and bad", one("e"), one("a.b"), one("f", 0))
    ask("one twice", one("g"), one("g", 2))
    ask("one twice and another", one("h"), one("i"), one("h"))
    ask("two that collide", one("x.y"), one("x_y"))
    for name in BAD_NAMES:
        if len(name) != 249:
            ask(f"name {name[:30]!r} of {len(name)}", CreatableTopic(name, 1, 1))
    ask("internal name", CreatableTopic("__consumer_offsets", 1, 1), dry=True)
    for partitions in (0, -1, -2, -(2**31), 10_001, 2**31 - 1):
        ask(f"{partitions} partitions", one(f"p{partitions}", partitions), dry=partitions > 0)
    others = (CreatableTopic("__cluster_metadata", 1, 1), one("p"), one("p"), one("q", 0))
    ask("too many partitions, and others", one("p10001", 10_001), *others, dry=True)
    for replicas in (0, -1, -2, 2, 32767, -32768):
        ask(f"{replicas} replicas", one(f"r{replicas}", 1, replicas))
    ask("defaults", one("default", -1, -1))
    ask("timeout 0", one("t0"), timeout_ms=0)
    ask("timeout -1", one("t1"), timeout_ms=-1)
    ask("dry", one("dry"), dry=True)
    ask("dry again", one("dry"), dry=True)
    ask("dry, there already", one("a.b"), dry=True)
    ask("dry, bad", one("dry", 0), dry=True)
    ask("assigned", assigned(n("m1"), (0, [1]), (1, [1])))
    ask("assigned, other order", assigned(n("m2"), (1, [1]), (0, [1])))
    ask("assigned, with partitions", assigned(n("m3"), (0, [1]), partitions=1))
    ask("assigned, with replicas", assigned(n("m3"), (0, [1]), replicas=1))
    ask("assigned, with both", assigned(n("m3"), (0, [1]), partitions=1, replicas=1))
    ask("assigned, a partition twice", assigned(n("m3"), (0, [1]), (0, [1])))
    ask("assigned, a gap", assigned(n("m3"), (0, [1]), (2, [1])))
    ask("assigned, not from 0", assigned(n("m3"), (1, [1])))
    ask("assigned, negative", assigned(n("m3"), (-1, [1])))
    for brokers in ([9], [1, 1], [], [1, 2], [-1]):
        ask(f"assigned to {brokers}", assigned(n("m3"), (0, brokers)))
    ask("assigned to different numbers", assigned(n("m3"), (0, [1]), (1, [1, 2])))


VALUES: dict[str, list[str | None]] = {
    "retention.ms": ["1000", "-1", "-2", "", "x", "1.5", " 7 ", "+5", "9" * 30, None],
    "cleanup.policy": ["compact", "delete", "compact,delete", "", "x", "delete,x", " compact "],
    "segment.bytes": ["1048576", "1048575", "0", "-1", "2147483648"],
    "compression.type": ["gzip", "producer", "uncompressed", "none", "GZIP", ""],
    "min.insync.replicas": ["1", "0", "2", "-1"],
    "max.message.bytes": ["0", "-1", "1000"],
    "message.timestamp.type": ["CreateTime", "LogAppendTime", "x", ""],
    "unclean.leader.election.enable": ["true", "TRUE", "yes", ""],
    "min.cleanable.dirty.ratio": ["0", "1", "1.1", "-0.1", "x", "NaN"],
    "compression.gzip.level": ["1", "9", "-1", "0", "10"],
    "leader.replication.throttled.replicas": ["*", "0:1", "x", "", "0:1,", "0:1,0:1", ",*"],
    "max.compaction.lag.ms": ["0", "1"],
    "segment.ms": ["0", "1"],
    "flush.messages": ["0", "1"],
    "index.interval.bytes": ["-1", "0"],
    "file.delete.delay.ms": ["-1", "0"],
    "message.format.version": ["2.8"],
    "message.downconversion.enable": ["true"],
    "nonsense": ["1"],
    "": ["1"],
}  # fmt: skip


@script(ApiKey.CREATE_TOPICS)
def create_topics_with_settings(session: Session) -> None:
    def ask(label: str, *configs: tuple[str, str | None]) -> None:
        chosen = [CreatableTopicConfig(*each) for each in configs]
        topic = CreatableTopic(session.name("t"), 1, 1, (), chosen)
        session.ask(label, CreateTopicsRequest([topic], TIMEOUT_MS, True), shown=without_defaults)

    for key, values in VALUES.items():
        for value in values:
            ask(f"{key} = {value!r}"[:60], (key, value))
    ask("two", ("retention.ms", "1"), ("segment.bytes", "2000000"))
    ask("good and bad", ("retention.ms", "1"), ("segment.bytes", "x"))
    ask("one twice", ("retention.ms", "1"), ("retention.ms", "2"))
    ask("lags that contradict", ("min.compaction.lag.ms", "10"), ("max.compaction.lag.ms", "5"))
    ask("local beyond all", ("retention.ms", "10"), ("local.retention.ms", "20"))


@script(ApiKey.DELETE_TOPICS)
def delete_topics(session: Session) -> None:
    topics = {name: session.topic(name) for name in ("a", "b", "c", "d", "e", "f", "g", "h", "i")}
    none = session.name("none")

    def by_name(label: str, *names: str, timeout_ms: int = TIMEOUT_MS) -> None:
        states = (
            [DeleteTopicState(name, bytes(16)) for name in names] if session.version >= 6 else ()
        )
        session.ask(label, DeleteTopicsRequest(states, names, timeout_ms))

    def by_id(label: str, *states: tuple[str | None, bytes]) -> None:
        chosen = [DeleteTopicState(*each) for each in states]
        session.ask(label, DeleteTopicsRequest(chosen, (), TIMEOUT_MS))

    def gone(topic: Topic) -> None:
        session.until(
            named(topic.name), 9, lambda answer: answer.topics[0].error_code == 3, "deletion"
        )

    by_name("one", topics["a"].name)
    gone(topics["a"])
    by_name("gone before", topics["a"].name)
    by_name("unknown", none)
    by_name("nothing")
    by_name("known and unknown", none, topics["b"].name)
    by_name("one twice", topics["c"].name, topics["c"].name)
    by_name("an unknown one twice", none, none)
    for name in BAD_NAMES:
        by_name(f"name {name[:30]!r} of {len(name)}", name)
    by_name("timeout 0", topics["d"].name, timeout_ms=0)
    by_name("timeout -1", topics["e"].name, timeout_ms=-1)
    if session.version < 6:
        return
    by_id("by id", (None, topics["f"].id))
    gone(topics["f"])
    by_id("by id again", (None, topics["f"].id))
    by_id("by unknown id", (None, UNKNOWN_ID))
    by_id("by id and name", (topics["g"].name, topics["g"].id))
    by_id("neither", (None, bytes(16)))
    by_id("two by id", (None, topics["h"].id), (None, UNKNOWN_ID))
    by_id("an id twice", (None, topics["i"].id), (None, topics["i"].id))
    by_id("by id, and by name", (None, topics["i"].id), (topics["i"].name, bytes(16)))
    by_id("neither, twice", (None, bytes(16)), (None, bytes(16)))


@script(ApiKey.CREATE_PARTITIONS)
def create_partitions(session: Session) -> None:
    a, b = session.topic("a").name, session.topic("b", 2).name
    none = session.name("none")

    def ask(
        label: str,
        *topics: tuple[str, int] | tuple[str, int, list[list[int]]],
        timeout_ms: int = TIMEOUT_MS,
        dry: bool = False,
    ) -> None:
        chosen = []
        for each in topics:
            brokers = (
                [CreatePartitionsAssignment(ids) for ids in each[2]] if len(each) == 3 else None
            )
            chosen.append(CreatePartitionsTopic(each[0], each[1], brokers))
        session.ask(label, CreatePartitionsRequest(chosen, timeout_ms, dry))

    ask("to 2, dry", (a, 2), dry=True)
    ask("to 2", (a, 2))
    for count in (2, 1, 0, -1, -(2**31), 10_001, 2**31 - 1):
        ask(f"to {count} again", (a, count), dry=count > 2)
    ask("nothing")
    ask("unknown", (none, 5))
    ask("no name", ("", 5))
    ask("good and bad", (none, 5), (b, 3))
    ask("one twice", (b, 4), (b, 5))
    ask("one twice and another", (b, 4), (a, 3), (b, 4))
    ask("assigned", (b, 4, [[1]]))
    ask("assigned, too few", (b, 6, [[1]]))
    ask("assigned, too many", (b, 5, [[1], [1]]))
    ask("assigned, none", (b, 5, []))
    for brokers in ([], [9], [1, 1], [1, 2], [-1]):
        ask(f"assigned to {brokers}", (b, 5, [brokers]))
    ask("timeout 0", (b, 5), timeout_ms=0)
    ask("timeout -1", (b, 6), timeout_ms=-1)
    ask("internal", ("__cluster_metadata", 2))
