"""All checks of one history."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from tests.chaos.checker.analysis import Analysis
from tests.chaos.checker.anomalies import Anomaly, Finding
from tests.chaos.checker.cycles import read_cycles, write_cycles
from tests.chaos.checker.history import History
from tests.chaos.checker.polls import poll_order
from tests.chaos.checker.reads import aborted_reads, phantoms, precommitted_reads
from tests.chaos.checker.sends import send_order
from tests.chaos.checker.timing import longest_gaps_s, worst_lag_s
from tests.chaos.checker.views import steps_back
from tests.chaos.checker.writes import duplicates, inconsistent_offsets, missing

Check = Callable[[Analysis], Iterator[Finding]]
CHECKS: tuple[Check, ...] = (
    inconsistent_offsets,
    duplicates,
    missing,
    aborted_reads,
    phantoms,
    precommitted_reads,
    read_cycles,
    write_cycles,
    poll_order,
    send_order,
)


@dataclass(frozen=True)
class Verdict:
    findings: tuple[Finding, ...]
    acknowledged: int
    worst_lag_s: float
    longest_gaps_s: dict[str, float]

    @property
    def counts(self) -> Counter[Anomaly]:
        return Counter(each.anomaly for each in self.findings)

    @property
    def illegal(self) -> list[Finding]:
        return [each for each in self.findings if not each.anomaly.is_legal]

    def count(self, *anomalies: Anomaly) -> int:
        return sum(self.counts[each] for each in anomalies)


def check(history: History, others: Iterable[Finding] = ()) -> Verdict:
    """`others` are findings outside the history, such as replicas that differ."""
    analysis = Analysis(history)
    findings = [finding for each in CHECKS for finding in each(analysis)]
    findings += steps_back(history.observations)
    return Verdict(
        (*findings, *others),
        len(analysis.acknowledged),
        worst_lag_s(analysis),
        longest_gaps_s(analysis),
    )
