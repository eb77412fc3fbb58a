"""One tier against another: is every record of a bucket there, once, unchanged?

Owns      the states of a bucket, and the rules that lead to them. Decisions only.
Promises  a bucket is *complete* only if its sums are equal; where nothing is known it is *not
          audited*, and never counts as complete.
Leaves    which tiers are compared to `books.py`.

    open               it has not ended yet, or the tier has not read or counted all of it
    complete           the same records, each once, with the same content as far as both know it
    missing            records are not there
    doubled            records are there more than once
    lost-and-doubled   as many as there should be, but some are missing and others doubled
    changed            the same records, but with another content
    late               only records that came after the bucket was closed are missing
    not-audited        the reference has not counted these offsets (audit off, retention faster),
                       or the tier was not counted since the bucket ended
    forged             the reports of a tier contradict each other
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum

from ottla.pipelines.audit.fold_plan import is_closed
from ottla.pipelines.audit.reports import BucketReport, Coverage
from ottla.pipelines.sums.record_sums import BUCKET_MS, UNDATED, BucketKey, Sums


class State(Enum):
    OPEN = "open"
    COMPLETE = "complete"
    MISSING = "missing"
    DOUBLED = "doubled"
    LOST_AND_DOUBLED = "lost-and-doubled"
    CHANGED = "changed"
    LATE = "late"
    NOT_AUDITED = "not-audited"
    FORGED = "forged"

    @property
    def is_fault(self) -> bool:
        return self not in (State.OPEN, State.COMPLETE)


@dataclass(frozen=True, slots=True)
class Verdict:
    state: State
    expected: int | None = None  # records that should be there; None: not known
    found: int = 0  # records that are there, or were excluded
    excluded: int = 0  # of these: filtered, bad or late
    late: int = 0  # of those expected: after the bucket was closed
    reason: str = ""
    is_unknowable: bool = False  # retention has deleted records before they were counted
    is_before_start: bool = False  # the tier begins after the first record of the bucket
    delay_ms: int | None = None  # from the end of the bucket to its last record in the tier

    @property
    def present(self) -> int:
        """At most this many of the expected records are there."""
        expected = self.expected or 0
        if self.state in (State.LOST_AND_DOUBLED, State.CHANGED):
            return max(0, expected - 1)
        return min(self.found, expected)


# What compaction alone may lead to.
OTHER_RECORDS = (State.MISSING, State.DOUBLED, State.LOST_AND_DOUBLED)
STALE_MS = 3 * BUCKET_MS  # an audit that has not run for so long is taken to be switched off


def compare_bucket(
    key: BucketKey,
    reference: BucketReport | None,
    known: Coverage | None,
    found: BucketReport | None,
    covered: Coverage | None,
    now_ms: int,
    booked: BucketReport | None = None,
) -> Verdict:
    """`known` is what the reference tier covers of the partition, `covered` what the other does.
    `booked` is what the writer of a table says to have written, if `found` was counted there."""
    expected = None if reference is None else reference.sums
    there = total_of(found)
    if known is None:
        return _not_audited(there, "the reference tier has not counted this partition")
    if unaudited := _unaudited(found, there, known):
        reason = f"{unaudited} of records that retention deleted uncounted"
        return replace(_not_audited(there, reason), is_unknowable=True)
    if there is not None and there.last_offset >= known.covers:
        return _unclosed(key, known, expected, there, now_ms)
    if key.bucket != UNDATED and not is_closed(key, known):
        return _unclosed(key, known, expected, there, now_ms)
    if covered is None:
        return _open(expected, there, "the tier has not read this partition yet")
    if expected is not None and covered.covers <= expected.last_offset:
        return _open(expected, there, f"read up to offset {covered.covers} so far")
    if key.bucket != UNDATED and covered.at_ms < key.end_ms:
        return _uncounted(key, covered, expected, there, now_ms)
    state, reason = _state_of(expected, there, reference, found)
    if known.is_compacted and state in OTHER_RECORDS:
        state, reason = (
            State.NOT_AUDITED,
            "compaction removes records between tiers; drill compares",
        )
    if state in (State.MISSING, State.LATE) and _begins_before(expected, covered):
        expected, reference = _written(booked, known), None
        state, reason = _state_of(expected, there, None, found)
        if expected is None or (state is State.COMPLETE and not _is_rewritten(found, booked)):
            reason = f"the tier begins at offset {covered.start}: older records are not its loss"
            verdict = _not_audited(there, reason)
            return replace(verdict, is_unknowable=True, is_before_start=True)
        reason = reason or "compared with what was written: the tier begins within the bucket"
    if state is State.COMPLETE and _is_rewritten(found, booked):
        state, reason = State.CHANGED, "rows differ from what was written"
    excluded = None if found is None else found.excluded
    late = None if reference is None else reference.late
    return Verdict(
        state, count_of(expected), count_of(there), count_of(excluded), count_of(late), reason
    )


def _begins_before(expected: Sums | None, covered: Coverage) -> bool:
    return expected is not None and expected.first_offset < covered.start


def _written(booked: BucketReport | None, known: Coverage) -> Sums | None:
    """What the writer of a table says to have written or excluded, if the reference has counted
    all of these records."""
    written = total_of(booked)
    return None if written is None or written.last_offset >= known.covers else written


def count_of(sums: Sums | None) -> int:
    return 0 if sums is None else sums.count


def _unaudited(found: BucketReport | None, there: Sums | None, known: Coverage) -> str:
    """How many rows belong to records that the reference has not counted, and never can."""
    if found is not None and found.unaudited is not None:
        return f"{found.unaudited} rows" if found.unaudited else ""
    if there is None or (there.first_offset >= known.start and not known.overlaps_gap(there)):
        return ""
    return "some"


def total_of(report: BucketReport | None) -> Sums | None:
    """The number of records that are present or were excluded."""
    if report is None:
        return None
    if report.sums is None or report.excluded is None:
        return report.sums or report.excluded
    return report.sums.merged(report.excluded)


def _state_of(
    expected: Sums | None,
    there: Sums | None,
    reference: BucketReport | None,
    found: BucketReport | None,
) -> tuple[State, str]:
    if expected is None:
        if there is None:
            return State.COMPLETE, ""
        return State.DOUBLED, "the reference tier has no such records"
    late = None if reference is None else reference.late
    if late is not None and _is_without(expected, late, there):
        return State.LATE, f"{late.count} came after the bucket was closed"
    if there is None or there.count < expected.count:
        return State.MISSING, ""
    if there.count > expected.count:
        return State.DOUBLED, ""
    if there.place != expected.place:
        return State.LOST_AND_DOUBLED, "as many as expected, but others"
    # Excluded records have no content in the table.
    sums = None if found is None or found.excluded is not None else found.sums
    content = None if sums is None else sums.content
    if None not in (content, expected.content) and content != expected.content:
        return State.CHANGED, "the content differs from that of the records"
    return State.COMPLETE, ""


def _is_rewritten(found: BucketReport | None, booked: BucketReport | None) -> bool:
    """Whether rows of a table are not those that were written, although their offsets are right."""
    one = None if found is None else found.sums
    other = None if booked is None else booked.sums
    if one is None or other is None or one.place != other.place:
        return False
    return None not in (one.rows, other.rows) and one.rows != other.rows


def _is_without(expected: Sums, late: Sums, there: Sums | None) -> bool:
    if there is None:
        return late.count == expected.count
    place = expected.place.without(late.place)
    return there.place == place and there.count == expected.count - late.count


def _not_audited(there: Sums | None, reason: str) -> Verdict:
    return Verdict(State.NOT_AUDITED, None, count_of(there), reason=reason)


def _unclosed(
    key: BucketKey, known: Coverage, expected: Sums | None, there: Sums | None, now_ms: int
) -> Verdict:
    if now_ms - max(known.at_ms, key.end_ms) > STALE_MS:
        return _not_audited(there, "the audit has not run since")
    if known.open_from is not None:
        reason = f"a transaction that is open from offset {known.open_from} on hides records"
        return _open(expected, there, reason)
    return _open(expected, there, "records of this time may still come, or are not counted yet")


def _uncounted(
    key: BucketKey, covered: Coverage, expected: Sums | None, there: Sums | None, now_ms: int
) -> Verdict:
    """Counts from before the end of the bucket say nothing about the bucket."""
    if now_ms - max(covered.at_ms, key.end_ms) > STALE_MS:
        return _not_audited(there, "the tier was not counted since this time")
    return _open(expected, there, "the tier was not counted since this time yet")


def _open(expected: Sums | None, there: Sums | None, reason: str) -> Verdict:
    return Verdict(State.OPEN, count_of(expected), count_of(there), reason=reason)
