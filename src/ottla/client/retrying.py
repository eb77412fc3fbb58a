"""When to try again: how long to wait, until when, and what an error code calls for.

Promises  pure but for `Patience.pause`, the one place of this client that sleeps.
"""

from __future__ import annotations

import random
import time
from enum import Enum

from ottla.client.errors import ClientError, GaveUp
from ottla.client.settings import ClientSettings
from ottla.protocol.error_codes import ErrorCode

JITTER = 0.2
DOUBLINGS_MAX = 30


def backoff_ms(attempt: int, first_ms: int, most_ms: int, chance: float) -> float:
    """Doubling from `first_ms` up to `most_ms`, spread by a fifth either way; `chance` in 0..1."""
    plain = min(most_ms, first_ms << min(attempt, DOUBLINGS_MAX))
    return plain * (1 - JITTER + 2 * JITTER * chance)


class Patience:
    """One deadline for all attempts of one thing."""

    def __init__(self, what: str, settings: ClientSettings, timeout_ms: int | None = None) -> None:
        limit_ms = settings.default_api_timeout_ms if timeout_ms is None else timeout_ms
        self.what = what
        self._settings = settings
        self._start_s = time.monotonic()
        self._limit_s = limit_ms / 1000
        self._deadline_s = self._start_s + self._limit_s
        self._attempt = 0

    @property
    def left_ms(self) -> int:
        return max(0, int((self._deadline_s - time.monotonic()) * 1000))

    def renew(self) -> None:
        """There was progress: begin anew."""
        self._attempt = 0
        self._start_s = time.monotonic()
        self._deadline_s = self._start_s + self._limit_s

    def check(self, last: ClientError | str) -> None:
        if not self.left_ms:
            raise GaveUp(self.what, time.monotonic() - self._start_s, last) from (
                last if isinstance(last, ClientError) else None
            )

    def pause(self, last: ClientError | str) -> None:
        """Wait before the next attempt; GaveUp, naming what went wrong last, once time is up."""
        self.check(last)
        settings = self._settings
        wait_ms = backoff_ms(
            self._attempt,
            settings.retry_backoff_ms,
            settings.retry_backoff_max_ms,
            random.random(),
        )
        self._attempt += 1
        time.sleep(min(wait_ms, self.left_ms) / 1000)


class Reaction(Enum):
    FAIL = "tell the caller"
    RETRY = "ask the same broker again"
    REFRESH = "look up the leader, coordinator or controller again, then retry"


# Beyond what the protocol's table says of a code in general.
_REACTIONS = {
    ErrorCode.NOT_CONTROLLER: Reaction.REFRESH,
    ErrorCode.UNKNOWN_LEADER_EPOCH: Reaction.RETRY,
    ErrorCode.BROKER_NOT_AVAILABLE: Reaction.REFRESH,
}


def reaction_to(code: ErrorCode) -> Reaction:
    if code in _REACTIONS:
        return _REACTIONS[code]
    if code.needs_metadata_refresh:
        return Reaction.REFRESH
    return Reaction.RETRY if code.is_retriable else Reaction.FAIL
