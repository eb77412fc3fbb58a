"""How many fetch sessions there are, how much they hold together, and which of them must go."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

import pytest

from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.errors import BrokerError
from ottla.replication.fetch_sessions import (
    NO_MARK,
    FetchKey,
    FetchSession,
    WantedPartition,
    room_of,
)
from ottla.replication.session_cache import EVICTION_MS, FetchSessions

LATER_MS = EVICTION_MS + 1


@dataclass
class Reader:
    is_disconnected: bool = False


class Cache:
    """Sessions whose partitions go at once when they are closed."""

    def __init__(self, slots_max: int = 10, partitions_max: int = 100) -> None:
        self.sessions = FetchSessions(
            slots_max, Random(1), partitions_max, on_close=self._take_apart
        )
        self.closed: list[int] = []
        self.now_ms = 0

    def _take_apart(self, session: FetchSession) -> None:
        self.closed.append(session.id)
        while session.forget_any() is not None:
            pass

    def open(self, partitions: int, reader: Reader | None = None) -> FetchSession | None:
        session = self.sessions.open(partitions, False, False, self.now_ms, reader or Reader())
        if session is not None:
            assert session.update(wanted(partitions))
        return session


def wanted(count: int, first: int = 0) -> list[WantedPartition]:
    return [WantedPartition(FetchKey("t", first + at), 0, 1) for at in range(count)]


def opened(session: FetchSession | None) -> FetchSession:
    assert session is not None
    return session


def test_a_reader_of_more_partitions_than_there_is_room_for_gets_no_session() -> None:
    cache = Cache(partitions_max=100)
    assert cache.open(60) is not None
    assert cache.open(41) is None
    assert cache.open(40) is not None
    assert cache.sessions.room.held == 100


def test_what_a_session_forgets_makes_room_for_others() -> None:
    cache = Cache(partitions_max=100)
    first = opened(cache.open(100))
    first.update((), [FetchKey("t", at) for at in range(30)])
    assert cache.open(31) is None
    assert cache.open(30) is not None


def test_a_session_does_not_grow_beyond_the_room() -> None:
    cache = Cache(partitions_max=100)
    first = opened(cache.open(60))
    opened(cache.open(39))
    assert not first.update(wanted(2, first=1000))
    assert cache.sessions.room.held == 100


def test_a_closed_session_takes_nothing_more() -> None:
    cache = Cache()
    first = opened(cache.open(5))
    cache.sessions.close(first.id)
    assert not first.update(wanted(1))
    assert cache.sessions.room.held == 0


def test_sessions_whose_reader_is_gone_make_room_at_once() -> None:
    cache = Cache(partitions_max=100)
    reader = Reader()
    first = opened(cache.open(90, reader))
    kept = opened(cache.open(10))
    assert cache.open(20) is None
    reader.is_disconnected = True
    assert cache.open(20) is not None
    assert cache.closed == [first.id]
    assert cache.sessions.get(kept.id) is kept


def test_a_session_that_is_resumed_belongs_to_the_new_connection() -> None:
    cache = Cache(partitions_max=100)
    reader = Reader()
    first = opened(cache.open(90, reader))
    cache.sessions.resume(first.id, 1, False, 0, Reader())
    reader.is_disconnected = True
    assert cache.open(20) is None


def test_stale_sessions_make_room() -> None:
    cache = Cache(partitions_max=100)
    first, second = opened(cache.open(50)), opened(cache.open(50))
    cache.now_ms = LATER_MS
    cache.sessions.resume(first.id, 1, False, LATER_MS, Reader())
    assert cache.open(50) is not None
    assert cache.closed == [second.id]


def test_a_session_with_many_partitions_does_not_evict_small_ones() -> None:
    cache = Cache(partitions_max=100)
    readers = [opened(cache.open(10)) for _ in range(10)]
    cache.now_ms = LATER_MS
    for each in readers:
        cache.sessions.resume(each.id, 1, False, LATER_MS, Reader())
    assert cache.open(20) is None
    assert cache.closed == []


def test_a_reader_of_few_partitions_displaces_the_largest_settled_one() -> None:
    cache = Cache(partitions_max=100)
    small, large = opened(cache.open(20)), opened(cache.open(80))
    for each in (small, large):
        cache.sessions.resume(each.id, 1, False, LATER_MS, Reader())
    assert cache.open(10) is None  # both are young
    cache.now_ms = LATER_MS
    assert cache.open(10) is not None
    assert cache.closed == [large.id]


def test_no_session_is_evicted_if_that_is_not_sufficient() -> None:
    cache = Cache(partitions_max=100)
    reader = Reader()
    opened(cache.open(10, reader))
    opened(cache.open(90))
    reader.is_disconnected = True
    assert cache.open(50) is None
    assert cache.closed == []


def test_a_session_that_is_not_used_for_two_minutes_may_be_evicted_as_on_kafka() -> None:
    assert EVICTION_MS == 120_000


def test_the_slot_of_a_reader_that_is_gone_is_taken_first() -> None:
    cache = Cache(slots_max=2)
    reader = Reader()
    opened(cache.open(1))
    second = opened(cache.open(1, reader))
    assert cache.open(1) is None
    reader.is_disconnected = True
    assert cache.open(1) is not None
    assert cache.closed == [second.id]


def test_a_session_that_was_evicted_is_not_found() -> None:
    cache = Cache(partitions_max=10)
    reader = Reader()
    first = opened(cache.open(10, reader))
    reader.is_disconnected = True
    opened(cache.open(1))
    with pytest.raises(BrokerError) as error:
        cache.sessions.resume(first.id, 1, False, 0)
    assert error.value.code == ErrorCode.FETCH_SESSION_ID_NOT_FOUND


@pytest.mark.parametrize(
    ("topic", "room"),
    [("t" * 127, 1), ("t" * 249, 2), (b"i" * 16, 1), ("t" * 6400, 51), ("\N{SNOWMAN}" * 64, 3)],
)
def test_long_names_take_the_room_that_they_need(topic: str | bytes, room: int) -> None:
    assert room_of(FetchKey(topic, 0)) == room


def test_very_many_marked_partitions_are_looked_at_in_the_same_order() -> None:
    session = FetchSession(1, is_follower=False, uses_topic_ids=False, now_ms=0)
    session.update(wanted(5000))
    for at in Random(5).sample(range(5000), 3000):
        session.record_read(FetchKey("t", at), NO_MARK, has_more=True)
    ordering = session.ordering()
    steps = 0
    while True:
        try:
            next(ordering)
            steps += 1
        except StopIteration as end:
            found = list(end.value)
            break
    assert found == list(session.partitions_to_read())
    assert steps == 5


NAMES: tuple[str | bytes, ...] = ("t", b"i" * 16, "t" * 249, "t" * 250, "t" * 6400, "\N{SNOWMAN}")


@pytest.mark.parametrize("seed", range(20))
def test_all_room_comes_back_whatever_the_names_and_however_a_session_ends(seed: int) -> None:
    """Sessions grow, forget, are closed or evicted, and are taken apart later, some at a time."""
    known: list[FetchSession] = []

    def closed(session: FetchSession) -> None:
        if session not in known:
            known.append(session)

    rng, sessions = Random(seed), FetchSessions(5, Random(1), 600, closed)
    for now_ms in range(0, 200 * LATER_MS // 40, LATER_MS // 40):
        session = sessions.open(3, False, False, now_ms, Reader(rng.random() < 0.2))
        if session is not None:
            known.append(session)
        for each in rng.sample(known, min(4, len(known))):
            keys = [FetchKey(rng.choice(NAMES), rng.randrange(9)) for _ in range(6)]
            each.update([WantedPartition(key, 0, 1) for key in keys[:3]], keys[3:])
            if each.is_closed:
                each.forget_any()
            elif rng.random() < 0.2:
                sessions.close(each.id)
        assert sessions.room.held == sum(each.held for each in known) <= 600
        for each in known:
            assert each.held == sum(map(room_of, each.partitions))
    for each in known:
        sessions.close(each.id)
        while each.forget_any() is not None:
            pass
    assert sessions.room.held == len(sessions) == 0
