"""One partition of an internal topic, and the state machine that its records amount to."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from typing import Generic, Protocol, TypeVar

from ottla.base.scheduling.steps import Steps
from ottla.coordinators.batches import Writer
from ottla.coordinators.errors import as_coordinator_error
from ottla.coordinators.records import CoordinatorRecord
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.errors import BrokerError
from ottla.replication.partition import ACKS_ALL, Partition
from ottla.storage.errors import StorageError
from ottla.storage.log.append import Appended, ProducedBy


class PendingResponse(Protocol):
    """A response to a request that waits, decided in a step."""

    def give(self) -> None: ...

    def failed(self, code: ErrorCode) -> PendingResponse:
        """What is given instead if the records of the step are not replicated."""


class ShardState(Protocol):
    """A state machine. What survives a restart changes only by `apply`, live and at loading alike.

    A decision may prepare soft state (timers, requests that wait); `end_step` follows on it.
    """

    def apply(self, record: CoordinatorRecord, writer: Writer, offset: int) -> None: ...

    def apply_marker(self, writer: Writer, is_commit: bool) -> None:
        """A transaction that wrote records here has ended."""

    def end_step(self, refusal: ErrorCode | None = None) -> Sequence[PendingResponse]:
        """The records of a decision are applied, or were refused: soft state follows."""

    def cancel_step(self) -> None:
        """There was no decision: nothing has changed."""

    def loaded(self, now_ms: int) -> Steps[None]:
        """All records of the log are applied: timers may start."""

    def unloaded(self) -> Steps[None]:
        """The state is not used any more: requests that wait are refused."""


S = TypeVar("S", bound=ShardState)


class Status(Enum):
    LOADING = "loading"
    ACTIVE = "active"
    GONE = "gone"


class Shard(Generic[S]):
    def __init__(self, partition: Partition, state: S) -> None:
        self.partition = partition
        self.state = state
        self.status = Status.LOADING
        self.leader_epoch = partition.leader_epoch

    @property
    def is_gone(self) -> bool:
        """Another broker leads, or has led since: nothing is read or written here any more."""
        return self.status is Status.GONE

    @property
    def log_end_offset(self) -> int:
        return self.partition.log.log_end_offset

    def append(self, batch: bytearray, by: ProducedBy) -> Appended:
        """BrokerError for a client of the coordinator; then nothing was appended."""
        if self.is_gone:  # this broker may lead again, but with another state
            raise BrokerError(ErrorCode.NOT_COORDINATOR)
        try:
            return self.partition.append(batch, ACKS_ALL, by)
        except BrokerError as error:
            raise as_coordinator_error(error) from error
        except StorageError as error:
            refusal = BrokerError(ErrorCode.KAFKA_STORAGE_ERROR, str(error))
            raise as_coordinator_error(refusal) from error

    def check_current(self) -> None:
        """BrokerError if another broker has led since, and may have changed what was read."""
        if self.status is not Status.ACTIVE:
            raise BrokerError(ErrorCode.NOT_COORDINATOR)

    def is_replicated(self, end_offset: int) -> bool:
        """Whether what was written or read below this offset may be shown now."""
        return self.status is not Status.GONE and self.partition.is_replicated(end_offset)

    async def replicated(self, end_offset: int) -> None:
        """Until a written record may be shown.

        BrokerError if another broker has led since: the record may have been truncated, and its
        offset may be another record's.
        """
        if self.is_gone:
            raise BrokerError(ErrorCode.NOT_COORDINATOR)
        try:
            await self.partition.wait_replicated(end_offset)
        except BrokerError as error:
            raise as_coordinator_error(error) from error
