"""What is sent between the driver of a write and its tasks.

Started       driver to tasks: the driver's producer id and epoch, and the last decision
TaskWritten   tasks to driver: the open transaction, and what it contains
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from pyspark.sql.datasource import WriterCommitMessage

from ottla.client.admin.transactions import ProducerIdentity
from ottla.spark.sink.decisions import SinkState, TaskTransaction
from ottla.spark.sink.plan import BatchOfQuery


@dataclass(frozen=True)
class Started:
    """A driver that has fenced its predecessors and ended their transactions."""

    sink: str
    driver: ProducerIdentity
    state: SinkState

    def for_tasks(self) -> Started:
        """Tasks need the number of the decided batch, not its transactions."""
        if self.state.decision is None:
            return self
        short = replace(self.state.decision, transactions=())
        return replace(self, state=replace(self.state, decision=short))


@dataclass(frozen=True)
class TaskWritten(WriterCommitMessage):  # type: ignore[misc]
    """`started` is None with at-least-once, `transaction` if nothing was written."""

    wanted: BatchOfQuery
    rows: int
    started: Started | None = None
    transaction: TaskTransaction | None = None
