"""The fetches that wait for changes of one partition, and their notification.

Owns      the fetch sessions and the fetches without a session, of consumers and of followers.
Leaves    what a notified fetch does to `fetch_sessions.py` and `fetch_waiters.py`; when to notify,
          to the leader's and the follower's rules.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ottla.base.files.readers import CACHED
from ottla.replication.fetch_waiters import ManyWatchers, notify
from ottla.storage.log.log import Log
from ottla.storage.log.log_offsets import LogOffsets

if TYPE_CHECKING:
    from ottla.replication.fetch_sessions import FetchKey, FetchSession, Watcher


NOTIFIED_AT_ONCE = 500  # fetches without a session


class FollowerWatch:
    """What fetches of followers without a session wait for: anything appended."""

    __slots__ = ("watchers",)

    def __init__(self) -> None:
        self.watchers: dict[Watcher, None] = {}


class FetchNotifications:
    """What fetches of consumers without a session wait for, with the sessions of all."""

    __slots__ = (
        "_announced_stable_offset",
        "_many_watchers",
        "follower_sessions",
        "follower_watch",
        "sessions",
        "watchers",
    )

    def __init__(self) -> None:
        self.watchers: dict[Watcher, None] = {}
        # notified of changes; owned by `FetchSessions`
        self.sessions: dict[FetchSession, FetchKey] = {}  # of consumers
        self.follower_sessions: dict[FetchSession, FetchKey] = {}
        self.follower_watch = FollowerWatch()
        self._many_watchers: ManyWatchers | None = None  # while very many fetches wait
        self._announced_stable_offset = -1

    def notify_session(self, session: FetchSession, key: FetchKey) -> bool:
        """Notify the session from now on; False if it is closed or has removed the partition."""
        if session.is_closed or key not in session.partitions:
            return False
        (self.follower_sessions if session.is_follower else self.sessions)[session] = key
        return True

    def forget_session(self, session: FetchSession) -> None:
        (self.follower_sessions if session.is_follower else self.sessions).pop(session, None)

    def notify_followers(self, size: int | None) -> None:
        """There is more to fetch; without a size, of a change that must be sent at once."""
        for session, key in self.follower_sessions.items():
            session.changed(key, size)
        for watcher in list(self.follower_watch.watchers):
            if size is None:
                watcher.wake()
            else:
                watcher.data_arrived(size, is_stable=True)

    def send_followers_offsets(self, offsets: LogOffsets) -> None:
        """Send the high watermark and the log start to followers that do not know them."""
        for session, key in self.follower_sessions.items():
            session.offsets_advanced(key, offsets.high_watermark, offsets.start)

    def announce(self, log: Log, size: int | None = None) -> None:
        """Notify consumers of new data in the log; without a size, of a change that must be sent at
        once."""
        if not self.sessions and not self.watchers:
            return
        is_stable = size is None or self._has_more_stable(log)
        for session, key in self.sessions.items():
            session.changed(key, size, is_stable=is_stable)
        if self._many_watchers is not None and self._many_watchers.is_idle:
            self._many_watchers = None
        if self._many_watchers is None and len(self.watchers) <= NOTIFIED_AT_ONCE:
            for watcher in list(self.watchers):
                notify(watcher, size, is_stable=is_stable)
        else:
            self._many_watchers = self._many_watchers or ManyWatchers(self.watchers)
            self._many_watchers.notify(size, is_stable=is_stable)

    def _has_more_stable(self, log: Log) -> bool:
        """Whether the last stable offset has advanced since consumers were last notified."""
        if not log.producers.is_loaded:
            return True  # determined when they read
        stable_offset = log.last_stable_offset(CACHED)
        is_more = stable_offset != self._announced_stable_offset
        self._announced_stable_offset = stable_offset
        return is_more
