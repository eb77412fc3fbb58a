"""AlterPartitionReassignments, ListPartitionReassignments, ElectLeaders, UnregisterBroker.

Replicas are added on a broker that has stopped only: there a move stays as it is until it is
cancelled, so that answers do not depend on how fast records are copied.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from copy import copy
from typing import Any

from tests.compatibility.differential.cluster_scripts.cluster_metadata import any_controller
from tests.compatibility.differential.cluster_session import ClusterSession
from tests.compatibility.differential.scripting import cluster_script
from tests.compatibility.differential.scripts.metadata import named

from ottla.protocol.api_keys import ApiKey
from ottla.protocol.messages.alter_partition_reassignments_request import (
    AlterPartitionReassignmentsRequest,
    ReassignablePartition,
    ReassignableTopic,
)
from ottla.protocol.messages.describe_cluster_request import DescribeClusterRequest
from ottla.protocol.messages.elect_leaders_request import ElectLeadersRequest, TopicPartitions
from ottla.protocol.messages.list_partition_reassignments_request import (
    ListPartitionReassignmentsRequest,
    ListPartitionReassignmentsTopics,
)
from ottla.protocol.messages.unregister_broker_request import UnregisterBrokerRequest

TIMEOUT_MS = 10_000
PREFERRED, UNCLEAN = 0, 1


def move(
    name: str, *moves: tuple[int, Sequence[int] | None], may_change_count: bool = True
) -> AlterPartitionReassignmentsRequest:
    topic = ReassignableTopic(name, [ReassignablePartition(*each) for each in moves])
    return AlterPartitionReassignmentsRequest(TIMEOUT_MS, may_change_count, [topic])


def moving(name: str, *partitions: int) -> ListPartitionReassignmentsRequest:
    return ListPartitionReassignmentsRequest(
        TIMEOUT_MS, [ListPartitionReassignmentsTopics(name, partitions)]
    )


@cluster_script(ApiKey.ALTER_PARTITION_REASSIGNMENTS)
def alter_partition_reassignments(session: ClusterSession) -> Iterator[None]:
    spread = session.placed("spread", [1], [2], [3]).name
    wide = session.placed("wide", [1, 2, 3], [2, 1, 3]).name
    alone = session.placed("alone", [1], [2]).name
    pairs = session.placed("pairs", [1, 2], [3, 1]).name
    changed = session.placed("changed", [1], [2]).name

    def ask(label: str, request: AlterPartitionReassignmentsRequest, at: int = 2) -> None:
        with session.at(at):
            session.ask(label, request)

    def show(label: str, name: str) -> None:
        session.settle()
        session.everywhere(f"{label}, moving", moving(name, 0, 1), version=0)
        session.everywhere(f"{label}, told", named(name), version=9, shown=any_controller)

    ask("as it is", move(spread, (0, [1]), (1, [2]), (2, [3])))
    ask("in another order", move(wide, (0, [3, 1, 2])))
    show("in another order", wide)
    ask("fewer", move(wide, (0, [3, 1])))
    show("fewer", wide)
    ask("fewer, of the same count", move(wide, (1, [1, 2]), may_change_count=False))
    for brokers in ([4], [1, 4], [1, 1], [], [-1]):
        ask(f"to {brokers}", move(spread, (0, brokers)))
    ask("cancelled", move(spread, (0, None)))
    yield
    for label, name, partition, brokers in (
        ("one more", alone, 0, [1, 3]),
        ("another", alone, 1, [3]),
        ("one for another", pairs, 0, [1, 3]),
        ("without the stopped one", pairs, 1, [1]),
        ("again", alone, 0, [1, 3]),
    ):
        ask(label, move(name, (partition, brokers)))
        show(label, name)
    ask("the same count, more", move(alone, (0, [1, 3]), may_change_count=False))
    for name in (alone, pairs):
        label = f"cancelled, {session.names.in_text(name)}"
        ask(label, move(name, (0, None), (1, None)))
        show(label, name)
    session.quietly(move(changed, (0, [1, 3]), (1, [3])), 0)
    for label, partition, brokers in (("changed: back", 0, [1]), ("changed: both", 1, [3, 2])):
        ask(label, move(changed, (partition, brokers)))
        show(label, changed)


@cluster_script(ApiKey.LIST_PARTITION_REASSIGNMENTS)
def list_partition_reassignments(session: ClusterSession) -> Iterator[None]:
    topic = session.placed("t", [1], [2], [3]).name
    session.everywhere("nothing moves", moving(topic, 0, 1, 2))
    session.everywhere("unknown", moving(session.name("none"), 0))
    yield
    session.quietly(move(topic, (0, [1, 3]), (1, [3])), 0)
    session.settle()
    session.everywhere("two move", moving(topic, 0, 1, 2))
    session.everywhere("one of them", moving(topic, 1))

    def own(answer: Any) -> Any:
        out = copy(answer)
        out.topics = [each for each in answer.topics if each.name == topic]
        return out

    session.everywhere("all", ListPartitionReassignmentsRequest(TIMEOUT_MS, None), shown=own)
    session.quietly(move(topic, (0, None), (1, None)), 0)


@cluster_script(ApiKey.ELECT_LEADERS)
def elect_leaders(session: ClusterSession) -> Iterator[None]:
    pairs = session.placed("pairs", [1, 2], [2, 3], [3, 1], [3, 2]).name
    alone = session.placed("alone", [3], [1]).name

    def ask(when: str, kind: int) -> None:
        for name, partitions in ((pairs, [0, 1, 2, 3, 4]), (alone, [0, 1])):
            request = ElectLeadersRequest(kind, [TopicPartitions(name, partitions)], TIMEOUT_MS)
            with session.at(2):
                session.ask(f"{session.names.in_text(name)}, type {kind}, {when}", request)

    def show(label: str) -> None:
        session.settle()
        session.everywhere(label, named(pairs, alone), version=9, shown=any_controller)

    for kind in (PREFERRED, UNCLEAN):
        ask("all run", kind)
    yield
    show("3 stopped")
    for kind in (PREFERRED, UNCLEAN):
        ask("3 stopped", kind)
    show("afterwards")


@cluster_script(ApiKey.UNREGISTER_BROKER)
def unregister_broker(session: ClusterSession) -> Iterator[None]:
    for broker_id in (9, 0, -1):
        session.everywhere(f"broker {broker_id}", UnregisterBrokerRequest(broker_id))
    yield
    with session.at(2):
        session.ask("the stopped one", UnregisterBrokerRequest(3))
    session.settle()
    request = DescribeClusterRequest(False, 1, True)
    session.everywhere("fenced ones", request, version=2, shown=any_controller)
    with session.at(2):
        session.ask("again", UnregisterBrokerRequest(3))
    yield
    session.everywhere("3 is back", request, version=2, shown=any_controller)
