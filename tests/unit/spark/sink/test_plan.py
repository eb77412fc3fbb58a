"""Every branch of writing exactly once, as a function of the last decision."""

from __future__ import annotations

import pytest

from ottla.spark.sink.decisions import (
    NOTHING_DECIDED,
    UNKNOWN,
    CommitDecision,
    Origin,
    SinkState,
    TaskTransaction,
    Written,
)
from ottla.spark.sink.errors import StaleBatch, VersionTaken
from ottla.spark.sink.plan import (
    BatchOfQuery,
    CommitPlan,
    RecoveryPlan,
    TaskAction,
    plan_abort,
    plan_commit,
    plan_recovery,
    plan_task,
    torn,
)

NOW_MS = 1_700_000_000_000


def transaction(task: int, *, epoch: int = 0, attempt: int = 0) -> TaskTransaction:
    written = (Written("orders", task, 100 * task, 100 * task + 9, 10),)
    return TaskTransaction(f"sink/{task}/0.{attempt}", 4000 + task, epoch, written)


FIRST_RUN = (transaction(0), transaction(1))
SECOND_RUN = (transaction(0, epoch=1), transaction(1, epoch=1), transaction(2))


def decided(
    batch: int, query: str = "q", *, is_ended: bool = True, origin: Origin = UNKNOWN
) -> SinkState:
    decision = CommitDecision("sink", query, batch, FIRST_RUN, NOW_MS, origin)
    return SinkState(decision, is_ended, origin.run)


def commit(
    state: SinkState, batch: int, *, skips_older: bool = False, origin: Origin = UNKNOWN
) -> CommitPlan:
    wanted = BatchOfQuery("q", batch, skips_older, origin)
    return plan_commit(state, "sink", wanted, SECOND_RUN, NOW_MS)


def decision_of(batch: int) -> CommitDecision:
    return CommitDecision("sink", "q", batch, SECOND_RUN, NOW_MS)


# Tasks


def test_a_task_writes_when_nothing_was_decided() -> None:
    assert plan_task(NOTHING_DECIDED, BatchOfQuery("q", 0)) is TaskAction.WRITE


def test_a_task_writes_after_the_batch_before() -> None:
    assert plan_task(decided(4), BatchOfQuery("q", 5)) is TaskAction.WRITE


def test_a_task_of_a_decided_batch_writes_nothing() -> None:
    assert plan_task(decided(5), BatchOfQuery("q", 5)) is TaskAction.SKIP


def test_a_task_of_a_batch_before_the_decided_one_is_refused() -> None:
    with pytest.raises(StaleBatch, match="batch 3, and batch 5 was written before"):
        plan_task(decided(5), BatchOfQuery("q", 3))


def test_another_query_never_skips_whatever_its_numbers() -> None:
    assert plan_task(decided(5), BatchOfQuery("new", 0)) is TaskAction.WRITE
    assert plan_task(decided(5), BatchOfQuery("new", 5)) is TaskAction.WRITE


@pytest.mark.parametrize("version", [3, 5])
def test_a_version_that_is_not_newer_writes_nothing(version: int) -> None:
    assert plan_task(decided(5), BatchOfQuery("q", version, skips_older=True)) is TaskAction.SKIP


# Commits


def test_the_first_batch_is_decided() -> None:
    assert commit(NOTHING_DECIDED, 0) == CommitPlan(decide=decision_of(0))


def test_the_next_batch_is_decided() -> None:
    assert commit(decided(4), 5) == CommitPlan(decide=decision_of(5))


def test_batches_may_be_left_out_where_they_had_no_rows() -> None:
    assert commit(decided(4), 9) == CommitPlan(decide=decision_of(9))


def test_a_decided_batch_is_committed_again_and_what_this_run_wrote_is_aborted() -> None:
    state = decided(5, is_ended=False)
    assert commit(state, 5) == CommitPlan(finish=state.decision, abort=SECOND_RUN)


def test_a_decided_batch_that_has_ended_needs_nothing_but_the_abort() -> None:
    assert commit(decided(5), 5) == CommitPlan(abort=SECOND_RUN)


@pytest.mark.parametrize("is_ended", [False, True])
def test_a_commit_that_is_called_again_in_the_same_run_aborts_nothing_that_was_decided(
    is_ended: bool,
) -> None:
    state, extra = decided(5, is_ended=is_ended), transaction(7)
    wanted = BatchOfQuery("q", 5)
    plan = plan_commit(state, "sink", wanted, (*FIRST_RUN, extra), NOW_MS)
    assert plan == CommitPlan(finish=None if is_ended else state.decision, abort=(extra,))


def test_a_batch_before_the_decided_one_is_refused() -> None:
    with pytest.raises(StaleBatch, match="Restore the newer checkpoint"):
        commit(decided(5), 4)


def test_a_version_before_the_decided_one_is_aborted() -> None:
    assert commit(decided(5), 4, skips_older=True) == CommitPlan(abort=SECOND_RUN)


