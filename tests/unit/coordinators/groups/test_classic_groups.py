"""Classic groups: joining, the leader's assignment, heartbeats, leaving."""

from __future__ import annotations

import pytest
from tests.unit.coordinators.groups.harness import (
    GROUP,
    HOST,
    ClassicClient,
    Harness,
    code_of,
    leave,
    rebalance,
)

from ottla.coordinators.groups.classic.group import ClassicGroupState
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.errors import BrokerError
from ottla.protocol.messages.leave_group_request import MemberIdentity


@pytest.fixture
def harness() -> Harness:
    return Harness()


def clients(harness: Harness, count: int) -> list[ClassicClient]:
    return [ClassicClient(harness, f"client{at}") for at in range(count)]


# Joining


def test_a_new_client_is_given_a_member_id_first(harness: Harness) -> None:
    client = ClassicClient(harness, "app")
    reply = client.send_join()
    assert reply.code == ErrorCode.MEMBER_ID_REQUIRED
    assert reply.response.member_id == "app-1"
    client.member_id = reply.response.member_id
    assert client.send_join().is_waiting


def test_clients_before_version_4_join_without_being_asked_twice(harness: Harness) -> None:
    client = ClassicClient(harness, version=3)
    reply = client.send_join()
    harness.advance_ms(0)
    assert client.joined(reply).generation_id == 1


def test_only_the_leader_gets_the_list_of_members(harness: Harness) -> None:
    first, second = clients(harness, 2)
    first.protocols = {"range": b"one"}
    second.protocols = {"range": b"two"}
    replies = [first.join(), second.join()]
    harness.advance_ms(0)
    reported = first.joined(replies[0])
    assert reported.leader == first.member_id
    assert {each.member_id: each.metadata for each in reported.members} == {
        first.member_id: b"one",
        second.member_id: b"two",
    }
    assert (reported.protocol_type, reported.protocol_name) == ("consumer", "range")
    followers = second.joined(replies[1])
    assert (followers.leader, followers.members) == (first.member_id, ())


def test_every_member_gets_its_assignment_from_the_leader(harness: Harness) -> None:
    first, second = clients(harness, 2)
    replies = [first.join(), second.join()]
    harness.advance_ms(0)
    for client, reply in zip((first, second), replies, strict=True):
        client.joined(reply)
    waiting = second.sync()
    assert waiting.is_waiting
    parts = {first.member_id: b"A", second.member_id: b"B", "nobody": b"C"}
    assert first.synced(first.sync(parts)) == b"A"
    assert second.synced(waiting) == b"B"
    assert harness.classic().state is ClassicGroupState.STABLE


def test_whom_the_leader_left_out_gets_nothing(harness: Harness) -> None:
    first, second = clients(harness, 2)
    replies = [first.join(), second.join()]
    harness.advance_ms(0)
    for client, reply in zip((first, second), replies, strict=True):
        client.joined(reply)
    first.sync({first.member_id: b"A"})
    assert second.synced(second.sync()) == b""


def test_a_first_rebalance_waits_for_more_members_as_long_as_some_come() -> None:
    harness = Harness("group.initial.rebalance.delay.ms=3000")
    first, second, third = clients(harness, 3)
    replies = [first.join()]
    harness.advance_ms(2000)
    replies.append(second.join())
    harness.advance_ms(1000)  # a member joined: 3 s again
    harness.advance_ms(2000)
    replies.append(third.join())
    harness.advance_ms(1000)
    assert all(reply.is_waiting for reply in replies)
    harness.advance_ms(3000)
    assert [reply.response.generation_id for reply in replies] == [1, 1, 1]


def test_a_first_rebalance_is_not_put_off_beyond_the_rebalance_timeout() -> None:
    harness = Harness("group.initial.rebalance.delay.ms=3000")
    replies = []
    for at in range(10):
        client = ClassicClient(harness, f"client{at}", rebalance_ms=8000)
        replies.append(client.join())
        harness.advance_ms(1000)
    assert not replies[0].is_waiting
    assert harness.clock.monotonic_s() == 10


def test_a_new_member_of_a_stable_group_lets_all_others_join_again(harness: Harness) -> None:
    first, second = clients(harness, 2)
    rebalance(harness, first)
    reply = second.join()
    assert reply.is_waiting
    assert first.heartbeat() == ErrorCode.REBALANCE_IN_PROGRESS
    again = first.join()
    assert first.joined(again).generation_id == 2
    assert second.joined(reply).generation_id == 2


