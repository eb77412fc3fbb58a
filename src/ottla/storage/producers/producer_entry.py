"""What one producer has written to one partition: epoch, last batches, open transaction.

Owns      the window of the five newest batches, in which repeated sends are recognised.
Promises  a few hundred bytes a producer, whatever it sends; adding a batch allocates nothing large.
Leaves    judging what may be appended to `producer_state.py`.
"""

from __future__ import annotations

from array import array
from typing import NamedTuple

from ottla.base.ids import NO_OFFSET, NO_PRODUCER_EPOCH
from ottla.protocol.records.batch import NO_SEQUENCE, NO_TIMESTAMP

WINDOW_BATCHES = 5

SEQUENCE_MASK = 0x7FFFFFFF  # after 2**31 - 1 comes 0

# The window is one flat array, oldest batch first, four numbers a batch: five small objects for
# each of a hundred thousand producers would cost three times the memory.
_WORDS = 4
_LAST_SEQUENCE, _LAST_OFFSET, _OFFSET_DELTA, _TIMESTAMP = range(_WORDS)
_FULL = WINDOW_BATCHES * _WORDS


class WrittenBatch(NamedTuple):
    """A batch in the log, as in the response to a repeated request of its producer."""

    first_sequence: int
    last_sequence: int
    base_offset: int
    last_offset: int
    timestamp: int


class ProducerEntry:
    __slots__ = (
        "_window",
        "coordinator_epoch",
        "epoch",
        "last_timestamp",
        "transaction_first_offset",
    )

    def __init__(
        self,
        epoch: int = NO_PRODUCER_EPOCH,
        coordinator_epoch: int = -1,
        last_timestamp: int = NO_TIMESTAMP,
        transaction_first_offset: int = NO_OFFSET,
    ) -> None:
        self.epoch = epoch
        self.coordinator_epoch = coordinator_epoch
        self.last_timestamp = last_timestamp
        self.transaction_first_offset = transaction_first_offset
        self._window = array("q")

    @classmethod
    def restored(
        cls,
        epoch: int,
        coordinator_epoch: int,
        transaction_first_offset: int,
        last_batch: tuple[int, int, int, int],
    ) -> ProducerEntry:
        """From a snapshot, where `last_batch` is last sequence, last offset, delta, timestamp."""
        entry = cls(epoch, coordinator_epoch, last_batch[3], max(transaction_first_offset, -1))
        if last_batch[1] >= 0:
            entry._window.extend(last_batch)
        return entry

    def copy(self) -> ProducerEntry:
        """A copy to be changed while this one is encoded."""
        other = ProducerEntry(
            self.epoch, self.coordinator_epoch, self.last_timestamp, self.transaction_first_offset
        )
        other._window = self._window[:]
        return other

    @property
    def has_batches(self) -> bool:
        return bool(self._window)

    @property
    def has_open_transaction(self) -> bool:
        return self.transaction_first_offset != NO_OFFSET

    def is_expired(self, now_ms: int, expiration_ms: int) -> bool:
        """Idle for too long; never while a transaction is open."""
        return not self.has_open_transaction and now_ms - self.last_timestamp >= expiration_ms

    @property
    def last_sequence(self) -> int:
        window = self._window
        return window[_LAST_SEQUENCE - _WORDS] if window else NO_SEQUENCE

    @property
    def last_offset(self) -> int:
        window = self._window
        return window[_LAST_OFFSET - _WORDS] if window else NO_OFFSET

    @property
    def last_offset_delta(self) -> int:
        window = self._window
        return window[_OFFSET_DELTA - _WORDS] if window else 0

    def batches(self) -> list[WrittenBatch]:
        """The window, oldest first."""
        return [self._batch_at(at) for at in range(0, len(self._window), _WORDS)]

    def find(self, first_sequence: int, last_sequence: int) -> WrittenBatch | None:
        """The batch of the window with exactly this range of sequences."""
        for at in range(0, len(self._window), _WORDS):
            if self._window[at] == last_sequence:
                batch = self._batch_at(at)
                if batch.first_sequence == first_sequence:
                    return batch
        return None

    def add_batch(
        self, epoch: int, last_sequence: int, last_offset: int, offset_delta: int, timestamp: int
    ) -> None:
        """Note the newest batch. One of another epoch empties the window first."""
        window = self._window
        if epoch != self.epoch:
            self.begin_epoch(epoch)
        elif len(window) == _FULL:
            del window[:_WORDS]
        window.extend((last_sequence, last_offset, offset_delta, timestamp))
        self.last_timestamp = timestamp

    def add_older_batch(self, batch: WrittenBatch) -> bool:
        """Put a batch before the oldest one, where it belongs there and there is room."""
        window = self._window
        if len(window) == _FULL or not window:
            return False
        oldest = self._batch_at(0)
        follows = oldest.first_sequence == (batch.last_sequence + 1) & SEQUENCE_MASK
        if not follows or batch.last_offset >= oldest.base_offset:
            return False
        delta = batch.last_offset - batch.base_offset
        window[0:0] = array("q", (batch.last_sequence, batch.last_offset, delta, batch.timestamp))
        return True

    def begin_epoch(self, epoch: int) -> None:
        self.epoch = epoch
        del self._window[:]

    def _batch_at(self, at: int) -> WrittenBatch:
        last_sequence, last_offset, delta, timestamp = self._window[at : at + _WORDS]
        first_sequence = (last_sequence - delta) & SEQUENCE_MASK
        return WrittenBatch(
            first_sequence, last_sequence, last_offset - delta, last_offset, timestamp
        )
