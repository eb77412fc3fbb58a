"""How long clients had to wait: for the next acknowledgement, and for what was acknowledged."""

from __future__ import annotations

from collections import defaultdict
from itertools import pairwise

from tests.chaos.checker.analysis import Analysis


def worst_lag_s(analysis: Analysis) -> float:
    """The longest time from an acknowledgement to the first poll that returned the value."""
    lags = (
        seen_s - analysis.writer_of[written].end_s
        for written, seen_s in analysis.first_polled_s.items()
        if written in analysis.writer_of
    )
    return max(0.0, max(lags, default=0.0))


def longest_gaps_s(analysis: Analysis) -> dict[str, float]:
    """For each key the longest time between two acknowledgements, of any client."""
    times: defaultdict[str, list[float]] = defaultdict(list)
    for key, value in analysis.acknowledged:
        times[key].append(analysis.writer_of[key, value].end_s)
    return {key: _longest_gap_s(sorted(each)) for key, each in sorted(times.items())}


def _longest_gap_s(times: list[float]) -> float:
    gaps = (after - before for before, after in pairwise(times))
    return max(gaps, default=0.0)
