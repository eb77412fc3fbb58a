"""The group protocols request by request: the same steps on our broker and on Apache Kafka.

Each test runs on both, so what is expected here is what Kafka answers.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from tests.compatibility.clients.groups_harness import (
    PARTITIONS,
    GroupsHarness,
    rebalance,
    settle,
    subscription,
    until,
)

from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.messages.consumer_group_describe_request import ConsumerGroupDescribeRequest
from ottla.protocol.messages.delete_groups_request import DeleteGroupsRequest
from ottla.protocol.messages.describe_groups_request import DescribeGroupsRequest
from ottla.protocol.messages.leave_group_request import LeaveGroupRequest, MemberIdentity
from ottla.protocol.messages.list_groups_request import ListGroupsRequest
from ottla.protocol.messages.offset_delete_request import (
    OffsetDeleteRequest,
    OffsetDeleteRequestPartition,
    OffsetDeleteRequestTopic,
)

NONE = ErrorCode.NONE
REBALANCE = ErrorCode.REBALANCE_IN_PROGRESS
UNKNOWN_MEMBER = ErrorCode.UNKNOWN_MEMBER_ID
OLD_GENERATION = ErrorCode.ILLEGAL_GENERATION
OTHER_PROTOCOL = ErrorCode.INCONSISTENT_GROUP_PROTOCOL
FENCED_INSTANCE = ErrorCode.FENCED_INSTANCE_ID
FENCED_EPOCH = ErrorCode.FENCED_MEMBER_EPOCH
STALE_EPOCH = ErrorCode.STALE_MEMBER_EPOCH
NO_GROUP = ErrorCode.GROUP_ID_NOT_FOUND


@pytest.fixture
def harness(either_bootstrap: str) -> Iterator[GroupsHarness]:
    harness = GroupsHarness(either_bootstrap)
    yield harness
    harness.close()


# Classic groups


def test_every_version_of_the_classic_requests_leads_to_the_same_group(
    harness: GroupsHarness,
) -> None:
    for version in range(10):
        member = harness.classic(version=version)
        answer = member.join()
        assert (answer.error_code, answer.leader) == (NONE, member.member_id)
        assert [each.member_id for each in answer.members] == [member.member_id]
        assert (answer.protocol_name, answer.skip_assignment) == ("range", False)
        assert answer.protocol_type == ("consumer" if version >= 7 else None)
        sync = min(version, 5)
        assert member.sync({member.member_id: [1, 2]}, version=sync).error_code == NONE
        assert member.owned == {1, 2}
        assert member.heartbeat(version=min(version, 4)) == NONE
        assert member.commit({1: version}, version=min(max(version, 2), 9)) == NONE
        assert member.leave(version=min(version, 5)) == NONE
    assert harness.fetch([1]) == {1: 9}


def test_a_generation_follows_on_the_empty_one_before(harness: GroupsHarness) -> None:
    generations = []
    for _ in range(3):
        member = harness.classic()
        rebalance(member)
        generations.append(member.generation)
        member.leave()
    assert generations == [1, 3, 5]


def test_a_member_id_is_given_first_and_must_be_used(harness: GroupsHarness) -> None:
    member = harness.classic("client")
    answer = member.ask_join()
    assert answer.error_code == ErrorCode.MEMBER_ID_REQUIRED
    assert answer.member_id.startswith("client-")
    assert (answer.generation_id, answer.members) == (-1, [])


def test_requests_without_a_member(harness: GroupsHarness) -> None:
    member = harness.classic(member_id="nobody", generation=1)
    assert member.ask_join().error_code == UNKNOWN_MEMBER
    assert member.sync().error_code == UNKNOWN_MEMBER
    assert member.heartbeat() == UNKNOWN_MEMBER
    assert member.leave() == UNKNOWN_MEMBER
    assert member.leave(version=1) == UNKNOWN_MEMBER
    assert member.commit({0: 1}) == NO_GROUP
    assert member.commit({0: 1}, version=8) == OLD_GENERATION
    rebalance(harness.classic())
    assert member.ask_join().error_code == UNKNOWN_MEMBER
    assert member.sync().error_code == UNKNOWN_MEMBER
    assert member.heartbeat() == UNKNOWN_MEMBER
    assert member.leave() == UNKNOWN_MEMBER
    assert member.commit({0: 1}) == UNKNOWN_MEMBER


@pytest.mark.parametrize("session_ms", [5_999, 1_800_001])
def test_session_timeouts_out_of_range(harness: GroupsHarness, session_ms: int) -> None:
    member = harness.classic(session_ms=session_ms)
    assert member.ask_join().error_code == ErrorCode.INVALID_SESSION_TIMEOUT


def test_a_group_without_a_name(harness: GroupsHarness) -> None:
    harness.group = ""
    member = harness.classic(member_id="x", generation=1)
    assert member.ask_join().error_code == ErrorCode.INVALID_GROUP_ID
    assert member.sync().error_code == ErrorCode.INVALID_GROUP_ID
    assert member.heartbeat() == ErrorCode.INVALID_GROUP_ID
    assert member.leave() == ErrorCode.INVALID_GROUP_ID


def test_protocols_that_do_not_fit(harness: GroupsHarness) -> None:
    assert harness.classic(protocols={}).ask_join().error_code == OTHER_PROTOCOL
    assert harness.classic(protocol_type="").ask_join().error_code == OTHER_PROTOCOL
    rebalance(harness.classic())
    assert harness.classic(protocols={"other": b""}).ask_join().error_code == OTHER_PROTOCOL
    assert harness.classic(protocol_type="connect").ask_join().error_code == OTHER_PROTOCOL


def test_two_members_vote_wait_for_each_other_and_share(harness: GroupsHarness) -> None:
    mine = subscription(harness.topic)
    first = harness.classic(protocols={"sticky": mine, "range": mine})
    second = harness.classic(protocols={"range": mine, "roundrobin": mine})
    rebalance(first)
    second.begin_join()
    until(first.heartbeat, REBALANCE)
    assert first.sync().error_code == REBALANCE
    assert first.commit({0: 1}) == NONE
    answer = first.join()
    assert (answer.generation_id, answer.protocol_name) == (2, "range")
    assert second.receive_join().members == []
    assert first.commit({0: 2}) == REBALANCE
    second.send_sync()
    first.sync({first.member_id: [0, 1], second.member_id: [2, 3]})
    assert second.receive_sync().error_code == NONE
    assert [first.owned, second.owned] == [frozenset({0, 1}), frozenset({2, 3})]
    assert first.leave() == NONE
    assert second.heartbeat() == REBALANCE


def test_old_generations(harness: GroupsHarness) -> None:
    member = harness.classic()
    rebalance(member)
    member.generation = 0
    assert member.heartbeat() == OLD_GENERATION
    assert member.sync().error_code == OLD_GENERATION
    assert member.commit({0: 1}) == OLD_GENERATION
    assert harness.commit({0: 1}) == UNKNOWN_MEMBER


def test_joining_again_in_a_stable_group(harness: GroupsHarness) -> None:
    mine = {"range": subscription(harness.topic)}
    first, second = harness.classic(protocols=mine), harness.classic(protocols=mine)
    rebalance(first, second)
    follower = first if first.leader != first.member_id else second
    leader = second if follower is first else first
    answer = follower.join()
    assert (answer.error_code, answer.generation_id) == (NONE, follower.generation)
    leader.begin_join()
    until(follower.heartbeat, REBALANCE)
    assert follower.join().generation_id == leader.receive_join().generation_id


def test_a_static_member_that_comes_back(harness: GroupsHarness) -> None:
    first, second = harness.classic(instance_id="a"), harness.classic(instance_id="b")
    rebalance(first, second)
    leader = first if first.leader == first.member_id else second
    again = harness.classic(instance_id=leader.instance_id)
    answer = again.ask_join()
    assert (answer.error_code, answer.generation_id) == (NONE, leader.generation)
    assert (answer.skip_assignment, answer.leader) == (True, again.member_id)
    assert {each.group_instance_id for each in answer.members} == {"a", "b"}
    assert again.sync().error_code == NONE
    assert again.owned == leader.owned
    assert leader.heartbeat() == FENCED_INSTANCE
    assert leader.sync().error_code == FENCED_INSTANCE
    assert leader.commit({0: 1}) == FENCED_INSTANCE
    assert leader.ask_join().error_code == FENCED_INSTANCE
    assert leader.leave() == FENCED_INSTANCE


def test_a_static_leader_of_version_8_that_comes_back(harness: GroupsHarness) -> None:
    member = harness.classic(instance_id="a")
    rebalance(member)
    again = harness.classic(instance_id="a", version=8)
    answer = again.ask_join()
    assert (answer.leader, answer.members) == (member.member_id, [])
    assert again.sync().error_code == NONE


def test_a_static_member_with_other_protocols_that_comes_back(harness: GroupsHarness) -> None:
    mine = subscription(harness.topic)
    member = harness.classic(instance_id="a", protocols={"range": mine, "sticky": mine})
    rebalance(member)
    again = harness.classic(instance_id="a", protocols={"sticky": mine})
    answer = again.ask_join()
    assert (answer.generation_id, answer.protocol_name) == (2, "sticky")


def test_leaving_in_company(harness: GroupsHarness) -> None:
    first, second = harness.classic(instance_id="a"), harness.classic()
    rebalance(first, second)
    pending = harness.classic().ask_join().member_id
    identities = [
        MemberIdentity("", "a"),
        MemberIdentity("", "x"),
        MemberIdentity(second.member_id, "a"),
        MemberIdentity(pending),
        MemberIdentity(second.member_id),
        MemberIdentity("nobody"),
    ]
    answer = harness.client.ask(LeaveGroupRequest(harness.group, members=identities), 5)
    assert [each.error_code for each in answer.members] == [
        NONE,
        UNKNOWN_MEMBER,
        UNKNOWN_MEMBER,
        NONE,
        NONE,
        UNKNOWN_MEMBER,
    ]
    assert [each.group_instance_id for each in answer.members] == ["a", "x", "a", None, None, None]


def test_a_member_that_is_silent_for_its_session_is_gone(harness: GroupsHarness) -> None:
    first, second = harness.classic(session_ms=6_000), harness.classic(session_ms=60_000)
    rebalance(first, second)
    second.protocols = {"range": subscription("other")}
    before = second.generation
    answer = second.join()  # it waits for the first, and that is without a result
    assert (answer.generation_id, len(answer.members)) == (before + 1, 1)
    assert first.heartbeat() == UNKNOWN_MEMBER


# Offsets


def test_offsets_in_every_version(harness: GroupsHarness) -> None:
    for version in range(2, 11):
        assert harness.commit({0: version, 3: 7}, version=version, metadata="m") == NONE
    for version in range(1, 11):
        assert harness.fetch([0, 1, 3], version=version) == {0: 10, 1: -1, 3: 7}
    for version in range(2, 11):
        assert harness.fetch(None, version=version) == {0: 10, 3: 7}


def test_offsets_of_unknown_things(harness: GroupsHarness) -> None:
    assert harness.fetch([0, 1], group="nobody") == {0: -1, 1: -1}
    assert harness.fetch(None, group="nobody") == {}
    assert harness.commit({9: 1}) == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    assert harness.commit({0: 1}, topic="nowhere") == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    assert harness.commit({0: 1}, topic_id=b"x" * 16, version=10) == ErrorCode.UNKNOWN_TOPIC_ID
    assert harness.commit({0: 1}, metadata="x" * 4096) == NONE
    assert harness.commit({0: 1}, metadata="x" * 4097) == ErrorCode.OFFSET_METADATA_TOO_LARGE
    assert harness.commit({0: 1}, metadata=None) == NONE
    harness.topic_id = b"x" * 16
    assert harness.fetch([0], version=10) == {0: -ErrorCode.UNKNOWN_TOPIC_ID}


def test_deleting_offsets(harness: GroupsHarness) -> None:
    def delete(*indexes: int, topic: str = harness.topic) -> list[int]:
        wanted = [OffsetDeleteRequestPartition(index) for index in indexes]
        request = OffsetDeleteRequest(harness.group, [OffsetDeleteRequestTopic(topic, wanted)])
        answer = harness.client.ask(request, 0)
        parts = [each for one in answer.topics for each in one.partitions]
        by_index = {each.partition_index: each.error_code for each in parts}
        return [answer.error_code, *(by_index[index] for index in indexes if index in by_index)]

    unknown = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    assert delete(0) == [NO_GROUP]
    harness.commit({0: 1, 1: 2})
    assert delete(0, 9) == [NONE, NONE, unknown]
    assert delete(0, topic="nowhere") == [NONE, unknown]
    assert harness.fetch([0, 1]) == {0: -1, 1: 2}
    member = harness.classic()
    rebalance(member)
    assert delete(1) == [NONE, ErrorCode.GROUP_SUBSCRIBED_TO_TOPIC]
    member.leave()
    assert delete(1) == [NONE, NONE]


# Tools


def test_groups_are_described_and_listed_in_every_version(harness: GroupsHarness) -> None:
    member = harness.classic("app", instance_id="a")
    rebalance(member)
    for version in range(7):
        request = DescribeGroupsRequest([harness.group, "nobody"])
        answer = harness.client.ask(request, version).groups
        known, unknown = sorted(answer, key=lambda each: each.group_id != harness.group)
        assert (known.error_code, known.group_state) == (NONE, "Stable")
        assert (known.protocol_type, known.protocol_data) == ("consumer", "range")
        [described] = known.members
        assert (described.client_id, described.client_host) == ("app", "/127.0.0.1")
        assert described.group_instance_id == ("a" if version >= 4 else None)
        assert described.member_metadata == subscription(harness.topic)
        assert unknown.group_state == "Dead"
        assert unknown.error_code == (NO_GROUP if version >= 6 else NONE)
    for version in range(6):
        answer = harness.client.ask(ListGroupsRequest(), version)
        [listed] = [each for each in answer.groups if each.group_id == harness.group]
        assert listed.protocol_type == "consumer"
        assert listed.group_state == ("Stable" if version >= 4 else "")
        assert listed.group_type == ("classic" if version >= 5 else "")


def test_groups_are_listed_by_state_and_type(harness: GroupsHarness) -> None:
    def listed(*, states: list[str] | None = None, types: list[str] | None = None) -> bool:
        request = ListGroupsRequest(states or [], types or [])
        answer = harness.client.ask(request, 5)
        assert answer.error_code == NONE
        return any(each.group_id == harness.group for each in answer.groups)

    harness.commit({0: 1})
    assert listed(states=["empty"])
    assert not listed(states=["Stable"])
    assert listed(types=["CLASSIC"])
    assert not listed(types=["consumer"])
    harness.consumer().beat()
    assert listed(states=["stable"], types=["consumer"])
    assert not listed(types=["classic"])


def test_deleting_groups_in_every_version(harness: GroupsHarness) -> None:
    def delete(version: int) -> ErrorCode:
        [answer] = harness.client.ask(DeleteGroupsRequest([harness.group]), version).results
        return ErrorCode(answer.error_code)

    for version in range(3):
        assert delete(version) == NO_GROUP
        member = harness.classic()
        rebalance(member)
        assert delete(version) == ErrorCode.NON_EMPTY_GROUP
        member.commit({0: 1})
        member.leave()
        assert delete(version) == NONE
        assert harness.fetch([0]) == {0: -1}


# Consumer groups


def test_members_of_a_consumer_group_share(harness: GroupsHarness) -> None:
    first, second = harness.consumer(), harness.consumer()
    answer = first.ask()
    assert (answer.error_code, answer.member_epoch) == (NONE, 2)
    assert answer.heartbeat_interval_ms == 5_000
    assert answer.member_id == first.member_id
    assert answer.assignment is not None
    first.beat()
    assert first.owned == set(range(PARTITIONS))
    assert first.ask().assignment is None
    assert first.ask(is_full=True).assignment is not None
    settle(first, second, sizes=[2, 2])
    assert first.owned | second.owned == set(range(PARTITIONS))
    assert first.epoch == second.epoch == 3
    assert second.leave() == NONE
    settle(first, sizes=[4])


def test_epochs_that_are_not_the_members(harness: GroupsHarness) -> None:
    member = harness.consumer()
    assert harness.consumer(epoch=1).beat() == NO_GROUP
    member.beat()
    assert harness.consumer(epoch=1).beat() == UNKNOWN_MEMBER
    member.epoch = 7
    assert member.beat() == FENCED_EPOCH
    member.epoch = 1
    assert member.beat() == FENCED_EPOCH
    member.epoch = 0
    assert member.beat() == NONE
    assert member.owned == set(range(PARTITIONS))


def test_requests_that_no_consumer_should_send(harness: GroupsHarness) -> None:
    invalid = ErrorCode.INVALID_REQUEST
    assert harness.consumer(rebalance_ms=-1).beat() == invalid
    assert harness.consumer(instance_id="").beat() == invalid
    assert harness.consumer(epoch=-3).beat() == invalid
    assert harness.consumer().leave(epoch=-2) == invalid
    assert harness.consumer(assignor="magic").beat() == ErrorCode.UNSUPPORTED_ASSIGNOR
    assert harness.consumer(regex="[").beat() == ErrorCode.INVALID_REGULAR_EXPRESSION
    nameless = harness.consumer()
    nameless.member_id = ""
    assert nameless.beat() == invalid
    nameless.version = 0
    assert nameless.beat() == NONE
    assert nameless.member_id


def test_static_consumers(harness: GroupsHarness) -> None:
    member = harness.consumer(instance_id="a")
    member.beat()
    other = harness.consumer(instance_id="a")
    assert other.beat() == ErrorCode.UNRELEASED_INSTANCE_ID
    assert other.leave() == FENCED_INSTANCE
    assert member.leave(epoch=-2) == NONE
    assert other.beat() == NONE
    assert other.owned == set(range(PARTITIONS))
    assert member.beat() == FENCED_INSTANCE
    assert other.leave() == NONE
    assert other.beat() == UNKNOWN_MEMBER


def test_commits_of_consumers(harness: GroupsHarness) -> None:
    member = harness.consumer()
    member.beat()
    assert member.commit({0: 1}) == NONE
    assert member.commit({0: 1}, epoch=1) == STALE_EPOCH
    assert member.commit({0: 1}, epoch=9) == STALE_EPOCH
    assert harness.commit({0: 1}) == UNKNOWN_MEMBER
    assert harness.commit({0: 1}, epoch=2, member_id="nobody") == UNKNOWN_MEMBER
    assert harness.commit({0: 1}, epoch=2, member_id=member.member_id, version=8) == (
        ErrorCode.UNSUPPORTED_VERSION
    )
    assert harness.fetch([0]) == {0: 1}
    assert harness.fetch([0], member_id=member.member_id, epoch=2) == {0: 1}
    assert harness.fetch([0], member_id=member.member_id, epoch=1) == STALE_EPOCH
    assert harness.fetch([0], member_id="nobody", epoch=2) == UNKNOWN_MEMBER


def test_a_pattern_finds_its_topics(harness: GroupsHarness) -> None:
    member = harness.consumer(regex=f"{harness.topic[:-1]}.", topics=())
    settle(member, sizes=[4])
    assert member.owned == set(range(PARTITIONS))


def test_consumer_groups_are_described(harness: GroupsHarness) -> None:
    member = harness.consumer("app", instance_id="a")
    member.beat()
    for version in range(2):
        request = ConsumerGroupDescribeRequest([harness.group])
        [group] = harness.client.ask(request, version).groups
        assert (group.error_code, group.group_state) == (NONE, "Stable")
        assert (group.group_epoch, group.assignment_epoch) == (2, 2)
        assert group.assignor_name == "uniform"
        [described] = group.members
        assert (described.client_id, described.client_host) == ("app", "/127.0.0.1")
        assert (described.member_epoch, described.instance_id) == (2, "a")
        assert described.subscribed_topic_names == [harness.topic]
        assert described.subscribed_topic_regex == ""
        for assignment in (described.assignment, described.target_assignment):
            [topic] = assignment.topic_partitions
            assert (topic.topic_name, topic.topic_id) == (harness.topic, harness.topic_id)
            assert sorted(topic.partitions) == list(range(PARTITIONS))
        assert described.member_type == (1 if version >= 1 else -1)
    [dead] = harness.client.ask(DescribeGroupsRequest([harness.group]), 5).groups
    assert (dead.error_code, dead.group_state) == (NONE, "Dead")
    harness.commit({0: 1}, group=f"{harness.group}-classic")
    wrong = ConsumerGroupDescribeRequest(["nobody", f"{harness.group}-classic"])
    answers = harness.client.ask(wrong, 1).groups
    assert [each.error_code for each in answers] == [NO_GROUP, NO_GROUP]


# From one protocol to the other


def test_a_classic_group_becomes_a_consumer_group_and_back(harness: GroupsHarness) -> None:
    old = harness.classic()
    rebalance(old)
    assert old.owned == set(range(PARTITIONS))
    new = harness.consumer()
    assert new.beat() == NONE
    assert (new.epoch, len(new.owned)) == (2, 0)
    assert old.heartbeat() == REBALANCE
    old.owned = frozenset(range(PARTITIONS))
    assert old.join().error_code == NONE
    assert old.generation == 1  # until it has given up what it must
    assert old.sync().error_code == NONE
    assert len(old.owned) == 2
    assert old.join().generation_id == 2
    assert old.sync().error_code == NONE
    settle(new, sizes=[2])
    assert old.owned | new.owned == set(range(PARTITIONS))
    assert old.commit({min(old.owned): 1}) == NONE
    assert new.leave() == NONE
    assert old.heartbeat() == REBALANCE
    answer = old.join()
    assert (answer.error_code, answer.leader) == (NONE, old.member_id)
    assert old.generation == 3
    assert old.sync({old.member_id: range(PARTITIONS)}).error_code == NONE
    assert old.heartbeat() == NONE


def test_a_classic_client_in_a_consumer_group(harness: GroupsHarness) -> None:
    new, old = harness.consumer(), harness.classic()
    new.beat()
    answer = old.join()
    assert (answer.error_code, answer.leader, answer.members) == (NONE, "", [])
    assert (answer.protocol_type, answer.protocol_name) == ("consumer", "range")
    assert old.sync().error_code == NONE
    old.generation += 1
    assert old.heartbeat() == OLD_GENERATION
    assert old.sync().error_code == OLD_GENERATION
    old.generation -= 1
    assert harness.classic(
        protocols={"own": subscription(harness.topic)}
    ).ask_join().error_code == (OTHER_PROTOCOL)
    assert harness.classic(protocol_type="connect").ask_join().error_code == OTHER_PROTOCOL
    assert old.leave() == NONE
    assert old.heartbeat() == UNKNOWN_MEMBER


def test_a_group_of_another_kind_stays_what_it_is(harness: GroupsHarness) -> None:
    rebalance(harness.classic(protocol_type="connect"))
    assert harness.consumer().beat() == NO_GROUP
