"""Classic groups and time: sessions, members that do not join or sync, lost new members."""

from __future__ import annotations

import pytest
from tests.unit.coordinators.groups.bench import (
    REBALANCE_MS,
    SESSION_MS,
    Bench,
    ClassicClient,
    rebalance,
)

from ottla.coordinators.groups.classic.group import State
from ottla.coordinators.groups.shared import NEW_MEMBER_TIMEOUT_MS
from ottla.protocol.error_codes import ErrorCode


@pytest.fixture
def bench() -> Bench:
    return Bench()


def pair(bench: Bench) -> tuple[ClassicClient, ClassicClient]:
    first, second = ClassicClient(bench, "first"), ClassicClient(bench, "second")
    rebalance(bench, first, second)
    return first, second


def test_a_member_without_heartbeats_is_removed_and_the_others_rebalance(bench: Bench) -> None:
    first, second = pair(bench)
    bench.advance_ms(SESSION_MS - 1)
    assert second.heartbeat() == ErrorCode.NONE
    bench.advance_ms(1)
    assert second.heartbeat() == ErrorCode.REBALANCE_IN_PROGRESS
    assert first.heartbeat() == ErrorCode.UNKNOWN_MEMBER_ID
    assert second.joined(second.join()).leader == second.member_id


def test_commits_are_signs_of_life_too(bench: Bench) -> None:
    bench.create_topic("t")
    client = ClassicClient(bench)
    rebalance(bench, client)
    for _ in range(3):
        bench.advance_ms(SESSION_MS - 1)
        assert client.commit({("t", 0): 1}) == ErrorCode.NONE


def test_a_group_whose_members_all_go_silent_becomes_empty(bench: Bench) -> None:
    pair(bench)
    bench.advance_ms(SESSION_MS)
    assert bench.classic().state is State.EMPTY
    bench.restart()
    assert (bench.classic().state, bench.classic().generation) == (State.EMPTY, 2)


def test_after_a_restart_members_have_one_session_to_show_up(bench: Bench) -> None:
    first, _ = pair(bench)
    bench.advance_ms(SESSION_MS - 1)
    bench.restart()
    bench.advance_ms(SESSION_MS - 1)
    assert first.heartbeat() == ErrorCode.NONE
    bench.advance_ms(1)
    assert len(bench.classic().members) == 1


def test_members_that_do_not_join_in_time_are_left_behind(bench: Bench) -> None:
    first, second = pair(bench)
    first.session_ms = second.session_ms = 2 * REBALANCE_MS
    rebalance(bench, first, second)
    reply = first.join()
    bench.advance_ms(REBALANCE_MS - 1)
    assert reply.is_waiting
    bench.advance_ms(1)
    assert first.joined(reply).leader == first.member_id
    assert second.heartbeat() == ErrorCode.UNKNOWN_MEMBER_ID


def test_a_leader_that_does_not_join_in_time_is_replaced(bench: Bench) -> None:
    first, second = pair(bench)
    first.session_ms = second.session_ms = 2 * REBALANCE_MS
    rebalance(bench, first, second)
    second.protocols = {"range": b"other"}
    reply = second.join()
    bench.advance_ms(REBALANCE_MS)
    assert second.joined(reply).leader == second.member_id


def test_the_longest_rebalance_timeout_of_all_members_counts(bench: Bench) -> None:
    first = ClassicClient(bench, rebalance_ms=20_000, session_ms=300_000)
    second = ClassicClient(bench, rebalance_ms=90_000, session_ms=300_000)
    rebalance(bench, first, second)
    reply = first.join()
    bench.advance_ms(89_999)
    assert reply.is_waiting
    bench.advance_ms(1)
    assert not reply.is_waiting


def test_members_that_never_ask_for_their_part_are_removed(bench: Bench) -> None:
    first = ClassicClient(bench, session_ms=300_000)
    second = ClassicClient(bench, session_ms=300_000)
    replies = [first.join(), second.join()]
    bench.advance_ms(0)
    first.joined(replies[0])
    second.joined(replies[1])
    first.sync({first.member_id: b"A"})
    bench.advance_ms(REBALANCE_MS)
    assert first.heartbeat() == ErrorCode.REBALANCE_IN_PROGRESS
    assert second.heartbeat() == ErrorCode.UNKNOWN_MEMBER_ID


def test_a_leader_that_never_brings_the_assignment_is_removed(bench: Bench) -> None:
    first = ClassicClient(bench, session_ms=300_000)
    second = ClassicClient(bench, session_ms=300_000)
    replies = [first.join(), second.join()]
    bench.advance_ms(0)
    first.joined(replies[0])
    second.joined(replies[1])
    waiting = second.sync()
    bench.advance_ms(REBALANCE_MS)
    assert waiting.code == ErrorCode.REBALANCE_IN_PROGRESS
    assert second.joined(second.join()).leader == second.member_id


def test_who_waits_for_the_others_needs_no_heartbeats(bench: Bench) -> None:
    first, second = pair(bench)
    second.session_ms = 10 * SESSION_MS
    rebalance(bench, first, second)
    reply = first.join()
    bench.advance_ms(3 * SESSION_MS)
    second_reply = second.join()
    assert first.joined(reply).generation_id == second.joined(second_reply).generation_id


def test_a_new_member_whose_client_gave_up_is_not_waited_for_forever(bench: Bench) -> None:
    first = ClassicClient(bench, session_ms=30 * 60_000, rebalance_ms=60 * 60_000)
    rebalance(bench, first)
    lost = ClassicClient(bench, rebalance_ms=60 * 60_000)
    reply = lost.join()
    bench.advance_ms(NEW_MEMBER_TIMEOUT_MS)
    assert reply.code == ErrorCode.UNKNOWN_MEMBER_ID
    assert lost.member_id not in bench.classic().members


def test_a_member_id_that_nobody_came_back_with_is_forgotten(bench: Bench) -> None:
    first, second = pair(bench)
    lost = ClassicClient(bench)
    lost.member_id = lost.send_join().response.member_id
    replies = [first.join(), second.join()]
    assert all(reply.is_waiting for reply in replies)  # the rebalance waits for it too
    bench.advance_ms(SESSION_MS)
    assert [reply.code for reply in replies] == [ErrorCode.NONE] * 2
    assert not bench.classic().pending


def test_version_0_has_no_rebalance_timeout_but_its_session(bench: Bench) -> None:
    client = ClassicClient(bench, rebalance_ms=-1, version=0)
    rebalance(bench, client)
    assert bench.classic().rebalance_timeout_ms == SESSION_MS
