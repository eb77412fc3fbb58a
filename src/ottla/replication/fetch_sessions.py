"""Incremental fetch sessions (KIP-227): a reader names its partitions once, then only changes.

Owns      one session: what its reader asked for and was last told, and which partitions to look at.
Promises  an idle partition costs nothing: a session looks only at partitions that are marked, and
          those are the ones just asked for, with data left to read, or reported by `changed`.
Leaves    reading to the fetch handler, time to the caller, all sessions together to
          `session_cache.py`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from heapq import merge
from operator import attrgetter
from typing import NamedTuple, Protocol

from ottla.base.scheduling.steps import Steps

NO_SESSION = 0
FULL_EPOCH = 0  # opens a session
FINAL_EPOCH = -1  # no session, and closes the one that is named
EPOCH_MAX = 2**31 - 1

NAME_LENGTH_MAX = 249  # of a topic that exists
LONG_NAME_CHARS = 64  # of a longer name, in the memory that one partition takes
SORTED_AT_ONCE = 1000  # a fraction of a millisecond
NO_MARK = 0

TopicKey = str | bytes  # the name, or the id from Fetch version 13 on


class FetchKey(NamedTuple):
    topic: TopicKey
    partition: int


class WantedPartition:
    """The request of a reader for one partition, and what it was sent last."""

    __slots__ = (
        "current_leader_epoch",
        "fetch_offset",
        "key",
        "last_fetched_epoch",
        "log_start_offset",
        "partition_bytes_max",
        "sent_high_watermark",
        "sent_log_start_offset",
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
        self.sent_high_watermark = -1
        self.sent_log_start_offset = -1
        self.topic_name: str | None = None  # once it was found by its id
        self.turn = 0  # given by its session: the lower, the sooner

    def take_over(self, other: WantedPartition) -> None:
        """The reader asks again, from another position."""
        self.fetch_offset = other.fetch_offset
        self.partition_bytes_max = other.partition_bytes_max
        self.current_leader_epoch = other.current_leader_epoch
        self.last_fetched_epoch = other.last_fetched_epoch
        self.log_start_offset = other.log_start_offset

    def record_sent(self, error_code: int, high_watermark: int, log_start_offset: int) -> bool:
        """Record what the response contains; returns whether that has changed."""
        is_changed = self.is_changed(error_code, high_watermark, log_start_offset)
        self.sent_log_start_offset = log_start_offset
        # After an error the partition is sent again, even if nothing else has changed.
        self.sent_high_watermark = -1 if error_code else high_watermark
        return is_changed

    def is_changed(self, error_code: int, high_watermark: int, log_start_offset: int) -> bool:
        return (
            high_watermark != self.sent_high_watermark
            or log_start_offset != self.sent_log_start_offset
            or error_code != 0
        )


TURN = attrgetter("turn")


class Watcher(Protocol):
    """Somebody who waits for news of a session."""

    def data_arrived(self, size: int, *, is_stable: bool) -> None:
        """So many bytes came; whether readers of committed data may read more than before."""

    def wake(self) -> None: ...


class Reader(Protocol):
    """Whose session it is."""

    is_gone: bool  # its connection has ended


class SessionRoom:
    """The bound on what all sessions hold together, in partitions."""

    __slots__ = ("held", "held_max")

    def __init__(self, held_max: int = 2**63) -> None:
        self.held = 0
        self.held_max = held_max


class FetchSession:
    """One reader's partitions, in the order in which they are served."""

    __slots__ = (
        "_room",
        "created_ms",
        "epoch",
        "held",
        "id",
        "is_closed",
        "is_follower",
        "marked",
        "marks",
        "partitions",
        "reader",
        "turns",
        "used_ms",
        "uses_topic_ids",
        "watchers",
    )

    def __init__(
        self,
        session_id: int,
        is_follower: bool,
        uses_topic_ids: bool,
        now_ms: int,
        reader: Reader | None = None,
        room: SessionRoom | None = None,
    ) -> None:
        self.id = session_id
        self.is_follower = is_follower
        self.is_closed = False  # a fetch may still be waiting in it
        self.uses_topic_ids = uses_topic_ids
        self.created_ms = self.used_ms = now_ms
        self.reader = reader
        self.epoch = next_epoch(FULL_EPOCH)
        self.partitions: dict[FetchKey, WantedPartition] = {}
        self.marked: dict[FetchKey, int] = {}  # with the number of the last mark
        self.marks = NO_MARK  # set so far
        self.held = 0  # in the room that all sessions share
        self.turns = 0  # given so far
        self.watchers: set[Watcher] = set()  # of the fetch that waits now, if one does
        self._room = room or SessionRoom()

    @property
    def is_orphaned(self) -> bool:
        return self.reader is not None and self.reader.is_gone

    # What the reader names

    def add(self, wanted: WantedPartition) -> bool:
        """Take it in, marked; False where sessions have no more room, or this one is closed."""
        known = self.partitions.get(wanted.key)
        if known is not None:
            known.take_over(wanted)
        elif not self._take_room(wanted.key):
            return False
        else:
            self.partitions[wanted.key] = wanted
            self._end_turn(wanted)
        self._mark(wanted.key)
        return True

    def forget(self, key: FetchKey) -> None:
        if self.partitions.pop(key, None) is not None:
            self._change_room(-room_of(key))
            self.marked.pop(key, None)

    def forget_any(self) -> FetchKey | None:
        """One of those that are left, for whoever takes a closed session apart."""
        if not self.partitions:
            return None
        key, _ = self.partitions.popitem()
        self._change_room(-room_of(key))
        self.marked.pop(key, None)
        return key

    def update(self, wanted: Iterable[WantedPartition], forgotten: Iterable[FetchKey] = ()) -> bool:
        """Whether there was room for all that is wanted."""
        for each in wanted:
            if not self.add(each):
                return False
        for key in forgotten:
            self.forget(key)
        return True

    def _take_room(self, key: FetchKey) -> bool:
        size = room_of(key)
        if self.is_closed or self._room.held + size > self._room.held_max:
            return False
        self._change_room(size)
        return True

    def _change_room(self, size: int) -> None:
        self.held += size
        self._room.held += size

    # What there is to tell

    def changed(self, key: FetchKey, size: int | None, *, is_stable: bool = True) -> None:
        """The partition has something to tell: look at it in the next fetch.

        So many bytes came; None stands for news that cannot wait.
        """
        if key not in self.partitions:
            return
        self._mark(key)
        for watcher in list(self.watchers):
            if size is None:
                watcher.wake()
            else:
                watcher.data_arrived(size, is_stable=is_stable)

    def _mark(self, key: FetchKey) -> None:
        self.marks += 1
        self.marked[key] = self.marks

    def to_look_at(self) -> Iterator[WantedPartition]:
        """Whoever was served longest ago comes first, as on Kafka."""
        return iter(sorted((self.partitions[key] for key in self.marked), key=TURN))

    def ordering(self) -> Steps[Iterator[WantedPartition]]:
        """As `to_look_at`, for very many: what is forgotten meanwhile may be among them."""
        keys, partitions = list(self.marked), self.partitions
        sorted_parts = []
        for start in range(0, len(keys), SORTED_AT_ONCE):
            some = keys[start : start + SORTED_AT_ONCE]
            known = (partitions.get(key) for key in some)
            sorted_parts.append(sorted((each for each in known if each is not None), key=TURN))
            yield 0
        return merge(*sorted_parts, key=TURN)

    def looked_at(
        self,
        key: FetchKey,
        mark: int,
        *,
        has_more: bool,
        is_left_over: bool = False,
        was_served: bool = True,
    ) -> None:
        """Unmark a partition without more to tell; one with more goes behind the others, and one
        that was left over for want of room keeps its place: its turn comes next.

        `mark` is the mark that the partition had when it was read. It keeps a newer one: that
        stands for a change which the read did not include.
        """
        if is_left_over:
            return
        if not has_more:
            if self.marked.get(key) == mark:
                del self.marked[key]
        elif was_served and (known := self.partitions.get(key)) is not None:
            self._end_turn(known)

    def _end_turn(self, partition: WantedPartition) -> None:
        self.turns += 1
        partition.turn = self.turns


def next_epoch(epoch: int) -> int:
    """After the largest comes 1: 0 and -1 have meanings of their own."""
    return 1 if epoch == EPOCH_MAX else epoch + 1


def room_of(key: FetchKey) -> int:
    """What a partition takes of the room: more if it has a name that no topic can have."""
    topic = key.topic
    if isinstance(topic, bytes) or (len(topic) <= NAME_LENGTH_MAX and topic.isascii()):
        return 1
    return 1 + len(topic) // LONG_NAME_CHARS
