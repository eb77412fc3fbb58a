"""A task's work on an executor: fetch a range of offsets, decode it, hand Arrow batches to Spark.

Owns      reading one range, and what happens when records of it are gone or cannot be read.
Promises  memory is bounded whatever the partition holds: a few fetch answers, one unpacked record
          batch, one Arrow batch. Gaps (markers, aborted and compacted records) are no loss; what
          retention took, or a topic made anew, is. Every error names topic, partition, offset.
Leaves    fetching to `client/fetching.py`, decoding to `protocol/records`, columns to `columns.py`.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from dataclasses import dataclass, replace

import pyarrow as pa
from pyspark.sql.datasource import InputPartition
from pyspark.sql.types import StructType

from ottla.base.uuids import ZERO_UUID
from ottla.client.cluster import Cluster
from ottla.client.errors import OffsetOutOfRange, TopicRecreated, UnknownTopic
from ottla.client.fetch_session import FetchedRecords
from ottla.client.fetching import fetch_range
from ottla.client.settings import ClientSettings
from ottla.protocol.errors import InvalidBatch
from ottla.protocol.records.arrow import read_arrow
from ottla.protocol.records.batch import iterate_headers
from ottla.spark.columns import Columns
from ottla.spark.errors import DataLoss, UnreadableRecords
from ottla.spark.file_tasks import write_file
from ottla.spark.filters import Bounds
from ottla.spark.query import Query
from ottla.spark.row_filter import filter_rows
from ottla.spark.splitting import OffsetRange
from ottla.spark.value_types import arrow_schema
from ottla.spark.values import decoder_of

log = logging.getLogger("ottla.spark")

# Spark takes large batches faster than small ones: 64 k rows of 100 bytes fit. Decoding into larger
# tables costs less than that gains.
BATCH_BYTES = 8 * 1024 * 1024


class TaskRange(InputPartition):  # type: ignore[misc]
    """What Spark carries from the driver to a task."""

    def __init__(self, offsets: OffsetRange) -> None:
        super().__init__(offsets)
        self.offsets = offsets


@dataclass(frozen=True)
class TaskPlan:
    """What is the same for all tasks of a query."""

    settings: ClientSettings
    schema: StructType
    with_headers: bool
    fail_on_data_loss: bool
    batch_bytes_max: int
    bounds: Bounds
    value_format: str | None = None
    value_schema: str | None = None
    files_to: str | None = None

    @classmethod
    def of(cls, query: Query, bounds: Bounds) -> TaskPlan:
        options = query.options
        return cls(
            query.kafka.settings,
            query.schema,
            "headers" in query.schema.fieldNames(),
            options.fail_on_data_loss,
            options.batch_bytes_max,
            bounds,
            options.value_format,
            options.value_schema,
            options.files_to,
        )


def read_task(plan: TaskPlan, partition: InputPartition) -> Iterator[pa.RecordBatch]:
    """A batch without any range gets a partition of Spark's own making: nothing is read for it."""
    if isinstance(partition, TaskRange):
        with Cluster(plan.settings) as cluster:
            batches = TaskReader(plan, cluster, partition.offsets).read()
            if plan.files_to is not None:
                batches = write_file(batches, plan.files_to, partition.offsets)
            yield from batches


class TaskReader:
    def __init__(self, plan: TaskPlan, cluster: Cluster, wanted: OffsetRange) -> None:
        self._plan = plan
        self._cluster = cluster
        self._wanted = wanted
        decode = None
        if plan.value_format is not None:
            decode = decoder_of(plan.value_format, plan.value_schema)
        self._columns = Columns(arrow_schema(plan.schema), wanted.place, decode)

    def read(self) -> Iterator[pa.RecordBatch]:
        left: OffsetRange | None = self._wanted
        while left is not None and left.size:
            position, wanted = left.start, left
            try:
                for fetched in self._fetch(wanted):
                    yield from self._decode(fetched, wanted)
                    position = max(position, fetched.end_offset)
                    del fetched  # its buffer is used again for an answer to come
                left = None
            except OffsetOutOfRange as error:
                left = self._after_loss(error, replace(wanted, start=position))
            except (TopicRecreated, UnknownTopic) as error:
                self._lose(f"{self._place_of(position)}: {error}.")
                left = None

    def _fetch(self, left: OffsetRange) -> Iterator[FetchedRecords]:
        return fetch_range(
            self._cluster,
            left.place,
            left.start,
            left.end,
            topic_id=left.topic_id or ZERO_UUID,
        )

    def _after_loss(self, error: OffsetOutOfRange, left: OffsetRange) -> OffsetRange | None:
        """What can still be read once records are gone; DataLoss if that must not be."""
        self._lose(
            f"{self._place_of(left.start)}: the records are gone, the log now has offsets "
            f"{error.log_start} up to {error.end}; the query was to read up to {left.end}."
        )
        if error.log_start <= left.start:
            return None  # beyond the end: nothing of the range is there
        return replace(left, start=min(error.log_start, left.end))

    def _lose(self, what: str) -> None:
        if self._plan.fail_on_data_loss:
            raise DataLoss(what)
        log.warning("%s Going on, because failOnDataLoss is false.", what)

    def _place_of(self, offset: int) -> str:
        place = self._wanted.place
        return f"topic {place.topic}, partition {place.partition}, offset {offset}"

    # Decoding

    def _decode(self, fetched: FetchedRecords, left: OffsetRange) -> Iterator[pa.RecordBatch]:
        try:
            for table in self._tables(fetched, left.start, left.end):
                batch = self._columns.build(filter_rows(table, self._plan.bounds))
                if batch.num_rows:
                    yield batch
        except InvalidBatch as error:
            raise self._unreadable(fetched, left, error) from None

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
        self, fetched: FetchedRecords, left: OffsetRange, error: InvalidBatch
    ) -> UnreadableRecords:
        """Tables are made of many batches: find the one at fault, to name its offset."""
        offset, told = fetched.start_offset, error.message
        for _, header in iterate_headers(fetched.data):
            first, end = max(left.start, header.base_offset), header.last_offset + 1
            try:
                for _ in self._tables(fetched, first, min(left.end, end)):
                    pass
            except InvalidBatch as found:
                offset, told = header.base_offset, found.message
                break
        return UnreadableRecords(
            f"{self._place_of(offset)}: the record batch cannot be read: {told}. "
            "If it is damaged, read around it with startingOffsets and endingOffsets, or restore "
            "the partition from a replica; if it is too large, raise maxDecompressedBatchBytes."
        )
