"""Pauses of background work: as configured, with a lower bound.

Kafka accepts intervals of 0 and 1 ms. Here background work shares the event loop with clients.
"""

from __future__ import annotations

PAUSE_MIN_S = 0.02
REST_MAX_S = 1.0


def pause_s(interval_ms: float, took_s: float = 0.0) -> float:
    """The pause before the next round: at least as long as the last one took, up to
    `REST_MAX_S`."""
    return max(interval_ms / 1000, PAUSE_MIN_S, min(took_s, REST_MAX_S))
