"""Exactly-once copies: each record of a topic once in another one, in the same order.

Copies have names of their own, one for each attempt; `source_of` returns the record.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator
from itertools import pairwise

from tests.chaos.checker.analysis import Analysis
from tests.chaos.checker.anomalies import Anomaly, Finding


def copy_findings(
    analysis: Analysis, source: str, copy: str, source_of: Callable[[str], str], end: int
) -> Iterator[Finding]:
    """Of one key and the key of its copies, both as they were polled. The copiers have committed
    that they copied the records before the offset `end`."""
    copies: defaultdict[str, list[int]] = defaultdict(list)
    for key, value in analysis.first_polled_s:
        if key == copy:
            copies[source_of(value)] += sorted(analysis.orders[key].offsets_of[value])
    for name, offsets in copies.items():
        if len(offsets) > 1:
            text = f"{name} was copied to the offsets {sorted(offsets)}"
            yield Finding(Anomaly.COPY_DUPLICATE, copy, text)
    yield from _in_order(analysis, source, copy, copies, end)


def _in_order(
    analysis: Analysis, source: str, copy: str, copies: dict[str, list[int]], end: int
) -> Iterator[Finding]:
    polled = [value for key, value in analysis.first_polled_s if key == source]
    polled.sort(key=lambda value: analysis.orders[source].offset_of(value) or 0)
    for value in polled:
        if value not in copies and (analysis.orders[source].offset_of(value) or 0) < end:
            yield Finding(Anomaly.COPY_LOST, copy, f"{value} of {source} was not copied")
    places = [(value, copies[value][0]) for value in polled if value in copies]
    for (before, at), (after, next_at) in pairwise(places):
        if next_at < at:
            text = f"{after} was copied to offset {next_at}, and {before}, before it, to {at}"
            yield Finding(Anomaly.COPY_ORDER, copy, text)
