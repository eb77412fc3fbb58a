"""Static members of classic groups (KIP-345, KIP-814)."""

from __future__ import annotations

import pytest
from tests.unit.coordinators.groups.harness import (
    REBALANCE_MS,
    SESSION_MS,
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


def static(harness: Harness, name: str, **fields: int) -> ClassicClient:
    return ClassicClient(harness, name, instance_id=name, **fields)  # type: ignore[arg-type]


def test_a_static_member_needs_no_member_id_to_join(harness: Harness) -> None:
    client = static(harness, "a")
    reply = client.send_join()
    harness.advance_ms(0)
    assert client.joined(reply).member_id == "a-1"


def test_a_static_member_that_comes_back_takes_its_place_without_a_rebalance(
    harness: Harness,
) -> None:
    first, second = static(harness, "a"), static(harness, "b")
    rebalance(harness, first, second)
    again = static(harness, "b")
    reported = again.joined(again.send_join())
    assert (reported.generation_id, reported.leader, reported.skip_assignment) == (
        1,
        first.member_id,
        False,
    )
    assert again.member_id != second.member_id
    assert again.synced(again.sync()) == b"b"
    assert harness.classic().state is ClassicGroupState.STABLE
    harness.restart()
    assert again.heartbeat() == ErrorCode.NONE
    assert first.heartbeat() == ErrorCode.NONE


def test_the_one_whose_place_was_taken_is_fenced(harness: Harness) -> None:
    harness.create_topic("t")
    first, second = static(harness, "a"), static(harness, "b")
    rebalance(harness, first, second)
    again = static(harness, "b")
    again.joined(again.send_join())
    assert second.heartbeat() == ErrorCode.FENCED_INSTANCE_ID
    assert second.commit({("t", 0): 1}) == ErrorCode.FENCED_INSTANCE_ID
    assert code_of(lambda: second.sync().code) == ErrorCode.FENCED_INSTANCE_ID
    assert code_of(lambda: second.send_join().code) == ErrorCode.FENCED_INSTANCE_ID
    [answer] = leave(harness, [MemberIdentity(second.member_id, "b")])
    assert answer.error_code == ErrorCode.FENCED_INSTANCE_ID


def test_a_returning_leader_skips_the_assignment(harness: Harness) -> None:
    first, second = static(harness, "a"), static(harness, "b")
    rebalance(harness, first, second)
    again = static(harness, "a")
    reported = again.joined(again.send_join())
    assert (reported.leader, reported.skip_assignment) == (again.member_id, True)
    assert {each.group_instance_id for each in reported.members} == {"a", "b"}
    assert again.synced(again.sync()) == b"a"


def test_a_leader_before_version_9_that_comes_back_believes_its_old_id_leads(
    harness: Harness,
) -> None:
    first, second = static(harness, "a"), static(harness, "b")
    rebalance(harness, first, second)
    again = static(harness, "a", version=8)
    reported = again.joined(again.send_join())
    assert (reported.leader, reported.members) == (first.member_id, ())
    assert harness.classic().leader == again.member_id


def test_a_place_that_cannot_be_stored_is_not_taken(harness: Harness) -> None:
    first, second = static(harness, "a"), static(harness, "b")
    rebalance(harness, first, second)
    harness.refusal = ErrorCode.COORDINATOR_NOT_AVAILABLE
    assert code_of(lambda: static(harness, "b").send_join().code) == (
        ErrorCode.COORDINATOR_NOT_AVAILABLE
    )
    harness.refusal = None
    assert second.heartbeat() == ErrorCode.NONE


def test_a_static_member_with_other_protocols_rebalances_if_the_choice_changes(
    harness: Harness,
) -> None:
    first = static(harness, "a")
    first.protocols = {"range": b"", "sticky": b""}
    rebalance(harness, first)
    again = static(harness, "a")
    again.protocols = {"sticky": b""}
    reply = again.send_join()
    assert again.joined(reply).generation_id == 2
    assert reply.response.protocol_name == "sticky"


def test_a_static_member_that_comes_back_during_the_assignment_begins_a_rebalance(
    harness: Harness,
) -> None:
    first, second = static(harness, "a"), static(harness, "b")
    replies = [first.send_join(), second.send_join()]
    harness.advance_ms(0)
    first.joined(replies[0])
    second.joined(replies[1])
    waiting = second.sync()
    again = static(harness, "b")
    reply = again.send_join()
    assert waiting.code == ErrorCode.FENCED_INSTANCE_ID
    assert reply.is_waiting
    first.joined(first.send_join())
    assert again.joined(reply).generation_id == 2


def test_a_static_member_that_joins_twice_fences_its_first_join(harness: Harness) -> None:
    first, second = static(harness, "a"), static(harness, "b")
    rebalance(harness, first)
    reply = second.send_join()
    later = static(harness, "b")
    later_reply = later.send_join()
    assert reply.code == ErrorCode.FENCED_INSTANCE_ID
    first.joined(first.send_join())
    assert later.joined(later_reply).generation_id == 2


def test_static_members_are_waited_for_beyond_the_rebalance_timeout(harness: Harness) -> None:
    first = static(harness, "a", session_ms=3 * REBALANCE_MS)
    second = static(harness, "b", session_ms=3 * REBALANCE_MS)
    rebalance(harness, first, second)
    reply = first.send_join()
    harness.advance_ms(REBALANCE_MS)
    assert {each.group_instance_id for each in first.joined(reply).members} == {"a", "b"}


def test_a_rebalance_that_no_static_member_joined_waits_on(harness: Harness) -> None:
    first = static(harness, "a", session_ms=30 * 60_000)
    rebalance(harness, first)
    dynamic = ClassicClient(harness)
    dynamic.join()
    dynamic.leave()
    harness.advance_ms(REBALANCE_MS)
    assert harness.classic().state is ClassicGroupState.PREPARING_REBALANCE
    assert first.joined(first.send_join()).generation_id == 2


def test_a_static_member_that_stays_away_is_removed_with_its_session(harness: Harness) -> None:
    first, second = static(harness, "a", session_ms=60_000), static(harness, "b")
    rebalance(harness, first, second)
    harness.advance_ms(SESSION_MS)
    assert first.heartbeat() == ErrorCode.REBALANCE_IN_PROGRESS
    assert harness.classic().membership.instances == {"a": first.member_id}


def test_one_that_takes_its_place_and_falls_silent_is_removed_too(harness: Harness) -> None:
    first, second = static(harness, "a", session_ms=10 * SESSION_MS), static(harness, "b")
    rebalance(harness, first, second)
    harness.advance_ms(SESSION_MS // 2)
    again = static(harness, "b")
    again.joined(again.send_join())
    harness.advance_ms(SESSION_MS - 1)
    assert first.heartbeat() == ErrorCode.NONE
    harness.advance_ms(1)
    assert first.heartbeat() == ErrorCode.REBALANCE_IN_PROGRESS
    assert harness.classic().membership.instances == {"a": first.member_id}


def test_tools_remove_static_members_by_their_instance_alone(harness: Harness) -> None:
    first, second = static(harness, "a"), static(harness, "b")
    rebalance(harness, first, second)
    answers = leave(harness, [MemberIdentity("", "b"), MemberIdentity("", "c")])
    assert [each.error_code for each in answers] == [0, ErrorCode.UNKNOWN_MEMBER_ID]
    assert second.heartbeat() == ErrorCode.UNKNOWN_MEMBER_ID


def test_an_unused_instance_id_is_an_unknown_member(harness: Harness) -> None:
    first = static(harness, "a")
    rebalance(harness, first)
    first.instance_id = "x"
    assert first.heartbeat() == ErrorCode.UNKNOWN_MEMBER_ID
    with pytest.raises(BrokerError) as refused:
        first.send_join()
    assert refused.value.code == ErrorCode.UNKNOWN_MEMBER_ID