def test_a_protocol_is_chosen_by_votes_among_those_that_all_can_do(harness: Harness) -> None:
    first, second, third = clients(harness, 3)
    first.protocols = {"sticky": b"", "range": b"", "roundrobin": b""}
    second.protocols = {"range": b"", "roundrobin": b""}
    third.protocols = {"roundrobin": b"", "range": b"", "own": b""}
    replies = [client.join() for client in (first, second, third)]
    harness.advance_ms(0)
    assert [reply.response.protocol_name for reply in replies] == ["range"] * 3


def test_names_of_protocols_that_no_member_offers_any_more_are_forgotten(harness: Harness) -> None:
    client = ClassicClient(harness)
    rebalance(harness, client)
    for number in range(10):
        client.protocols = {"range": b""} | {f"{number}-{other}": b"" for other in range(5)}
        rebalance(harness, client)
    assert harness.classic().membership._supported.keys() == client.protocols.keys()


@pytest.mark.parametrize("order", [1, -1])
def test_a_tied_vote_goes_to_the_protocol_that_kafka_takes(harness: Harness, order: int) -> None:
    offers = [{"roundrobin": b"", "range": b""}, {"range": b"", "roundrobin": b""}]
    members = clients(harness, 2)
    for member, protocols in zip(members, offers[::order], strict=True):
        member.protocols = protocols
    replies = [member.join() for member in members]
    harness.advance_ms(0)
    assert [reply.response.protocol_name for reply in replies] == ["range"] * 2


@pytest.mark.parametrize(
    ("protocol_type", "protocols"),
    [("connect", {"range": b""}), ("consumer", {"own": b""}), ("consumer", {}), ("", {"x": b""})],
)
def test_who_has_no_protocol_in_common_with_the_members_is_refused(
    harness: Harness, protocol_type: str, protocols: dict[str, bytes]
) -> None:
    rebalance(harness, ClassicClient(harness))
    other = ClassicClient(harness, protocol_type=protocol_type, protocols=protocols)
    with pytest.raises(BrokerError) as refused:
        other.send_join()
    assert refused.value.code == ErrorCode.INCONSISTENT_GROUP_PROTOCOL


def test_a_client_without_protocols_leaves_an_empty_group_behind(harness: Harness) -> None:
    with pytest.raises(BrokerError) as refused:
        ClassicClient(harness, protocols={}).send_join()
    assert refused.value.code == ErrorCode.INCONSISTENT_GROUP_PROTOCOL
    (group,) = harness.shard.groups.values()
    assert group.is_empty


def test_a_member_id_that_is_unknown_or_of_an_unknown_group_is_rejected(harness: Harness) -> None:
    stranger = ClassicClient(harness, member_id="somebody")
    assert code_of(lambda: stranger.send_join().code) == ErrorCode.UNKNOWN_MEMBER_ID
    assert harness.shard.groups == {}
    rebalance(harness, ClassicClient(harness))
    assert code_of(lambda: stranger.send_join().code) == ErrorCode.UNKNOWN_MEMBER_ID


def test_a_full_group_rejects_new_members() -> None:
    harness = Harness("group.max.size=2")
    rebalance(harness, *clients(harness, 2))
    assert ClassicClient(harness).join().code == ErrorCode.GROUP_MAX_SIZE_REACHED
    assert harness.classic().state is ClassicGroupState.STABLE


def test_a_group_over_a_lowered_limit_loses_those_who_join_last() -> None:
    harness = Harness()
    members = clients(harness, 3)
    rebalance(harness, *members)
    harness.config = Harness("group.max.size=2").config
    harness.restart()
    assert harness.classic().state is ClassicGroupState.PREPARING_REBALANCE
    replies = [members[0].join(), members[1].join()]
    assert members[2].join().code == ErrorCode.GROUP_MAX_SIZE_REACHED
    assert [reply.code for reply in replies] == [ErrorCode.NONE] * 2
    assert len(harness.classic().members) == 2


def test_a_follower_that_missed_a_response_gets_its_generation_again(harness: Harness) -> None:
    first, second = clients(harness, 2)
    rebalance(harness, first, second)
    again = second.join()
    assert second.joined(again).generation_id == 1
    assert harness.classic().state is ClassicGroupState.STABLE


def test_a_leader_that_joins_again_begins_a_rebalance(harness: Harness) -> None:
    first, second = clients(harness, 2)
    rebalance(harness, first, second)
    assert first.join().is_waiting
    assert second.heartbeat() == ErrorCode.REBALANCE_IN_PROGRESS


def test_a_follower_with_another_subscription_begins_a_rebalance(harness: Harness) -> None:
    first, second = clients(harness, 2)
    rebalance(harness, first, second)
    second.protocols = {"range": b"other topics"}
    assert second.join().is_waiting
    assert first.joined(first.join()).generation_id == 2


