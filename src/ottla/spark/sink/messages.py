"""What travels between a write's driver and its tasks.

Started       driver to tasks: whose epoch signs the decision, and what was decided before
TaskWritten   tasks to driver: the open transaction, and what is in it
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from pyspark.sql.datasource import WriterCommitMessage

from ottla.client.transactions import ProducerIdentity
from ottla.spark.sink.decisions import SinkState, Transaction
from ottla.spark.sink.plan import BatchOfQuery


@dataclass(frozen=True)
class Started:
    """A driver that has fenced its predecessors and put in order what they left."""

    sink: str
    driver: ProducerIdentity
    state: SinkState

    def for_tasks(self) -> Started:
        """Tasks ask which batch was decided, not with which transactions."""
        if self.state.decision is None:
            return self
        short = replace(self.state.decision, transactions=())
        return replace(self, state=replace(self.state, decision=short))


@dataclass(frozen=True)
class TaskWritten(WriterCommitMessage):  # type: ignore[misc]
    """`started` is None where nothing is decided (at-least-once), `transaction` where nothing was
    written."""

    wanted: BatchOfQuery
    rows: int
    started: Started | None = None
    transaction: Transaction | None = None
