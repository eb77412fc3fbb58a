"""Consumer groups (KIP-848): joining, epochs, moving partitions safely, leaving, restarts."""

from __future__ import annotations

import dataclasses
from dataclasses import replace

import pytest
from tests.unit.coordinators.groups.bench import (
    GROUP,
    REBALANCE_MS,
    Bench,
    ConsumerClient,
    code_of,
    settle,
)

from ottla.base.turns import run_at_once
from ottla.coordinators.groups import consumer_requests, group_requests
from ottla.coordinators.groups.consumer.member import MemberState
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.errors import BrokerError
from ottla.protocol.messages.consumer_group_heartbeat_request import (
    ConsumerGroupHeartbeatRequest,
    TopicPartitions,
)

SESSION_MS = 45_000


@pytest.fixture
def bench() -> Bench:
    bench = Bench()
    bench.create_topic("t", 4)
    return bench


def everything(topic: str, count: int) -> set[tuple[str, int]]:
    return {(topic, at) for at in range(count)}


# Joining


def test_the_first_member_gets_everything_at_once(bench: Bench) -> None:
    client = ConsumerClient(bench)
    answer = client.beat()
    assert client.partitions == everything("t", 4)
    assert (answer.member_epoch, answer.heartbeat_interval_ms) == (2, 5000)
    assert bench.consumers().state_name == "Stable"


def test_a_heartbeat_without_news_has_no_assignment_and_writes_nothing(bench: Bench) -> None:
    client = ConsumerClient(bench)
    client.beat()
    size = len(bench.log)
    assert client.beat().assignment is None
    assert len(bench.log) == size
    assert client.beat(is_full=True).assignment is not None


def test_a_client_of_version_0_may_leave_its_member_id_to_the_coordinator(bench: Bench) -> None:
    client = ConsumerClient(bench, version=0)
    client.member_id = ""
    assert client.beat().member_id
    assert client.partitions == everything("t", 4)


def test_a_second_member_gets_partitions_when_the_first_has_given_them_up(bench: Bench) -> None:
    first, second = ConsumerClient(bench), ConsumerClient(bench)
    first.beat()
    bench.advance_ms(1000)
    answer = second.beat()
    assert second.partitions == set()
    assert answer.heartbeat_interval_ms == 1000  # it waits for the first, and may come sooner
    assert bench.consumers().members[second.member_id].state is MemberState.UNRELEASED_PARTITIONS
    told = first.beat()
    assert told.assignment is not None
    assert told.member_epoch == 2  # until it has given them up
    second.beat()
    assert second.partitions == set()
    assert first.beat().member_epoch == 3
    second.beat()
    assert (len(first.partitions), len(second.partitions)) == (2, 2)
    assert first.partitions | second.partitions == everything("t", 4)


def test_a_new_assignment_is_made_at_most_once_in_an_interval(bench: Bench) -> None:
    clients = [ConsumerClient(bench, f"c{at}") for at in range(4)]
    for client in clients:
        client.beat()
    group = bench.consumers()
    assert (group.target_epoch, group.epoch, group.state_name) == (2, 5, "Assigning")
    bench.advance_ms(1000)
    clients[0].beat()
    assert bench.consumers().target_epoch == 5
    settle(*clients)
    assert [len(client.partitions) for client in clients] == [1, 1, 1, 1]


def test_without_an_interval_every_change_is_assigned_at_once(bench: Bench) -> None:
    bench.group_config = dataclasses.replace(bench.group_config, consumer_assignment_interval_ms=0)
    for _ in range(3):
        ConsumerClient(bench).beat()
    assert bench.consumers().target_epoch == bench.consumers().epoch


def test_members_that_ask_for_the_range_assignor_get_ranges(bench: Bench) -> None:
    bench.create_topic("u", 4)
    clients = [
        ConsumerClient(bench, f"c{at}", topics=("t", "u"), assignor="range") for at in range(2)
    ]
    settle(*clients)
    assert clients[0].partitions == {("t", 0), ("t", 1), ("u", 0), ("u", 1)}


def test_a_member_of_no_topics_or_of_topics_that_do_not_exist_has_nothing(bench: Bench) -> None:
    nothing, unknown = ConsumerClient(bench, topics=()), ConsumerClient(bench, topics=("x",))
    settle(nothing, unknown)
    assert nothing.partitions == unknown.partitions == set()
    assert bench.consumers().state_name == "Stable"


