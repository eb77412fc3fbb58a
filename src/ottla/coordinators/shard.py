"""One partition of an internal topic, and the state machine built from its records."""

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
from ottla.replication.leader_role import ACKS_ALL
from ottla.replication.partition import Partition
from ottla.storage.errors import StorageError
from ottla.storage.log.append import Appended, ProducedBy


class DecidedResponse(Protocol):
    """A response to a waiting request, decided in a step."""

    def give(self) -> None: ...

    def failed(self, code: ErrorCode) -> DecidedResponse:
        """The response if the records of the step are not replicated."""


class ShardState(Protocol):
    """A state machine. Durable state changes only in `apply`, both live and when loading.

    A decision may prepare soft state (timers, waiting requests); `end_step` follows.
    """

    def apply(self, record: CoordinatorRecord, writer: Writer, offset: int) -> None: ...

    def apply_marker(self, writer: Writer, is_commit: bool) -> None:
        """A transaction that wrote records here has ended."""

    def end_step(self, refusal: ErrorCode | None = None) -> Sequence[DecidedResponse]:
        """The records of a decision were applied or rejected: update soft state."""

    def cancel_step(self) -> None:
        """The decision failed: nothing has changed."""

    def loaded(self, now_ms: int) -> Steps[None]:
        """All records of the log are applied: start timers."""

    def unloaded(self) -> Steps[None]:
        """The state is not used any more: reject waiting requests."""


S = TypeVar("S", bound=ShardState)


class Status(Enum):
    LOADING = "loading"
    ACTIVE = "active"
    UNLOADED = "unloaded"


class Shard(Generic[S]):
    def __init__(self, partition: Partition, state: S) -> None:
        self.partition = partition
        self.state = state
        self.status = Status.LOADING
        self.leader_epoch = partition.leader_epoch
        self.waiting_steps = 0  # whose responses have not been sent

    def continues(self, partition: Partition) -> bool:
        """Whether the state stays valid in a new leader epoch, as no other broker has led: members
        and requests that wait are kept. If so, markers have the new epoch from now on."""
        if partition is not self.partition or not partition.has_led_since(self.leader_epoch):
            return False
        self.leader_epoch = partition.leader_epoch
        return True

    def activate(self) -> None:
        """The state equals the log: it may be read and changed."""
        self.status = Status.ACTIVE

    def end(self) -> None:
        """This broker does not lead the partition any more, or loads its state again."""
        self.status = Status.UNLOADED

    def step_waits(self) -> None:
        self.waiting_steps += 1

    def step_answered(self) -> None:
        self.waiting_steps -= 1

    @property
    def is_unloaded(self) -> bool:
        """Another broker is or was leader since: nothing may be read or written."""
        return self.status is Status.UNLOADED

    @property
    def log_end_offset(self) -> int:
        return self.partition.log.log_end_offset

    def append(self, batch: bytearray, by: ProducedBy) -> Appended:
        """BrokerError for a client of the coordinator; then nothing was appended."""
        if self.is_unloaded:  # this broker may be leader again, with another state
            raise BrokerError(ErrorCode.NOT_COORDINATOR)
        try:
            return self.partition.append(batch, ACKS_ALL, by)
        except BrokerError as error:
            raise as_coordinator_error(error) from error
        except StorageError as error:
            refusal = BrokerError(ErrorCode.KAFKA_STORAGE_ERROR, str(error))
            raise as_coordinator_error(refusal) from error

    def check_current(self) -> None:
        """BrokerError if another broker was leader since, and may have changed what was read."""
        if self.status is not Status.ACTIVE:
            raise BrokerError(ErrorCode.NOT_COORDINATOR)

    def is_replicated(self, end_offset: int) -> bool:
        """Whether everything below this offset is replicated."""
        return self.status is not Status.UNLOADED and self.partition.is_replicated(end_offset)

    async def replicated(self, end_offset: int) -> None:
        """Wait until a written record is replicated.

        BrokerError if another broker was leader since: the record may have been truncated, and its
        offset may belong to another record.
        """
        if self.is_unloaded:
            raise BrokerError(ErrorCode.NOT_COORDINATOR)
        try:
            await self.partition.wait_replicated(end_offset)
        except BrokerError as error:
            raise as_coordinator_error(error) from error
