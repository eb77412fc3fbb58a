"""Tasks that read their records from the topics themselves, and write them to a lake.

A lake without a query needs nothing of Spark but its tasks. The records of the batch's DataFrame
would go from a Python process to the JVM, become rows there one by one, and go back to another
Python process: that costs more than fetching, decoding and writing them.

Owns      the job: a number for each task, and what the task with that number reads.
Promises  the same ranges, losses and errors as the data source: planning and reading are its own.
Leaves    what is done with the records to `tasks.py`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

import pyarrow as pa

from ottla.pipelines.running.tasks import (
    REPORT_SCHEMA,
    LakePlan,
    LakeTask,
    TaskReport,
    report_row,
    reports_of,
)
from ottla.spark.planning.read_tasks import ReadPlan
from ottla.spark.planning.stream_offsets import StreamOffsets
from ottla.spark.process_model import freeze_imported_modules
from ottla.spark.records.schema import full_schema
from ottla.spark.source.query import parse_query
from ottla.spark.source.stream_reader import StreamReader
from ottla.spark.source.task_reader import read_task


class TopicReader:
    """Reads batches of a stream with these options of the data source."""

    def __init__(self, options: Mapping[str, str]) -> None:
        self._query = parse_query(options, full_schema(with_headers=True), is_stream=True)

    def write(
        self, spark: Any, start: StreamOffsets, end: StreamOffsets, plan: LakePlan
    ) -> list[TaskReport]:
        """Have tasks write the records between these offsets; their reports."""
        tasks = self._tasks(start, end)
        if not tasks:
            return []
        count = len(tasks)
        numbers = spark.range(0, count, 1, count)  # one in each task
        task = _ReadingTask(plan, self._query.read_plan(), tasks)
        return reports_of(numbers.mapInArrow(task, REPORT_SCHEMA).collect())

    def _tasks(self, start: StreamOffsets, end: StreamOffsets) -> Sequence[Any]:
        reader = StreamReader(self._query)
        try:
            return reader.partitions(start.to_json(), end.to_json())
        finally:
            reader.stop()


@dataclass(frozen=True)
class _ReadingTask:
    """Pickled to the tasks, all with the same plans."""

    plan: LakePlan
    reading: ReadPlan
    tasks: Sequence[Any]

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        freeze_imported_modules()
        numbers = [number for batch in batches for number in batch.column("id").to_pylist()]
        read = (read_task(self.reading, self.tasks[number]) for number in numbers)
        yield report_row(LakeTask(self.plan).run(chain.from_iterable(read)))
