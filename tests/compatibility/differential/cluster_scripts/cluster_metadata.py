"""Metadata, DescribeCluster, DescribeTopicPartitions and FindCoordinator over three brokers, also
while one of them has stopped."""

from __future__ import annotations

from collections.abc import Iterator
from copy import copy
from typing import Any

from tests.compatibility.differential.cluster_session import BROKERS, ClusterSession
from tests.compatibility.differential.scripting import cluster_script
from tests.compatibility.differential.scripts.find_coordinator import BATCHES_FROM
from tests.compatibility.differential.scripts.metadata import by_id, named

from ottla.protocol.api_keys import ApiKey
from ottla.protocol.messages.describe_cluster_request import DescribeClusterRequest
from ottla.protocol.messages.describe_topic_partitions_request import (
    Cursor,
    DescribeTopicPartitionsRequest,
    TopicRequest,
)
from ottla.protocol.messages.find_coordinator_request import FindCoordinatorRequest
from ottla.protocol.messages.metadata_request import MetadataRequest

SOME_BROKER = 1
WITH_IDS_FROM = 12


def any_controller(answer: Any) -> Any:
    """Kafka names any broker that runs; the list of brokers has no order."""
    out = copy(answer)
    living = {each.broker_id if hasattr(each, "broker_id") else each.node_id
              for each in answer.brokers}  # fmt: skip
    if out.controller_id in living:
        out.controller_id = SOME_BROKER
    out.brokers = sorted(
        answer.brokers, key=lambda it: it.broker_id if hasattr(it, "broker_id") else it.node_id
    )
    return out


@cluster_script(ApiKey.METADATA)
def metadata(session: ClusterSession) -> Iterator[None]:
    spread = session.placed("spread", [1], [2], [3])
    wide = session.placed("wide", [1, 2, 3], [3, 1, 2], [2, 3, 1])
    last = session.placed("last", [3])
    none = session.name("none")
    creates = session.version < 4  # always before version 4; the brokers are configured not to

    def asked(*names: str) -> MetadataRequest:
        return named(*names, create=creates)

    def ask(when: str) -> None:
        for topic in (spread, wide, last):
            shown = session.names.in_text(topic.name)
            session.everywhere(f"{shown}{when}", asked(topic.name), shown=any_controller)
        session.everywhere(f"unknown{when}", asked(none), shown=any_controller)
        session.everywhere(f"two{when}", asked(last.name, spread.name), shown=any_controller)
        if session.version >= WITH_IDS_FROM:
            session.everywhere(f"by id{when}", by_id((wide.id, None)), shown=any_controller)

    ask("")
    yield
    ask(", 3 stopped")
    yield
    session.await_topic(last.name, [3])
    session.everywhere("~last, 3 back", asked(last.name), shown=any_controller)


@cluster_script(ApiKey.DESCRIBE_CLUSTER)
def describe_cluster(session: ClusterSession) -> Iterator[None]:
    def ask(when: str) -> None:
        for fenced in (False, True):
            for endpoints in (1, 2):
                label = f"endpoints {endpoints}, fenced {fenced}{when}"
                if endpoints == 1:
                    request = DescribeClusterRequest(False, endpoints, fenced)
                    session.everywhere(label, request, shown=any_controller)
                else:
                    request = DescribeClusterRequest(False, endpoints, fenced)
                    session.ask(label, request, shown=any_controller)

    ask("")
    yield
    ask(", 3 stopped")
    yield
    ask(", 3 back")


@cluster_script(ApiKey.DESCRIBE_TOPIC_PARTITIONS)
def describe_topic_partitions(session: ClusterSession) -> Iterator[None]:
    spread = session.placed("spread", [1], [2], [3]).name
    wide = session.placed("wide", [1, 2, 3], [3, 1, 2], [2, 3, 1]).name

    def ask(when: str) -> None:
        for names in ([spread], [wide], [wide, spread, session.name("none")]):
            shown = [session.names.in_text(each) for each in names]
            topics = [TopicRequest(each) for each in names]
            request = DescribeTopicPartitionsRequest(topics, 2000, None)
            session.everywhere(f"{', '.join(shown)}{when}", request)
        topics = [TopicRequest(each) for each in (spread, wide)]
        request = DescribeTopicPartitionsRequest(topics, 2, Cursor(spread, 2))
        session.everywhere(f"two from a cursor{when}", request)

    ask("")
    yield
    ask(", 3 stopped")


@cluster_script(ApiKey.FIND_COORDINATOR)
def find_coordinator(session: ClusterSession) -> Iterator[None]:
    groups = [session.group_on(each, f"group-{each}") for each in BROKERS]
    ids = [session.transaction_on(each, f"transaction-{each}") for each in BROKERS]

    def ask(when: str) -> None:
        for kind, keys in enumerate((groups, ids)):
            for key in keys:
                shown = f"{session.names.in_text(key)}{when}"
                if session.version >= BATCHES_FROM:
                    session.everywhere(shown, FindCoordinatorRequest("", kind, [key]))
                else:
                    session.everywhere(shown, FindCoordinatorRequest(key, kind))
            if session.version >= BATCHES_FROM:
                request = FindCoordinatorRequest("", kind, keys)
                session.everywhere(f"all of type {kind}{when}", request)

    ask("")
    yield
    ask(", 3 stopped")
    yield
    ask(", 3 back")
