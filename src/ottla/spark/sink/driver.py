"""The driver's part of writing exactly once: fence, recover, decide, commit, abort.

Owns      the order of the steps; each step may be repeated.
Promises  the decision about a batch is written before any of its transactions is committed, and
          only by a driver that has not been fenced; the next driver commits what was decided.
Leaves    the rules to `plan.py`, the record of the decision to `decision_log.py`.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Mapping, Sequence

from ottla.base.fault_points import SinkPoint, reach
from ottla.client.admin.transactions import (
    ProducerIdentity,
    TransactionDescription,
    describe_transactions,
    end_transaction,
    init_producer_id,
    list_transactions,
)
from ottla.client.cluster.cluster import Cluster
from ottla.client.cluster.retries import Retries
from ottla.client.errors import ClientError, InvalidTransactionState, ProducerFenced
from ottla.spark.sink.decision_log import DecisionLog
from ottla.spark.sink.decisions import (
    NOTHING_DECIDED,
    CommitDecision,
    DecisionReader,
    SinkState,
    TaskTransaction,
)
from ottla.spark.sink.errors import LostTransactions, SinkError, SinkTakenOver
from ottla.spark.sink.messages import Started
from ottla.spark.sink.names import BATCH_PREFIX, driver_id, task_prefix
from ottla.spark.sink.outcomes import outcome_of
from ottla.spark.sink.plan import (
    BatchOfQuery,
    CommitPlan,
    plan_abort,
    plan_commit,
    plan_recovery,
    torn,
)
from ottla.spark.sink.setup import SinkSetup

log = logging.getLogger("ottla.spark.sink")

DRIVER_TIMEOUT_MS = 60_000  # of the transaction that writes a decision, which takes milliseconds
ONGOING = "Ongoing"
ENDING = frozenset({"PrepareCommit", "PrepareAbort"})


class SinkDriver:
    def __init__(self, cluster: Cluster, setup: SinkSetup, sink: str) -> None:
        self._cluster = cluster
        self._setup = setup
        self._sink = sink
        self._log = DecisionLog(cluster, setup.options.decisions_topic)

    # Before the tasks

    def start(self) -> Started:
        """Fence every earlier driver of this sink, commit what they decided, abort the rest."""
        self._log.make_ready()
        driver = init_producer_id(self._cluster, driver_id(self._sink), DRIVER_TIMEOUT_MS)
        reader = self._log.read()
        state = reader.state_of(self._sink)
        plan = plan_recovery(state, self._open_ids())
        if plan.finish is not None:
            self._finish(plan.finish)
        self._abort_ids(plan.abort, driver)
        if self._sink.startswith(BATCH_PREFIX):
            self._help_others(reader)
        return Started(self._sink, driver, SinkState(state.decision))

    def _help_others(self, reader: DecisionReader) -> None:
        """A batch write without a name is never repeated: the next write commits what it
        decided."""
        for sink in reader.sinks():
            if not sink.startswith(BATCH_PREFIX):
                continue
            try:
                state = reader.state_of(sink)
            except SinkError as error:  # of a newer release, or not one of ours
                log.warning("the decision of %s is left to another write: %s", sink, error)
                continue
            if state.decision is not None:
                self._help(state.decision)

    def _help(self, decision: CommitDecision) -> None:
        try:
            self._commit_all(decision)
        except SinkError as error:
            log.warning("%s", error)
        except ClientError as error:  # this write does not depend on it
            log.warning("the decision of %s is left to the next write: %s", decision.sink, error)
            return
        self._log.forget(decision.sink)

    # After the tasks

    def commit(
        self, started: Started, wanted: BatchOfQuery, written: Sequence[TaskTransaction]
    ) -> None:
        reach(SinkPoint.DECIDING)
        reader = self._log.read()
        self._check_name(reader, wanted.query)
        now_ms = time.time_ns() // 1_000_000
        plan = plan_commit(reader.state_of(self._sink), self._sink, wanted, written, now_ms)
        self._execute(plan, started.driver)
        try:
            self._end_write(started.driver, NOTHING_DECIDED)
        except ClientError as error:  # the batch is written, and the next start aborts them
            log.warning("transactions of other attempts may still be open: %s", error)
        reach(SinkPoint.DONE)

    def abort(self, started: Started, written: Sequence[TaskTransaction]) -> None:
        """Spark also calls this after a commit that failed: what was decided is committed."""
        try:
            end_transaction(self._cluster, driver_id(self._sink), started.driver, commit=False)
        except InvalidTransactionState:
            self._await_decision()  # there was no open decision, or it is being committed
        except ProducerFenced as error:
            raise self._taken_over() from error
        state = self._log.read().state_of(self._sink)
        try:
            self._execute(plan_abort(state, written), started.driver)
        finally:
            self._end_write(started.driver, state)

    def _end_write(self, driver: ProducerIdentity, state: SinkState) -> None:
        """Attempts that Spark killed, or did not wait for, leave transactions open, which hold back
        readers. The driver's id is initialised again first, so that attempts that begin later find
        it taken (see `TaskWriter`)."""
        if not self._is_in_charge(driver):
            return  # the driver that took over has done the same, and may be deciding now
        try:
            ended = init_producer_id(
                self._cluster, driver_id(self._sink), DRIVER_TIMEOUT_MS, driver
            )
        except ProducerFenced:
            return
        self._abort_ids(plan_recovery(state, self._open_ids()).abort, ended)

    def _is_in_charge(self, driver: ProducerIdentity) -> bool:
        """Whether no other driver has taken over since."""
        own_id = driver_id(self._sink)
        described = describe_transactions(self._cluster, [own_id]).get(own_id)
        return described is not None and described.identity == driver

    def _await_decision(self) -> None:
        """A decision is valid from its EndTxn on, and can be read once its marker is written."""
        own_id = driver_id(self._sink)
        retries = Retries(f"the decision of {self._sink}", self._setup.settings)
        while True:
            described = describe_transactions(self._cluster, [own_id]).get(own_id)
            if described is None or described.state not in ENDING:
                return
            retries.pause(f"its transaction is in the state {described.state}")

    def _execute(self, plan: CommitPlan, driver: ProducerIdentity) -> None:
        if plan.finish is not None:
            self._finish(plan.finish)
        if plan.decide is not None:
            self._decide(plan.decide, driver)
            self._finish(plan.decide)
        if plan.skip is not None:
            self._log.note_ended(plan.skip)
        for transaction in plan.abort:
            self._abort(transaction)

    def _check_name(self, reader: DecisionReader, query: str) -> None:
        earlier = reader.sink_of_query(query)
        if earlier is not None and earlier != self._sink:
            raise SinkError(
                f"The query {query} wrote before under the sink name {earlier}, and now writes "
                f"under {self._sink}: its earlier decisions would not be found, and rows would be "
                f"written twice. Set the option sinkName={earlier}."
            )

    def _decide(self, decision: CommitDecision, driver: ProducerIdentity) -> None:
        self._check_open(decision.transactions)
        try:
            self._log.write(driver_id(self._sink), driver, decision)
        except (ProducerFenced, InvalidTransactionState) as error:
            raise self._taken_over() from error
        reach(SinkPoint.DECIDED)

    def _taken_over(self) -> SinkTakenOver:
        return SinkTakenOver(
            f"Another driver writes under the sink name {self._sink}: this one stops, and nothing "
            f"of this batch is written. If two queries are meant to run at the same time, give "
            f"each its own name with the option sinkName."
        )

    def _check_open(self, transactions: Sequence[TaskTransaction]) -> None:
        """A transaction that has ended, for example by its timeout, must not be in a decision."""
        found = describe_transactions(
            self._cluster, [each.transactional_id for each in transactions]
        )
        lost = [each for each in transactions if not _is_open(each, found)]
        if lost:
            raise LostTransactions(
                f"{len(lost)} of {len(transactions)} transactions of this batch were aborted "
                f"before it was complete (the first is {lost[0].transactional_id}), and nothing "
                f"was written. Either tasks took longer than kafka.transaction.timeout.ms="
                f"{self._setup.producer.transaction_timeout_ms}, or another query uses the sink "
                f"name {self._sink}. The batch can run again."
            )

    # Ending transactions

    def _finish(self, decision: CommitDecision) -> None:
        try:
            self._commit_all(decision)
        except SinkError:
            if self._setup.options.accept_torn_batch != decision.batch:
                raise
            log.warning("batch %d of the sink %s remains torn", decision.batch, self._sink)
        reach(SinkPoint.ALL_COMMITTED)
        if self._sink.startswith(BATCH_PREFIX):
            self._log.forget(self._sink)
        else:
            self._log.note_ended(decision)

    def _commit_all(self, decision: CommitDecision) -> None:
        missing: list[TaskTransaction] = []
        deleted_topics: set[str] = set()
        reason = ""
        for transaction, code in self._send_commits(decision.transactions):
            outcome = outcome_of(self._cluster, transaction, decision.decided_ms)
            if not outcome.is_committed:
                missing.append(transaction)
                deleted_topics |= outcome.deleted
                reason = code
        if missing:
            raise torn(decision, missing, reason, deleted_topics)

    def _send_commits(
        self, transactions: Sequence[TaskTransaction]
    ) -> list[tuple[TaskTransaction, str]]:
        """The transactions whose commit was refused, and why. Finding out their outcome takes time,
        and the timeouts of the others continue: so all commits are sent first."""
        refused = []
        for transaction in transactions:
            try:
                end_transaction(
                    self._cluster, transaction.transactional_id, _identity(transaction), commit=True
                )
            except (ProducerFenced, InvalidTransactionState) as error:
                refused.append((transaction, error.code.name))
            reach(SinkPoint.FIRST_COMMITTED)
        return refused

    def _abort(self, transaction: TaskTransaction) -> None:
        try:
            end_transaction(
                self._cluster, transaction.transactional_id, _identity(transaction), commit=False
            )
        except (ProducerFenced, InvalidTransactionState):
            pass  # it has ended already

    def _abort_ids(self, transactional_ids: Sequence[str], driver: ProducerIdentity) -> None:
        """Fences producers with these ids: attempts that are not part of the decision, or those
        of a dead driver. Attempts of a driver that has taken over use the same ids and must not
        be fenced."""
        for transactional_id in transactional_ids:
            if not self._is_in_charge(driver):
                return
            init_producer_id(
                self._cluster, transactional_id, self._setup.producer.transaction_timeout_ms
            )

    def _open_ids(self) -> list[str]:
        listed = list_transactions(
            self._cluster, id_prefix=task_prefix(self._sink), states=[ONGOING]
        )
        return [each.transactional_id for each in listed]


def _is_open(transaction: TaskTransaction, found: Mapping[str, TransactionDescription]) -> bool:
    described = found.get(transaction.transactional_id)
    return (
        described is not None
        and described.state == ONGOING
        and described.identity == _identity(transaction)
    )


def _identity(transaction: TaskTransaction) -> ProducerIdentity:
    return ProducerIdentity(transaction.producer_id, transaction.producer_epoch)
