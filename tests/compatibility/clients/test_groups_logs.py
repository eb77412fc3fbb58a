"""Apache Kafka loads the log of groups that we wrote, and we load the one that it wrote.

Groups of every kind are made on one side; then its `__consumer_offsets` is put in the place of the
other's, which must give equal answers to every request.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.compatibility.clients.groups_harness import (
    ClassicMember,
    ConsumerMember,
    GroupsHarness,
    rebalance,
    settle,
)
from tests.compatibility.clients.transactions_harness import settled
from tests.support.apache_kafka import ApacheKafka
from tests.support.raw_client import RawClient

from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.messages.consumer_group_describe_request import ConsumerGroupDescribeRequest
from ottla.protocol.messages.delete_groups_request import DeleteGroupsRequest
from ottla.protocol.messages.describe_groups_request import DescribeGroupsRequest
from ottla.protocol.messages.find_coordinator_request import FindCoordinatorRequest
from ottla.protocol.messages.list_groups_request import ListGroupsRequest
from ottla.protocol.messages.offset_fetch_request import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
)
from ottla.testing.broker import RunningBroker

pytestmark = [pytest.mark.java, pytest.mark.xdist_group("apache-kafka")]

OFFSETS = "__consumer_offsets-0"
# Sessions that outlast the test, on a busy machine too.
SESSIONS = {
    "group.consumer.session.timeout.ms": "1800000",
    "group.consumer.max.session.timeout.ms": "1800000",
}
SETTINGS = {
    "offsets.topic.num.partitions": "1",
    "auto.create.topics.enable": "false",
    **SESSIONS,
}
NONE = ErrorCode.NONE


def make_groups(bootstrap: str) -> None:
    """One of each kind, named for what it is. Their sessions outlast the test."""
    with closing(GroupsHarness(bootstrap)) as harness:
        for harness.group, make in GROUPS.items():
            make(harness)


def make_offsets(harness: GroupsHarness) -> None:
    assert harness.commit({0: 5, 1: 6}, metadata="here") == NONE
    assert harness.commit({0: 7}) == NONE


def make_deleted(harness: GroupsHarness) -> None:
    harness.commit({0: 5})
    assert harness.client.ask(DeleteGroupsRequest([harness.group]), 2).results[0].error_code == NONE


def make_classic(harness: GroupsHarness) -> None:
    first = harness.classic("one", instance_id="a", session_ms=1_800_000)
    second = harness.classic("two", session_ms=1_800_000)
    rebalance(first, second)
    assert first.commit({0: 3}) == NONE


def make_left(harness: GroupsHarness) -> None:
    member = harness.classic()
    rebalance(member)
    member.commit({2: 4})
    member.leave()


def make_consumer(harness: GroupsHarness) -> None:
    first, second = harness.consumer("one", instance_id="b"), harness.consumer("two")
    pattern = harness.consumer("three", regex=f"{harness.topic[:-1]}.", topics=())
    settle(first, sizes=[4])
    settle(first, second, pattern, sizes=[2, 1, 1])
    third = harness.consumer("four")
    third.beat()
    third.leave()
    settle(first, second, pattern, sizes=[2, 1, 1])
    assert first.commit({min(first.owned): 9}) == NONE


def make_upgraded(harness: GroupsHarness) -> tuple[ClassicMember, ConsumerMember]:
    old, new = harness.classic("old", session_ms=1_800_000), harness.consumer("new")
    rebalance(old)
    new.beat()
    for _ in range(2):
        old.join()
        old.sync()
    settle(new, sizes=[2])
    return old, new


def make_downgraded(harness: GroupsHarness) -> None:
    old, new = make_upgraded(harness)
    assert new.leave() == NONE
    rebalance(old)


GROUPS: dict[str, Callable[[GroupsHarness], object]] = {
    "offsets": make_offsets,
    "deleted": make_deleted,
    "classic": make_classic,
    "left": make_left,
    "consumer": make_consumer,
    "upgraded": make_upgraded,
    "downgraded": make_downgraded,
}


def what_is_known(bootstrap: str) -> dict[str, Any]:
    """All that tools receive about the groups."""
    with RawClient(bootstrap) as client:
        find = FindCoordinatorRequest("offsets", 0)
        settled(lambda: client.ask(find, 2), lambda answer: ErrorCode(answer.error_code))
        describe = DescribeGroupsRequest(["offsets"])
        settled(lambda: ErrorCode(client.ask(describe, 5).groups[0].error_code))
        return {group: known_of(client, group) for group in GROUPS}


def known_of(client: RawClient, group: str, *, as_is: bool = False) -> dict[str, Any]:
    listed = client.ask(ListGroupsRequest(), 5).groups
    [classic] = client.ask(DescribeGroupsRequest([group]), 6).groups
    [consumer] = client.ask(ConsumerGroupDescribeRequest([group]), 1).groups
    wanted = OffsetFetchRequestGroup(group, topics=None)
    [offsets] = client.ask(OffsetFetchRequest(groups=[wanted]), 9).groups
    if as_is:
        found = [each for each in listed if each.group_id == group]
        return {"listed": found, "classic": classic, "consumer": consumer, "offsets": offsets}
    return {
        "listed": [each for each in listed if each.group_id == group],
        "classic": (
            classic.error_code,
            classic.group_state,
            classic.protocol_type,
            classic.protocol_data,
            sorted(map(repr, classic.members)),
        ),
        "consumer": (
            consumer.error_code,
            consumer.group_state,
            consumer.group_epoch,
            consumer.assignment_epoch,
            sorted(map(member_of_consumers, consumer.members)),
        ),
        "offsets": sorted(
            (topic.name, each.partition_index, each.committed_offset, each.metadata)
            for topic in offsets.topics
            for each in topic.partitions
        ),
    }


def member_of_consumers(member: Any) -> str:
    """Without its assignments: they go by topic ids, which the other side does not know."""
    shown = {name: value for name, value in member.items() if not name.endswith("assignment")}
    return repr(shown)


@contextmanager
def kafka(directory: Path) -> Iterator[ApacheKafka]:
    with ApacheKafka(directory, {"group.consumer.assignment.interval.ms": "0", **SESSIONS}) as node:
        yield node


def begin_topic(bootstrap: str) -> None:
    """Have the topic of offsets created."""
    GroupsHarness(bootstrap).close()


def replace_log(target: Path, source: Path) -> None:
    """Put one log in the place of another; whose topic it is stays with the place."""
    for path in target.iterdir():
        if path.name != "partition.metadata":
            path.unlink()
    for path in source.iterdir():
        if path.suffix == ".log":
            shutil.copy(path, target / path.name)


def test_groups_that_kafka_wrote_are_known_here(tmp_path: Path) -> None:
    with kafka(tmp_path / "kafka") as node:
        make_groups(node.bootstrap)
        expected = what_is_known(node.bootstrap)
        node.stop()
        theirs = node.log_directory / OFFSETS
        with RunningBroker(config=SETTINGS) as broker:
            begin_topic(broker.bootstrap_servers)
            broker.kill()
            replace_log(broker.data / OFFSETS, theirs)
            broker.start()
            assert what_is_known(broker.bootstrap_servers) == expected
            assert "Traceback" not in broker.log


def test_groups_that_we_wrote_are_known_to_kafka(tmp_path: Path) -> None:
    with RunningBroker(config=SETTINGS) as broker:
        make_groups(broker.bootstrap_servers)
        expected = what_is_known(broker.bootstrap_servers)
        broker.stop()
        with kafka(tmp_path / "kafka") as node:
            begin_topic(node.bootstrap)
            node.kill()
            replace_log(node.log_directory / OFFSETS, broker.data / OFFSETS)
            node.start()
            assert what_is_known(node.bootstrap) == expected
