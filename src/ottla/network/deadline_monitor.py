"""The deadlines of one connection: idle time, incomplete frames, unread responses.

Owns      the times since which the connection has been waiting for its client.
Leaves    what the deadlines are to `timeouts.py`; the timer, and closing, to the connection.
"""

from __future__ import annotations

from collections.abc import Callable
from math import inf

from ottla.network.settings import ConnectionSettings
from ottla.network.timeouts import Activity, Reason, deadline_of


class DeadlineMonitor:
    __slots__ = (
        "_check_s",
        "_schedule_check",
        "_sent_seen",
        "_settings",
        "active_s",
        "frame_since_s",
        "unsent_since_s",
    )

    def __init__(
        self,
        settings: ConnectionSettings,
        schedule_check: Callable[[float], None],
        now_s: float,
    ) -> None:
        """`schedule_check` is given a delay in seconds: then `check` must be called."""
        self._settings = settings
        self._schedule_check = schedule_check
        self._sent_seen = 0
        self._check_s = inf  # when `check` is called next
        self.active_s = now_s
        self.frame_since_s: float | None = None
        self.unsent_since_s: float | None = None
        self._check_after(now_s, self._idle_s)

    def note_active(self, now_s: float) -> None:
        """Bytes have arrived, or the client may send again after a throttle."""
        self.active_s = now_s

    def await_frame(self, now_s: float) -> None:
        """The rest of a frame must arrive, counted from now."""
        self.frame_since_s = now_s
        self._check_after(now_s, self._settings.frame_ms / 1000)

    def stop_awaiting_frame(self) -> None:
        """The frame is complete, or the client is not read any more."""
        self.frame_since_s = None

    def note_all_sent(self) -> None:
        self.unsent_since_s = None

    def note_unsent(self, now_s: float, sent_bytes: int) -> None:
        """The socket did not take all of a response."""
        if self.unsent_since_s is None:
            self.unsent_since_s = now_s
            self._sent_seen = sent_bytes
            self._check_after(now_s, self._settings.unread_ms / 1000)

    def check(
        self, now_s: float, *, has_requests: bool, frame_bytes: int, sent_bytes: int
    ) -> Reason | None:
        """Why the connection must be closed now. None: a later check is scheduled."""
        self._check_s = inf
        if self.unsent_since_s is not None and sent_bytes != self._sent_seen:
            self.unsent_since_s, self._sent_seen = now_s, sent_bytes  # the client reads, if slowly
        activity = Activity(
            self.active_s, has_requests, self.frame_since_s, frame_bytes, self.unsent_since_s
        )
        found = deadline_of(activity, self._settings)
        if found is not None and found[0] <= now_s:
            return found[1]
        # An idle time that begins meanwhile has no event of its own.
        self._check_after(now_s, min(self._idle_s, inf if found is None else found[0] - now_s))
        return None

    @property
    def _idle_s(self) -> float:
        idle_ms = self._settings.idle_ms
        return inf if idle_ms < 0 else idle_ms / 1000

    def _check_after(self, now_s: float, delay_s: float) -> None:
        """Check then, or earlier if that is already scheduled."""
        if now_s + delay_s < self._check_s:
            self._check_s = now_s + delay_s
            self._schedule_check(delay_s)
