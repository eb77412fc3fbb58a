"""The result of a run as text, and as a row of the ledger."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, dataclass

from tests.chaos.checker.anomalies import Anomaly
from tests.chaos.run import Outcome

LOST = (Anomaly.LOST_WRITE, Anomaly.UNSEEN, Anomaly.COPY_LOST, Anomaly.GROUP_SKIP)
DUPLICATED = (Anomaly.DUPLICATE, Anomaly.COPY_DUPLICATE)
REORDERED = (
    Anomaly.NONMONOTONIC_SEND,
    Anomaly.INTERNAL_NONMONOTONIC_SEND,
    Anomaly.NONMONOTONIC_POLL,
    Anomaly.INTERNAL_NONMONOTONIC_POLL,
    Anomaly.POLL_SKIP,
    Anomaly.INTERNAL_POLL_SKIP,
    Anomaly.COPY_ORDER,
)
ABORTED_READ = (Anomaly.ABORTED_READ, Anomaly.PRECOMMITTED_READ, Anomaly.READ_CYCLE)
DIVERGED = (Anomaly.DIVERGED, Anomaly.INCONSISTENT_OFFSETS, Anomaly.PHANTOM)
WENT_BACK = (
    Anomaly.HIGH_WATERMARK_BACK,
    Anomaly.LAST_STABLE_OFFSET_BACK,
    Anomaly.LEADER_EPOCH_BACK,
    Anomaly.COMMITTED_OFFSET_BACK,
)
SHOWN = 5  # of each kind of problem


@dataclass(frozen=True)
class Row:
    """One run in the ledger."""

    date: str
    name: str
    seed: int
    seconds: int
    faults: dict[str, int]
    dropped: int
    acknowledged: int
    lost: int
    duplicated: int
    reordered: int
    aborted_read: int
    diverged: int
    went_back: int
    longest_gap_s: float
    passed: int
    failed: int
    note: str = ""

    def as_dict(self) -> dict[str, object]:
        return asdict(self)


def counts(outcome: Outcome) -> tuple[int, int]:
    """Checks that passed and failed: each illegal anomaly is one, and so is what must happen."""
    illegal = [each for each in Anomaly if not each.is_legal]
    failed = sum(outcome.verdict.counts[each] > 0 for each in illegal)
    failed += sum(bool(each) for each in outcome.problems.values())
    return len(illegal) + len(outcome.problems) - failed, failed


def row(outcome: Outcome, name: str, date: str, note: str = "") -> Row:
    """The note of a run that failed names what failed."""
    verdict, plan = outcome.verdict, outcome.plan
    failures = [each for each, found in outcome.problems.items() if found]
    failures += sorted({each.anomaly.value for each in verdict.illegal})
    note = "; ".join([*([f"failed: {', '.join(failures)}"] if failures else []), note]).strip("; ")
    passed, failed = counts(outcome)
    return Row(
        date,
        name,
        plan.seed,
        round(outcome.seconds),
        dict(Counter(each.kind for each in outcome.events)),
        outcome.dropped,
        verdict.acknowledged,
        verdict.count(*LOST),
        verdict.count(*DUPLICATED),
        verdict.count(*REORDERED),
        verdict.count(*ABORTED_READ),
        verdict.count(*DIVERGED),
        verdict.count(*WENT_BACK),
        round(max(outcome.producer_gaps_s().values(), default=0.0), 1),
        passed,
        failed,
        note,
    )


def report(outcome: Outcome) -> str:
    plan, verdict = outcome.plan, outcome.verdict
    found = row(outcome, "", "")
    faults = ", ".join(f"{kind} {count}" for kind, count in sorted(found.faults.items()))
    gaps = ", ".join(f"{key} {gap_s:.1f}" for key, gap_s in verdict.longest_gaps_s.items())
    lines = [
        f"seed {plan.seed}, {found.seconds} s, {plan.brokers} brokers, "
        f"replication factor {plan.replication}",
        f"faults: {faults or 'none'}; answers to clients dropped: {found.dropped}",
        f"acked {found.acknowledged}, lost {found.lost}, duplicated {found.duplicated}, "
        f"reordered {found.reordered}, aborted-read {found.aborted_read}, "
        f"diverged {found.diverged}, went back {found.went_back}",
        f"legal: {describe_legal(outcome)}",
        f"longest gap in acks, s: {gaps}",
        f"longest recovery after a fault: {max(outcome.recoveries_s, default=0.0):.1f} s; "
        f"longest time from ack to visibility: {verdict.worst_lag_s:.1f} s",
        *([f"clients that hung: {', '.join(outcome.hung)}"] if outcome.hung else []),
        *(
            [f"static members fenced by themselves: {', '.join(outcome.fenced)}"]
            if outcome.fenced
            else []
        ),
        *problem_lines(outcome),
        f"{found.passed} passed, {found.failed} failed",
    ]
    return "\n".join(lines)


def describe_legal(outcome: Outcome) -> str:
    legal = [each for each in Anomaly if each.is_legal]
    return ", ".join(f"{each.value} {outcome.verdict.counts[each]}" for each in legal)


def problem_lines(outcome: Outcome) -> list[str]:
    lines = list[str]()
    for name, problems in outcome.problems.items():
        if problems:
            lines.append(f"FAILED {name}: {len(problems)}")
            lines += [f"  {each}" for each in problems[:SHOWN]]
    for anomaly in Anomaly:
        found = [each for each in outcome.verdict.illegal if each.anomaly is anomaly]
        if found:
            lines.append(f"FAILED {anomaly.value}: {len(found)}")
            lines += [f"  {each}" for each in found[:SHOWN]]
    return lines
