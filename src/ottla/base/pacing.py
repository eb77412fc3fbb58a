"""How long background work pauses: as its setting says, but never so short that it takes a core.

Kafka accepts intervals of 0 and 1 ms. Here the same event loop serves the clients.
"""

from __future__ import annotations

PAUSE_MIN_S = 0.02
REST_MAX_S = 1.0


def pause_s(interval_ms: float, took_s: float = 0.0) -> float:
    """Before the next round, when the last one took so long: at least as long again, up to
    `REST_MAX_S`."""
    return max(interval_ms / 1000, PAUSE_MIN_S, min(took_s, REST_MAX_S))
