"""Classic groups and time: sessions, members that do not join or sync, lost new members."""

from __future__ import annotations

import pytest
from tests.unit.coordinators.groups.harness import (
    REBALANCE_MS,
    SESSION_MS,
    ClassicClient,
    Harness,
    rebalance,
)

from ottla.coordinators.groups.classic.group import ClassicGroupState
from ottla.coordinators.groups.shard_context import NEW_MEMBER_TIMEOUT_MS
from ottla.protocol.error_codes import ErrorCode


@pytest.fixture
def harness() -> Harness:
    return Harness()


def pair(harness: Harness) -> tuple[ClassicClient, ClassicClient]:
    first, second = ClassicClient(harness, "first"), ClassicClient(harness, "second")
    rebalance(harness, first, second)
    return first, second


def test_a_member_without_heartbeats_is_removed_and_the_others_rebalance(harness: Harness) -> None:
    first, second = pair(harness)
    harness.advance_ms(SESSION_MS - 1)
    assert second.heartbeat() == ErrorCode.NONE
    harness.advance_ms(1)
    assert second.heartbeat() == ErrorCode.REBALANCE_IN_PROGRESS
    assert first.heartbeat() == ErrorCode.UNKNOWN_MEMBER_ID
    assert second.joined(second.join()).leader == second.member_id


def test_commits_are_signs_of_life_too(harness: Harness) -> None:
    harness.create_topic("t")
    client = ClassicClient(harness)
    rebalance(harness, client)
    for _ in range(3):
        harness.advance_ms(SESSION_MS - 1)
        assert client.commit({("t", 0): 1}) == ErrorCode.NONE


def test_a_group_whose_members_all_go_silent_becomes_empty(harness: Harness) -> None:
    pair(harness)
    harness.advance_ms(SESSION_MS)
    assert harness.classic().state is ClassicGroupState.EMPTY
    harness.restart()
    assert (harness.classic().state, harness.classic().generation) == (ClassicGroupState.EMPTY, 2)


def test_after_a_restart_members_have_one_session_to_show_up(harness: Harness) -> None:
    first, _ = pair(harness)
    harness.advance_ms(SESSION_MS - 1)
    harness.restart()
    harness.advance_ms(SESSION_MS - 1)
    assert first.heartbeat() == ErrorCode.NONE
    harness.advance_ms(1)
    assert len(harness.classic().members) == 1


def test_members_that_do_not_join_in_time_are_left_behind(harness: Harness) -> None:
    first, second = pair(harness)
    first.session_ms = second.session_ms = 2 * REBALANCE_MS
    rebalance(harness, first, second)
    reply = first.join()
    harness.advance_ms(REBALANCE_MS - 1)
    assert reply.is_waiting
    harness.advance_ms(1)
    assert first.joined(reply).leader == first.member_id
    assert second.heartbeat() == ErrorCode.UNKNOWN_MEMBER_ID


def test_a_leader_that_does_not_join_in_time_is_replaced(harness: Harness) -> None:
    first, second = pair(harness)
    first.session_ms = second.session_ms = 2 * REBALANCE_MS
    rebalance(harness, first, second)
    second.protocols = {"range": b"other"}
    reply = second.join()
    harness.advance_ms(REBALANCE_MS)
    assert second.joined(reply).leader == second.member_id


def test_the_longest_rebalance_timeout_of_all_members_counts(harness: Harness) -> None:
    first = ClassicClient(harness, rebalance_ms=20_000, session_ms=300_000)
    second = ClassicClient(harness, rebalance_ms=90_000, session_ms=300_000)
    rebalance(harness, first, second)
    reply = first.join()
    harness.advance_ms(89_999)
    assert reply.is_waiting
    harness.advance_ms(1)
    assert not reply.is_waiting


def test_members_that_never_ask_for_their_part_are_removed(harness: Harness) -> None:
    first = ClassicClient(harness, session_ms=300_000)
    second = ClassicClient(harness, session_ms=300_000)
    replies = [first.join(), second.join()]
    harness.advance_ms(0)
    first.joined(replies[0])
    second.joined(replies[1])
    first.sync({first.member_id: b"A"})
    harness.advance_ms(REBALANCE_MS)
    assert first.heartbeat() == ErrorCode.REBALANCE_IN_PROGRESS
    assert second.heartbeat() == ErrorCode.UNKNOWN_MEMBER_ID


def test_a_leader_that_never_brings_the_assignment_is_removed(harness: Harness) -> None:
    first = ClassicClient(harness, session_ms=300_000)
    second = ClassicClient(harness, session_ms=300_000)
    replies = [first.join(), second.join()]
    harness.advance_ms(0)
    first.joined(replies[0])
    second.joined(replies[1])
    waiting = second.sync()
    harness.advance_ms(REBALANCE_MS)
    assert waiting.code == ErrorCode.REBALANCE_IN_PROGRESS
    assert second.joined(second.join()).leader == second.member_id


def test_who_waits_for_the_others_needs_no_heartbeats(harness: Harness) -> None:
    first, second = pair(harness)
    second.session_ms = 10 * SESSION_MS
    rebalance(harness, first, second)
    reply = first.join()
    harness.advance_ms(3 * SESSION_MS)
    second_reply = second.join()
    assert first.joined(reply).generation_id == second.joined(second_reply).generation_id


def test_a_new_member_whose_client_gave_up_is_not_waited_for_forever(harness: Harness) -> None:
    first = ClassicClient(harness, session_ms=30 * 60_000, rebalance_ms=60 * 60_000)
    rebalance(harness, first)
    lost = ClassicClient(harness, rebalance_ms=60 * 60_000)
    reply = lost.join()
    harness.advance_ms(NEW_MEMBER_TIMEOUT_MS)
    assert reply.code == ErrorCode.UNKNOWN_MEMBER_ID
    assert lost.member_id not in harness.classic().members


def test_a_member_id_without_a_join_expires(harness: Harness) -> None:
    first, second = pair(harness)
    lost = ClassicClient(harness)
    lost.member_id = lost.send_join().response.member_id
    replies = [first.join(), second.join()]
    assert all(reply.is_waiting for reply in replies)  # the rebalance waits for it too
    harness.advance_ms(SESSION_MS)
    assert [reply.code for reply in replies] == [ErrorCode.NONE] * 2
    assert not harness.classic().membership.pending


def test_version_0_has_no_rebalance_timeout_but_its_session(harness: Harness) -> None:
    client = ClassicClient(harness, rebalance_ms=-1, version=0)
    rebalance(harness, client)
    assert harness.classic().membership.rebalance_timeout_ms == SESSION_MS
