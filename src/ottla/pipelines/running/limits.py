"""How many records a batch may have, so that it takes about as long as the time between batches.

Promises  the limit moves towards the goal by at most a factor, so that one slow batch (a busy
          machine, a compaction) does not stop a pipeline. Batches that were not full change
          nothing: they took all there was, and part of their time does not depend on the records.
          With a lower limit the pipeline would do less in the same time, and fall behind.
"""

from __future__ import annotations

LEAST = 1_000
FASTER_MAX, SLOWER_MAX = 4.0, 0.25
GOAL = 0.8  # of the time between batches, which leaves some for catching up
FULL = 0.8
CHANGE_MIN = 1.5  # a query is restarted to change its limit: not for less


def decide_limit(limit: int, records: int, took_ms: int, every_ms: int) -> int:
    """The limit for the next batches."""
    if records < FULL * limit or took_ms <= 0:
        return limit
    factor = min(FASTER_MAX, max(SLOWER_MAX, GOAL * every_ms / took_ms))
    wanted = max(LEAST, int(records * factor) if factor < 1 else int(limit * factor))
    is_worth_it = wanted >= limit * CHANGE_MIN or wanted * CHANGE_MIN <= limit
    return wanted if is_worth_it else limit
