"""Record batches of internal topics: encoding of a coordinator's records."""

from __future__ import annotations

from collections.abc import Sequence

from ottla.coordinators.records import CoordinatorRecord, encode_key, encode_value
from ottla.protocol.records.batch import NO_PRODUCER_ID, NO_SEQUENCE
from ottla.protocol.records.building import build_batch
from ottla.protocol.records.compression import Codec
from ottla.protocol.records.record import Record

RECORD_BYTES = 40  # maximum overhead of a record, without key and value


class Writer:
    """The producer of a transaction, or the coordinator itself (`COORDINATOR_ITSELF`)."""

    __slots__ = ("epoch", "producer_id")

    def __init__(self, producer_id: int = NO_PRODUCER_ID, epoch: int = -1) -> None:
        self.producer_id = producer_id
        self.epoch = epoch

    @property
    def is_transactional(self) -> bool:
        return self.producer_id != NO_PRODUCER_ID


COORDINATOR_ITSELF = Writer()


class BatchFormat:
    """The format of batches in an internal topic, the same as in Kafka."""

    __slots__ = ("base_sequence", "codec")

    def __init__(self, codec: int = Codec.NONE, base_sequence: int = NO_SEQUENCE) -> None:
        self.codec = codec
        self.base_sequence = base_sequence  # not used by readers

    def encode(
        self, records: Sequence[CoordinatorRecord], now_ms: int, writer: Writer = COORDINATOR_ITSELF
    ) -> bytearray:
        rows = [
            Record(at, now_ms, encode_key(record.key), encode_value(record), ())
            for at, record in enumerate(records)
        ]
        return self.build(rows, writer)

    def build(self, rows: Sequence[Record], writer: Writer) -> bytearray:
        """One batch of encoded records. May run in any thread."""
        return build_batch(
            rows,
            codec=self.codec,
            producer_id=writer.producer_id,
            producer_epoch=writer.epoch,
            base_sequence=self.base_sequence,
            is_transactional=writer.is_transactional,
        )
