"""Incremental fetch sessions (KIP-227): a client sends its partitions once, then only changes.

Owns      one session: the requested partitions, what was last sent for each, and which are to be
          read.
Promises  an idle partition costs nothing: a session reads only marked partitions, which are those
          just requested, those with more data to read, and those reported by `changed`.
Leaves    reading to the fetch handler, time to the caller, the set of all sessions to
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
FINAL_EPOCH = -1  # closes the given session, without a new one
EPOCH_MAX = 2**31 - 1

# Of a topic's name, for each further unit of memory of a partition. Names that are not ASCII, which
# no topic has, take up to four bytes for each character.
NAME_CHARS = 128
WIDE_NAME_CHARS = 32
SORTED_AT_ONCE = 1000  # a fraction of a millisecond
NO_MARK = 0

TopicKey = str | bytes  # name, or id since Fetch version 13


class FetchKey(NamedTuple):
    topic: TopicKey
    partition: int


class WantedPartition:
    """The request for one partition, and what was last sent."""

    __slots__ = (
        "current_leader_epoch",
        "fetch_offset",
        "key",
        "last_fetched_epoch",
        "log_start_offset",
        "order",
        "partition_bytes_max",
        "sent_high_watermark",
        "sent_log_start_offset",
        "topic_name",
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
        self.topic_name: str | None = None  # resolved from the id
        self.order = 0  # position in the session's order: lower is served first

    def take_over(self, other: WantedPartition) -> None:
        """The client requests it again, from another position. In another leader epoch it may have
        truncated its log, and with it what it knew of the offsets."""
        if other.current_leader_epoch != self.current_leader_epoch:
            self.forget_sent()
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

    def forget_sent(self) -> None:
        """Send the offsets again, even if they have not changed."""
        self.sent_high_watermark = self.sent_log_start_offset = -1

    def is_changed(self, error_code: int, high_watermark: int, log_start_offset: int) -> bool:
        return (
            high_watermark != self.sent_high_watermark
            or log_start_offset != self.sent_log_start_offset
            or error_code != 0
        )


ORDER = attrgetter("order")


class Watcher(Protocol):
    """Waits for changes in a session."""

    def data_arrived(self, size: int, *, is_stable: bool) -> None:
        """`size` bytes were appended; `is_stable`: consumers with read_committed may read more
        than before."""

    def wake(self) -> None: ...


class SessionClient(Protocol):
    """The client of a session."""

    is_disconnected: bool  # its connection is closed


class SessionCapacity:
    """The limit on the partitions of all sessions together."""

    __slots__ = ("held", "held_max")

    def __init__(self, held_max: int = 2**63) -> None:
        self.held = 0
        self.held_max = held_max


class FetchSession:
    """The partitions of one client, in the order in which they are served."""

    __slots__ = (
        "_room",
        "created_ms",
        "epoch",
        "has_offset_updates",
        "held",
        "id",
        "is_closed",
        "is_follower",
        "last_order",
        "marked",
        "marks",
        "partitions",
        "reader",
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
        reader: SessionClient | None = None,
        room: SessionCapacity | None = None,
    ) -> None:
        self.id = session_id
        self.is_follower = is_follower
        self.is_closed = False  # a fetch may still be waiting
        self.uses_topic_ids = uses_topic_ids
        self.created_ms = self.used_ms = now_ms
        self.reader = reader
        self.epoch = next_epoch(FULL_EPOCH)
        self.partitions: dict[FetchKey, WantedPartition] = {}
        self.marked: dict[FetchKey, int] = {}  # with the number of its last mark
        self.marks = NO_MARK  # set so far
        self.has_offset_updates = False  # that a waiting fetch of a follower must send now
        self.held = 0  # partitions, in the limit for all sessions
        self.last_order = 0  # order numbers assigned so far
        self.watchers: dict[Watcher, None] = {}  # of the waiting fetch, if any
        self._room = room or SessionCapacity()

    def close(self) -> None:
        self.is_closed = True

    @property
    def is_orphaned(self) -> bool:
        return self.reader is not None and self.reader.is_disconnected

    # Requests

    def continue_with(self, epoch: int) -> None:
        """The next request has come. If the last one waits, its client waits no longer for it: a
        follower that fetches further partitions does not wait for the others."""
        self.epoch = epoch
        for watcher in list(self.watchers):
            watcher.wake()

    def add(self, wanted: WantedPartition) -> bool:
        """Add a partition, marked. False if the limit is reached or the session is closed."""
        known = self.partitions.get(wanted.key)
        if known is not None:
            known.take_over(wanted)
        elif not self._take_room(wanted.key):
            return False
        else:
            self.partitions[wanted.key] = wanted
            self._move_to_end(wanted)
        self._mark(wanted.key)
        return True

    def forget(self, key: FetchKey) -> None:
        if self.partitions.pop(key, None) is not None:
            self._change_room(-room_of(key))
            self.marked.pop(key, None)

    def forget_any(self) -> FetchKey | None:
        """Remove one partition of a closed session."""
        if not self.partitions:
            return None
        key, _ = self.partitions.popitem()
        self._change_room(-room_of(key))
        self.marked.pop(key, None)
        return key

    def update(self, wanted: Iterable[WantedPartition], forgotten: Iterable[FetchKey] = ()) -> bool:
        """Apply a request. Returns whether there was room for all its partitions."""
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

    # Changes

    def changed(self, key: FetchKey, size: int | None, *, is_stable: bool = True) -> None:
        """Mark the partition as changed: it is read by the next fetch.

        `size` bytes were appended; None for a change that must be sent at once.
        """
        if key not in self.partitions:
            return
        self._mark(key)
        for watcher in list(self.watchers):
            if size is None:
                watcher.wake()
            else:
                watcher.data_arrived(size, is_stable=is_stable)

    def offsets_advanced(self, key: FetchKey, high_watermark: int, log_start_offset: int) -> None:
        """A follower has fetched all records, and does not know yet that they are committed, or
        which of them are deleted."""
        wanted = self.partitions.get(key)
        if wanted is None or (
            wanted.sent_high_watermark >= high_watermark
            and wanted.sent_log_start_offset >= log_start_offset
        ):
            return
        self.has_offset_updates = True
        self._mark(key)
        for watcher in list(self.watchers):
            watcher.wake()

    def _mark(self, key: FetchKey) -> None:
        self.marks += 1
        self.marked[key] = self.marks

    def partitions_to_read(self) -> Iterator[WantedPartition]:
        """The marked partitions, least recently served first, as in Kafka."""
        return iter(sorted((self.partitions[key] for key in self.marked), key=ORDER))

    def ordering(self) -> Steps[Iterator[WantedPartition]]:
        """As `partitions_to_read`, in slices. Partitions removed meanwhile may be among them."""
        keys, partitions = list(self.marked), self.partitions
        sorted_parts = []
        for start in range(0, len(keys), SORTED_AT_ONCE):
            some = keys[start : start + SORTED_AT_ONCE]
            known = (partitions.get(key) for key in some)
            sorted_parts.append(sorted((each for each in known if each is not None), key=ORDER))
            yield 0
        return merge(*sorted_parts, key=ORDER)

    def record_read(
        self,
        key: FetchKey,
        mark: int,
        *,
        has_more: bool,
        has_not_fit: bool = False,
        was_served: bool = True,
    ) -> None:
        """Unmark a partition without more data. One with more data moves to the end; one that did
        not fit in the response keeps its position and is served first in the next.

        `mark` is the mark at the time of the read. A newer mark is kept: it marks a change that the
        read did not include.
        """
        if has_not_fit:
            return
        if not has_more:
            if self.marked.get(key) == mark:
                del self.marked[key]
        elif was_served and (known := self.partitions.get(key)) is not None:
            self._move_to_end(known)

    def _move_to_end(self, partition: WantedPartition) -> None:
        self.last_order += 1
        partition.order = self.last_order


def next_epoch(epoch: int) -> int:
    """The largest epoch is followed by 1: 0 and -1 have special meanings."""
    return 1 if epoch == EPOCH_MAX else epoch + 1


def room_of(key: FetchKey) -> int:
    """The share of the limit that a partition takes: more for a long name."""
    topic = key.topic
    if isinstance(topic, bytes):
        return 1
    return 1 + len(topic) // (NAME_CHARS if topic.isascii() else WIDE_NAME_CHARS)
