"""The order of what one process sends to a key.

The offsets are those that its sends returned, or that polls have shown. What was aborted counts
too: it takes offsets in the same way.
"""

from __future__ import annotations

from collections.abc import Iterator

from tests.chaos.checker.analysis import Analysis
from tests.chaos.checker.anomalies import Anomaly, Finding
from tests.chaos.checker.history import Operation


def send_order(analysis: Analysis) -> Iterator[Finding]:
    for process, operations in analysis.by_process().items():
        last: dict[str, int] = {}
        for operation in operations:
            yield from _of_operation(analysis, process, operation, last)


def _of_operation(
    analysis: Analysis, process: str, operation: Operation, last: dict[str, int]
) -> Iterator[Finding]:
    sent_here: set[str] = set()
    for send in operation.sends:
        offset = send.offset
        if offset is None:
            offset = analysis.orders[send.key].offset_of(send.value)
        if offset is None:
            continue
        before = last.get(send.key, -1)
        is_within = send.key in sent_here
        if offset <= before:
            within, between = Anomaly.INTERNAL_NONMONOTONIC_SEND, Anomaly.NONMONOTONIC_SEND
            text = f"{process} sent {send.value} to offset {offset} after one to {before}"
            yield Finding(within if is_within else between, send.key, text)
        elif is_within and operation.is_transaction:
            yield from _foreign(analysis, operation, send.key, before, offset)
        last[send.key] = max(offset, before)
        sent_here.add(send.key)


def _foreign(
    analysis: Analysis, operation: Operation, key: str, before: int, offset: int
) -> Iterator[Finding]:
    """Legal, but worth a count: it shows that writers have met."""
    if between := analysis.orders[key].between(before, offset):
        text = f"{len(between)} values between {before} and {offset} of {operation.process}"
        yield Finding(Anomaly.INTERNAL_SEND_SKIP, key, text)
