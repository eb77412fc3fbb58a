"""Retries: how long to wait, until when, and which error codes are retriable.

Promises  `Retries.pause` is the one place of this client that sleeps.
"""

from __future__ import annotations

import logging
import random
import time
from enum import Enum

from ottla.client.errors import ClientError, GaveUp
from ottla.client.settings import ClientSettings
from ottla.protocol.error_codes import ErrorCode

log = logging.getLogger(__name__)

JITTER = 0.2
WARN_AFTER_S, WARN_AGAIN_S = 2.0, 15.0
DOUBLINGS_MAX = 30


def backoff_ms(attempt: int, first_ms: int, most_ms: int, chance: float) -> float:
    """Doubles from `first_ms` up to `most_ms`, with a jitter of 20 %; `chance` is in 0..1."""
    plain = min(most_ms, first_ms << min(attempt, DOUBLINGS_MAX))
    return plain * (1 - JITTER + 2 * JITTER * chance)


class Retries:
    """One deadline for all attempts of one operation. Logs a warning when attempts have failed for
    two seconds, and another when they succeed again, so that a user sees why a query waits."""

    def __init__(self, what: str, settings: ClientSettings, timeout_ms: int | None = None) -> None:
        limit_ms = settings.default_api_timeout_ms if timeout_ms is None else timeout_ms
        self.what = what
        self._settings = settings
        self._start_s = time.monotonic()
        self._limit_s = limit_ms / 1000
        self._deadline_s = self._start_s + self._limit_s
        self._attempt = 0
        self._warn_at_s = self._start_s + WARN_AFTER_S
        self._has_warned = False

    @property
    def now_s(self) -> float:
        """The monotonic clock, for callers that schedule retries."""
        return time.monotonic()

    @property
    def left_ms(self) -> int:
        return max(0, int((self._deadline_s - time.monotonic()) * 1000))

    def renew(self) -> None:
        """There was progress: the deadline counts from now."""
        self.note_success()
        self._attempt = 0
        self._start_s = time.monotonic()
        self._deadline_s = self._start_s + self._limit_s
        self._warn_at_s = self._start_s + WARN_AFTER_S

    def note_success(self) -> None:
        """An attempt succeeded: logged if the failures before it were."""
        if self._has_warned:
            self._has_warned = False
            log.warning("%s: works again, after %.1f s", self.what, self._elapsed_s)

    @property
    def _elapsed_s(self) -> float:
        return time.monotonic() - self._start_s

    def check(self, last: ClientError | str) -> None:
        if not self.left_ms:
            raise GaveUp(self.what, self._elapsed_s, last) from (
                last if isinstance(last, ClientError) else None
            )

    def pause(self, last: ClientError | str) -> None:
        """Wait before the next attempt; GaveUp with the last error after the deadline."""
        self.check(last)
        self._warn(last)
        settings = self._settings
        wait_ms = backoff_ms(
            self._attempt,
            settings.retry_backoff_ms,
            settings.retry_backoff_max_ms,
            random.random(),
        )
        self._attempt += 1
        time.sleep(min(wait_ms, self.left_ms) / 1000)

    def _warn(self, last: ClientError | str) -> None:
        now_s = time.monotonic()
        if now_s < self._warn_at_s:
            return
        self._warn_at_s = now_s + WARN_AGAIN_S
        self._has_warned = True
        log.warning(
            "%s: has failed for %.1f s, trying again for another %.0f s: %s",
            self.what, self._elapsed_s, self.left_ms / 1000, last,
        )  # fmt: skip


class Reaction(Enum):
    FAIL = "raise the error"
    RETRY = "ask the same broker again"
    REFRESH = "look up the leader, coordinator or controller again, then retry"


# Exceptions from the general rules of the protocol's table of error codes.
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