def test_a_group_that_is_full_takes_nobody_in() -> None:
    bench = Bench("group.consumer.max.size=1")
    first = ConsumerClient(bench)
    first.beat()
    with pytest.raises(BrokerError) as refused:
        ConsumerClient(bench).beat()
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
    bench: Bench, fields: dict[str, object]
) -> None:
    request = ConsumerGroupHeartbeatRequest(GROUP, **fields)  # type: ignore[arg-type]
    with pytest.raises(BrokerError) as refused:
        ConsumerClient(bench).send(request)
    assert refused.value.code == ErrorCode.INVALID_REQUEST
    assert bench.log == []


def test_an_assignor_that_does_not_exist_is_refused(bench: Bench) -> None:
    client = ConsumerClient(bench, assignor="magic")
    assert client.refusal() == ErrorCode.UNSUPPORTED_ASSIGNOR


# Epochs


def test_a_member_that_did_not_hear_of_its_epoch_may_say_the_one_before(bench: Bench) -> None:
    first, second = ConsumerClient(bench), ConsumerClient(bench)
    first.beat()
    bench.advance_ms(1000)
    second.beat()
    first.beat()
    first.beat()
    assert first.epoch == 3
    first.epoch = 2
    assert first.refusal() == ErrorCode.NONE
    assert first.epoch == 3


def test_a_member_that_has_gone_on_since_its_epoch_has_heard_of_it(bench: Bench) -> None:
    first, second, *others = (ConsumerClient(bench) for _ in range(4))
    first.beat()
    bench.advance_ms(1000)
    settle(second, first, rounds=2)
    bench.advance_ms(1000)
    for each in others:
        each.beat()
        bench.advance_ms(1000)
    assert first.epoch == 3
    first.beat()
    assert first.wanted is not None  # to give something up, in the same epoch
    first.epoch = 2
    assert first.refusal() == ErrorCode.FENCED_MEMBER_EPOCH


def test_a_member_of_another_epoch_is_fenced_and_may_join_again(bench: Bench) -> None:
    client = ConsumerClient(bench)
    client.beat()
    for epoch in (1, 3):
        client.epoch = epoch
        assert client.refusal() == ErrorCode.FENCED_MEMBER_EPOCH
    client.epoch = 0
    assert client.refusal() == ErrorCode.NONE
    assert client.partitions == everything("t", 4)
    assert client.epoch == 2


def test_the_epoch_before_is_no_excuse_for_partitions_it_should_not_have(bench: Bench) -> None:
    first, second = ConsumerClient(bench), ConsumerClient(bench)
    first.beat()
    bench.advance_ms(1000)
    second.beat()
    before = first.owned or first.wanted
    settle(first, second, rounds=3)
    first.epoch = 2
    first.owned = before or {}
    assert first.refusal() == ErrorCode.FENCED_MEMBER_EPOCH


def test_unknown_groups_and_members_are_told_apart(bench: Bench) -> None:
    stranger = ConsumerClient(bench, epoch=1)
    assert stranger.refusal() == ErrorCode.GROUP_ID_NOT_FOUND
    ConsumerClient(bench).beat()
    assert stranger.refusal() == ErrorCode.UNKNOWN_MEMBER_ID


# What changes around a group


def test_new_partitions_and_new_topics_are_assigned(bench: Bench) -> None:
    client = ConsumerClient(bench, topics=("t", "later"))
    client.beat()
    bench.add_partitions("t", 6)
    bench.create_topic("later", 2)
    settle(client)
    assert client.partitions == everything("t", 6) | everything("later", 2)
    assert client.epoch == 3  # one rebalance for both


def test_a_deleted_topic_is_taken_away_and_its_namesake_is_another_one(bench: Bench) -> None:
    bench.create_topic("u", 2)
    client = ConsumerClient(bench, topics=("t", "u"))
    client.beat()
    bench.delete_topic("u")
    settle(client)
    assert client.partitions == everything("t", 4)
    bench.create_topic("u", 3)
    settle(client)
    assert client.partitions == everything("t", 4) | everything("u", 3)


def test_a_topic_that_nobody_reads_changes_nothing(bench: Bench) -> None:
    client = ConsumerClient(bench)
    client.beat()
    bench.create_topic("u")
    settle(client)
    assert client.epoch == 2


