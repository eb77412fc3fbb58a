"""Consumer groups (KIP-848): joining, epochs, moving partitions safely, leaving, restarts."""

from __future__ import annotations

import dataclasses
from dataclasses import replace

import pytest
from tests.unit.coordinators.groups.harness import (
    GROUP,
    REBALANCE_MS,
    ConsumerClient,
    Harness,
    code_of,
    settle,
)

from ottla.base.scheduling.steps import run_blocking
from ottla.coordinators.groups import consumer_api, membership_api
from ottla.coordinators.groups.consumer.member import MemberState
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.errors import BrokerError
from ottla.protocol.messages.consumer_group_heartbeat_request import (
    ConsumerGroupHeartbeatRequest,
    TopicPartitions,
)

SESSION_MS = 45_000


@pytest.fixture
def harness() -> Harness:
    harness = Harness()
    harness.create_topic("t", 4)
    return harness


def everything(topic: str, count: int) -> set[tuple[str, int]]:
    return {(topic, at) for at in range(count)}


# Joining


def test_the_first_member_gets_everything_at_once(harness: Harness) -> None:
    client = ConsumerClient(harness)
    answer = client.beat()
    assert client.partitions == everything("t", 4)
    assert (answer.member_epoch, answer.heartbeat_interval_ms) == (2, 5000)
    assert harness.consumers().state_name == "Stable"


def test_a_heartbeat_that_changes_nothing_has_no_assignment_and_writes_nothing(
    harness: Harness,
) -> None:
    client = ConsumerClient(harness)
    client.beat()
    size = len(harness.log)
    assert client.beat().assignment is None
    assert len(harness.log) == size
    assert client.beat(is_full=True).assignment is not None


def test_a_client_of_version_0_may_leave_its_member_id_to_the_coordinator(harness: Harness) -> None:
    client = ConsumerClient(harness, version=0)
    client.member_id = ""
    assert client.beat().member_id
    assert client.partitions == everything("t", 4)


def test_a_second_member_gets_partitions_when_the_first_has_given_them_up(harness: Harness) -> None:
    first, second = ConsumerClient(harness), ConsumerClient(harness)
    first.beat()
    harness.advance_ms(1000)
    answer = second.beat()
    assert second.partitions == set()
    assert answer.heartbeat_interval_ms == 1000  # it waits for the first, and may come sooner
    assert harness.consumers().members[second.member_id].state is MemberState.UNRELEASED_PARTITIONS
    reported = first.beat()
    assert reported.assignment is not None
    assert reported.member_epoch == 2  # until it has given them up
    second.beat()
    assert second.partitions == set()
    assert first.beat().member_epoch == 3
    second.beat()
    assert (len(first.partitions), len(second.partitions)) == (2, 2)
    assert first.partitions | second.partitions == everything("t", 4)


def test_a_new_assignment_is_made_at_most_once_in_an_interval(harness: Harness) -> None:
    clients = [ConsumerClient(harness, f"c{at}") for at in range(4)]
    for client in clients:
        client.beat()
    group = harness.consumers()
    assert (group.target_epoch, group.epoch, group.state_name) == (2, 5, "Assigning")
    harness.advance_ms(1000)
    clients[0].beat()
    assert harness.consumers().target_epoch == 5
    settle(*clients)
    assert [len(client.partitions) for client in clients] == [1, 1, 1, 1]


def test_without_an_interval_every_change_is_assigned_at_once(harness: Harness) -> None:
    harness.group_config = dataclasses.replace(
        harness.group_config, consumer_assignment_interval_ms=0
    )
    for _ in range(3):
        ConsumerClient(harness).beat()
    assert harness.consumers().target_epoch == harness.consumers().epoch


def test_members_that_ask_for_the_range_assignor_get_ranges(harness: Harness) -> None:
    harness.create_topic("u", 4)
    clients = [
        ConsumerClient(harness, f"c{at}", topics=("t", "u"), assignor="range") for at in range(2)
    ]
    settle(*clients)
    assert clients[0].partitions == {("t", 0), ("t", 1), ("u", 0), ("u", 1)}


def test_a_member_of_no_topics_or_of_topics_that_do_not_exist_has_nothing(harness: Harness) -> None:
    nothing, unknown = ConsumerClient(harness, topics=()), ConsumerClient(harness, topics=("x",))
    settle(nothing, unknown)
    assert nothing.partitions == unknown.partitions == set()
    assert harness.consumers().state_name == "Stable"