def test_a_join_that_was_sent_twice_is_answered_twice(harness: Harness) -> None:
    first, second = clients(harness, 2)
    rebalance(harness, first, second)
    earlier = first.join()
    later = first.join()
    assert earlier.code == ErrorCode.REBALANCE_IN_PROGRESS
    assert later.is_waiting


def test_a_rebalance_during_the_assignment_sends_those_who_wait_back(harness: Harness) -> None:
    first, second, third = clients(harness, 3)
    replies = [first.join(), second.join()]
    harness.advance_ms(0)
    first.joined(replies[0])
    second.joined(replies[1])
    waiting = second.sync()
    third.join()
    assert waiting.code == ErrorCode.REBALANCE_IN_PROGRESS
    assert code_of(lambda: first.sync({}).code) == ErrorCode.REBALANCE_IN_PROGRESS


# Syncing


def test_a_sync_must_name_the_generation_the_member_and_the_protocol(harness: Harness) -> None:
    client = ClassicClient(harness)
    rebalance(harness, client)
    assert client.sync(protocol="range").code == ErrorCode.NONE
    assert code_of(lambda: client.sync(protocol="own").code) == (
        ErrorCode.INCONSISTENT_GROUP_PROTOCOL
    )
    client.generation += 1
    assert code_of(lambda: client.sync().code) == ErrorCode.ILLEGAL_GENERATION
    client.member_id = "somebody"
    assert code_of(lambda: client.sync().code) == ErrorCode.UNKNOWN_MEMBER_ID
    client.group_id = "unknown"
    assert code_of(lambda: client.sync().code) == ErrorCode.UNKNOWN_MEMBER_ID


def test_an_assignment_that_cannot_be_stored_starts_a_rebalance(
    harness: Harness,
) -> None:
    first, second = clients(harness, 2)
    replies = [first.join(), second.join()]
    harness.advance_ms(0)
    first.joined(replies[0])
    second.joined(replies[1])
    waiting = second.sync()
    harness.refusal = ErrorCode.COORDINATOR_NOT_AVAILABLE
    with pytest.raises(BrokerError):
        first.sync({first.member_id: b"A"})
    assert waiting.code == ErrorCode.COORDINATOR_NOT_AVAILABLE
    harness.refusal = None
    assert first.heartbeat() == ErrorCode.REBALANCE_IN_PROGRESS
    rebalance(harness, first, second)
    assert second.assignment == b"client1"


# Heartbeats, commits


def test_a_heartbeat_must_be_of_a_member_in_its_generation(harness: Harness) -> None:
    client = ClassicClient(harness)
    rebalance(harness, client)
    assert client.heartbeat() == ErrorCode.NONE
    client.generation -= 1
    assert client.heartbeat() == ErrorCode.ILLEGAL_GENERATION
    client.member_id = "somebody"
    assert client.heartbeat() == ErrorCode.UNKNOWN_MEMBER_ID


def test_commits_are_for_members_of_the_generation_once_they_have_their_part(
    harness: Harness,
) -> None:
    harness.create_topic("t")
    client = ClassicClient(harness)
    reply = client.join()
    harness.advance_ms(0)
    client.joined(reply)
    assert client.commit({("t", 0): 1}) == ErrorCode.REBALANCE_IN_PROGRESS
    client.sync({})
    assert client.commit({("t", 0): 1}) == ErrorCode.NONE
    client.generation -= 1
    assert client.commit({("t", 0): 2}) == ErrorCode.ILLEGAL_GENERATION
    with pytest.raises(BrokerError) as refused:
        harness.commit({("t", 0): 3})
    assert refused.value.code == ErrorCode.UNKNOWN_MEMBER_ID
    assert harness.fetch("t", 0) == 1


def test_during_a_rebalance_members_may_still_commit_what_they_have_read(harness: Harness) -> None:
    harness.create_topic("t")
    first, second = clients(harness, 2)
    rebalance(harness, first)
    second.join()
    assert first.commit({("t", 0): 1}) == ErrorCode.NONE


# Leaving


def test_a_member_that_leaves_lets_the_others_rebalance(harness: Harness) -> None:
    first, second = clients(harness, 2)
    rebalance(harness, first, second)
    assert first.leave() == ErrorCode.NONE
    assert second.heartbeat() == ErrorCode.REBALANCE_IN_PROGRESS
    reported = second.joined(second.join())
    assert reported.leader == second.member_id
    assert first.leave() == ErrorCode.UNKNOWN_MEMBER_ID


