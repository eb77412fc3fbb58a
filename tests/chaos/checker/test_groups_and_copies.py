"""What groups leave out, and copies that are missing, doubled or out of order."""

from __future__ import annotations

from tests.chaos.checker.analysis import Analysis
from tests.chaos.checker.anomalies import Anomaly
from tests.chaos.checker.copies import copy_findings
from tests.chaos.checker.groups import group_skips
from tests.chaos.checker.history import History, Operation, Poll, Read, Result


def polled(process: str, *reads: tuple[str, int, str]) -> Operation:
    return Operation(process, 0, 1, Result.OK, (Poll(tuple(Read(*each) for each in reads)),))


def skipped(*operations: Operation) -> list[str]:
    found = group_skips(Analysis(History.of(operations)), "g", {"m1", "m2"}, {"t-0": 1, "t-1": 1})
    return [each.text for each in found]


def test_members_of_a_group_read_everything_together() -> None:
    final = polled("final", ("t-0", 0, "a"), ("t-1", 0, "b"), ("other-0", 0, "c"))
    assert skipped(final, polled("m1", ("t-0", 0, "a")), polled("m2", ("t-1", 0, "b"))) == []
    twice = polled("m2", ("t-1", 0, "b"), ("t-0", 0, "a"))
    assert skipped(final, polled("m1", ("t-0", 0, "a")), twice) == []


def test_a_value_that_no_member_has_read() -> None:
    final = polled("final", ("t-0", 0, "a"), ("t-1", 0, "b"))
    elsewhere = polled("another group", ("t-1", 0, "b"))
    (text,) = skipped(final, elsewhere, polled("m1", ("t-0", 0, "a")))
    assert text == "no member of g has polled b at offset 0"


def test_a_value_at_or_after_the_committed_offset_need_not_be_read() -> None:
    final = polled("final", ("t-0", 0, "a"), ("t-0", 1, "b"))
    assert skipped(final, polled("m1", ("t-0", 0, "a"))) == []


def found(*copies: str, end: int = 3) -> list[Anomaly]:
    """Of copies of the records a, b and c."""
    reads = [("t-0", at, value) for at, value in enumerate("abc")]
    reads += [("copies-0", at, f"{value}/c:{at}") for at, value in enumerate(copies)]
    analysis = Analysis(History.of([polled("final", *reads)]))
    findings = copy_findings(analysis, "t-0", "copies-0", lambda name: name.partition("/")[0], end)
    return [each.anomaly for each in findings]


def test_copies_that_are_equal() -> None:
    assert found("a", "b", "c") == []


def test_a_copy_is_doubled() -> None:
    assert found("a", "b", "b", "c") == [Anomaly.COPY_DUPLICATE]


def test_a_copy_is_missing() -> None:
    assert found("a", "c") == [Anomaly.COPY_LOST]


def test_what_copiers_have_not_committed_may_be_missing() -> None:
    assert found("a", "b", end=2) == []
    assert found("a", end=2) == [Anomaly.COPY_LOST]


def test_copies_are_out_of_order() -> None:
    assert found("a", "c", "b") == [Anomaly.COPY_ORDER]
