"""When a pipeline that failed is started again.

Promises  failures that a restart cannot repair end the pipeline at once; others are tried again
          with growing pauses, and end it after a number of failures without a batch in between.
"""

from __future__ import annotations

from dataclasses import dataclass

from ottla.pipelines.errors import LakeUnavailable, PipelineError

PAUSE_MS_MIN, PAUSE_MS_MAX = 1_000, 60_000


@dataclass(frozen=True)
class Restart:
    """Start again after `pause_ms`; never if that is None."""

    pause_ms: int | None
    failures: int


def decide_restart(
    failure: BaseException | None, failures: int, failures_max: int, *, had_progress: bool
) -> Restart:
    """`failures` before this one; `had_progress` if a batch was committed since the last one."""
    count = 1 if had_progress else failures + 1
    is_final = isinstance(failure, PipelineError) and not isinstance(failure, LakeUnavailable)
    if is_final or count > failures_max:
        return Restart(None, count)
    return Restart(min(PAUSE_MS_MAX, PAUSE_MS_MIN * 2 ** (count - 1)), count)
