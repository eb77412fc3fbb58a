"""When a connection has had its time. Pure: the state comes in, a deadline goes out."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from ottla.network.settings import ConnectionSettings


class Reason(Enum):
    """Why a connection is closed from our side."""

    IDLE = "idle for too long"
    FRAME = "a frame did not arrive in time"
    UNREAD = "answers are not read"
    SLOW = "a request arrived too slowly while others waited for memory"
    STUCK = "requests waited for the client while others waited for memory"
    UNREAD_MEMORY = "responses were not read while others waited for memory"
    MEMORY = "a request took memory that others waited for"


@dataclass(frozen=True, slots=True)
class Activity:
    """What a connection is doing. Times are those of the event loop, in seconds."""

    active_s: float  # bytes came in, or an answer was begun
    has_requests: bool  # begun or queued
    frame_since_s: float | None  # an incomplete frame is awaited since; None while we do not read
    frame_bytes: int
    unsent_since_s: float | None  # answers are unsent, and none of their bytes has left since


def deadline_of(activity: Activity, settings: ConnectionSettings) -> tuple[float, Reason] | None:
    """The next time at which the connection is to be closed, unless something happens; and why."""
    deadlines = []
    if activity.frame_since_s is not None:
        needs_s = settings.frame_ms / 1000 + activity.frame_bytes / settings.frame_bytes_per_s_min
        deadlines.append((activity.frame_since_s + needs_s, Reason.FRAME))
    if activity.unsent_since_s is not None:
        deadlines.append((activity.unsent_since_s + settings.unread_ms / 1000, Reason.UNREAD))
    elif not activity.has_requests and settings.idle_ms >= 0:
        deadlines.append((activity.active_s + settings.idle_ms / 1000, Reason.IDLE))
    return min(deadlines, key=lambda each: each[0], default=None)
