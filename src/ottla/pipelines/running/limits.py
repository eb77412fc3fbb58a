"""How many records a batch may have, so that it takes about as long as the time between batches.

Promises  the limit moves towards the goal by at most a factor, so that one slow batch (a busy
          machine, a compaction) does not stop a pipeline; batches that were not full say nothing
          about a larger limit.
"""

from __future__ import annotations

LEAST = 1_000
FASTER_MAX, SLOWER_MAX = 4.0, 0.25
GOAL = 0.8  # of the time between batches, which leaves some for catching up
FULL = 0.8
CHANGE_MIN = 1.5  # a query is restarted to change its limit: not for less


def decide_limit(limit: int, records: int, took_ms: int, every_ms: int) -> int:
    """The limit for the next batches."""
    if records <= 0 or took_ms <= 0:
        return limit
    factor = min(FASTER_MAX, max(SLOWER_MAX, GOAL * every_ms / took_ms))
    if factor > 1 and records < FULL * limit:
        return limit
    wanted = max(LEAST, int(records * factor) if factor < 1 else int(limit * factor))
    is_worth_it = wanted >= limit * CHANGE_MIN or wanted * CHANGE_MIN <= limit
    return wanted if is_worth_it else limit
