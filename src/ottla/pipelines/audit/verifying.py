"""Whether everything of a time is complete, and whether everything is recent enough.

Owns      the rules of `verify` and `check`. Decisions only.
Promises  what was not audited, or is still open, is never taken for complete.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

from ottla.pipelines.audit.books import TopicBook, percent_text
from ottla.pipelines.audit.comparison import State, Verdict
from ottla.pipelines.sums.record_sums import BUCKET_MS, BucketKey


@dataclass
class AuditResult:
    buckets: int = 0
    records: int = 0
    is_verified: bool = True  # all tiers were counted, not only booked
    not_audited: list[str] = field(default_factory=list)
    faults: list[tuple[TopicBook, BucketKey, Verdict]] = field(default_factory=list)

    @property
    def is_complete(self) -> bool:
        """False if no bucket was verified."""
        return bool(self.buckets) and not self.faults and not self.not_audited


def verify_books(books: Sequence[TopicBook], from_ms: int | None, to_ms: int | None) -> AuditResult:
    """Without `to_ms`, what is closed: buckets that are still open do not count."""
    result = AuditResult()
    for book in books:
        result.is_verified &= book.is_counted
        until = book.audited_until_ms
        end = to_ms if to_ms is not None else _end_of(book)
        result.not_audited += _not_counted(book, end)
        if until is None or until < end:
            since = "at all" if until is None else f"after {_time(until)}"
            result.not_audited.append(
                f"{book.topic}, {book.tier}: the tier {book.reference} has not audited it {since}"
            )
        is_first = from_ms is None
        for key, verdict in book.between(0 if is_first else from_ms or 0, end).items():
            if is_first and verdict.is_before_start:
                continue  # asked for everything that the tier should have
            result.buckets += 1
            result.records += verdict.present
            if verdict.state is not State.COMPLETE:
                result.faults.append((book, key, verdict))
    return result


def _end_of(book: TopicBook) -> int:
    """The end of what is closed. A tier that is a little behind is being counted."""
    until = book.audited_until_ms if book.is_stale else book.known_until_ms
    return (until or 0) // BUCKET_MS * BUCKET_MS


def _not_counted(book: TopicBook, end_ms: int) -> list[str]:
    where, counted = f"{book.topic}, {book.tier}", book.counted_at_ms
    found = [f"{where}: {_failure(book)}"] if book.failure else []
    if counted is not None and counted < min(end_ms, book.audited_until_ms or 0):
        found.append(f"{where}: the tier was not counted after {_time(counted)}")
    return found


def open_transactions(book: TopicBook) -> list[str]:
    """Where the log hides records from all readers of committed ones."""
    return [
        f"{book.topic}, partition {partition}: a transaction that is open from offset {offset} on "
        "hides what comes after"
        for partition, offset in sorted(book.open_from.items())
    ]


def _failure(book: TopicBook) -> str:
    return f"the last pass could not count it: {book.failure}"


def check_books(books: Sequence[TopicBook], percent_min: float, lag_ms_max: int) -> list[str]:
    """What an alert should report; nothing if all tiers are complete."""
    problems = []
    for book in books:
        where = f"{book.topic}, {book.tier}"
        share, lag = book.share, book.lag_ms
        if book.failure:
            problems.append(f"{where}: {_failure(book)}")
        if book.audited_until_ms is None:
            problems.append(f"{where}: not audited")
            continue
        if share is not None and share * 100 < percent_min:
            problems.append(f"{where}: {percent_text(share)} complete, below {percent_min:g} %")
        if lag is None or lag > lag_ms_max:
            behind = "never complete" if lag is None else f"complete until {lag // 1000} s ago"
            problems.append(f"{where}: {behind}, more than {lag_ms_max // 1000} s")
            problems += open_transactions(book)
        states = {each.state for each in book.faults.values()}
        for state in sorted(states & {State.FORGED, State.NOT_AUDITED}, key=lambda s: s.value):
            count = sum(each.state is state for each in book.faults.values())
            problems.append(f"{where}: {count} buckets {state.value}")
    return problems


def _time(time_ms: int) -> str:
    return f"{datetime.fromtimestamp(time_ms / 1000, UTC):%Y-%m-%dT%H:%M:%SZ}"
