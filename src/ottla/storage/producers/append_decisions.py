"""Whether a batch or a transaction marker may be appended: Kafka's rules, as functions.

Owns      the rules: epochs fence, sequences are consecutive, a repetition gets the offsets of the
          first write, transactional records need a verified transaction.
Promises  nothing is changed here, and nothing is looked up: all input is in the arguments.
Leaves    the state to `producer_state.py`.
"""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple

from ottla.base.ids import NO_PRODUCER_EPOCH
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.records.batch import BatchHeader
from ottla.protocol.records.control import EndMarker
from ottla.storage.producers.producer_entry import SEQUENCE_MASK, ProducerEntry, WrittenBatch
from ottla.storage.producers.transaction_verification import NO_GUARD, PendingVerification

EPOCH_MAX = 0x7FFF
EPOCH_BUMP_VERSION = 2  # from this transaction version on, every transaction has its own epoch


class AppendOrigin(Enum):
    """Where records come from, which decides how much is checked."""

    CLIENT = "client"  # everything
    COORDINATOR = "coordinator"  # no sequences: group offsets in transactions, markers
    REPLICATION = "replication"  # nothing: the leader has checked


class AppendDecision(NamedTuple):
    """Whether a batch may be appended; for a repetition, `duplicate` is the batch in the log."""

    code: ErrorCode
    message: str = ""
    duplicate: WrittenBatch | None = None


ACCEPTED = AppendDecision(ErrorCode.NONE)


def find_duplicate(entry: ProducerEntry, header: BatchHeader) -> WrittenBatch | None:
    """The batch of the window that `header` repeats."""
    if header.producer_epoch != entry.epoch:
        return None
    # A batch that follows the last one is not repeated; nearly all batches are like this.
    if header.base_sequence == (entry.last_sequence + 1) & SEQUENCE_MASK:
        return None
    return entry.find(header.base_sequence, header.last_sequence)


def decide_epoch(producer_id: int, epoch: int, entry: ProducerEntry) -> AppendDecision:
    return ACCEPTED if epoch >= entry.epoch else _fenced(producer_id, epoch, entry)


def decide_sequence(
    header: BatchHeader, entry: ProducerEntry | None, verification: PendingVerification | None
) -> AppendDecision:
    """Whether the batch follows the last one of its producer."""
    if verification is not None:
        decision = _decide_verified_sequence(header, entry, verification)
        if decision is not ACCEPTED:
            return decision
    if entry is None or entry.epoch == NO_PRODUCER_EPOCH:
        # Nothing is known, possibly because of retention: any sequence may follow.
        return ACCEPTED
    expected = 0
    if header.producer_epoch == entry.epoch:
        expected = (entry.last_sequence + 1) & SEQUENCE_MASK
    if header.base_sequence == expected:
        return ACCEPTED
    return AppendDecision(
        ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER,
        f"producer {header.producer_id} epoch {header.producer_epoch}: sequence "
        f"{header.base_sequence}, expected {expected}",
    )


def _decide_verified_sequence(
    header: BatchHeader, entry: ProducerEntry | None, verification: PendingVerification
) -> AppendDecision:
    has_batches = entry is not None and entry.has_batches
    if verification.supports_epoch_bump and header.base_sequence != 0 and not has_batches:
        return AppendDecision(
            ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER,
            f"producer {header.producer_id}: sequence {header.base_sequence} without any state, "
            "expected 0",
        )
    if header.base_sequence > verification.lowest_sequence:
        return AppendDecision(
            ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER,
            f"producer {header.producer_id}: sequence {header.base_sequence} overtook "
            f"{verification.lowest_sequence}",
        )
    return ACCEPTED


def decide_guard(
    header: BatchHeader,
    entry: ProducerEntry | None,
    verification: PendingVerification | None,
    guard: int,
) -> AppendDecision:
    """Whether the coordinator has verified these transactional records."""
    if entry is not None and entry.has_open_transaction and entry.epoch == header.producer_epoch:
        return ACCEPTED
    if verification is not None and guard != NO_GUARD and guard == verification.guard:
        return ACCEPTED
    return AppendDecision(
        ErrorCode.INVALID_TXN_STATE,
        f"producer {header.producer_id}: the records are not part of a verified transaction",
    )


def decide_outside_transaction(header: BatchHeader, entry: ProducerEntry) -> AppendDecision:
    """Plain records may not come between those of the producer's transaction."""
    if not entry.has_open_transaction:
        return ACCEPTED
    return AppendDecision(
        ErrorCode.INVALID_TXN_STATE,
        f"producer {header.producer_id}: a transaction is open, the records are not part of it",
    )


def decide_marker(
    header: BatchHeader, marker: EndMarker, entry: ProducerEntry, transaction_version: int
) -> AppendDecision:
    if not _is_current_marker_epoch(header.producer_epoch, entry, transaction_version):
        return _fenced(header.producer_id, header.producer_epoch, entry)
    if marker.coordinator_epoch < entry.coordinator_epoch:
        return AppendDecision(
            ErrorCode.TRANSACTION_COORDINATOR_FENCED,
            f"producer {header.producer_id}: marker of coordinator epoch "
            f"{marker.coordinator_epoch}, {entry.coordinator_epoch} was here",
        )
    return ACCEPTED


def _is_current_marker_epoch(epoch: int, entry: ProducerEntry, transaction_version: int) -> bool:
    """Markers of version 2 must bump the epoch, so that a late one cannot end the next transaction.

    Equal epochs are a repeated marker where no transaction is open, and all that is left where the
    epochs are used up.
    """
    if transaction_version < EPOCH_BUMP_VERSION:
        return epoch >= entry.epoch
    if epoch == entry.epoch:
        return not entry.has_open_transaction or epoch == EPOCH_MAX
    return epoch > entry.epoch


def _fenced(producer_id: int, epoch: int, entry: ProducerEntry) -> AppendDecision:
    return AppendDecision(
        ErrorCode.INVALID_PRODUCER_EPOCH,
        f"producer {producer_id}: epoch {epoch}, {entry.epoch} was here",
    )