def test_a_full_group_rejects_new_members() -> None:
    harness = Harness("group.consumer.max.size=1")
    first = ConsumerClient(harness)
    first.beat()
    with pytest.raises(BrokerError) as refused:
        ConsumerClient(harness).beat()
    assert refused.value.code == ErrorCode.GROUP_MAX_SIZE_REACHED
    assert first.refusal() == ErrorCode.NONE


@pytest.mark.parametrize(
    "fields",
    [
        {"member_id": ""},
        {"member_id": "m", "instance_id": " "},
        {"member_id": "m", "rack_id": ""},
        {"member_id": "m", "member_epoch": -3},
        {"member_id": "m", "member_epoch": -2},
        {"member_id": "m"},
        {"member_id": "m", "rebalance_timeout_ms": 1, "topic_partitions": []},
        {"member_id": "m", "rebalance_timeout_ms": 1, "subscribed_topic_names": ["t"]},
        {
            "member_id": "m",
            "rebalance_timeout_ms": 1,
            "subscribed_topic_names": ["t"],
            "topic_partitions": [TopicPartitions(b"x" * 16, [0])],
        },
    ],
)
def test_a_request_that_no_client_should_send_is_refused(
    harness: Harness, fields: dict[str, object]
) -> None:
    request = ConsumerGroupHeartbeatRequest(GROUP, **fields)  # type: ignore[arg-type]
    with pytest.raises(BrokerError) as refused:
        ConsumerClient(harness).send(request)
    assert refused.value.code == ErrorCode.INVALID_REQUEST
    assert harness.log == []


def test_an_assignor_that_does_not_exist_is_refused(harness: Harness) -> None:
    client = ConsumerClient(harness, assignor="magic")
    assert client.refusal() == ErrorCode.UNSUPPORTED_ASSIGNOR


# Epochs


def test_a_member_that_did_not_hear_of_its_epoch_may_say_the_one_before(harness: Harness) -> None:
    first, second = ConsumerClient(harness), ConsumerClient(harness)
    first.beat()
    harness.advance_ms(1000)
    second.beat()
    first.beat()
    first.beat()
    assert first.epoch == 3
    first.epoch = 2
    assert first.refusal() == ErrorCode.NONE
    assert first.epoch == 3


def test_a_member_that_has_gone_on_since_its_epoch_has_heard_of_it(harness: Harness) -> None:
    first, second, *others = (ConsumerClient(harness) for _ in range(4))
    first.beat()
    harness.advance_ms(1000)
    settle(second, first, rounds=2)
    harness.advance_ms(1000)
    for each in others:
        each.beat()
        harness.advance_ms(1000)
    assert first.epoch == 3
    first.beat()
    assert first.wanted is not None  # to give something up, in the same epoch
    first.epoch = 2
    assert first.refusal() == ErrorCode.FENCED_MEMBER_EPOCH


def test_a_member_of_another_epoch_is_fenced_and_may_join_again(harness: Harness) -> None:
    client = ConsumerClient(harness)
    client.beat()
    for epoch in (1, 3):
        client.epoch = epoch
        assert client.refusal() == ErrorCode.FENCED_MEMBER_EPOCH
    client.epoch = 0
    assert client.refusal() == ErrorCode.NONE
    assert client.partitions == everything("t", 4)
    assert client.epoch == 2


def test_the_epoch_before_is_no_excuse_for_partitions_it_should_not_have(harness: Harness) -> None:
    first, second = ConsumerClient(harness), ConsumerClient(harness)
    first.beat()
    harness.advance_ms(1000)
    second.beat()
    before = first.owned or first.wanted
    settle(first, second, rounds=3)
    first.epoch = 2
    first.owned = before or {}
    assert first.refusal() == ErrorCode.FENCED_MEMBER_EPOCH


def test_unknown_groups_and_members_have_different_errors(harness: Harness) -> None:
    stranger = ConsumerClient(harness, epoch=1)
    assert stranger.refusal() == ErrorCode.GROUP_ID_NOT_FOUND
    ConsumerClient(harness).beat()
    assert stranger.refusal() == ErrorCode.UNKNOWN_MEMBER_ID


# What changes around a group


def test_new_partitions_and_new_topics_are_assigned(harness: Harness) -> None:
    client = ConsumerClient(harness, topics=("t", "later"))
    client.beat()
    harness.add_partitions("t", 6)
    harness.create_topic("later", 2)
    settle(client)
    assert client.partitions == everything("t", 6) | everything("later", 2)
    assert client.epoch == 3  # one rebalance for both


