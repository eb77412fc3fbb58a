"""Incremental fetch sessions (KIP-227): a reader names its partitions once, then only changes.

Owns      the sessions, what each reader asked for and was last told.
Promises  an idle partition costs nothing: a session looks only at partitions that are marked, and
          those are the ones just asked for, with data left to read, or reported by `changed`.
Leaves    reading to the fetch handler, time to the caller.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from operator import attrgetter
from random import Random
from typing import NamedTuple, Protocol

from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.errors import BrokerError

NO_SESSION = 0
FULL_EPOCH = 0  # opens a session
FINAL_EPOCH = -1  # no session, and closes the one that is named
EPOCH_MAX = 2**31 - 1
EVICTION_MS = 120_000

TopicKey = str | bytes  # the name, or the id from Fetch version 13 on


class FetchKey(NamedTuple):
    topic: TopicKey
    partition: int


class WantedPartition:
    """What a reader asked for in one partition, and what it was told last."""

    __slots__ = (
        "current_leader_epoch",
        "fetch_offset",
        "key",
        "last_fetched_epoch",
        "log_start_offset",
        "partition_bytes_max",
        "told_high_watermark",
        "told_log_start_offset",
        "topic_name",
        "turn",
    )

    def __init__(
        self,
        key: FetchKey,
        fetch_offset: int,
        partition_bytes_max: int,
        current_leader_epoch: int = -1,
        last_fetched_epoch: int = -1,
        log_start_offset: int = -1,
    ) -> None:
        self.key = key
        self.fetch_offset = fetch_offset
        self.partition_bytes_max = partition_bytes_max
        self.current_leader_epoch = current_leader_epoch
        self.last_fetched_epoch = last_fetched_epoch
        self.log_start_offset = log_start_offset
        self.told_high_watermark = -1
        self.told_log_start_offset = -1
        self.topic_name: str | None = None  # once it was found by its id
        self.turn = 0  # given by its session: the lower, the sooner

    def take_over(self, other: WantedPartition) -> None:
        """The reader asks again, from another position."""
        self.fetch_offset = other.fetch_offset
        self.partition_bytes_max = other.partition_bytes_max
        self.current_leader_epoch = other.current_leader_epoch
        self.last_fetched_epoch = other.last_fetched_epoch
        self.log_start_offset = other.log_start_offset

    def tell(self, error_code: int, high_watermark: int, log_start_offset: int) -> bool:
        """Note what the answer would say; whether the reader does not know that yet."""
        is_unknown = self.is_unknown(error_code, high_watermark, log_start_offset)
        self.told_log_start_offset = log_start_offset
        # After an error the partition is told again, even if nothing else has changed.
        self.told_high_watermark = -1 if error_code else high_watermark
        return is_unknown

    def is_unknown(self, error_code: int, high_watermark: int, log_start_offset: int) -> bool:
        return (
            high_watermark != self.told_high_watermark
            or log_start_offset != self.told_log_start_offset
            or error_code != 0
        )


TURN = attrgetter("turn")


class Watcher(Protocol):
    """Somebody who waits for news of a session."""

    def data_arrived(self, size: int, *, is_stable: bool) -> None:
        """So many bytes came; whether readers of committed data may read more than before."""

    def wake(self) -> None: ...


class FetchSession:
    """One reader's partitions, in the order in which they are served."""

    __slots__ = (
        "created_ms",
        "epoch",
        "id",
        "is_closed",
        "is_follower",
        "marked",
        "partitions",
        "turns",
        "used_ms",
        "uses_topic_ids",
        "watchers",
    )

    def __init__(self, session_id: int, is_follower: bool, uses_topic_ids: bool, now_ms: int):
        self.id = session_id
        self.is_follower = is_follower
        self.is_closed = False  # a fetch may still be waiting in it
        self.uses_topic_ids = uses_topic_ids
        self.created_ms = self.used_ms = now_ms
        self.epoch = next_epoch(FULL_EPOCH)
        self.partitions: dict[FetchKey, WantedPartition] = {}
        self.marked: dict[FetchKey, None] = {}
        self.turns = 0  # given so far
        self.watchers: set[Watcher] = set()  # of the fetch that waits now, if one does

    def update(self, wanted: Iterable[WantedPartition], forgotten: Iterable[FetchKey]) -> None:
        for each in wanted:
            known = self.partitions.get(each.key)
            if known is None:
                self.partitions[each.key] = each
                self._end_turn(each)
            else:
                known.take_over(each)
            self.marked[each.key] = None
        for key in forgotten:
            self.partitions.pop(key, None)
            self.marked.pop(key, None)

    def changed(self, key: FetchKey, size: int | None, *, is_stable: bool = True) -> None:
        """The partition has something to tell: look at it in the next fetch.

        So many bytes came; None stands for news that cannot wait.
        """
        if key not in self.partitions:
            return
        self.marked[key] = None
        for watcher in list(self.watchers):
            if size is None:
                watcher.wake()
            else:
                watcher.data_arrived(size, is_stable=is_stable)

    def to_look_at(self) -> Iterator[WantedPartition]:
        """Whoever was served longest ago comes first, as on Kafka."""
        return iter(sorted((self.partitions[key] for key in self.marked), key=TURN))

    def looked_at(
        self,
        key: FetchKey,
        *,
        has_more: bool,
        is_left_over: bool = False,
        was_served: bool = True,
    ) -> None:
        """Unmark a partition without more to tell; one with more goes behind the others, and one
        that was left over for want of room keeps its place: its turn comes next."""
        if is_left_over:
            return
        if not has_more:
            self.marked.pop(key, None)
        elif was_served and (known := self.partitions.get(key)) is not None:
            self._end_turn(known)

    def _end_turn(self, partition: WantedPartition) -> None:
        self.turns += 1
        partition.turn = self.turns