def test_the_last_member_leaves_an_empty_group_of_the_next_generation(harness: Harness) -> None:
    client = ClassicClient(harness)
    rebalance(harness, client)
    client.leave()
    for _ in range(2):
        group = harness.classic()
        assert (group.state, group.generation, group.protocol_type) == (
            ClassicGroupState.EMPTY,
            2,
            "consumer",
        )
        harness.restart()
    again = ClassicClient(harness)
    rebalance(harness, again)
    assert again.generation == 3


def test_a_group_that_cannot_be_stored_as_empty_becomes_so_later(harness: Harness) -> None:
    client = ClassicClient(harness)
    rebalance(harness, client)
    harness.refusal = ErrorCode.COORDINATOR_NOT_AVAILABLE
    assert code_of(client.leave) == ErrorCode.COORDINATOR_NOT_AVAILABLE
    harness.advance_ms(5_000)
    harness.refusal = None
    harness.advance_ms(500)
    assert harness.classic().is_empty
    assert harness.replayed().groups[GROUP].is_empty


def test_several_members_leave_at_once_each_with_its_own_answer(harness: Harness) -> None:
    members = clients(harness, 3)
    rebalance(harness, *members)
    pending = ClassicClient(harness).send_join().response.member_id
    gone = [*(each.member_id for each in members[:2]), pending, "somebody"]
    answers = leave(harness, [MemberIdentity(each) for each in gone])
    assert [answer.error_code for answer in answers] == [0, 0, 0, ErrorCode.UNKNOWN_MEMBER_ID]
    assert members[2].heartbeat() == ErrorCode.REBALANCE_IN_PROGRESS
    assert len(harness.classic().members) == 1


def test_a_member_that_leaves_while_it_joins_has_to_join_again(harness: Harness) -> None:
    first, second = clients(harness, 2)
    rebalance(harness, first)
    reply = second.join()
    second.leave()
    assert reply.code == ErrorCode.UNKNOWN_MEMBER_ID


# Restarts


def test_after_a_restart_members_go_on_where_they_were(harness: Harness) -> None:
    first, second = clients(harness, 2)
    rebalance(harness, first, second)
    harness.restart()
    assert [first.heartbeat(), second.heartbeat()] == [ErrorCode.NONE] * 2
    assert second.synced(second.sync()) == b"client1"
    group = harness.classic()
    member = group.members[first.member_id]
    assert (group.leader, member.client_id, member.client_host) == (
        first.member_id,
        "client0",
        HOST,
    )


def test_a_restart_ends_a_rebalance_and_fails_its_members(
    harness: Harness,
) -> None:
    first, second = clients(harness, 2)
    rebalance(harness, first)
    reply = second.join()
    again = first.join()
    first.joined(again)
    waiting = second.joined(reply)
    assert waiting.generation_id == 2
    sync = second.sync()
    harness.restart()
    assert sync.code == ErrorCode.NOT_COORDINATOR
    assert first.heartbeat() == ErrorCode.ILLEGAL_GENERATION
    assert second.heartbeat() == ErrorCode.UNKNOWN_MEMBER_ID


@pytest.mark.parametrize(
    ("joins_ms", "ends_ms"),
    [
        ([0], 3000),
        ([0, 1], 6000),  # a member joined: once more
        ([0, 2999], 6000),
        ([0, 2999, 3001], 9000),
        ([0, 2999, 3001, 6001], 10_000),  # but not for longer than a rebalance may take
        ([0, 2999, 3001, 6001, 9001], 10_000),
    ],
)
def test_the_first_rebalance_waits_for_members_to_come_and_no_longer(
    joins_ms: list[int], ends_ms: int
) -> None:
    harness = Harness("group.initial.rebalance.delay.ms=3000")
    clients = [ClassicClient(harness, rebalance_ms=10_000) for _ in joins_ms]
    replies = []
    now_ms = 0
    for client, join_ms in zip(clients, joins_ms, strict=True):
        harness.advance_ms(join_ms - now_ms)
        now_ms = join_ms
        replies.append(client.join())
    harness.advance_ms(ends_ms - now_ms - 1)
    assert all(reply.is_waiting for reply in replies)
    harness.advance_ms(1)
    assert not any(reply.is_waiting for reply in replies)


def test_the_delay_of_a_group_that_was_left_by_all_begins_again() -> None:
    harness = Harness("group.initial.rebalance.delay.ms=3000")
    first, second = ClassicClient(harness), ClassicClient(harness)
    for client in (first, second):
        reply = client.join()
        assert reply.is_waiting
    for member_id in list(harness.classic().members):
        leave(harness, [MemberIdentity(member_id)])
    harness.advance_ms(10_000)
    third = ClassicClient(harness).join()
    harness.advance_ms(2999)
    assert third.is_waiting
    harness.advance_ms(1)
    assert not third.is_waiting