def test_a_deleted_topic_is_taken_away_and_its_namesake_is_another_one(harness: Harness) -> None:
    harness.create_topic("u", 2)
    client = ConsumerClient(harness, topics=("t", "u"))
    client.beat()
    harness.delete_topic("u")
    settle(client)
    assert client.partitions == everything("t", 4)
    harness.create_topic("u", 3)
    settle(client)
    assert client.partitions == everything("t", 4) | everything("u", 3)


def test_a_topic_without_subscribers_changes_nothing(harness: Harness) -> None:
    client = ConsumerClient(harness)
    client.beat()
    harness.create_topic("u")
    settle(client)
    assert client.epoch == 2


def test_a_member_with_another_subscription_revokes_its_old_partitions(harness: Harness) -> None:
    harness.create_topic("u", 2)
    client = ConsumerClient(harness)
    client.beat()
    client.topics = ("u",)
    answer = client.beat(is_full=True)  # the new target is not made yet, but this is clear
    assert answer.assignment is not None
    assert answer.assignment.topic_partitions == []
    settle(client)
    assert client.partitions == everything("u", 2)


# Leaving


def test_a_member_that_leaves_is_gone_at_once(harness: Harness) -> None:
    first, second = ConsumerClient(harness), ConsumerClient(harness)
    settle(first, second)
    first.leave()
    settle(second)
    assert second.partitions == everything("t", 4)
    assert first.member_id not in harness.consumers().members


def test_the_last_member_leaves_an_empty_group(harness: Harness) -> None:
    client = ConsumerClient(harness)
    client.beat()
    client.commit({("t", 0): 5})
    client.leave()
    for _ in range(2):
        assert harness.consumers().state_name == "Empty"
        assert harness.fetch("t", 0) == 5
        harness.restart()
    harness.delete_group()
    assert harness.shard.find(GROUP) is None
    assert harness.replayed().groups == {}


def test_a_silent_member_is_removed_with_its_session(harness: Harness) -> None:
    first, second = ConsumerClient(harness), ConsumerClient(harness)
    settle(first, second)
    harness.advance_ms(SESSION_MS - 10_000)
    second.beat()
    harness.advance_ms(10_000)
    assert first.refusal() == ErrorCode.UNKNOWN_MEMBER_ID
    settle(second)
    assert second.partitions == everything("t", 4)


