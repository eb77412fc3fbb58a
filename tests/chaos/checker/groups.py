"""What a group read as a whole: every value at least once, by any of its members."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from tests.chaos.checker.analysis import Analysis
from tests.chaos.checker.anomalies import Anomaly, Finding


def group_skips(
    analysis: Analysis, group: str, members: Collection[str], committed: Mapping[str, int]
) -> Iterator[Finding]:
    """A group must have read everything before the offsets that it has committed, by key."""
    read = {
        (key, value)
        for operation in analysis.operations
        if operation.process in members
        for key, _, value in operation.reads
    }
    for key, value in analysis.first_polled_s:
        offset = analysis.orders[key].offset_of(value) or 0
        if offset < committed.get(key, 0) and (key, value) not in read:
            text = f"no member of {group} has polled {value} at offset {offset}"
            yield Finding(Anomaly.GROUP_SKIP, key, text)
