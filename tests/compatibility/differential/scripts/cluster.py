"""DescribeCluster, DescribeLogDirs, DescribeTopicPartitions, ListConfigResources."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from typing import Any

from tests.compatibility.differential.batches import batch
from tests.compatibility.differential.scripting import script
from tests.compatibility.differential.session import Session

from ottla.protocol.api_keys import ApiKey
from ottla.protocol.messages.describe_cluster_request import DescribeClusterRequest
from ottla.protocol.messages.describe_log_dirs_request import (
    DescribableLogDirTopic,
    DescribeLogDirsRequest,
)
from ottla.protocol.messages.describe_topic_partitions_request import (
    Cursor,
    DescribeTopicPartitionsRequest,
    TopicRequest,
)
from ottla.protocol.messages.list_config_resources_request import ListConfigResourcesRequest


@script(ApiKey.DESCRIBE_CLUSTER)
def describe_cluster(session: Session) -> None:
    for endpoints in (1, 2, 0, 3, -1, 127):
        for operations in (False, True):
            for fenced in (False, True):
                label = f"endpoints {endpoints}, operations {operations}, fenced {fenced}"
                session.ask(label, DescribeClusterRequest(operations, endpoints, fenced))


@script(ApiKey.DESCRIBE_LOG_DIRS)
def describe_log_dirs(session: Session) -> None:
    topic, other = session.topic("t", 3), session.topic("other")
    session.append(topic, batch(b"a", b"b"))
    session.append(topic, batch(b"a"), 1)

    def ask(label: str, *topics: tuple[str, list[int]]) -> None:
        asked = [DescribableLogDirTopic(*each) for each in topics]
        session.ask(label, DescribeLogDirsRequest(asked))

    session.ask("all", DescribeLogDirsRequest(None), shown=own_directories(session))
    ask("one partition", (topic.name, [0]))
    ask("all partitions", (topic.name, [0, 1, 2]), (other.name, [0]))
    ask("nothing")
    ask("no partitions", (topic.name, []))
    ask("unknown partition", (topic.name, [9, -1]))
    ask("unknown topic", (session.name("none"), [0]))
    ask("good and bad", (topic.name, [0, 9]), (session.name("none"), [0]))
    ask("a partition twice", (topic.name, [0, 0]))
    ask("a topic twice", (topic.name, [0]), (topic.name, [0]))
    ask("a topic in two parts", (topic.name, [0]), (topic.name, [1]))
    ask("no name", ("", [0]))


def own_directories(session: Session) -> Callable[[Any], Any]:
    def shown(answer: Any) -> Any:
        out = copy(answer)
        out.results = [copy(each) for each in answer.results]
        for each in out.results:
            each.topics = [
                topic for topic in each.topics if topic.name.startswith(session.name(""))
            ]
        return out

    return shown


@script(ApiKey.DESCRIBE_TOPIC_PARTITIONS)
def describe_topic_partitions(session: Session) -> None:
    a, b, c = (session.topic(name, count).name for name, count in (("a", 3), ("b", 1), ("c", 5)))
    none = session.name("none")

    def ask(label: str, names: list[str], limit: int = 2000, cursor: Cursor | None = None) -> None:
        topics = [TopicRequest(name) for name in names]
        session.ask(label, DescribeTopicPartitionsRequest(topics, limit, cursor))

    ask("one", [a])
    ask("three", [a, b, c])
    ask("three, other order", [c, b, a])
    ask("unknown", [none])
    ask("known and unknown", [none, a])
    ask("a topic twice", [a, a])
    for name in ("", ".", "a b", "x" * 250, "__cluster_metadata"):
        ask(f"topic {name[:30]!r}", [name])
    for limit in (0, 1, 2, 3, 4, 8, 9, -1, 2001, 2**31 - 1):
        ask(f"limit {limit}", [a, b, c], limit)
    for partition in (0, 1, 2, 3, 9, -1):
        ask(f"from {partition} of a", [a, b, c], 2000, Cursor(a, partition))
        ask(f"from {partition} of c, limit 2", [a, b, c], 2, Cursor(c, partition))
    ask("from b, other order", [c, b, a], 2, Cursor(b, 0))
    ask("from an unknown one", [a, c], 2, Cursor(session.name("b-none"), 0))
    ask("from one that is not asked", [a, c], 2, Cursor(b, 0))
    ask("from no name", [a, c], 2, Cursor("", 0))
    ask("from behind all", [a, b], 2, Cursor(c, 0))
    ask("unknown ones use no room", [none, a], 1)


@script(ApiKey.LIST_CONFIG_RESOURCES)
def list_config_resources(session: Session) -> None:
    session.topic("t")

    def own(answer: Any) -> Any:
        out = copy(answer)
        prefix = session.name("")
        out.config_resources = [
            each
            for each in answer.config_resources
            if each.resource_name.startswith(prefix) or each.resource_type in (4, 8)
        ]
        return out

    session.ask("all", ListConfigResourcesRequest([]), shown=own)
    for kind in (0, 1, 2, 4, 8, 16, 32, 64, -1, 127):
        session.ask(f"kind {kind}", ListConfigResourcesRequest([kind]), shown=own)
    session.ask("two kinds", ListConfigResourcesRequest([2, 4]), shown=own)
    session.ask("a kind twice", ListConfigResourcesRequest([2, 2]), shown=own)
    session.ask("good and bad", ListConfigResourcesRequest([2, 1]), shown=own)
