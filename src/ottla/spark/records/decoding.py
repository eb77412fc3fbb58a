"""Fetched record batches converted into Arrow batches for Spark.

Promises  memory is bounded: one decompressed record batch, one Arrow batch. A record batch that
          cannot be read is named by topic, partition and offset. Small Arrow batches are combined:
          each costs Spark as much as some thousand rows.
Leaves    decoding to `protocol/records`, columns to `columns.py`, fetching to
          `source/task_reader.py`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import pyarrow as pa

from ottla.base.ids import TopicPartition
from ottla.client.fetching.fetched_records import FetchedRecords
from ottla.protocol.errors import InvalidBatch
from ottla.protocol.records.arrow import ROWS_MAX, read_arrow
from ottla.protocol.records.batch import iterate_headers
from ottla.spark.errors import UnreadableRecords
from ottla.spark.planning.range_splitting import TaskRange
from ottla.spark.planning.read_tasks import ReadPlan
from ottla.spark.records.columns import Columns
from ottla.spark.records.row_filter import filter_rows
from ottla.spark.records.value_types import arrow_schema
from ottla.spark.records.values import decoder_of

# Spark reads large batches faster than small ones: 64 k rows of 100 bytes fit.
BATCH_BYTES = 8 * 1024 * 1024
SMALL_ROWS, SMALL_BYTES = 8_192, 1024 * 1024  # batches below both are combined


def offset_text(partition: TopicPartition, offset: int) -> str:
    """A description for error messages."""
    return f"topic {partition.topic}, partition {partition.partition}, offset {offset}"


class Decoder:
    """Decodes the records of all partitions of one task."""

    def __init__(self, plan: ReadPlan) -> None:
        self._plan = plan
        self._schema = arrow_schema(plan.schema)
        self._decode_values = None
        if plan.value_format is not None:
            self._decode_values = decoder_of(plan.value_format, plan.value_schema)
        self._columns: dict[TopicPartition, Columns] = {}

    def decode(self, fetched: FetchedRecords, wanted: TaskRange) -> Iterator[pa.RecordBatch]:
        """The records in the range; no batch if there are only markers."""
        columns = self._columns_of(fetched.partition)
        try:
            for table in self._tables(fetched, wanted.start, wanted.end):
                batch = columns.build(filter_rows(table, self._plan.bounds))
                if batch.num_rows:
                    yield batch
        except InvalidBatch as error:
            raise self._unreadable(fetched, wanted, error) from None

    def _columns_of(self, partition: TopicPartition) -> Columns:
        if partition not in self._columns:
            self._columns[partition] = Columns(self._schema, partition, self._decode_values)
        return self._columns[partition]

    def _tables(
        self, fetched: FetchedRecords, from_offset: int, end_offset: int
    ) -> Iterator[pa.RecordBatch]:
        return read_arrow(
            fetched.data,
            from_offset=max(from_offset, fetched.start_offset),
            end_offset=min(end_offset, fetched.end_offset),
            with_headers=self._plan.with_headers,
            is_wanted=fetched.is_wanted,
            check_checksums=self._plan.settings.check_crcs,
            decompressed_bytes_max=self._plan.batch_bytes_max,
            bytes_max=BATCH_BYTES,
        )

    def _unreadable(
        self, fetched: FetchedRecords, wanted: TaskRange, error: InvalidBatch
    ) -> UnreadableRecords:
        """A table has many record batches: find the one that cannot be read, to name its offset."""
        offset, reason = fetched.start_offset, error.message
        for _, header in iterate_headers(fetched.data):
            first, end = max(wanted.start, header.base_offset), header.last_offset + 1
            try:
                for _ in self._tables(fetched, first, min(wanted.end, end)):
                    pass
            except InvalidBatch as found:
                offset, reason = header.base_offset, found.message
                break
        return UnreadableRecords(
            f"{offset_text(wanted.partition, offset)}: the record batch cannot be read: {reason}. "
            "If it is damaged, read around it with startingOffsets and endingOffsets, or restore "
            "the partition from a replica; if it is too large, raise maxDecompressedBatchBytes."
        )


def join_small(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """The same rows in the same order; small batches that follow each other become one."""
    gathered: list[pa.RecordBatch] = []
    rows = size = 0
    for batch in batches:
        is_small = batch.num_rows < SMALL_ROWS and batch.nbytes < SMALL_BYTES
        if is_small and rows + batch.num_rows <= ROWS_MAX and size <= BATCH_BYTES:
            gathered.append(batch)
            rows, size = rows + batch.num_rows, size + batch.nbytes
            continue
        yield from _joined(gathered)
        if is_small:
            gathered, rows, size = [batch], batch.num_rows, batch.nbytes
        else:
            gathered, rows, size = [], 0, 0
            yield batch
    yield from _joined(gathered)


def _joined(batches: list[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    if len(batches) > 1:
        yield from pa.Table.from_batches(batches).combine_chunks().to_batches()
    else:
        yield from batches
