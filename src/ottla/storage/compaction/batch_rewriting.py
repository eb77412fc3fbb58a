"""Removes obsolete records from one batch.

Owns      opening a batch, looking up its records in the key map, and encoding those that stay.
Promises  a batch that loses no record keeps its bytes; the delay of a tombstone begins with the
          first round in which it is the newest record of its key, and is stored in the batch (its
          delete horizon).
Leaves    batches as a whole to `batch_decisions.py`, encoding to `ottla.protocol.records`.
"""

from __future__ import annotations

from array import array

from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.errors import InvalidBatch
from ottla.protocol.records import native
from ottla.protocol.records.batch import BatchHeader, Buffer
from ottla.protocol.records.building import build_emptied_batch
from ottla.protocol.records.reading import open_body
from ottla.protocol.records.retaining import retain_records
from ottla.storage.compaction.batch_decisions import BatchDecision, has_expired
from ottla.storage.compaction.key_map import KeyMap, are_rising

RECORD_BYTES_MIN = 7


class BatchIndex:
    """Where the records of a batch are; the same arrays serve one batch after the other."""

    def __init__(self, decompressed_bytes_max: int) -> None:
        self._decompressed_bytes_max = decompressed_bytes_max
        self._room = 0
        self.body: Buffer = b""
        self.numbers = memoryview(array("q"))
        self.places = memoryview(array("i"))

    def open(self, batch: memoryview, header: BatchHeader) -> None:
        """InvalidBatch if the records contradict the header."""
        body = open_body(batch, 0, header, self._decompressed_bytes_max)
        count = header.records_count
        if not 0 <= count <= len(body) // RECORD_BYTES_MIN:
            raise InvalidBatch(ErrorCode.INVALID_RECORD, f"{count} records in {len(body)} bytes")
        self._reserve(count)
        append_time = header.max_timestamp if header.is_log_append_time else None
        native.index(
            body, 0, len(body), 0, count, True,
            header.base_offset, header.base_timestamp, append_time, self.numbers, self.places,
        )  # fmt: skip
        if not are_rising(self.numbers, count, header.base_offset, header.last_offset):
            raise InvalidBatch(
                ErrorCode.INVALID_RECORD, "offsets of records that do not rise within the batch"
            )
        self.body = body

    def _reserve(self, count: int) -> None:
        if count > self._room:
            self._room = max(count, 2 * self._room)
            self.numbers = memoryview(array("q", bytes(16 * self._room)))
            self.places = memoryview(array("i", bytes(32 * self._room)))


class BatchRewriter:
    def __init__(
        self,
        keys: KeyMap,
        end_offset: int,
        now_ms: int,
        delete_retention_ms: int,
        index: BatchIndex,
    ) -> None:
        self._keys = keys
        self._end_offset = end_offset
        self._now_ms = now_ms
        self._horizon_ms = now_ms + delete_retention_ms
        self._index = index

    def rewrite(
        self, batch: memoryview, header: BatchHeader, decision: BatchDecision
    ) -> Buffer | None:
        """The batch that stays in the log; None if all of it is removed."""
        if header.base_offset >= self._end_offset:
            return batch
        if decision.drops_records or header.records_count == 0:
            return build_emptied_batch(header) if decision.stays_if_empty else None
        if header.is_control:
            return self._rewrite_marker(batch, header, decision)
        return self._rewrite_data(batch, header, decision)

    def _rewrite_marker(
        self, batch: memoryview, header: BatchHeader, decision: BatchDecision
    ) -> Buffer:
        if not decision.starts_horizon or header.delete_horizon_ms is not None:
            return batch
        self._index.open(batch, header)
        keep = bytes([1]) * header.records_count
        return retain_records(header, self._index.body, keep, delete_horizon_ms=self._horizon_ms)

    def _rewrite_data(
        self, batch: memoryview, header: BatchHeader, decision: BatchDecision
    ) -> Buffer | None:
        index, count = self._index, header.records_count
        index.open(batch, header)
        keep = bytearray(count)
        kept, has_tombstones = self._keys.choose(
            index.body, 0, count, index.numbers, index.places,
            self._end_offset, has_expired(header, self._now_ms), keep,
        )  # fmt: skip
        if not kept:
            return build_emptied_batch(header) if decision.stays_if_empty else None
        starts_horizon = (
            has_tombstones
            and header.delete_horizon_ms is None
            and header.last_offset < self._end_offset
        )
        if kept == count and not starts_horizon:
            return batch
        horizon_ms = self._horizon_ms if starts_horizon else None
        return retain_records(header, index.body, keep, delete_horizon_ms=horizon_ms)
