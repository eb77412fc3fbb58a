"""The batches of one partition: waiting, in flight, acknowledged.

Owns      their order and, with a producer's identity, their sequence numbers.
Promises  batches are sent, and sent again, in the order in which they were added; after a failure
          no newer batch is sent before all batches in flight have a response. With an identity the
          broker detects every repetition, so nothing is stored twice. The first batch is sent
          alone: a broker that does not know the producer accepts any first sequence, so the second
          batch must not overtake it.
Leaves    requests and responses to `delivery.py`.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from struct import Struct
from typing import NamedTuple

from ottla.base.ids import TopicPartition
from ottla.client.admin.transactions import ProducerIdentity
from ottla.protocol.records.batch import (
    TRANSACTIONAL_BIT,
    BatchHeader,
    Buffer,
    check_structure,
    read_header,
    stamp_checksum,
)

IN_FLIGHT_MAX = 5  # brokers remember this many batches of a producer to detect repetitions
SEQUENCE_MAX = 2**31 - 1
UNKNOWN_OFFSET = -1

_ATTRIBUTES = Struct(">h")
_PRODUCER = Struct(">qhi")
_ATTRIBUTES_POSITION = 21
_PRODUCER_POSITION = 43


class AcknowledgedRange(NamedTuple):
    """Offsets from `start` up to, and not including, `end`."""

    start: int
    end: int


@dataclass
class Acknowledged:
    """What is stored in one partition: the number of records, and their offsets.

    `ranges` are sorted; there may be records of others between them. A batch whose repetition the
    broker detected without knowing its offset any more is counted, and not in `ranges`.
    """

    records: int = 0
    batches: int = 0
    ranges: list[AcknowledgedRange] = field(default_factory=list)

    def add(self, base_offset: int, records: int) -> None:
        self.records += records
        self.batches += 1
        if base_offset == UNKNOWN_OFFSET:
            return
        if self.ranges and self.ranges[-1].end == base_offset:
            self.ranges[-1] = AcknowledgedRange(self.ranges[-1].start, base_offset + records)
        else:
            self.ranges.append(AcknowledgedRange(base_offset, base_offset + records))


@dataclass(eq=False)
class PendingBatch:
    partition: TopicPartition
    data: Buffer
    records: int
    ordinal: int
    attempts: int = 0


class PartitionWindow:
    def __init__(
        self,
        partition: TopicPartition,
        identity: ProducerIdentity | None,
        is_transactional: bool = False,
    ) -> None:
        self.partition = partition
        self.waiting: deque[PendingBatch] = deque()
        self.in_flight: deque[PendingBatch] = deque()
        self.acknowledged = Acknowledged()
        self.next_sequence = 0
        self._identity = identity
        self._is_transactional = is_transactional
        self._ordinal = 0
        self._is_repeating = False

    @property
    def is_settled(self) -> bool:
        return not self.waiting and not self.in_flight

    @property
    def can_send(self) -> bool:
        if self.in_flight and (self._is_repeating or not self.acknowledged.batches):
            return False
        return bool(self.waiting) and len(self.in_flight) < IN_FLIGHT_MAX

    def add(self, data: Buffer) -> PendingBatch:
        """Add one encoded batch, and write identity and sequence into it."""
        header = checked_header(self.partition, data)
        if self._identity is not None:
            data = stamp_producer(
                data, header, self._identity, self.next_sequence, self._is_transactional
            )
            self.next_sequence = sequence_after(self.next_sequence, header.records_count)
        batch = PendingBatch(self.partition, data, header.records_count, self._ordinal)
        self._ordinal += 1
        self.waiting.append(batch)
        return batch

    def take(self) -> PendingBatch:
        """Remove and return the next batch to send."""
        self._is_repeating = False
        batch = self.waiting.popleft()
        batch.attempts += 1
        self.in_flight.append(batch)
        return batch

    def settle(self, batch: PendingBatch, base_offset: int) -> None:
        self.in_flight.remove(batch)
        self.acknowledged.add(base_offset, batch.records)

    def is_first(self, batch: PendingBatch) -> bool:
        """Whether everything before it is acknowledged."""
        rest = [*self.in_flight, *self.waiting]
        return all(other.ordinal >= batch.ordinal for other in rest)

    def send_again(self, batch: PendingBatch) -> None:
        """Put a failed batch back, before all batches that were added after it."""
        self.in_flight.remove(batch)
        at = 0
        while at < len(self.waiting) and self.waiting[at].ordinal < batch.ordinal:
            at += 1
        self.waiting.insert(at, batch)
        self._is_repeating = True


def sequence_after(sequence: int, records: int) -> int:
    """Sequences wrap from 2**31 - 1 to 0."""
    return (sequence + records) & SEQUENCE_MAX


def checked_header(partition: TopicPartition, data: Buffer) -> BatchHeader:
    """The header of what must be exactly one batch, with records of consecutive offsets."""
    header = read_header(data)
    size = check_structure(header)
    if size != len(data):
        raise ValueError(f"{partition}: {len(data)} bytes, of which a batch takes {size}")
    if header.records_count != header.last_offset_delta + 1 or header.is_control:
        raise ValueError(f"{partition}: not a batch that a producer may send: {header}")
    return header


def stamp_producer(
    data: Buffer,
    header: BatchHeader,
    identity: ProducerIdentity,
    base_sequence: int,
    is_transactional: bool,
) -> Buffer:
    """The batch with these fields: unchanged if it has them, changed in place if it is writable,
    otherwise a copy."""
    attributes = header.attributes & ~TRANSACTIONAL_BIT
    attributes |= TRANSACTIONAL_BIT if is_transactional else 0
    wanted = (attributes, *identity, base_sequence)
    if wanted == (
        header.attributes, header.producer_id, header.producer_epoch, header.base_sequence
    ):  # fmt: skip
        return data
    if isinstance(data, bytes) or (isinstance(data, memoryview) and data.readonly):
        data = bytearray(data)
    _ATTRIBUTES.pack_into(data, _ATTRIBUTES_POSITION, attributes)
    _PRODUCER.pack_into(data, _PRODUCER_POSITION, *identity, base_sequence)
    stamp_checksum(data, 0, len(data))
    return data
