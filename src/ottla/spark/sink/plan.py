"""The rules of writing exactly once.

Owns      the plans of a task, a commit, an abort and a start.
Promises  a batch of a query is decided once; transactions of a decision are committed, all others
          are aborted.
Leaves    executing the plans to `driver.py` and `writers.py`.

A batch is written from the moment of its decision. Before it, every transaction may be aborted and
the batch repeated. After it, the transactions of the decision must be committed, by any driver, as
often as necessary. A decision of another query under the same name does not concern this query,
whatever its batch numbers are.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from enum import Enum

from ottla.spark.sink.decisions import (
    UNKNOWN,
    CommitDecision,
    Origin,
    SinkState,
    TaskTransaction,
    Written,
)
from ottla.spark.sink.errors import StaleBatch, TornBatch, VersionTaken

SHOWN_MAX = 50


@dataclass(frozen=True)
class BatchOfQuery:
    query: str
    batch: int
    skips_older: bool = False  # txnVersion: a version that is not newer is skipped
    origin: Origin = UNKNOWN


class TaskAction(Enum):
    WRITE = "write"
    SKIP = "skip"  # the batch was written before


@dataclass(frozen=True)
class CommitPlan:
    """In this order: commit `finish`, write the decision `decide` and commit it, note that this run
    has found `skip` decided, abort."""

    finish: CommitDecision | None = None
    decide: CommitDecision | None = None
    skip: CommitDecision | None = None
    abort: tuple[TaskTransaction, ...] = ()


@dataclass(frozen=True)
class RecoveryPlan:
    """In this order: commit what was decided, abort what is open and was not decided."""

    finish: CommitDecision | None = None
    abort: tuple[str, ...] = ()


def plan_task(state: SinkState, wanted: BatchOfQuery) -> TaskAction:
    """StaleBatch if a later batch of the query was decided before."""
    last = _last_of_query(state, wanted)
    if last is None or last < wanted.batch:
        return TaskAction.WRITE
    _check_not_stale(state, wanted, last)
    return TaskAction.SKIP


def plan_commit(
    state: SinkState,
    sink: str,
    wanted: BatchOfQuery,
    written: Sequence[TaskTransaction],
    now_ms: int,
) -> CommitPlan:
    """StaleBatch if a later batch of the query was decided before, or this one was planned again;
    VersionTaken if rows would be skipped that were not written before."""
    unfinished = None if state.is_ended else state.decision
    last = _last_of_query(state, wanted)
    if last is not None and last >= wanted.batch:
        _check_not_stale(state, wanted, last)
        _check_repeated(state, wanted)
        return CommitPlan(
            finish=unfinished,
            skip=_skipped(state, wanted),
            abort=not_in(state.decision, written),
        )
    if not written:
        return CommitPlan(finish=unfinished)
    decision = CommitDecision(
        sink, wanted.query, wanted.batch, tuple(written), now_ms, wanted.origin
    )
    return CommitPlan(finish=unfinished, decide=decision)


def plan_abort(state: SinkState, written: Sequence[TaskTransaction]) -> CommitPlan:
    """An abort may follow a commit that failed half way: a decision stays valid."""
    unfinished = None if state.is_ended else state.decision
    return CommitPlan(finish=unfinished, abort=not_in(state.decision, written))


def plan_recovery(state: SinkState, open_ids: Iterable[str]) -> RecoveryPlan:
    """`open_ids` are the open transactions of this sink."""
    if state.is_ended or state.decision is None:
        return RecoveryPlan(abort=tuple(open_ids))
    decided = {each.transactional_id for each in state.decision.transactions}
    return RecoveryPlan(
        finish=state.decision, abort=tuple(each for each in open_ids if each not in decided)
    )


def not_in(
    decision: CommitDecision | None, written: Sequence[TaskTransaction]
) -> tuple[TaskTransaction, ...]:
    decided = {
        (each.transactional_id, each.producer_id, each.producer_epoch)
        for each in (decision.transactions if decision is not None else ())
    }
    return tuple(
        each
        for each in written
        if (each.transactional_id, each.producer_id, each.producer_epoch) not in decided
    )


def _last_of_query(state: SinkState, wanted: BatchOfQuery) -> int | None:
    if state.decision is None or state.decision.query != wanted.query:
        return None
    return state.decision.batch


def _check_not_stale(state: SinkState, wanted: BatchOfQuery, last: int) -> None:
    if last == wanted.batch or wanted.skips_older:
        return
    assert state.decision is not None
    raise StaleBatch(
        f"The query {wanted.query} runs batch {wanted.batch}, and batch {last} was written before "
        f"under the sink name {state.decision.sink}: its checkpoint is an older one. Writing the "
        f"batch again would duplicate rows. Restore the newer checkpoint, or start a new query "
        f"with a new one."
    )


def _check_repeated(state: SinkState, wanted: BatchOfQuery) -> None:
    """A batch is skipped because it was written before: then it must be the same batch."""
    assert state.decision is not None
    earlier, now = state.decision.origin, wanted.origin
    if _differ(earlier.offsets, now.offsets):
        raise StaleBatch(
            f"Batch {wanted.batch} of the query {wanted.query} was written before under the sink "
            f"name {state.decision.sink}, and Spark has planned it again since: its checkpoint is "
            f"an older one, or a copy of it was used. Skipping the batch could lose rows, writing "
            f"it could duplicate rows. Restore the newer checkpoint, or start a new query with a "
            f"new one."
        )
    if not wanted.skips_older:
        return
    if _differ(earlier.query, now.query):
        raise VersionTaken(
            f"Version {wanted.batch} would be skipped: the streaming query {earlier.query} wrote "
            f"version {state.decision.batch} of {wanted.query}, and this is another query, "
            f"{now.query}. With a new checkpoint batch ids begin at 0 again: give a new txnAppId."
        )
    if now.run and now.run == state.last_run:
        raise VersionTaken(
            f"Version {wanted.batch} would be skipped: this run of the query has written version "
            f"{state.decision.batch} of {wanted.query} already. Where one micro-batch is written "
            f"to a topic several times, keep the txnAppId of the first write and give each other "
            f"write its own; txnVersion must be the batch id."
        )


def _differ(one: str, other: str) -> bool:
    return bool(one) and bool(other) and one != other


def _skipped(state: SinkState, wanted: BatchOfQuery) -> CommitDecision | None:
    """Noted with its run, to distinguish a second write of the same run from a repeated one."""
    if state.decision is None or not wanted.origin.run:
        return None
    return replace(state.decision, origin=wanted.origin)


def torn(
    decision: CommitDecision,
    missing: Sequence[TaskTransaction],
    reason: str,
    deleted_topics: Collection[str] = (),
) -> TornBatch:
    """The error says which rows are missing and how to continue. `deleted_topics` are those that
    were deleted since."""
    there = [each for each in decision.transactions if each not in missing]
    deleted = (
        f"These topics were deleted, or deleted and created again, so that the outcome cannot be "
        f"determined: {', '.join(sorted(deleted_topics))}. If that was intended, nothing is "
        "missing. "
    )
    return TornBatch(
        f"Batch {decision.batch} of the query {decision.query} (sink {decision.sink}) is torn: "
        f"{len(missing)} of its {len(decision.transactions)} transactions can not be committed "
        f"any more ({reason}). Missing: {_shown(missing)}. "
        f"Committed: {_shown(there)}. "
        f"{deleted + 'Otherwise this' if deleted_topics else 'This'} happens when a "
        "driver stays away longer than kafka.transaction.timeout.ms after a decision. "
        f"Write the missing rows by hand or remove the others, then set the option "
        f"acceptTornBatch={decision.batch} to continue."
    )


def _shown(transactions: Sequence[TaskTransaction]) -> str:
    written = sorted(each for one in transactions for each in one.written)
    shown = "; ".join(map(_shown_range, written[:SHOWN_MAX]))
    more = len(written) - SHOWN_MAX
    return (shown or "nothing") + (f"; and {more} more" if more > 0 else "")


def _shown_range(written: Written) -> str:
    partition = f"{written.topic}-{written.partition}"
    if written.last_offset < 0:
        return f"{partition} ({written.records} records, at unknown offsets)"
    ranges = " and ".join(f"{start} to {end - 1}" for start, end in written.all_ranges())
    return f"{partition} offsets {ranges} ({written.records} records)"
