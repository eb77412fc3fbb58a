"""How long clients had to wait: for the next acknowledgement, and for what was acknowledged."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from itertools import pairwise

from tests.chaos.checker.analysis import Analysis
from tests.chaos.checker.history import Observation, Quantity


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


def longest_open_s(observations: Iterable[Observation]) -> dict[str, float]:
    """For each key the longest time for which one last stable offset was seen below the high
    watermark: a transaction was open."""
    high: dict[str, int] = {}
    open_since: dict[str, Observation] = {}  # the first with the last stable offset of now
    longest: dict[str, float] = {}
    for each in observations:
        if each.quantity is Quantity.HIGH_WATERMARK:
            high[each.key] = each.value
        elif each.quantity is Quantity.LAST_STABLE_OFFSET:
            longest.setdefault(each.key, 0.0)
            since = open_since.pop(each.key, None)
            if each.value < high.get(each.key, each.value):
                first = since if since is not None and since.value == each.value else each
                open_since[each.key] = first
                longest[each.key] = max(longest[each.key], each.time_s - first.time_s)
    return longest


def _longest_gap_s(times: list[float]) -> float:
    gaps = (after - before for before, after in pairwise(times))
    return max(gaps, default=0.0)
