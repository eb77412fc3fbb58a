"""What became of the values that were sent: at one offset each, and none lost."""

from __future__ import annotations

from collections.abc import Iterator

from tests.chaos.checker.analysis import Analysis
from tests.chaos.checker.anomalies import Anomaly, Finding


def inconsistent_offsets(analysis: Analysis) -> Iterator[Finding]:
    for key, order in analysis.orders.items():
        for offset, values in order.values_at.items():
            if len(values) > 1:
                text = f"offset {offset} has the values {sorted(values)}"
                yield Finding(Anomaly.INCONSISTENT_OFFSETS, key, text)


def duplicates(analysis: Analysis) -> Iterator[Finding]:
    for key, order in analysis.orders.items():
        for value, offsets in order.offsets_of.items():
            if len(offsets) > 1:
                text = f"{value} is at the offsets {sorted(offsets)}"
                yield Finding(Anomaly.DUPLICATE, key, text)


def missing(analysis: Analysis) -> Iterator[Finding]:
    """Acknowledged values that were never polled: lost if a consumer has passed their offset."""
    for key, value in analysis.acknowledged:
        if (key, value) in analysis.first_polled_s:
            continue
        order = analysis.orders[key]
        offset, last = order.offset_of(value), order.last_polled
        writer = analysis.writer_of[key, value]
        reported = f"{value} of {writer.process}, acknowledged at {writer.end_s:.3f} s"
        if offset is not None and offset <= last:
            text = f"{reported} at offset {offset}, although {last} was polled"
            yield Finding(Anomaly.LOST_WRITE, key, text)
        else:
            yield Finding(
                Anomaly.UNSEEN, key, f"{reported} at offset {offset}; polled up to {last}"
            )