class FetchSessions:
    """All sessions of a broker, bounded in number."""

    def __init__(self, slots_max: int, rng: Random) -> None:
        self.slots_max = slots_max
        self.on_eviction: Callable[[FetchSession], None] = lambda _session: None
        self._rng = rng
        self._sessions: dict[int, FetchSession] = {}

    def __len__(self) -> int:
        return len(self._sessions)

    def get(self, session_id: int) -> FetchSession | None:
        return self._sessions.get(session_id)

    def resume(
        self, session_id: int, epoch: int, uses_topic_ids: bool, now_ms: int
    ) -> FetchSession:
        """The session for an incremental fetch, its epoch moved on."""
        session = self._sessions.get(session_id)
        if session is None:
            raise BrokerError(ErrorCode.FETCH_SESSION_ID_NOT_FOUND)
        if session.epoch != epoch:
            raise BrokerError(ErrorCode.INVALID_FETCH_SESSION_EPOCH)
        if session.uses_topic_ids != uses_topic_ids:
            raise BrokerError(ErrorCode.FETCH_SESSION_TOPIC_ID_ERROR)
        session.epoch = next_epoch(epoch)
        session.used_ms = now_ms
        return session

    def open(
        self, partitions: int, is_follower: bool, uses_topic_ids: bool, now_ms: int
    ) -> FetchSession | None:
        """A new session for a reader of so many partitions; None where there is no room."""
        if len(self._sessions) >= self.slots_max:
            victim = choose_victim(self._sessions.values(), partitions, is_follower, now_ms)
            if victim is None:
                return None
            self.close(victim.id)
            self.on_eviction(victim)
        session = FetchSession(self._new_id(), is_follower, uses_topic_ids, now_ms)
        self._sessions[session.id] = session
        return session

    def close(self, session_id: int) -> None:
        session = self._sessions.pop(session_id, None)
        if session is not None:
            session.is_closed = True

    def _new_id(self) -> int:
        while (session_id := self._rng.randint(1, EPOCH_MAX)) in self._sessions:
            pass
        return session_id


def next_epoch(epoch: int) -> int:
    """After the largest comes 1: 0 and -1 have meanings of their own."""
    return 1 if epoch == EPOCH_MAX else epoch + 1


def choose_victim(
    sessions: Iterable[FetchSession], partitions: int, is_follower: bool, now_ms: int
) -> FetchSession | None:
    """Who must go for a reader of so many partitions: the stale, else the smaller and settled.

    Followers go last, and a young session is only evicted for a follower.
    """
    known = list(sessions)
    if not known:
        return None
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
