"""Values that a consumer must not have seen: aborted, not committed yet, or sent by no client."""

from __future__ import annotations

from collections.abc import Iterator

from tests.chaos.checker.analysis import Analysis
from tests.chaos.checker.anomalies import Anomaly, Finding
from tests.chaos.checker.history import Result


def aborted_reads(analysis: Analysis) -> Iterator[Finding]:
    for (key, value), seen_s in analysis.first_polled_s.items():
        writer = analysis.writer_of.get((key, value))
        if writer is not None and writer.result is Result.FAILED:
            text = f"{value} of {writer.process} was aborted, and polled at {seen_s:.3f} s"
            yield Finding(Anomaly.ABORTED_READ, key, text)


def phantoms(analysis: Analysis) -> Iterator[Finding]:
    for (key, value), seen_s in analysis.first_polled_s.items():
        if (key, value) not in analysis.writer_of:
            text = f"{value} was sent by no client, and polled at {seen_s:.3f} s"
            yield Finding(Anomaly.PHANTOM, key, text)


def precommitted_reads(analysis: Analysis) -> Iterator[Finding]:
    for operation in analysis.transactions():
        own = {(send.key, send.value) for send in operation.sends}
        for key, offset, value in operation.reads:
            if (key, value) in own:
                text = f"{operation.process} polled its own {value} at offset {offset}"
                yield Finding(Anomaly.PRECOMMITTED_READ, key, text)