def test_a_member_that_wants_other_topics_gives_up_the_old_ones(bench: Bench) -> None:
    bench.create_topic("u", 2)
    client = ConsumerClient(bench)
    client.beat()
    client.topics = ("u",)
    answer = client.beat(is_full=True)  # the new target is not made yet, but this is clear
    assert answer.assignment is not None
    assert answer.assignment.topic_partitions == []
    settle(client)
    assert client.partitions == everything("u", 2)


# Leaving


def test_a_member_that_leaves_is_gone_at_once(bench: Bench) -> None:
    first, second = ConsumerClient(bench), ConsumerClient(bench)
    settle(first, second)
    first.leave()
    settle(second)
    assert second.partitions == everything("t", 4)
    assert first.member_id not in bench.consumers().members


def test_the_last_member_leaves_an_empty_group(bench: Bench) -> None:
    client = ConsumerClient(bench)
    client.beat()
    client.commit({("t", 0): 5})
    client.leave()
    for _ in range(2):
        assert bench.consumers().state_name == "Empty"
        assert bench.fetch("t", 0) == 5
        bench.restart()
    bench.delete_group()
    assert bench.shard.find(GROUP) is None
    assert bench.replayed().groups == {}


def test_a_silent_member_is_removed_with_its_session(bench: Bench) -> None:
    first, second = ConsumerClient(bench), ConsumerClient(bench)
    settle(first, second)
    bench.advance_ms(SESSION_MS - 10_000)
    second.beat()
    bench.advance_ms(10_000)
    assert first.refusal() == ErrorCode.UNKNOWN_MEMBER_ID
    settle(second)
    assert second.partitions == everything("t", 4)


