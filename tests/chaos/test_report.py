"""What a run prints, and what the ledger keeps of it."""

from __future__ import annotations

from tests.chaos.checker.anomalies import Anomaly, Finding
from tests.chaos.checker.check import check
from tests.chaos.checker.history import History, Operation, Poll, Read, Result, Send
from tests.chaos.faults.context import Event
from tests.chaos.report import Row, counts, report, row
from tests.chaos.run import Outcome, Plan
from tools.reference.reliability import row_line

PLAN = Plan(seed=7, kinds=["kill"], seconds=60.0)


def outcome_of(*findings: Finding) -> Outcome:
    sent = Operation("p", 0, 1, Result.OK, (Send("t-0", "a", 0),))
    read = Operation("c", 1, 2, Result.OK, (Poll((Read("t-0", 0, "a"),)),))
    outcome = Outcome(PLAN, verdict=check(History.of([sent, read]), findings), seconds=61.2)
    outcome.events.append(Event("kill", "kill -9 of broker 1", 0, 1))
    outcome.require("recovery", [])
    return outcome


def test_a_run_without_problems() -> None:
    outcome = outcome_of()
    passed, failed = counts(outcome)
    assert not outcome.has_failed
    assert failed == 0
    lines = report(outcome).splitlines()
    assert lines[0] == "seed 7, 61 s, 3 brokers, replication factor 3"
    assert lines[1].startswith("faults: kill 1;")
    assert lines[2].startswith("acked 1, lost 0, duplicated 0, reordered 0, aborted-read 0")
    assert lines[-1] == f"{passed} passed, 0 failed"


def test_a_run_with_problems() -> None:
    outcome = outcome_of(Finding(Anomaly.DIVERGED, "t-0", "brokers 1 and 2 differ"))
    outcome.require("recovery", ["t-1 has no leader"])
    with outcome.attempt("completion"):
        raise TimeoutError("too late")
    assert outcome.has_failed
    text = report(outcome)
    assert "FAILED recovery: 1\n  t-1 has no leader" in text
    assert "FAILED completion: 1\n  TimeoutError: too late" in text
    assert "FAILED diverged: 1\n  diverged t-0: brokers 1 and 2 differ" in text
    assert text.endswith(f"{counts(outcome)[0]} passed, 3 failed")


def test_legal_anomalies_are_no_failure() -> None:
    assert not outcome_of(Finding(Anomaly.WRITE_CYCLE, "*", "p <-> q")).has_failed


def test_the_row_of_a_run_that_failed_says_so() -> None:
    outcome = outcome_of(Finding(Anomaly.DIVERGED, "t-0", "brokers 1 and 2 differ"))
    outcome.require("recovery", ["t-1 has no leader"])
    found = row(outcome, "kills", "2026-11-18", "a busy machine")
    assert found.note == "failed: recovery, diverged; a busy machine"
    assert found.failed == 2


def test_only_a_run_whose_clients_did_not_start_may_be_repeated() -> None:
    outcome = outcome_of()
    assert not outcome.was_not_run
    outcome.require("start", ["no progress"])
    assert outcome.was_not_run
    found = outcome_of(Finding(Anomaly.DUPLICATE, "t-0", "at two offsets"))
    found.require("start", ["no progress"])
    assert not found.was_not_run


def test_a_row_of_the_ledger() -> None:
    found = row(outcome_of(), "kills", "2026-11-18")
    assert Row(**found.as_dict()) == found  # type: ignore[arg-type]
    assert row_line(found).startswith("| 2026-11-18 | kills | 7 | 61 | kill 1 | 0 | 1 | 0 |")
