"""What a group read as a whole: every value at least once, whoever its members were."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from tests.chaos.checker.analysis import Analysis
from tests.chaos.checker.anomalies import Anomaly, Finding


def group_skips(
    analysis: Analysis, group: str, members: Collection[str], topics: Collection[str]
) -> Iterator[Finding]:
    """To be asked when the group has caught up with these topics."""
    read = {
        (key, value)
        for operation in analysis.operations
        if operation.process in members
        for key, _, value in operation.reads
    }
    for key, value in analysis.first_polled_s:
        if key.rpartition("-")[0] in topics and (key, value) not in read:
            offset = analysis.orders[key].offset_of(value)
            text = f"no member of {group} has polled {value} at offset {offset}"
            yield Finding(Anomaly.GROUP_SKIP, key, text)
