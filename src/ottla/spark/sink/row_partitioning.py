"""The rows of a task split by topic and partition, one chunk of columns at a time.

Owns      combining Arrow batches to chunks, choosing the partition of a row, and the errors of
          single rows.
Promises  a key goes to the partition to which Kafka's own producer sends it; rows of one partition
          keep their order; rows without key and partition go to the partitions in turn, as many as
          make a batch at a time.
Leaves    record batches to `protocol.records.arrow_building`, sending to `task_writer.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from ottla.base.ids import TopicPartition
from ottla.protocol.records import native
from ottla.protocol.records.arrow_building import string_column
from ottla.spark.sink.errors import InvalidRows
from ottla.spark.sink.input_columns import SinkColumns

INT32_BYTES = 4
NO_PARTITION = -1


class PartitionRows(NamedTuple):
    """Rows for one partition: the columns key, value, headers and timestamp, if present."""

    partition: TopicPartition
    rows: pa.RecordBatch


def gather(batches: Iterable[pa.RecordBatch], bytes_max: int) -> Iterator[pa.RecordBatch]:
    """The same rows in chunks of about `bytes_max`, in their order."""
    gathered: list[pa.RecordBatch] = []
    size = 0
    for batch in batches:
        if gathered and size + batch.nbytes > 2 * bytes_max:
            yield _joined(gathered)  # a large batch is not combined: the result might be too large
            gathered, size = [], 0
        if batch.num_rows:
            gathered.append(batch)
            size += batch.nbytes
        if size >= bytes_max:
            yield _joined(gathered)
            gathered, size = [], 0
    if gathered:
        yield _joined(gathered)


def _joined(batches: list[pa.RecordBatch]) -> pa.RecordBatch:
    return batches[0] if len(batches) == 1 else pa.concat_batches(batches)


class Splitter:
    """Splits chunk after chunk; keeps the next partition in turn and the number of rows."""

    def __init__(
        self,
        columns: SinkColumns,
        partitions_of: Callable[[str], int],
        *,
        run_bytes: int,
        first_turn: int,
    ) -> None:
        """`run_bytes` of rows without a key go to one partition, then to the next."""
        self._columns = columns
        self._partitions_of = partitions_of
        self._run_bytes = run_bytes
        self._turn = first_turn
        self._rows_before = 0

    def split(self, chunk: pa.RecordBatch) -> Iterator[PartitionRows]:
        for topic, rows in self._by_topic(chunk):
            yield from self._by_partition(topic, rows)
        self._rows_before += chunk.num_rows

    def _by_topic(self, chunk: pa.RecordBatch) -> Iterator[tuple[str, pa.RecordBatch]]:
        if self._columns.topic is not None:
            yield self._columns.topic, chunk
            return
        topics = chunk.column("topic").dictionary_encode()
        if topics.null_count:
            self._refuse(pc.is_null(topics), "has no topic, neither in its column nor as an option")
        names = topics.dictionary.to_pylist()
        for index, rows in _grouped(chunk, topics.indices, len(names)):
            yield names[index], rows

    def _by_partition(self, topic: str, rows: pa.RecordBatch) -> Iterator[PartitionRows]:
        count = self._partitions_of(topic)
        payload = rows.select(self._payload())
        if count == 1 and not self._columns.has_partition:
            yield PartitionRows(TopicPartition(topic, 0), payload)
            return
        if not (self._columns.has_key or self._columns.has_partition):
            for partition, start, run in self._runs(rows, count):
                yield PartitionRows(TopicPartition(topic, partition), payload.slice(start, run))
            return
        partitions = self._partitions_of_rows(topic, rows, count)
        for partition, part in _grouped(payload, partitions, count):
            yield PartitionRows(TopicPartition(topic, partition), part)

    def _payload(self) -> list[str]:
        columns = self._columns
        optional = (
            ("key", columns.has_key),
            ("headers", columns.has_headers),
            ("timestamp", columns.has_timestamp),
        )
        return ["value", *(name for name, is_there in optional if is_there)]

    def _partitions_of_rows(self, topic: str, rows: pa.RecordBatch, count: int) -> pa.Array:
        """The partition of each row: that of the column, else that of its key, else the next in
        turn."""
        partitions = self._by_key(rows, count)
        if self._columns.has_partition:
            named = rows.column("partition")
            self._check_named(topic, named, count)
            partitions = named if partitions is None else pc.coalesce(named, partitions)
        assert partitions is not None, "rows without key and partition columns come in runs"
        if partitions.null_count:
            partitions = pc.coalesce(partitions, self._in_turn(rows, count))
        return partitions

    def _by_key(self, rows: pa.RecordBatch, count: int) -> pa.Array | None:
        if not self._columns.has_key:
            return None
        keys = rows.column("key")
        partitions = _int32s(native.key_partitions(string_column(keys), count, NO_PARTITION))
        if keys.null_count:
            partitions = pc.if_else(pc.is_valid(keys), partitions, pa.scalar(None, pa.int32()))
        return partitions

    def _in_turn(self, rows: pa.RecordBatch, count: int) -> pa.Array:
        partitions = bytearray()
        for partition, _, run in self._runs(rows, count):
            partitions += partition.to_bytes(INT32_BYTES, "little") * run
        return _int32s(partitions)

    def _runs(self, rows: pa.RecordBatch, count: int) -> Iterator[tuple[int, int, int]]:
        """Partition, first row and number of rows of each run."""
        run = max(1, rows.num_rows * self._run_bytes // max(1, rows.nbytes))
        for start in range(0, rows.num_rows, run):
            yield self._turn % count, start, min(run, rows.num_rows - start)
            self._turn += 1

    def _check_named(self, topic: str, named: pa.Array, count: int) -> None:
        found = pc.min_max(named).as_py()
        if found["min"] is None or (found["min"] >= 0 and found["max"] < count):
            return
        wrong = pc.or_(pc.less(named, 0), pc.greater_equal(named, count))
        first = pc.index(pc.fill_null(wrong, False), True).as_py()
        raise InvalidRows(
            f"A row for topic {topic} names partition {named[first].as_py()}, and the topic has "
            f"partitions 0 to {count - 1}: change the column partition, add partitions, or let the "
            'key decide with drop("partition"). Rows that were read from a topic have that column.'
        )

    def _refuse(self, wrong: pa.Array, what: str) -> None:
        row = self._rows_before + pc.index(wrong, True).as_py()
        raise InvalidRows(f"Row {row} of this task (counted from 0) {what}.")


def _grouped(
    rows: pa.RecordBatch, groups: pa.Array, count: int
) -> Iterator[tuple[int, pa.RecordBatch]]:
    """Each group that has rows, with its rows in their order."""
    order, ends = native.group_rows(_int32_buffer(groups), count)
    is_in_order = ends.count(0) + ends.count(len(groups)) == count  # all rows are in one group
    ordered = rows if is_in_order else rows.take(_int32s(order))
    start = 0
    for group, end in enumerate(ends):
        if end > start:
            yield group, ordered.slice(start, end - start)
            start = end


def _int32s(buffer: bytearray) -> pa.Array:
    return pa.Array.from_buffers(
        pa.int32(), len(buffer) // INT32_BYTES, [None, pa.py_buffer(buffer)]
    )


def _int32_buffer(numbers: pa.Array) -> memoryview:
    start = INT32_BYTES * numbers.offset
    return memoryview(numbers.buffers()[1] or b"")[start : start + INT32_BYTES * len(numbers)]
