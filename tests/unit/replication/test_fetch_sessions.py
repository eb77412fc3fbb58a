"""Which partitions of a fetch session are looked at, and in which order."""

from __future__ import annotations

from ottla.replication.fetch_sessions import FetchKey, FetchSession, WantedPartition

KEYS = [FetchKey("t", partition) for partition in range(3)]


def a_session() -> FetchSession:
    session = FetchSession(1, is_follower=False, uses_topic_ids=False, now_ms=0)
    session.update([WantedPartition(key, 0, 1000, 0, -1, 0) for key in KEYS], ())
    return session


def to_look_at(session: FetchSession) -> list[FetchKey]:
    return [wanted.key for wanted in session.to_look_at()]


def test_a_partition_without_news_is_not_looked_at_again() -> None:
    session = a_session()
    session.looked_at(KEYS[1], has_more=False)
    assert to_look_at(session) == [KEYS[0], KEYS[2]]


def test_a_partition_that_was_served_goes_behind_the_others() -> None:
    session = a_session()
    session.looked_at(KEYS[0], has_more=True)
    assert to_look_at(session) == [KEYS[1], KEYS[2], KEYS[0]]


def test_news_of_a_partition_come_before_what_others_that_were_served_have_left() -> None:
    session = a_session()
    session.looked_at(KEYS[2], has_more=False)
    session.looked_at(KEYS[0], has_more=True)
    session.changed(KEYS[2], 10)
    assert to_look_at(session) == [KEYS[1], KEYS[2], KEYS[0]]


def test_a_partition_without_records_but_with_more_to_tell_keeps_its_turn() -> None:
    session = a_session()
    session.looked_at(KEYS[0], has_more=True, was_served=False)
    assert to_look_at(session) == KEYS


def test_a_partition_left_over_for_want_of_room_keeps_its_place() -> None:
    session = a_session()
    session.looked_at(KEYS[0], has_more=True)
    session.looked_at(KEYS[1], has_more=False, is_left_over=True)
    session.looked_at(KEYS[2], has_more=False, is_left_over=True)
    assert to_look_at(session) == [KEYS[1], KEYS[2], KEYS[0]]
