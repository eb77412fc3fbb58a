"""The deadlines of a connection, computed from its activity. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from ottla.network.settings import ConnectionSettings


class Reason(Enum):
    """Why the broker closes a connection."""

    IDLE = "idle for too long"
    FRAME = "a frame did not arrive in time"
    UNREAD = "responses are not read"
    SLOW = "a request arrived too slowly while others waited for memory"
    STALLED = "requests waited for the client while others waited for memory"
    UNREAD_MEMORY = "responses were not read while others waited for memory"
    MEMORY = "a request took memory that others waited for"


@dataclass(frozen=True, slots=True)
class Activity:
    """The state of a connection. Times are those of the event loop, in seconds."""

    active_s: float  # bytes arrived, or a throttle ended
    has_requests: bool  # in flight or queued
    frame_since_s: float | None  # a frame is incomplete; None while the client is not read
    frame_bytes: int
    unsent_since_s: float | None  # responses are unsent, and no byte was sent since


def deadline_of(activity: Activity, settings: ConnectionSettings) -> tuple[float, Reason] | None:
    """When, and why, the connection must be closed if nothing happens until then."""
    deadlines = []
    if activity.frame_since_s is not None:
        needs_s = settings.frame_ms / 1000 + activity.frame_bytes / settings.frame_bytes_per_s_min
        deadlines.append((activity.frame_since_s + needs_s, Reason.FRAME))
    if activity.unsent_since_s is not None:
        deadlines.append((activity.unsent_since_s + settings.unread_ms / 1000, Reason.UNREAD))
    elif not activity.has_requests and settings.idle_ms >= 0:
        deadlines.append((activity.active_s + settings.idle_ms / 1000, Reason.IDLE))
    return min(deadlines, key=lambda each: each[0], default=None)
