"""Static members of classic groups (KIP-345, KIP-814)."""

from __future__ import annotations

import pytest
from tests.unit.coordinators.groups.bench import (
    REBALANCE_MS,
    SESSION_MS,
    Bench,
    ClassicClient,
    code_of,
    leave,
    rebalance,
)

from ottla.coordinators.groups.classic.group import State
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.errors import BrokerError
from ottla.protocol.messages.leave_group_request import MemberIdentity


@pytest.fixture
def bench() -> Bench:
    return Bench()


def static(bench: Bench, name: str, **fields: int) -> ClassicClient:
    return ClassicClient(bench, name, instance_id=name, **fields)  # type: ignore[arg-type]


def test_a_static_member_needs_no_member_id_to_join(bench: Bench) -> None:
    client = static(bench, "a")
    reply = client.send_join()
    bench.advance_ms(0)
    assert client.joined(reply).member_id == "a-1"


def test_a_static_member_that_comes_back_takes_its_place_without_a_rebalance(
    bench: Bench,
) -> None:
    first, second = static(bench, "a"), static(bench, "b")
    rebalance(bench, first, second)
    again = static(bench, "b")
    told = again.joined(again.send_join())
    assert (told.generation_id, told.leader, told.skip_assignment) == (1, first.member_id, False)
    assert again.member_id != second.member_id
    assert again.synced(again.sync()) == b"b"
    assert bench.classic().state is State.STABLE
    bench.restart()
    assert again.heartbeat() == ErrorCode.NONE
    assert first.heartbeat() == ErrorCode.NONE


def test_the_one_whose_place_was_taken_is_fenced(bench: Bench) -> None:
    bench.create_topic("t")
    first, second = static(bench, "a"), static(bench, "b")
    rebalance(bench, first, second)
    again = static(bench, "b")
    again.joined(again.send_join())
    assert second.heartbeat() == ErrorCode.FENCED_INSTANCE_ID
    assert second.commit({("t", 0): 1}) == ErrorCode.FENCED_INSTANCE_ID
    assert code_of(lambda: second.sync().code) == ErrorCode.FENCED_INSTANCE_ID
    assert code_of(lambda: second.send_join().code) == ErrorCode.FENCED_INSTANCE_ID
    [answer] = leave(bench, [MemberIdentity(second.member_id, "b")])
    assert answer.error_code == ErrorCode.FENCED_INSTANCE_ID


def test_a_leader_that_comes_back_is_told_to_skip_the_assignment(bench: Bench) -> None:
    first, second = static(bench, "a"), static(bench, "b")
    rebalance(bench, first, second)
    again = static(bench, "a")
    told = again.joined(again.send_join())
    assert (told.leader, told.skip_assignment) == (again.member_id, True)
    assert {each.group_instance_id for each in told.members} == {"a", "b"}
    assert again.synced(again.sync()) == b"a"


def test_a_leader_before_version_9_that_comes_back_believes_its_old_id_leads(
    bench: Bench,
) -> None:
    first, second = static(bench, "a"), static(bench, "b")
    rebalance(bench, first, second)
    again = static(bench, "a", version=8)
    told = again.joined(again.send_join())
    assert (told.leader, told.members) == (first.member_id, ())
    assert bench.classic().leader == again.member_id


def test_a_place_that_cannot_be_stored_is_not_taken(bench: Bench) -> None:
    first, second = static(bench, "a"), static(bench, "b")
    rebalance(bench, first, second)
    bench.refusal = ErrorCode.COORDINATOR_NOT_AVAILABLE
    assert code_of(lambda: static(bench, "b").send_join().code) == (
        ErrorCode.COORDINATOR_NOT_AVAILABLE
    )
    bench.refusal = None
    assert second.heartbeat() == ErrorCode.NONE


def test_a_static_member_with_other_protocols_rebalances_if_the_choice_changes(
    bench: Bench,
) -> None:
    first = static(bench, "a")
    first.protocols = {"range": b"", "sticky": b""}
    rebalance(bench, first)
    again = static(bench, "a")
    again.protocols = {"sticky": b""}
    reply = again.send_join()
    assert again.joined(reply).generation_id == 2
    assert reply.response.protocol_name == "sticky"


def test_a_static_member_that_comes_back_during_the_assignment_begins_a_rebalance(
    bench: Bench,
) -> None:
    first, second = static(bench, "a"), static(bench, "b")
    replies = [first.send_join(), second.send_join()]
    bench.advance_ms(0)
    first.joined(replies[0])
    second.joined(replies[1])
    waiting = second.sync()
    again = static(bench, "b")
    reply = again.send_join()
    assert waiting.code == ErrorCode.FENCED_INSTANCE_ID
    assert reply.is_waiting
    first.joined(first.send_join())
    assert again.joined(reply).generation_id == 2


def test_a_static_member_that_joins_twice_fences_its_first_join(bench: Bench) -> None:
    first, second = static(bench, "a"), static(bench, "b")
    rebalance(bench, first)
    reply = second.send_join()
    later = static(bench, "b")
    later_reply = later.send_join()
    assert reply.code == ErrorCode.FENCED_INSTANCE_ID
    first.joined(first.send_join())
    assert later.joined(later_reply).generation_id == 2


def test_static_members_are_waited_for_beyond_the_rebalance_timeout(bench: Bench) -> None:
    first = static(bench, "a", session_ms=3 * REBALANCE_MS)
    second = static(bench, "b", session_ms=3 * REBALANCE_MS)
    rebalance(bench, first, second)
    reply = first.send_join()
    bench.advance_ms(REBALANCE_MS)
    assert {each.group_instance_id for each in first.joined(reply).members} == {"a", "b"}


def test_a_rebalance_that_no_static_member_joined_waits_on(bench: Bench) -> None:
    first = static(bench, "a", session_ms=30 * 60_000)
    rebalance(bench, first)
    dynamic = ClassicClient(bench)
    dynamic.join()
    dynamic.leave()
    bench.advance_ms(REBALANCE_MS)
    assert bench.classic().state is State.PREPARING_REBALANCE
    assert first.joined(first.send_join()).generation_id == 2


def test_a_static_member_that_stays_away_is_removed_with_its_session(bench: Bench) -> None:
    first, second = static(bench, "a", session_ms=60_000), static(bench, "b")
    rebalance(bench, first, second)
    bench.advance_ms(SESSION_MS)
    assert first.heartbeat() == ErrorCode.REBALANCE_IN_PROGRESS
    assert bench.classic().instances == {"a": first.member_id}


def test_tools_remove_static_members_by_their_instance_alone(bench: Bench) -> None:
    first, second = static(bench, "a"), static(bench, "b")
    rebalance(bench, first, second)
    answers = leave(bench, [MemberIdentity("", "b"), MemberIdentity("", "c")])
    assert [each.error_code for each in answers] == [0, ErrorCode.UNKNOWN_MEMBER_ID]
    assert second.heartbeat() == ErrorCode.UNKNOWN_MEMBER_ID


def test_an_instance_id_of_nobody_is_an_unknown_member(bench: Bench) -> None:
    first = static(bench, "a")
    rebalance(bench, first)
    first.instance_id = "x"
    assert first.heartbeat() == ErrorCode.UNKNOWN_MEMBER_ID
    with pytest.raises(BrokerError) as refused:
        first.send_join()
    assert refused.value.code == ErrorCode.UNKNOWN_MEMBER_ID
