"""What clients did and saw: the input of the checker.

A history is a sequence of operations. One operation is what a client began and ended as a whole: a
send, a poll, or a transaction of several of both. A key is one partition, such as "records-0". The
values that are sent to a key are unique.

Promises  values without behaviour, so that histories are written by hand as easily as recorded.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple


class Result(Enum):
    """Whether an operation took effect. An answer that did not arrive leaves it unknown."""

    OK = "ok"
    FAILED = "failed"
    UNKNOWN = "unknown"


class Send(NamedTuple):
    """One record; `offset` is None if the client did not get to know it."""

    key: str
    value: str
    offset: int | None = None


class Read(NamedTuple):
    """One record that a poll returned."""

    key: str
    offset: int
    value: str


class Poll(NamedTuple):
    """The records of one poll, in their order; `rebalanced` if partitions were assigned inside."""

    reads: tuple[Read, ...]
    rebalanced: bool = False


class Assign(NamedTuple):
    """The client chose where it reads from: positions of its polls before do not matter."""


class Subscribe(NamedTuple):
    """The client joined a group: the coordinator chooses what it reads."""


Step = Send | Poll | Assign | Subscribe


@dataclass(frozen=True, slots=True)
class Operation:
    process: str  # a client; one that is started again after a crash has another name
    start_s: float  # monotonic time, on one clock for all processes
    end_s: float
    result: Result
    steps: tuple[Step, ...]
    is_transaction: bool = False

    @property
    def sends(self) -> Iterator[Send]:
        return (step for step in self.steps if isinstance(step, Send))

    @property
    def reads(self) -> Iterator[Read]:
        return (read for step in self.steps if isinstance(step, Poll) for read in step.reads)


class Quantity(Enum):
    """What must never go back, as one client sees it."""

    HIGH_WATERMARK = "high watermark"
    LAST_STABLE_OFFSET = "last stable offset"
    LEADER_EPOCH = "leader epoch"
    COMMITTED_OFFSET = "committed offset"


@dataclass(frozen=True, slots=True)
class Observation:
    """One response that contained such a quantity, of a partition or of a group's partition."""

    process: str
    time_s: float
    quantity: Quantity
    key: str
    value: int


@dataclass(frozen=True, slots=True)
class History:
    operations: tuple[Operation, ...]
    observations: tuple[Observation, ...] = ()

    @staticmethod
    def of(operations: Iterable[Operation], observations: Iterable[Observation] = ()) -> History:
        """In the order in which operations began."""
        return History(
            tuple(sorted(operations, key=lambda each: each.start_s)),
            tuple(sorted(observations, key=lambda each: each.time_s)),
        )
