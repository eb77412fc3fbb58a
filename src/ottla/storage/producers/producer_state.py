"""The producers of one partition: idempotence, fencing, transactions.

Owns      the producers of a partition and their open transactions, as a pure function of its log.
Promises  deciding changes nothing; `apply` is the only way the state changes, so that a leader, a
          follower and a broker that recovers arrive at the same state from the same batches.
Leaves    the rules to `append_decisions.py`, files to `producer_snapshot.py` and the log, asking
          the transaction coordinator to the broker, and the clock to the caller.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import islice
from types import MappingProxyType

from ottla.base.ids import NO_OFFSET
from ottla.base.scheduling.steps import Steps, run_blocking
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.records.batch import (
    CONTROL_BIT,
    NO_PRODUCER_ID,
    TRANSACTIONAL_BIT,
    BatchHeader,
)
from ottla.protocol.records.control import EndMarker
from ottla.storage.producers import append_decisions as decisions
from ottla.storage.producers.append_decisions import ACCEPTED, AppendDecision, AppendOrigin
from ottla.storage.producers.open_transactions import CompletedTransaction, OpenTransactions
from ottla.storage.producers.producer_bound import UNBOUNDED
from ottla.storage.producers.producer_entry import SEQUENCE_MASK, ProducerEntry, WrittenBatch
from ottla.storage.producers.transaction_verification import NO_GUARD, Verifications

_CLIENT = AppendOrigin.CLIENT
_REPLICATION = AppendOrigin.REPLICATION


class ProducerStates:
    """The producers of one partition. `end_offset` is the end of what was applied."""

    __slots__ = (
        "__weakref__",
        "_frozen",
        "_producers",
        "_transactions",
        "_verifications",
        "bound",
        "end_offset",
    )

    def __init__(self, end_offset: int = 0) -> None:
        self.end_offset = end_offset
        self.bound = UNBOUNDED
        self._producers: dict[int, ProducerEntry] = {}  # the least recently used first
        self._frozen = 0  # copies that are being encoded
        self._transactions = OpenTransactions()
        self._verifications = Verifications()

    # Asking

    @property
    def count(self) -> int:
        return len(self._producers)

    @property
    def producers(self) -> Mapping[int, ProducerEntry]:
        return MappingProxyType(self._producers)

    @property
    def is_empty(self) -> bool:
        return not self._producers and self._transactions.is_empty

    @property
    def first_unstable_offset(self) -> int | None:
        return self._transactions.first_unstable_offset

    @property
    def first_undecided_offset(self) -> int | None:
        return self._transactions.first_undecided_offset

    def last_stable_offset(self, high_watermark: int) -> int:
        """The end of what readers of committed data may read."""
        unstable = self._transactions.first_unstable_offset
        return high_watermark if unstable is None else min(unstable, high_watermark)

    def has_open_transaction(self, producer_id: int, epoch: int) -> bool:
        entry = self._producers.get(producer_id)
        return entry is not None and entry.has_open_transaction and entry.epoch == epoch

    # Deciding

    def decide_append(
        self,
        header: BatchHeader,
        origin: AppendOrigin = AppendOrigin.CLIENT,
        guard: int = NO_GUARD,
        *,
        verification_enabled: bool = False,
    ) -> AppendDecision:
        """Whether the leader may append this data batch. Its offset need not be known yet."""
        producer_id = header.producer_id
        if producer_id == NO_PRODUCER_ID or origin is _REPLICATION:
            return ACCEPTED
        entry = self._producers.get(producer_id)
        decision = ACCEPTED
        if entry is not None:
            if self._simply_follows(header, entry):
                return ACCEPTED
            if origin is _CLIENT:
                duplicate = decisions.find_duplicate(entry, header)
                if duplicate is not None:
                    return AppendDecision(ErrorCode.NONE, "already written", duplicate)
            decision = decisions.decide_epoch(producer_id, header.producer_epoch, entry)
        verification = self._verifications.get(producer_id)
        is_transactional = header.attributes & TRANSACTIONAL_BIT
        if decision is ACCEPTED and is_transactional and verification_enabled:
            decision = decisions.decide_guard(header, entry, verification, guard)
        if decision is ACCEPTED and origin is _CLIENT:
            decision = decisions.decide_sequence(header, entry, verification)
        if decision is ACCEPTED and not is_transactional and entry is not None:
            decision = decisions.decide_outside_transaction(header, entry)
        return decision

    def _simply_follows(self, header: BatchHeader, entry: ProducerEntry) -> bool:
        """The usual case: after the last batch of the same epoch, no transaction.

        All rules accept it; checking them one by one would take longer.
        """
        return (
            header.producer_epoch == entry.epoch
            and header.base_sequence == (entry.last_sequence + 1) & SEQUENCE_MASK
            and not header.attributes & TRANSACTIONAL_BIT
            and entry.transaction_first_offset == NO_OFFSET
            and self._verifications.get(header.producer_id) is None
        )

    def decide_marker(
        self, header: BatchHeader, marker: EndMarker, transaction_version: int
    ) -> AppendDecision:
        """Whether the leader may append the coordinator's marker."""
        entry = self._producers.get(header.producer_id)
        if entry is None:
            return ACCEPTED
        return decisions.decide_marker(header, marker, entry, transaction_version)

    def decide_verification(self, producer_id: int, epoch: int) -> AppendDecision:
        """Whether `start_verification` may be called. Only an older epoch is refused."""
        entry = self._producers.get(producer_id)
        return ACCEPTED if entry is None else decisions.decide_epoch(producer_id, epoch, entry)

    def start_verification(
        self, producer_id: int, sequence: int, epoch: int, supports_epoch_bump: bool, now_ms: int
    ) -> int:
        """The guard to pass to `decide_append`; NO_GUARD where nothing needs to be verified."""
        if self.has_open_transaction(producer_id, epoch):
            return NO_GUARD
        return self._verifications.start(producer_id, sequence, epoch, supports_epoch_bump, now_ms)

    # Applying

    def apply(
        self, header: BatchHeader, marker: EndMarker | None = None
    ) -> CompletedTransaction | None:
        """Apply a batch that is in the log, with its final offset and timestamp.

        `marker` is that of a control batch; None if compaction has removed it. Returns the
        transaction that this batch ended.
        """
        self.end_offset = header.base_offset + header.last_offset_delta + 1
        if header.producer_id == NO_PRODUCER_ID:
            return None
        if header.attributes & CONTROL_BIT:
            return None if marker is None else self._apply_marker(header, marker)
        self._apply_data(header)
        return None

    def _apply_data(self, header: BatchHeader) -> None:
        producer_id = header.producer_id
        entry = self._used(producer_id)
        offset, delta, sequence = header.base_offset, header.last_offset_delta, header.base_sequence
        if sequence >= 0:
            sequence = (sequence + delta) & SEQUENCE_MASK
        entry.add_batch(
            header.producer_epoch, sequence, offset + delta, delta, header.max_timestamp
        )
        if header.attributes & TRANSACTIONAL_BIT:
            if entry.transaction_first_offset == NO_OFFSET:
                entry.transaction_first_offset = offset
                self._transactions.begin(offset, producer_id)
            self._verifications.end(producer_id)

    def _apply_marker(self, header: BatchHeader, marker: EndMarker) -> CompletedTransaction | None:
        producer_id = header.producer_id
        entry = self._used(producer_id)
        if entry.epoch != header.producer_epoch:
            entry.begin_epoch(header.producer_epoch)
        entry.coordinator_epoch = marker.coordinator_epoch
        entry.last_timestamp = header.max_timestamp
        self._verifications.marker_written(producer_id, header.producer_epoch)
        first_offset = entry.transaction_first_offset
        if first_offset == NO_OFFSET:
            return None
        entry.transaction_first_offset = NO_OFFSET
        return self._transactions.complete(
            producer_id, first_offset, header.base_offset, not marker.is_commit
        )

    def _used(self, producer_id: int) -> ProducerEntry:
        """The entry to be changed, now the most recently used."""
        producers = self._producers
        entry = producers.pop(producer_id, None)
        if entry is None:
            entry = ProducerEntry()
            self.bound.producer_added(self)
        elif self._frozen:
            entry = entry.copy()
        producers[producer_id] = entry
        return entry

    def high_watermark_advanced(self, high_watermark: int) -> None:
        """Markers below it no longer hold back the last stable offset."""
        if self._transactions.unreplicated:
            self._transactions.replicated_to(high_watermark)

    def log_start_advanced(self, log_start_offset: int) -> None:
        """Records were deleted from the front. Producers stay known: they may continue to write."""
        self._transactions.replicated_to(log_start_offset)
        self.end_offset = max(self.end_offset, log_start_offset)

    def expiring(self, now_ms: int, expiration_ms: int) -> Steps[int]:
        """Remove producers that are idle and have no open transaction; returns how many."""
        count = 0
        for producer_id in list(self._producers):
            entry = self._producers.get(producer_id)
            if entry is not None and entry.is_expired(now_ms, expiration_ms):
                del self._producers[producer_id]
                count += 1
            yield 0
        self._verifications.expire(now_ms, expiration_ms)
        return count

    def expire(self, now_ms: int, expiration_ms: int) -> int:
        return run_blocking(self.expiring(now_ms, expiration_ms))

    def evict(self, count: int) -> None:
        """Consider the `count` least recently used, and remove those without open transaction, as
        if they had expired. The others count as used, so that they are not considered again."""
        producers = self._producers
        for producer_id, entry in list(islice(producers.items(), count)):
            del producers[producer_id]
            if entry.has_open_transaction:
                producers[producer_id] = entry

    # Writing down

    def freeze(self) -> Mapping[int, ProducerEntry]:
        """The producers as they are now, for another thread. Until `thaw` their entries are copied
        before they are changed."""
        self._frozen += 1
        return self._producers.copy()

    def thaw(self) -> None:
        self._frozen -= 1

    # Loading

    def load(self, entries: Iterable[tuple[int, ProducerEntry]], end_offset: int) -> None:
        """Replace the state by a snapshot at `end_offset`; later batches are applied next."""
        self._producers = dict(entries)
        self._transactions = OpenTransactions()
        self.end_offset = end_offset
        begun = (
            (entry.transaction_first_offset, producer_id)
            for producer_id, entry in self._producers.items()
            if entry.has_open_transaction
        )
        for first_offset, producer_id in sorted(begun):
            self._transactions.begin(first_offset, producer_id)

    def reset(self, end_offset: int) -> None:
        """Replace the state by one without producers."""
        self.load((), end_offset)

    def refill_windows(self, headers: Iterable[BatchHeader]) -> None:
        """Restore what a snapshot does not contain: the batches before each producer's last one.

        `headers` are those of the last batches before the snapshot, in the order of the log, as
        many as the caller has read. Without them a producer that repeats several batches after a
        restart would get an out-of-order error.
        """
        for header in reversed(list(headers)):
            entry = self._producers.get(header.producer_id)
            if entry is None or header.attributes & CONTROL_BIT or header.base_sequence < 0:
                continue
            if header.producer_epoch == entry.epoch:
                entry.add_older_batch(_written(header))


def _written(header: BatchHeader) -> WrittenBatch:
    return WrittenBatch(
        header.base_sequence,
        header.last_sequence,
        header.base_offset,
        header.last_offset,
        header.max_timestamp,
    )
