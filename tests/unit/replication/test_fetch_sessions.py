"""Which partitions of a fetch session are looked at, and in which order."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.errors import BrokerError
from ottla.replication.fetch_sessions import (
    EPOCH_MAX,
    NO_MARK,
    FetchKey,
    FetchSession,
    WantedPartition,
    next_epoch,
)
from ottla.replication.session_cache import EVICTION_MS, FetchSessions, choose_victim

KEYS = [FetchKey("t", partition) for partition in range(3)]


def a_session() -> FetchSession:
    session = FetchSession(1, is_follower=False, uses_topic_ids=False, now_ms=0)
    session.update([WantedPartition(key, 0, 1000, 0, -1, 0) for key in KEYS], ())
    return session


def partitions_to_read(session: FetchSession) -> list[FetchKey]:
    return [wanted.key for wanted in session.partitions_to_read()]


def record_read(session: FetchSession, key: FetchKey, **outcome: Any) -> None:
    """It was read just now."""
    session.record_read(key, session.marked.get(key, NO_MARK), **outcome)


def test_an_unchanged_partition_is_not_read_again() -> None:
    session = a_session()
    record_read(session, KEYS[1], has_more=False)
    assert partitions_to_read(session) == [KEYS[0], KEYS[2]]


def test_a_partition_that_changes_after_it_was_read_is_looked_at_again() -> None:
    session = a_session()
    marks = dict(session.marked)
    session.changed(KEYS[0], 10)
    session.update([WantedPartition(KEYS[1], 7, 1000)], ())
    session.forget(KEYS[2])
    for key in KEYS:
        session.record_read(key, marks[key], has_more=False)
    assert partitions_to_read(session) == KEYS[:2]
    for key in KEYS:
        record_read(session, key, has_more=False)
    assert partitions_to_read(session) == []


def test_a_partition_that_was_served_goes_behind_the_others() -> None:
    session = a_session()
    record_read(session, KEYS[0], has_more=True)
    assert partitions_to_read(session) == [KEYS[1], KEYS[2], KEYS[0]]


def test_changed_partitions_come_before_the_rest_of_those_that_were_served() -> None:
    session = a_session()
    record_read(session, KEYS[2], has_more=False)
    record_read(session, KEYS[0], has_more=True)
    session.changed(KEYS[2], 10)
    assert partitions_to_read(session) == [KEYS[1], KEYS[2], KEYS[0]]


def test_a_partition_without_records_but_with_changes_keeps_its_position() -> None:
    session = a_session()
    record_read(session, KEYS[0], has_more=True, was_served=False)
    assert partitions_to_read(session) == KEYS


def test_a_partition_left_over_for_want_of_room_keeps_its_place() -> None:
    session = a_session()
    record_read(session, KEYS[0], has_more=True)
    record_read(session, KEYS[1], has_more=False, has_not_fit=True)
    record_read(session, KEYS[2], has_more=False, has_not_fit=True)
    assert partitions_to_read(session) == [KEYS[1], KEYS[2], KEYS[0]]


# What a response to a reader contains


def test_a_partition_is_sent_when_anything_has_changed() -> None:
    wanted = WantedPartition(KEYS[0], 5, 1000)
    assert (wanted.sent_high_watermark, wanted.sent_log_start_offset, wanted.order) == (-1, -1, 0)
    assert wanted.record_sent(0, 10, 2)
    assert not wanted.is_changed(0, 10, 2)
    assert not wanted.record_sent(0, 10, 2)
    assert wanted.record_sent(0, 11, 2)
    assert wanted.record_sent(0, 11, 3)
    assert wanted.record_sent(6, 11, 3)
    assert wanted.record_sent(0, 11, 3), "after an error everything is sent again"
    assert not wanted.record_sent(0, 11, 3)


def test_a_repeated_request_updates_the_position_and_keeps_what_was_sent() -> None:
    session = a_session()
    known = session.partitions[KEYS[1]]
    known.record_sent(0, 10, 2)
    for key in KEYS:
        record_read(session, key, has_more=False)
    session.update([WantedPartition(KEYS[1], 7, 50, known.current_leader_epoch, 4, 6)], ())
    assert session.partitions[KEYS[1]] is known
    assert (known.fetch_offset, known.partition_bytes_max) == (7, 50)
    assert (known.last_fetched_epoch, known.log_start_offset) == (4, 6)
    assert not known.is_changed(0, 10, 2)
    session.update([WantedPartition(KEYS[1], 7, 50, 30, 4, 6)], ())
    assert known.current_leader_epoch == 30
    assert known.is_changed(0, 10, 2), "its client may have truncated its log"
    assert partitions_to_read(session) == [KEYS[1]]
    plain = WantedPartition(KEYS[0], 1, 2)
    assert (plain.current_leader_epoch, plain.last_fetched_epoch, plain.log_start_offset) == (
        -1, -1, -1,
    )  # fmt: skip
    assert plain.topic_name is None


def test_a_forgotten_partition_is_neither_looked_at_nor_marked_again() -> None:
    session = a_session()
    session.update((), [KEYS[1], FetchKey("other", 0)])
    assert partitions_to_read(session) == [KEYS[0], KEYS[2]]
    session.changed(KEYS[1], 10)
    assert partitions_to_read(session) == [KEYS[0], KEYS[2]]
    record_read(session, KEYS[1], has_more=True)
    session.update([WantedPartition(KEYS[1], 0, 1000)], ())
    assert partitions_to_read(session) == [KEYS[0], KEYS[2], KEYS[1]], (
        "it comes last, as a new one does"
    )


class Waiter:
    def __init__(self) -> None:
        self.heard: list[object] = []

    def data_arrived(self, size: int, *, is_stable: bool) -> None:
        self.heard.append((size, is_stable))

    def wake(self) -> None:
        self.heard.append("wake")


def test_a_waiting_session_is_notified_only_of_its_partitions() -> None:
    session, waiter = a_session(), Waiter()
    session.watchers[waiter] = None
    session.changed(KEYS[0], 10)
    session.changed(KEYS[1], 20, is_stable=False)
    session.changed(KEYS[1], None)
    session.changed(FetchKey("other", 0), 30)
    assert waiter.heard == [(10, True), (20, False), "wake"]


# All sessions of a broker


def sessions(slots: int = 3) -> FetchSessions:
    return FetchSessions(slots, Random(1))


def opened(
    known: FetchSessions, partitions: int, now_ms: int, *, is_follower: bool = False
) -> FetchSession | None:
    session = known.open(partitions, is_follower, uses_topic_ids=False, now_ms=now_ms)
    if session is not None:
        keys = (FetchKey("t", each) for each in range(partitions))
        session.update([WantedPartition(key, 0, 1000) for key in keys], ())
    return session


def test_a_session_is_resumed_with_the_next_epoch_only() -> None:
    known = sessions()
    session = opened(known, 1, 0)
    assert session is not None
    assert session.epoch == 1
    assert known.get(session.id) is session
    assert known.resume(session.id, 1, False, now_ms=5) is session
    assert (session.epoch, session.used_ms, session.created_ms) == (2, 5, 0)
    for session_id, epoch, uses_ids, code in (
        (session.id + 1, 2, False, ErrorCode.FETCH_SESSION_ID_NOT_FOUND),
        (session.id, 1, False, ErrorCode.INVALID_FETCH_SESSION_EPOCH),
        (session.id, 3, False, ErrorCode.INVALID_FETCH_SESSION_EPOCH),
        (session.id, 2, True, ErrorCode.FETCH_SESSION_TOPIC_ID_ERROR),
    ):
        with pytest.raises(BrokerError) as raised:
            known.resume(session_id, epoch, uses_ids, now_ms=9)
        assert raised.value.code is code
    assert (session.epoch, session.used_ms) == (2, 5), "nothing of that counts"


def test_epochs_and_ids_of_sessions_fit_into_what_requests_have_for_them() -> None:
    assert EPOCH_MAX == 2**31 - 1


def test_after_the_last_epoch_comes_the_first() -> None:
    assert [next_epoch(each) for each in (0, 1, EPOCH_MAX - 1, EPOCH_MAX)] == [1, 2, EPOCH_MAX, 1]
    known = sessions()
    session = opened(known, 1, 0)
    assert session is not None
    session.epoch = EPOCH_MAX
    known.resume(session.id, EPOCH_MAX, False, 1)
    assert session.epoch == 1


def test_a_closed_session_is_removed_and_marked() -> None:
    known = sessions()
    session = opened(known, 1, 0)
    assert session is not None
    known.close(session.id)
    known.close(session.id)
    assert (session.is_closed, len(known), known.get(session.id)) == (True, 0, None)


def test_there_are_never_more_sessions_than_slots_and_evictions_are_reported() -> None:
    evicted: list[FetchSession] = []
    known = FetchSessions(2, Random(1), on_close=evicted.append)
    first, second = opened(known, 5, 0), opened(known, 9, 10)
    assert first is not None
    assert second is not None
    assert opened(known, 99, EVICTION_MS) is None, "both are young"
    first.used_ms = second.used_ms = EVICTION_MS
    assert opened(known, 4, EVICTION_MS + 1) is None, "the old one has more partitions"
    third = opened(known, 5, EVICTION_MS + 1)
    assert third is not None
    assert (evicted, first.is_closed, len(known)) == ([first], True, 2)
    assert known.get(first.id) is None


def test_an_unused_session_is_evicted_whatever_its_size() -> None:
    known = sessions(2)
    large, small = opened(known, 500, 0), opened(known, 1, 0)
    assert large is not None
    assert small is not None
    known.resume(small.id, 1, False, EVICTION_MS)
    assert choose_victim(list(known._sessions.values()), 1, False, EVICTION_MS) is None
    assert choose_victim(list(known._sessions.values()), 1, False, EVICTION_MS + 1) is large
    assert choose_victim([], 1, False, 0) is None
    late = FetchSession(3, False, False, now_ms=EVICTION_MS)
    late.used_ms = 1  # a clock that went back
    all_sessions = [*known._sessions.values(), late]
    large.used_ms = EVICTION_MS
    assert choose_victim(all_sessions, 1, False, EVICTION_MS + 2) is late


def test_followers_go_last_and_a_young_session_only_for_a_follower() -> None:
    known = sessions(2)
    follower, reader = opened(known, 1, 0, is_follower=True), opened(known, 50, 0)
    assert reader is not None
    all_sessions = list(known._sessions.values())
    assert choose_victim(all_sessions, 99, False, 1) is None
    assert choose_victim(all_sessions, 1, True, 1) is reader, "whatever its size"
    later = EVICTION_MS + 1
    for session in all_sessions:
        session.used_ms = later
    assert choose_victim(all_sessions, 50, False, later) is reader
    assert choose_victim(all_sessions, 49, False, later) is None
    reader.created_ms = later
    assert choose_victim(all_sessions, 999, False, later) is None, (
        "a follower is not evicted for it"
    )
    reader.is_follower = True
    assert choose_victim(all_sessions, 1, True, later) is follower
    assert choose_victim(all_sessions, 0, True, later) is None


def test_ids_of_sessions_are_never_given_twice() -> None:
    class Stubborn(Random):
        def randint(self, least: int, most: int) -> int:
            assert (least, most) == (1, EPOCH_MAX)
            return self.numbers.pop(0)

        numbers: list[int]

    rng = Stubborn()
    rng.numbers = [7, 7, 7, 8]
    known = FetchSessions(5, rng)
    first, second = opened(known, 1, 0), opened(known, 1, 0)
    assert first is not None
    assert second is not None
    assert (first.id, second.id) == (7, 8)
