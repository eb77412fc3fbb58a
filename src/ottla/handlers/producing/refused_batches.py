"""Batches of idempotent producers that were refused for a moment, and will be sent again.

A producer has several batches under way. If one is refused, for example because too few replicas
are in sync, and the reason is gone when the next one arrives, that one is out of order. Kafka
answers OUT_OF_ORDER_SEQUENCE_NUMBER, or appends it if the log does not know the producer.
librdkafka then begins a new epoch and sends everything again that it has no response to, also what
was appended before a response was lost: the log has it twice. So batches behind a refused one are
refused with an error after which all clients repeat them, until the refused one has arrived.

Owns      the first refused batch of each producer in each partition, for a few seconds.
Promises  a batch that the log would append after the last one of its producer, or that repeats one,
          is never refused; memory is bounded.
Leaves    what may be appended to `storage/producers/append_decisions.py`.
"""

from __future__ import annotations

from typing import NamedTuple

from ottla.base.clock import Clock
from ottla.base.ids import TopicPartition
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.errors import BrokerError
from ottla.protocol.records.batch import BatchHeader
from ottla.storage.producers.producer_entry import SEQUENCE_MASK, ProducerEntry

# Batches that were sent before their producer knew of the refusal arrive within a round trip and
# the time of the requests in between. A producer that gives a batch up begins a new epoch.
REMEMBERED_S = 5.0
PRODUCERS_MAX = 10_000
# Errors that clients answer by sending the batch again. After CORRUPT_MESSAGE they do so, too, but
# whose batch it was is not known.
REPEATED = frozenset(
    {
        ErrorCode.KAFKA_STORAGE_ERROR,
        ErrorCode.LEADER_NOT_AVAILABLE,
        ErrorCode.NOT_ENOUGH_REPLICAS,
        ErrorCode.NOT_LEADER_OR_FOLLOWER,
        ErrorCode.UNKNOWN_TOPIC_ID,
        ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
    }
)


class RefusedBatch(NamedTuple):
    epoch: int
    sequence: int  # of its first record
    forget_s: float


class RefusedBatches:
    def __init__(self, clock: Clock, producers_max: int = PRODUCERS_MAX) -> None:
        self._clock = clock
        self._producers_max = producers_max
        # In the order in which they are forgotten.
        self._refused: dict[tuple[TopicPartition, int], RefusedBatch] = {}

    def __len__(self) -> int:
        return len(self._refused)

    def note(self, partition: TopicPartition, header: BatchHeader) -> None:
        """The batch was refused with an error of `REPEATED`."""
        now_s = self._clock.monotonic_s()
        key = partition, header.producer_id
        before = self._refused.get(key)
        if (
            before is not None
            and before.epoch == header.producer_epoch
            and before.forget_s > now_s
            and is_after(header.base_sequence, before.sequence)
        ):
            return  # refused because of that one, or for the same reason
        self._refused.pop(key, None)
        self._make_room(now_s)
        self._refused[key] = RefusedBatch(
            header.producer_epoch, header.base_sequence, now_s + REMEMBERED_S
        )

    def check(
        self, partition: TopicPartition, header: BatchHeader, entry: ProducerEntry | None
    ) -> None:
        """BrokerError if the batch is behind one that was refused. `entry` is what the log knows of
        its producer."""
        key = partition, header.producer_id
        refused = self._refused.get(key)
        if refused is None:
            return
        if (
            refused.epoch != header.producer_epoch
            or refused.forget_s <= self._clock.monotonic_s()
            or not _is_next(refused, entry)
        ):
            del self._refused[key]
        elif is_after(header.base_sequence, refused.sequence):
            raise BrokerError(
                ErrorCode.NOT_ENOUGH_REPLICAS,
                f"producer {header.producer_id}: sequence {header.base_sequence} is behind "
                f"{refused.sequence}, which was refused and has to be sent again first",
            )

    def _make_room(self, now_s: float) -> None:
        while self._refused:
            key, oldest = next(iter(self._refused.items()))
            if oldest.forget_s > now_s and len(self._refused) < self._producers_max:
                return
            del self._refused[key]


def _is_next(refused: RefusedBatch, entry: ProducerEntry | None) -> bool:
    """Whether the log still lacks the refused batch, and no earlier one. What a log does not know
    may begin with any sequence."""
    if entry is None or entry.epoch != refused.epoch:
        return True
    return refused.sequence == (entry.last_sequence + 1) & SEQUENCE_MASK


def is_after(sequence: int, other: int) -> bool:
    """After 2**31 - 1 comes 0."""
    return 0 < (sequence - other) & SEQUENCE_MASK <= SEQUENCE_MASK // 2
