"""Watches that a connection stays alive: that frames arrive whole, and answers are read.

Owns      the times at which things began that must not last for ever.
Leaves    what the deadlines are to `timeouts.py`, and closing to the connection.
"""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING

from ottla.network.home import Home
from ottla.network.timeouts import Activity, Reason, deadline_of

if TYPE_CHECKING:
    from ottla.network.connection import Connection


# However late a deadline is: a wheel that reaches far ahead has many ticks, and keeps them all.
LOOK_S_MAX = 3600.0


class Watch:
    __slots__ = (
        "_connection",
        "_home",
        "_sent_seen",
        "_watched_s",
        "active_s",
        "frame_since_s",
        "unsent_since_s",
    )

    def __init__(self, home: Home, connection: Connection, now_s: float) -> None:
        self._home = home
        self._connection = connection
        self._sent_seen = 0
        self._watched_s = inf  # when the connection is looked at next
        self.active_s = now_s
        self.frame_since_s: float | None = None
        self.unsent_since_s: float | None = None
        self._look_again(now_s + self._pause_s)

    def frame_is_awaited(self, now_s: float) -> None:
        """The rest of a frame is owed, from now on."""
        self.frame_since_s = now_s
        self._look_again(now_s + self._home.settings.frame_ms / 1000)

    def is_unsent(self, sent_bytes: int) -> None:
        """Some of an answer did not leave at once."""
        if self.unsent_since_s is None:
            self.unsent_since_s = self._home.shared.loop.time()
            self._sent_seen = sent_bytes
            self._look_again(self.unsent_since_s + self._home.settings.unread_ms / 1000)

    def look(
        self, now_s: float, *, has_requests: bool, frame_bytes: int, sent_bytes: int
    ) -> Reason | None:
        """Why the connection is to be closed now; if it is not, it is looked at again later."""
        self._watched_s = inf
        if self.unsent_since_s is not None and sent_bytes != self._sent_seen:
            self.unsent_since_s, self._sent_seen = now_s, sent_bytes  # it reads, if slowly
        activity = Activity(
            self.active_s, has_requests, self.frame_since_s, frame_bytes, self.unsent_since_s
        )
        found = deadline_of(activity, self._home.settings)
        if found is not None and found[0] <= now_s:
            return found[1]
        look_s = now_s + self._pause_s
        self._look_again(look_s if found is None else min(found[0], look_s))
        return None

    @property
    def _pause_s(self) -> float:
        """How long not to look where there is nothing else to expect."""
        idle_ms = self._home.settings.idle_ms
        return LOOK_S_MAX if idle_ms < 0 else min(idle_ms / 1000, LOOK_S_MAX)

    def close(self) -> None:
        self._home.shared.deadlines.forget(self._connection)
        self._watched_s = -inf

    def _look_again(self, deadline_s: float) -> None:
        if deadline_s < self._watched_s:
            self._watched_s = deadline_s
            self._home.shared.deadlines.watch(self._connection, deadline_s)
