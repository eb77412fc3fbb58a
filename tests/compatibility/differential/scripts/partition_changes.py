"""ElectLeaders, AlterPartitionReassignments, ListPartitionReassignments."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from typing import Any

from tests.compatibility.differential.scripting import script
from tests.compatibility.differential.session import Session

from ottla.protocol.api_keys import ApiKey
from ottla.protocol.messages.alter_partition_reassignments_request import (
    AlterPartitionReassignmentsRequest,
    ReassignablePartition,
    ReassignableTopic,
)
from ottla.protocol.messages.elect_leaders_request import ElectLeadersRequest, TopicPartitions
from ottla.protocol.messages.list_partition_reassignments_request import (
    ListPartitionReassignmentsRequest,
    ListPartitionReassignmentsTopics,
)

TIMEOUT_MS = 10_000


@script(ApiKey.ELECT_LEADERS)
def elect_leaders(session: Session) -> None:
    topic, none = session.topic("t", 3).name, session.name("none")

    def only_own(answer: Any) -> Any:
        out = copy(answer)
        out.replica_election_results = [
            each for each in answer.replica_election_results if each.topic == topic
        ]
        return out

    def ask(
        label: str, kind: int, *topics: tuple[str, list[int]], timeout_ms: int = TIMEOUT_MS
    ) -> None:
        chosen = [TopicPartitions(*each) for each in topics]
        session.ask(f"{label}, type {kind}", ElectLeadersRequest(kind, chosen, timeout_ms))

    for kind in (0, 1, 2, -1, 127):
        ask("one", kind, (topic, [0]))
        ask("unknown topic", kind, (none, [0]))
        ask("nothing", kind)
    for kind in (0, 1):
        ask("three", kind, (topic, [0, 1, 2]))
        ask("unknown partition", kind, (topic, [9, -1]))
        ask("good and bad", kind, (topic, [0, 9]), (none, [0]))
        ask("no partitions", kind, (topic, []))
        ask("no partitions of an unknown one", kind, (none, []))
        ask("a partition twice", kind, (topic, [0, 0]))
        ask("a topic twice", kind, (topic, [0]), (topic, [0]))
        ask("a topic in two parts", kind, (topic, [0]), (topic, [1]))
        ask("no name", kind, ("", [0]))
        ask("bad name", kind, ("a b", [0]))
        everywhere = ElectLeadersRequest(kind, None, TIMEOUT_MS)
        session.ask(f"all, type {kind}", everywhere, shown=only_own)


@script(ApiKey.ALTER_PARTITION_REASSIGNMENTS)
def alter_partition_reassignments(session: Session) -> None:
    topic, none = session.topic("t", 2).name, session.name("none")

    def ask(
        label: str,
        *topics: tuple[str, Sequence[tuple[int, list[int] | None]]],
        may_change_count: bool = True,
        timeout_ms: int = TIMEOUT_MS,
    ) -> None:
        chosen = [
            ReassignableTopic(name, [ReassignablePartition(*each) for each in partitions])
            for name, partitions in topics
        ]
        request = AlterPartitionReassignmentsRequest(timeout_ms, may_change_count, chosen)
        session.ask(label, request)

    ask("as it is", (topic, [(0, [1])]))
    ask("both as they are", (topic, [(0, [1]), (1, [1])]))
    for brokers in ([], [2], [1, 2], [1, 1], [-1], [0]):
        ask(f"to {brokers}", (topic, [(0, brokers)]))
    ask("cancelled", (topic, [(0, None)]))
    ask("cancelled and as it is", (topic, [(0, None), (1, [1])]))
    ask("unknown topic", (none, [(0, [1])]))
    ask("unknown topic, cancelled", (none, [(0, None)]))
    ask("unknown partition", (topic, [(9, [1]), (-1, [1])]))
    ask("unknown partition, cancelled", (topic, [(9, None)]))
    ask("nothing")
    ask("nothing, of the same count", may_change_count=False)
    ask("no partitions", (topic, []))
    ask("a partition twice", (topic, [(0, [1]), (0, [1])]))
    ask("a topic twice", (topic, [(0, [1])]), (topic, [(1, [1])]))
    ask("good and bad", (none, [(0, [1])]), (topic, [(0, [1])]))
    ask("no name", ("", [(0, [1])]))
    ask("the same count", (topic, [(0, [1])]), may_change_count=False)
    ask("another count", (topic, [(0, [1, 2])]), may_change_count=False)
    listed = ListPartitionReassignmentsRequest(TIMEOUT_MS, None)
    session.ask("after all", listed, version=0)


@script(ApiKey.LIST_PARTITION_REASSIGNMENTS)
def list_partition_reassignments(session: Session) -> None:
    topic, none = session.topic("t", 2).name, session.name("none")

    def ask(label: str, *topics: tuple[str, list[int]]) -> None:
        chosen = [ListPartitionReassignmentsTopics(*each) for each in topics]
        session.ask(label, ListPartitionReassignmentsRequest(TIMEOUT_MS, chosen))

    session.ask("all", ListPartitionReassignmentsRequest(TIMEOUT_MS, None))
    ask("nothing")
    ask("one", (topic, [0, 1]))
    ask("unknown topic", (none, [0]))
    ask("unknown partition", (topic, [9, -1]))
    ask("no partitions", (topic, []))
    ask("a topic twice", (topic, [0]), (topic, [0]))
    session.ask("timeout 0", ListPartitionReassignmentsRequest(0, None))
