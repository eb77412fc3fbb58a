"""CreateTopics, CreatePartitions, DeleteTopics: assignments to brokers that run, that have stopped
and that do not exist."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from copy import copy
from typing import Any

from tests.compatibility.differential.cluster_scripts.cluster_metadata import any_controller
from tests.compatibility.differential.cluster_session import ClusterSession
from tests.compatibility.differential.scripting import cluster_script
from tests.compatibility.differential.scripts.metadata import named
from tests.compatibility.differential.scripts.topics import assigned, without_defaults

from ottla.protocol.api_keys import ApiKey
from ottla.protocol.messages.create_partitions_request import (
    CreatePartitionsAssignment,
    CreatePartitionsRequest,
    CreatePartitionsTopic,
)
from ottla.protocol.messages.create_topics_request import CreatableTopic, CreateTopicsRequest
from ottla.protocol.messages.delete_topics_request import DeleteTopicsRequest

TIMEOUT_MS = 10_000
Placed = Sequence[Sequence[int]]
PLACES: dict[str, Placed] = {
    "one on each": [[1], [2], [3]],
    "all on the second": [[2], [2]],
    "two of each": [[1, 2], [2, 3], [3, 1]],
    "all of each": [[3, 2, 1], [2, 1, 3]],
    "unknown broker": [[4]],
    "known and unknown": [[1, 4]],
    "a broker twice": [[1, 1]],
    "negative": [[-1]],
    "other counts": [[1], [2, 3]],
    "nobody": [[]],
    "one and nobody": [[1], []],
}
STOPPED_PLACES: dict[str, Placed] = {
    "on the stopped one": [[3]],
    "some on the stopped one": [[1], [3]],
    "stopped leader": [[3, 1]],
    "stopped follower": [[1, 3]],
    "all": [[3, 2, 1], [1, 2, 3], [2, 3, 1]],
    "without it": [[1, 2]],
}


def placed_counts(answer: Any) -> Any:
    """How many replicas, leaders and brokers there are: where they are is chosen at random."""
    out = any_controller(answer)
    out.topics = [copy(topic) for topic in answer.topics]
    for topic in out.topics:
        topic.partitions = [copy(each) for each in topic.partitions]
        topic.partitions.sort(key=lambda it: it.partition_index)
        for each in topic.partitions:
            assert each.leader_id == each.replica_nodes[0]
            each.leader_id = 0
            each.replica_nodes = [len(set(each.replica_nodes))]
            each.isr_nodes = [len(set(each.isr_nodes))]
    return out


@cluster_script(ApiKey.CREATE_TOPICS)
def create_topics(session: ClusterSession) -> Iterator[None]:
    made: list[str] = []

    def ask(label: str, topic: CreatableTopic, at: int, *, dry: bool = False) -> None:
        request = CreateTopicsRequest([topic], TIMEOUT_MS, dry)
        with session.at(at):
            answer = session.ask(label, request, shown=without_defaults)
        if answer is not None and answer.topics[0].error_code == 0 and not dry:
            made.append(topic.name)

    def place(places: dict[str, Placed], at: int, when: str = "") -> None:
        for label, placed in places.items():
            name = session.name(f"{label.replace(' ', '-')}{when.replace(', ', '-')}-{at}")
            topic = assigned(name, *enumerate(placed))
            ask(f"{label}, asked at {at}{when}", topic, at)
            ask(f"{label}, asked at {at}{when}, dry", assigned(f"{name}-dry", *enumerate(placed)),
                at, dry=True)  # fmt: skip

    def show(when: str) -> None:
        session.settle()
        for name in made:
            shown = f"{session.names.in_text(name)}{when}"
            session.everywhere(shown, named(name), version=9, shown=any_controller)
        made.clear()

    place(PLACES, 2)
    show("")
    for replicas in (1, 2, 3, 4, 0):
        name = session.name(f"anywhere-{replicas}")
        ask(f"{replicas} replicas anywhere", CreatableTopic(name, 4, replicas), 3)
        if made:
            session.settle()
            session.everywhere(f"~anywhere-{replicas}", named(made.pop()), version=9,
                               shown=placed_counts)  # fmt: skip
    yield
    place(STOPPED_PLACES, 2, ", 3 stopped")
    show(", 3 stopped")
    for replicas in (2, 3):
        topic = CreatableTopic(session.name(f"stopped-{replicas}"), 2, replicas)
        ask(f"{replicas} replicas anywhere, 3 stopped", topic, 1)


@cluster_script(ApiKey.CREATE_PARTITIONS)
def create_partitions(session: ClusterSession) -> Iterator[None]:
    one = session.placed("one", [1]).name
    two = session.placed("two", [1, 2]).name

    def ask(
        label: str, name: str, count: int, *placed: Sequence[int], at: int, dry: bool = True
    ) -> None:
        chosen = [CreatePartitionsAssignment(each) for each in placed] if placed else None
        request = CreatePartitionsRequest(
            [CreatePartitionsTopic(name, count, chosen)], TIMEOUT_MS, dry
        )
        with session.at(at):
            session.ask(label, request)

    for brokers in ([2], [3], [4], [1, 2], [1, 1], [-1], []):
        ask(f"one to {brokers}", one, 2, brokers, at=2)
        ask(f"two to {brokers}", two, 2, brokers, at=3)
    ask("two to [2, 3] and [3, 1]", two, 3, [2, 3], [3, 1], at=1)
    ask("made", one, 3, [2], [3], at=3, dry=False)
    session.await_topic(one, [1, 2, 3])
    session.everywhere("what was made", named(one), version=9, shown=any_controller)
    yield
    ask("to the stopped one", one, 4, [3], at=2)
    ask("stopped follower", two, 2, [1, 3], at=2)
    ask("stopped leader", two, 2, [3, 1], at=2)
    ask("anywhere", two, 2, at=2)


@cluster_script(ApiKey.DELETE_TOPICS, versions=[5])
def delete_topics(session: ClusterSession) -> Iterator[None]:
    spread = session.placed("spread", [1], [2], [3]).name
    last = session.placed("last", [3]).name

    def ask(label: str, name: str, at: int) -> None:
        with session.at(at):
            session.ask(label, DeleteTopicsRequest((), [name], TIMEOUT_MS), version=5)
        session.settle()
        session.everywhere(f"{label}, afterwards", named(name), version=9, shown=any_controller)

    ask("spread over all", spread, 2)
    ask("again", spread, 3)
    yield
    ask("on the stopped one", last, 2)
    yield
    session.everywhere("3 is back", named(last), version=9, shown=any_controller)