def test_an_unfinished_decision_is_finished_before_the_next_is_written() -> None:
    state = decided(4, is_ended=False)
    assert commit(state, 5) == CommitPlan(finish=state.decision, decide=decision_of(5))


def test_another_querys_unfinished_decision_is_finished_too() -> None:
    state = decided(7, query="old", is_ended=False)
    assert commit(state, 0) == CommitPlan(finish=state.decision, decide=decision_of(0))


def test_a_batch_without_rows_is_not_decided() -> None:
    assert plan_commit(decided(4), "sink", BatchOfQuery("q", 5), (), NOW_MS) == CommitPlan()


# Batches that were written before


@pytest.mark.parametrize("known", [("", ""), ("old", ""), ("", "new"), ("old", "old")])
def test_a_batch_is_skipped_unless_it_is_known_to_be_planned_again(known: tuple[str, str]) -> None:
    earlier, now = (Origin(offsets=each) for each in known)
    assert commit(decided(5, origin=earlier), 5, origin=now).abort == SECOND_RUN


def test_a_batch_that_was_planned_again_is_refused() -> None:
    with pytest.raises(StaleBatch, match="Spark has planned it again since"):
        commit(decided(5, origin=Origin(offsets="old")), 5, origin=Origin(offsets="new"))


@pytest.mark.parametrize("version", [3, 5])
def test_a_version_is_skipped_by_another_run_which_is_noted(version: int) -> None:
    state = decided(5, origin=Origin("stream", "run 1"))
    plan = commit(state, version, skips_older=True, origin=Origin("stream", "run 2"))
    assert plan.decide is None
    assert plan.skip is not None
    assert (plan.skip.batch, plan.skip.origin.run) == (5, "run 2")


@pytest.mark.parametrize("version", [3, 5])
def test_a_version_is_not_skipped_by_the_run_that_wrote_or_skipped_it(version: int) -> None:
    wrote = decided(5, origin=Origin("stream", "run 1"))
    skipped = SinkState(wrote.decision, True, "run 2")
    for state, run in ((wrote, "run 1"), (skipped, "run 2")):
        with pytest.raises(VersionTaken, match="keep the txnAppId of the first write"):
            commit(state, version, skips_older=True, origin=Origin("stream", run))


def test_a_version_is_not_skipped_by_another_query() -> None:
    state = decided(5, origin=Origin("stream", "run 1"))
    with pytest.raises(VersionTaken, match="give a new txnAppId"):
        commit(state, 0, skips_older=True, origin=Origin("other", "run 2"))


def test_a_version_that_no_stream_writes_is_skipped_as_before() -> None:
    state = decided(5, origin=Origin("stream", "run 1"))
    assert commit(state, 5, skips_older=True) == CommitPlan(abort=SECOND_RUN)
    later = commit(decided(5), 5, skips_older=True, origin=Origin("stream", "run 1"))
    assert later.decide is None


# Aborts


def test_an_abort_before_the_decision_aborts_what_was_written() -> None:
    assert plan_abort(decided(4), SECOND_RUN) == CommitPlan(abort=SECOND_RUN)


def test_an_abort_after_the_decision_commits_what_was_decided() -> None:
    """Spark calls abort when a commit fails, also when it fails half way through."""
    state = SinkState(decision_of(5), is_ended=False)
    assert plan_abort(state, SECOND_RUN) == CommitPlan(finish=state.decision)


# Starts


def test_a_start_aborts_what_is_open_and_was_never_decided() -> None:
    assert plan_recovery(NOTHING_DECIDED, ["sink/0/0.0"]) == RecoveryPlan(abort=("sink/0/0.0",))


def test_a_start_finishes_a_decision_and_aborts_the_rest() -> None:
    state = decided(5, is_ended=False)
    plan = plan_recovery(state, ["sink/1/0.0", "sink/1/0.1", "sink/9/0.0"])
    assert plan == RecoveryPlan(finish=state.decision, abort=("sink/1/0.1", "sink/9/0.0"))


def test_a_start_after_an_ended_decision_aborts_also_ids_that_were_in_it() -> None:
    assert plan_recovery(decided(5), ["sink/1/0.0"]) == RecoveryPlan(abort=("sink/1/0.0",))


def test_a_torn_batch_is_reported_with_topic_partitions_and_offsets() -> None:
    state = decided(5)
    assert state.decision is not None
    reported = str(torn(state.decision, FIRST_RUN[1:], "PRODUCER_FENCED"))
    assert "1 of its 2 transactions" in reported
    assert "Missing: orders-1 offsets 100 to 109 (10 records)" in reported
    assert "Committed: orders-0 offsets 0 to 9 (10 records)" in reported
    assert "acceptTornBatch=5" in reported
    assert "topics were deleted" not in reported
    assert " This happens when a driver stays away" in reported
    reported = str(torn(state.decision, FIRST_RUN[1:], "PRODUCER_FENCED", {"orders", "bills"}))
    assert "topics were deleted, or deleted and created again" in reported
    assert "cannot be determined: bills, orders. If that was intended" in reported
    assert " Otherwise this happens when a driver stays away" in reported