@pytest.mark.parametrize("is_restarted", [False, True])
def test_a_member_that_does_not_give_up_its_partitions_in_time_is_removed(
    harness: Harness, is_restarted: bool
) -> None:
    first, second = ConsumerClient(harness), ConsumerClient(harness)
    first.beat()
    harness.advance_ms(1000)
    second.beat()
    first.beat()
    first.wanted = None  # it never adopts its assignment
    if is_restarted:
        harness.restart()
    for _ in range(REBALANCE_MS // 5000):
        harness.advance_ms(5000)
        second.beat()
        code_of(lambda: ErrorCode(first.beat().error_code))
        first.wanted = None
    assert first.refusal() == ErrorCode.UNKNOWN_MEMBER_ID
    settle(second)
    assert second.partitions == everything("t", 4)


# Static members


def test_a_static_member_that_comes_back_finds_its_partitions(harness: Harness) -> None:
    first = ConsumerClient(harness, "a", instance_id="a")
    second = ConsumerClient(harness, "b", instance_id="b")
    settle(first, second)
    had = first.partitions
    first.leave(epoch=-2)
    settle(second, rounds=3)
    assert len(second.partitions) == 2
    again = ConsumerClient(harness, "a", instance_id="a")
    again.beat()
    assert again.partitions == had
    assert harness.consumers().members.keys() == {again.member_id, second.member_id}
    assert first.refusal() != ErrorCode.NONE


def test_an_instance_that_is_in_use_cannot_be_taken(harness: Harness) -> None:
    first = ConsumerClient(harness, instance_id="a")
    first.beat()
    other = ConsumerClient(harness, instance_id="a")
    assert other.refusal() == ErrorCode.UNRELEASED_INSTANCE_ID
    other.epoch = first.epoch
    assert other.refusal() == ErrorCode.FENCED_INSTANCE_ID
    other.instance_id = "b"
    assert other.refusal() == ErrorCode.UNKNOWN_MEMBER_ID


def test_a_static_member_that_stays_away_is_removed_with_its_session(harness: Harness) -> None:
    first = ConsumerClient(harness, instance_id="a")
    first.beat()
    first.leave(epoch=-2)
    harness.advance_ms(SESSION_MS)
    assert harness.consumers().is_empty
    assert harness.consumers().instances == {}


def test_a_static_member_that_is_away_has_its_session_whatever_it_had_to_give_up(
    harness: Harness,
) -> None:
    first = ConsumerClient(harness, instance_id="a", rebalance_ms=10_000)
    second = ConsumerClient(harness)
    first.beat()
    harness.advance_ms(1000)
    second.beat()
    first.beat()
    assert harness.consumers().members[first.member_id].revoking
    late = replace(first)
    first.leave(epoch=-2)
    harness.advance_ms(10_000)
    assert harness.consumers().instances == {"a": first.member_id}
    assert late.refusal() == ErrorCode.FENCED_MEMBER_EPOCH


# Commits


def test_commits_must_come_from_members_in_their_epoch(harness: Harness) -> None:
    client = ConsumerClient(harness)
    client.beat()
    assert client.commit({("t", 0): 1}) == ErrorCode.NONE
    assert client.commit({("t", 0): 2}, epoch=3) == ErrorCode.STALE_MEMBER_EPOCH
    assert client.commit({("t", 0): 2}, epoch=1) == ErrorCode.STALE_MEMBER_EPOCH
    assert client.commit({("t", 0): 2}, version=8) == ErrorCode.UNSUPPORTED_VERSION
    with pytest.raises(BrokerError) as refused:
        harness.commit({("t", 0): 2})
    assert refused.value.code == ErrorCode.UNKNOWN_MEMBER_ID
    assert harness.fetch("t", 0) == 1


def test_an_older_epoch_may_commit_what_it_has_had_all_along(harness: Harness) -> None:
    first, second = ConsumerClient(harness), ConsumerClient(harness)
    first.beat()
    harness.advance_ms(1000)
    second.beat()
    settle(first, second)
    kept, given = min(first.partitions), min(second.partitions)
    assert first.commit({kept: 1}, epoch=2) == ErrorCode.NONE
    assert first.commit({given: 1}, epoch=2) == ErrorCode.STALE_MEMBER_EPOCH
    assert second.commit({given: 1}, epoch=2) == ErrorCode.STALE_MEMBER_EPOCH


def test_offsets_are_read_by_members_in_their_epoch_and_by_tools(harness: Harness) -> None:
    client = ConsumerClient(harness)
    client.beat()
    group = harness.consumers()
    group.check_offset_fetch(None, -1)
    group.check_offset_fetch(client.member_id, client.epoch)
    for member_id, epoch, code in (
        (client.member_id, 1, ErrorCode.STALE_MEMBER_EPOCH),
        ("somebody", 2, ErrorCode.UNKNOWN_MEMBER_ID),
    ):
        with pytest.raises(BrokerError) as refused:
            group.check_offset_fetch(member_id, epoch)
        assert refused.value.code == code


def test_a_transaction_of_an_old_epoch_is_an_illegal_generation(harness: Harness) -> None:
    client = ConsumerClient(harness)
    client.beat()
    harness.commit_in_transaction(
        7, {("t", 0): 1}, member_id=client.member_id, generation=client.epoch
    )
    with pytest.raises(BrokerError) as refused:
        harness.commit_in_transaction(7, {("t", 0): 1}, member_id=client.member_id, generation=9)
    assert refused.value.code == ErrorCode.ILLEGAL_GENERATION


# Patterns


def test_a_pattern_stands_for_the_topics_whose_whole_name_matches(harness: Harness) -> None:
    harness.create_topic("logs.a", 1)
    harness.create_topic("logs.b", 1)
    harness.create_topic("old.logs.a", 1)
    client = ConsumerClient(harness, topics=(), regex=r"logs\..*")
    assert client.beat().member_epoch == 1
    settle(client)
    assert client.partitions == {("logs.a", 0), ("logs.b", 0)}
    harness.restart()
    settle(client)
    assert client.partitions == {("logs.a", 0), ("logs.b", 0)}


def test_topics_that_come_later_are_found_after_a_while(harness: Harness) -> None:
    client = ConsumerClient(harness, topics=(), regex="logs.*")
    settle(client)
    harness.create_topic("logs.new", 1)
    harness.advance_ms(10_001)
    settle(client)
    assert client.partitions == {("logs.new", 0)}
    harness.delete_topic("logs.new")
    settle(client)
    assert client.partitions == set()


def test_names_and_patterns_add_up(harness: Harness) -> None:
    harness.create_topic("logs.a", 1)
    client = ConsumerClient(harness, topics=("t",), regex="logs.*")
    settle(client)
    assert client.partitions == everything("t", 4) | {("logs.a", 0)}


def test_a_pattern_that_is_none_is_refused_and_nothing_has_changed(harness: Harness) -> None:
    client = ConsumerClient(harness, topics=(), regex="[")
    with pytest.raises(BrokerError) as refused:
        client.beat()
    assert refused.value.code == ErrorCode.INVALID_REGULAR_EXPRESSION
    assert "missing ]" in refused.value.message
    assert harness.log == []
    assert harness.shard.context.on_written == []


def test_an_unused_pattern_is_removed(harness: Harness) -> None:
    harness.create_topic("logs.a", 1)
    first = ConsumerClient(harness, topics=(), regex="logs.*")
    second = ConsumerClient(harness, topics=(), regex="logs.*")
    settle(first, second)
    first.leave()
    assert set(harness.consumers().regexes) == {"logs.*"}
    second.topics, second.regex = ("t",), ""
    second.beat(is_full=True)
    assert harness.consumers().regexes == {}
    settle(second)
    assert second.partitions == everything("t", 4)
    harness.restart()
    assert harness.consumers().regexes == {}


# Restarts, tools


def test_after_a_restart_members_go_on_where_they_were(harness: Harness) -> None:
    first, second = ConsumerClient(harness), ConsumerClient(harness)
    settle(first, second)
    had = first.partitions, second.partitions
    size = len(harness.log)
    harness.restart()
    settle(first, second)
    assert (first.partitions, second.partitions) == had
    assert len(harness.log) == size


def test_a_member_that_was_giving_up_partitions_is_watched_after_a_restart(
    harness: Harness,
) -> None:
    first, second = ConsumerClient(harness), ConsumerClient(harness)
    first.beat()
    harness.advance_ms(1000)
    second.beat()
    first.beat()
    harness.restart()
    harness.advance_ms(REBALANCE_MS)
    assert first.member_id not in harness.consumers().members


def test_records_that_cannot_be_written_leave_the_group_as_it_was(harness: Harness) -> None:
    first, second = ConsumerClient(harness), ConsumerClient(harness)
    first.beat()
    harness.refusal = ErrorCode.COORDINATOR_NOT_AVAILABLE
    assert second.refusal() == ErrorCode.COORDINATOR_NOT_AVAILABLE
    assert harness.consumers().members.keys() == {first.member_id}
    harness.advance_ms(SESSION_MS + 2000)
    assert harness.consumers().members.keys() == {first.member_id}
    harness.refusal = None
    harness.advance_ms(500)
    assert harness.consumers().is_empty


def test_a_consumer_group_is_described(harness: Harness) -> None:
    first, second = ConsumerClient(harness, "one"), ConsumerClient(harness, "two")
    first.beat()
    harness.advance_ms(1000)
    second.beat()
    first.beat()
    group = run_blocking(consumer_api.describe(harness.shard, GROUP))
    assert (group.group_state, group.group_epoch, group.assignment_epoch) == ("Reconciling", 3, 3)
    assert group.assignor_name == "uniform"
    by_client = {each.client_id: each for each in group.members}
    one = by_client["one"]
    assert one.assignment is not None
    assert one.target_assignment is not None
    assert one.assignment.topic_partitions[0].partitions == [0, 1, 2, 3]  # it has them still
    assert one.target_assignment.topic_partitions[0].partitions == [0, 1]
    assert (one.member_epoch, one.member_type, one.subscribed_topic_names) == (2, 1, ["t"])


def test_tools_that_know_classic_groups_only_find_no_consumer_group(harness: Harness) -> None:
    ConsumerClient(harness).beat()
    found = run_blocking(membership_api.describe(harness.shard, GROUP, 6))
    assert (found.error_code, found.group_state) == (ErrorCode.GROUP_ID_NOT_FOUND, "Dead")
    [listed] = run_blocking(membership_api.list_groups(harness.shard, {"stable"}, {"consumer"}))
    assert (listed.group_type, listed.protocol_type) == ("consumer", "consumer")


def test_offsets_of_topics_that_a_consumer_group_reads_are_not_deleted(harness: Harness) -> None:
    harness.create_topic("u")
    client = ConsumerClient(harness)
    client.beat()
    client.commit({("t", 0): 1, ("u", 0): 1})
    assert harness.delete_offsets("t", [0]) == [ErrorCode.GROUP_SUBSCRIBED_TO_TOPIC]
    assert harness.delete_offsets("u", [0]) == [ErrorCode.NONE]