def test_a_member_that_does_not_give_up_its_partitions_in_time_is_removed(bench: Bench) -> None:
    first, second = ConsumerClient(bench), ConsumerClient(bench)
    first.beat()
    bench.advance_ms(1000)
    second.beat()
    first.beat()
    first.wanted = None  # it never takes over what it was told
    for _ in range(REBALANCE_MS // 5000):
        bench.advance_ms(5000)
        second.beat()
        code_of(lambda: ErrorCode(first.beat().error_code))
        first.wanted = None
    assert first.refusal() == ErrorCode.UNKNOWN_MEMBER_ID
    settle(second)
    assert second.partitions == everything("t", 4)


# Static members


def test_a_static_member_that_comes_back_finds_its_partitions(bench: Bench) -> None:
    first = ConsumerClient(bench, "a", instance_id="a")
    second = ConsumerClient(bench, "b", instance_id="b")
    settle(first, second)
    had = first.partitions
    first.leave(epoch=-2)
    settle(second, rounds=3)
    assert len(second.partitions) == 2
    again = ConsumerClient(bench, "a", instance_id="a")
    again.beat()
    assert again.partitions == had
    assert bench.consumers().members.keys() == {again.member_id, second.member_id}
    assert first.refusal() != ErrorCode.NONE


def test_an_instance_that_is_in_use_cannot_be_taken(bench: Bench) -> None:
    first = ConsumerClient(bench, instance_id="a")
    first.beat()
    other = ConsumerClient(bench, instance_id="a")
    assert other.refusal() == ErrorCode.UNRELEASED_INSTANCE_ID
    other.epoch = first.epoch
    assert other.refusal() == ErrorCode.FENCED_INSTANCE_ID
    other.instance_id = "b"
    assert other.refusal() == ErrorCode.UNKNOWN_MEMBER_ID


def test_a_static_member_that_stays_away_is_removed_with_its_session(bench: Bench) -> None:
    first = ConsumerClient(bench, instance_id="a")
    first.beat()
    first.leave(epoch=-2)
    bench.advance_ms(SESSION_MS)
    assert bench.consumers().is_empty
    assert bench.consumers().instances == {}


def test_a_static_member_that_is_away_has_its_session_whatever_it_had_to_give_up(
    bench: Bench,
) -> None:
    first = ConsumerClient(bench, instance_id="a", rebalance_ms=10_000)
    second = ConsumerClient(bench)
    first.beat()
    bench.advance_ms(1000)
    second.beat()
    first.beat()
    assert bench.consumers().members[first.member_id].revoking
    late = replace(first)
    first.leave(epoch=-2)
    bench.advance_ms(10_000)
    assert bench.consumers().instances == {"a": first.member_id}
    assert late.refusal() == ErrorCode.FENCED_MEMBER_EPOCH


# Commits


def test_commits_must_come_from_members_in_their_epoch(bench: Bench) -> None:
    client = ConsumerClient(bench)
    client.beat()
    assert client.commit({("t", 0): 1}) == ErrorCode.NONE
    assert client.commit({("t", 0): 2}, epoch=3) == ErrorCode.STALE_MEMBER_EPOCH
    assert client.commit({("t", 0): 2}, epoch=1) == ErrorCode.STALE_MEMBER_EPOCH
    assert client.commit({("t", 0): 2}, version=8) == ErrorCode.UNSUPPORTED_VERSION
    with pytest.raises(BrokerError) as refused:
        bench.commit({("t", 0): 2})
    assert refused.value.code == ErrorCode.UNKNOWN_MEMBER_ID
    assert bench.fetch("t", 0) == 1


def test_an_older_epoch_may_commit_what_it_has_had_all_along(bench: Bench) -> None:
    first, second = ConsumerClient(bench), ConsumerClient(bench)
    first.beat()
    bench.advance_ms(1000)
    second.beat()
    settle(first, second)
    kept, given = min(first.partitions), min(second.partitions)
    assert first.commit({kept: 1}, epoch=2) == ErrorCode.NONE
    assert first.commit({given: 1}, epoch=2) == ErrorCode.STALE_MEMBER_EPOCH
    assert second.commit({given: 1}, epoch=2) == ErrorCode.STALE_MEMBER_EPOCH


def test_offsets_are_read_by_members_in_their_epoch_and_by_tools(bench: Bench) -> None:
    client = ConsumerClient(bench)
    client.beat()
    group = bench.consumers()
    group.check_offset_fetch(None, -1)
    group.check_offset_fetch(client.member_id, client.epoch)
    for member_id, epoch, code in (
        (client.member_id, 1, ErrorCode.STALE_MEMBER_EPOCH),
        ("somebody", 2, ErrorCode.UNKNOWN_MEMBER_ID),
    ):
        with pytest.raises(BrokerError) as refused:
            group.check_offset_fetch(member_id, epoch)
        assert refused.value.code == code


def test_a_transaction_of_an_old_epoch_is_an_illegal_generation(bench: Bench) -> None:
    client = ConsumerClient(bench)
    client.beat()
    bench.commit_in_transaction(
        7, {("t", 0): 1}, member_id=client.member_id, generation=client.epoch
    )
    with pytest.raises(BrokerError) as refused:
        bench.commit_in_transaction(7, {("t", 0): 1}, member_id=client.member_id, generation=9)
    assert refused.value.code == ErrorCode.ILLEGAL_GENERATION


# Patterns


def test_a_pattern_stands_for_the_topics_whose_whole_name_matches(bench: Bench) -> None:
    bench.create_topic("logs.a", 1)
    bench.create_topic("logs.b", 1)
    bench.create_topic("old.logs.a", 1)
    client = ConsumerClient(bench, topics=(), regex=r"logs\..*")
    assert client.beat().member_epoch == 1
    settle(client)
    assert client.partitions == {("logs.a", 0), ("logs.b", 0)}
    bench.restart()
    settle(client)
    assert client.partitions == {("logs.a", 0), ("logs.b", 0)}


def test_topics_that_come_later_are_found_after_a_while(bench: Bench) -> None:
    client = ConsumerClient(bench, topics=(), regex="logs.*")
    settle(client)
    bench.create_topic("logs.new", 1)
    bench.advance_ms(10_001)
    settle(client)
    assert client.partitions == {("logs.new", 0)}
    bench.delete_topic("logs.new")
    settle(client)
    assert client.partitions == set()


def test_names_and_patterns_add_up(bench: Bench) -> None:
    bench.create_topic("logs.a", 1)
    client = ConsumerClient(bench, topics=("t",), regex="logs.*")
    settle(client)
    assert client.partitions == everything("t", 4) | {("logs.a", 0)}


def test_a_pattern_that_is_none_is_refused_and_nothing_has_changed(bench: Bench) -> None:
    client = ConsumerClient(bench, topics=(), regex="[")
    with pytest.raises(BrokerError) as refused:
        client.beat()
    assert refused.value.code == ErrorCode.INVALID_REGULAR_EXPRESSION
    assert "missing ]" in refused.value.message
    assert bench.log == []
    assert bench.shard.shared.on_written == []


def test_a_pattern_that_nobody_has_any_more_is_forgotten(bench: Bench) -> None:
    bench.create_topic("logs.a", 1)
    first = ConsumerClient(bench, topics=(), regex="logs.*")
    second = ConsumerClient(bench, topics=(), regex="logs.*")
    settle(first, second)
    first.leave()
    assert set(bench.consumers().regexes) == {"logs.*"}
    second.topics, second.regex = ("t",), ""
    second.beat(is_full=True)
    assert bench.consumers().regexes == {}
    settle(second)
    assert second.partitions == everything("t", 4)
    bench.restart()
    assert bench.consumers().regexes == {}


# Restarts, tools


def test_after_a_restart_members_go_on_where_they_were(bench: Bench) -> None:
    first, second = ConsumerClient(bench), ConsumerClient(bench)
    settle(first, second)
    had = first.partitions, second.partitions
    size = len(bench.log)
    bench.restart()
    settle(first, second)
    assert (first.partitions, second.partitions) == had
    assert len(bench.log) == size


def test_a_member_that_was_giving_up_partitions_is_watched_after_a_restart(bench: Bench) -> None:
    first, second = ConsumerClient(bench), ConsumerClient(bench)
    first.beat()
    bench.advance_ms(1000)
    second.beat()
    first.beat()
    bench.restart()
    bench.advance_ms(REBALANCE_MS)
    assert first.member_id not in bench.consumers().members


def test_records_that_cannot_be_written_leave_the_group_as_it_was(bench: Bench) -> None:
    first, second = ConsumerClient(bench), ConsumerClient(bench)
    first.beat()
    bench.refusal = ErrorCode.COORDINATOR_NOT_AVAILABLE
    assert second.refusal() == ErrorCode.COORDINATOR_NOT_AVAILABLE
    assert bench.consumers().members.keys() == {first.member_id}
    bench.advance_ms(SESSION_MS + 2000)
    assert bench.consumers().members.keys() == {first.member_id}
    bench.refusal = None
    bench.advance_ms(500)
    assert bench.consumers().is_empty


def test_a_consumer_group_is_described(bench: Bench) -> None:
    first, second = ConsumerClient(bench, "one"), ConsumerClient(bench, "two")
    first.beat()
    bench.advance_ms(1000)
    second.beat()
    first.beat()
    group = run_at_once(consumer_requests.describe(bench.shard, GROUP))
    assert (group.group_state, group.group_epoch, group.assignment_epoch) == ("Reconciling", 3, 3)
    assert group.assignor_name == "uniform"
    by_client = {each.client_id: each for each in group.members}
    one = by_client["one"]
    assert one.assignment is not None
    assert one.target_assignment is not None
    assert one.assignment.topic_partitions[0].partitions == [0, 1, 2, 3]  # it has them still
    assert one.target_assignment.topic_partitions[0].partitions == [0, 1]
    assert (one.member_epoch, one.member_type, one.subscribed_topic_names) == (2, 1, ["t"])


def test_tools_that_know_classic_groups_only_find_no_consumer_group(bench: Bench) -> None:
    ConsumerClient(bench).beat()
    found = run_at_once(group_requests.describe(bench.shard, GROUP, 6))
    assert (found.error_code, found.group_state) == (ErrorCode.GROUP_ID_NOT_FOUND, "Dead")
    [listed] = run_at_once(group_requests.list_groups(bench.shard, {"stable"}, {"consumer"}))
    assert (listed.group_type, listed.protocol_type) == ("consumer", "consumer")


def test_offsets_of_topics_that_a_consumer_group_reads_are_not_deleted(bench: Bench) -> None:
    bench.create_topic("u")
    client = ConsumerClient(bench)
    client.beat()
    client.commit({("t", 0): 1, ("u", 0): 1})
    assert bench.delete_offsets("t", [0]) == [ErrorCode.GROUP_SUBSCRIBED_TO_TOPIC]
    assert bench.delete_offsets("u", [0]) == [ErrorCode.NONE]
