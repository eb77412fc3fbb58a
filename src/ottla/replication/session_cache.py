"""All fetch sessions of a broker, limited in number and in total partitions.

Owns      the set of sessions, and which one is evicted.
Promises  a client for which there is no room is served without a session, as in Kafka.
Leaves    removing a closed session from its partitions to `on_close`. `FetchNotifications.sessions`
          refers to sessions only to notify them.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Collection, Iterable
from random import Random

from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.errors import BrokerError
from ottla.replication.fetch_sessions import (
    EPOCH_MAX,
    FetchSession,
    SessionCapacity,
    SessionClient,
    next_epoch,
)

EVICTION_MS = 120_000


class FetchSessions:
    def __init__(
        self,
        slots_max: int,
        rng: Random,
        partitions_max: int = 2**63,
        on_close: Callable[[FetchSession], None] = lambda _session: None,
    ) -> None:
        self.slots_max = slots_max
        self.room = SessionCapacity(partitions_max)
        self._on_close = on_close
        self._rng = rng
        self._sessions: OrderedDict[int, FetchSession] = OrderedDict()  # least recently used first

    def __len__(self) -> int:
        return len(self._sessions)

    def get(self, session_id: int) -> FetchSession | None:
        return self._sessions.get(session_id)

    def resume(
        self,
        session_id: int,
        epoch: int,
        uses_topic_ids: bool,
        now_ms: int,
        reader: SessionClient | None = None,
    ) -> FetchSession:
        """The session for an incremental fetch, with its epoch advanced."""
        session = self._sessions.get(session_id)
        if session is None:
            raise BrokerError(ErrorCode.FETCH_SESSION_ID_NOT_FOUND)
        if session.epoch != epoch:
            raise BrokerError(ErrorCode.INVALID_FETCH_SESSION_EPOCH)
        if session.uses_topic_ids != uses_topic_ids:
            raise BrokerError(ErrorCode.FETCH_SESSION_TOPIC_ID_ERROR)
        session.continue_with(next_epoch(epoch))
        session.used_ms = now_ms
        session.reader = reader
        self._sessions.move_to_end(session_id)
        return session

    def open(
        self,
        partitions: int,
        is_follower: bool,
        uses_topic_ids: bool,
        now_ms: int,
        reader: SessionClient | None = None,
    ) -> FetchSession | None:
        """A new session for `count` partitions; None if there is no room."""
        if not self._make_room(partitions, is_follower, now_ms):
            return None
        if len(self._sessions) >= self.slots_max:
            victim = choose_victim(self._sessions.values(), partitions, is_follower, now_ms)
            if victim is None:
                return None
            self.close(victim.id)
        session = FetchSession(
            self._new_id(), is_follower, uses_topic_ids, now_ms, reader, self.room
        )
        self._sessions[session.id] = session
        return session

    def close(self, session_id: int) -> None:
        session = self._sessions.pop(session_id, None)
        if session is not None:
            session.close()
            self._on_close(session)

    def _make_room(self, partitions: int, is_follower: bool, now_ms: int) -> bool:
        """Whether `count` more partitions fit now. Large evicted sessions are freed later, so
        that there is room at the client's next request."""
        room = self.room
        excess = room.held + partitions - room.held_max
        if excess > 0 and partitions <= room.held_max:
            sessions = self._sessions.values()
            for victim in choose_large_victims(sessions, partitions, excess, is_follower, now_ms):
                self.close(victim.id)
        return room.held + partitions <= room.held_max

    def _new_id(self) -> int:
        while (session_id := self._rng.randint(1, EPOCH_MAX)) in self._sessions:
            pass
        return session_id


def choose_victim(
    sessions: Iterable[FetchSession], partitions: int, is_follower: bool, now_ms: int
) -> FetchSession | None:
    """The session to evict for a client with this number of partitions: one of a disconnected
    client, a stale one, or else a smaller one that is old enough.

    Sessions of followers are evicted last, and a young session only for a follower.
    """
    known = list(sessions)
    if not known:
        return None
    for session in known:
        if session.is_orphaned:
            return session
    oldest = min(known, key=lambda session: session.used_ms)
    if now_ms - oldest.used_ms > EVICTION_MS:
        return oldest
    evictable = [
        session
        for session in known
        if now_ms - session.created_ms > EVICTION_MS or (is_follower and not session.is_follower)
    ]
    if not evictable:
        return None
    smallest = min(evictable, key=lambda session: (session.is_follower, len(session.partitions)))
    asked = (is_follower, partitions)
    return smallest if asked >= (smallest.is_follower, len(smallest.partitions)) else None


def choose_large_victims(
    sessions: Iterable[FetchSession], partitions: int, excess: int, is_follower: bool, now_ms: int
) -> Collection[FetchSession]:
    """The sessions to evict to free `excess` partitions; none if that is not possible.

    First sessions of disconnected clients and stale ones, least recently used first; then the
    largest old enough ones, if they are larger than the new one, so that a client with many
    partitions does not displace many clients with few.
    """
    unused: list[FetchSession] = []
    larger: list[FetchSession] = []
    for session in sessions:
        if session.is_orphaned or now_ms - session.used_ms > EVICTION_MS:
            unused.append(session)
        elif (
            session.held > partitions
            and session.is_follower <= is_follower
            and now_ms - session.created_ms > EVICTION_MS
        ):
            larger.append(session)
    larger.sort(key=lambda session: session.held, reverse=True)
    victims: list[FetchSession] = []
    for session in (*unused, *larger):
        if excess <= 0:
            break
        victims.append(session)
        excess -= session.held
    return victims if excess <= 0 else ()
