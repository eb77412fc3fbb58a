"""One task of a batch: its rows become files, or records of open transactions, and a report.

Owns      the report that a task returns, as one row with pickled bytes.
Promises  a task changes nothing that readers see: files are staged, or in no commit, and
          transactions stay open until the driver decides. Memory is bounded: side records are
          spilled to a temporary file.
Leaves    files to `lake/file_writing.py`, records to `spark/sink/`.
"""

from __future__ import annotations

import pickle
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import IO, Any

import pyarrow as pa
import pyarrow.compute as pc

from ottla.base.fault_points import PipelinePoint, reach
from ottla.pipelines.errors import PipelineError
from ottla.pipelines.lake.columns import KEPT
from ottla.pipelines.lake.file_writing import FilePlan, HourWriter
from ottla.pipelines.lake.hours import is_in_hours, newest_us
from ottla.pipelines.lake.manifest import Counts, LakeFile
from ottla.pipelines.running.chosen_offsets import ChosenOffsets
from ottla.pipelines.running.classify import Classified, classify
from ottla.pipelines.running.side_records import ARROW, side_records
from ottla.pipelines.running.unknown_fields import unknown_fields
from ottla.pipelines.sums.record_sums import Book, add_to, encode_book, fold_arrow
from ottla.pipelines.sums.row_hashes import row_hashes
from ottla.spark.process_model import freeze_imported_modules
from ottla.spark.records.values import DecodedValues, decoder_of
from ottla.spark.sink.messages import Started, TaskWritten
from ottla.spark.sink.plan import BatchOfQuery
from ottla.spark.sink.setup import SinkSetup
from ottla.spark.sink.writers import write_task

REPORT_SCHEMA = "report binary"
LATE_REASON = "late"
SPILL_BYTES = 4 * 1024 * 1024
UNKNOWN_MAX = 100
RAW = "ottla:"  # columns of a batch that are summed and not written


@dataclass(frozen=True)
class SinkPlan:
    """A topic sink that has started, for the tasks of one batch."""

    setup: SinkSetup
    started: Started | None
    wanted: BatchOfQuery
    rows_decided: int | None = None  # by an earlier attempt of the batch

    def write(self, batches: Iterator[pa.RecordBatch]) -> TaskWritten:
        return write_task(self.setup, self.started, self.wanted, batches)


@dataclass(frozen=True)
class ChosenHours:
    """Only rows of these hours are written; or, with `is_outside`, only those of others."""

    hours: frozenset[str | None]
    is_outside: bool = False

    def mask(self, times: pa.Array) -> pa.Array:
        inside = is_in_hours(times, self.hours)
        return pc.invert(inside) if self.is_outside else inside


@dataclass(frozen=True)
class LakePlan:
    pipeline: str
    files: FilePlan
    columns: pa.Schema
    event_time: str  # the column that divides the table into hours
    topic_ids: Mapping[str, str]
    keep: tuple[str, ...] = ()
    value_format: str | None = None  # None: rows are decoded, or bytes
    value_schema: str | None = None
    value_type: pa.DataType | None = None
    is_transformed: bool = False
    late_before_us: int | None = None
    side: SinkPlan | None = None
    bad_topic: str | None = None
    late_topic: str | None = None
    chosen: ChosenHours | None = None
    offsets: ChosenOffsets | None = None  # None: all


@dataclass(frozen=True)
class TaskReport:
    counts: Counts
    files: tuple[LakeFile, ...] = ()
    side: TaskWritten | None = None
    main: TaskWritten | None = None
    newest_us: int | None = None
    excluded: list[dict[str, Any]] = field(default_factory=list)
    unknown_fields: Mapping[str, int] = field(default_factory=dict)


def lake_task(plan: LakePlan, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    freeze_imported_modules()
    yield report_row(LakeTask(plan).run(batches))


def feed_task(plan: SinkPlan, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    freeze_imported_modules()
    written = plan.write(batches)
    for _ in batches:  # a batch that was decided before is not read
        pass
    yield report_row(TaskReport(Counts(written=written.rows), main=written))


def side_task(
    plan: SinkPlan,
    pipeline: str,
    topic: str,
    topic_ids: Mapping[str, str],
    batches: Iterator[pa.RecordBatch],
) -> Iterator[pa.RecordBatch]:
    """Records that could not be decoded, of a batch whose other records were transformed."""
    freeze_imported_modules()
    counted = 0

    def records() -> Iterator[pa.RecordBatch]:
        nonlocal counted
        for batch in batches:
            counted += batch.num_rows
            reasons = batch.column("badReason").to_pylist()
            names = batch.schema.names
            values = batch.set_column(names.index("value"), "value", batch.column("badValue"))
            numbers = range(batch.num_rows)
            yield side_records(values, numbers, reasons, topic, pipeline, topic_ids)

    written = plan.write(records())
    for _ in batches:
        pass
    yield report_row(TaskReport(Counts(bad=counted), side=written))


def report_row(report: TaskReport) -> pa.RecordBatch:
    return pa.record_batch({"report": pa.array([pickle.dumps(report)], pa.binary())})


def without_empty_headers(batch: pa.RecordBatch) -> pa.RecordBatch:
    """Null again where a record has none; see `select_record` in `batch.py`."""
    if "headers" not in batch.schema.names:
        return batch
    headers = batch.column("headers")
    is_empty = pc.equal(pc.list_value_length(headers), 0)
    if not pc.any(is_empty).as_py():
        return batch
    nulls = pa.nulls(batch.num_rows, headers.type)
    restored = nulls if pc.all(is_empty).as_py() else pc.if_else(is_empty, nulls, headers)
    return batch.set_column(batch.schema.names.index("headers"), "headers", restored)


def reports_of(rows: list[Any]) -> list[TaskReport]:
    return [pickle.loads(row["report"]) for row in rows]


class LakeTask:
    def __init__(self, plan: LakePlan) -> None:
        self._plan = plan
        self._decode = None
        if plan.value_format is not None:
            self._decode = decoder_of(plan.value_format, plan.value_schema)
        self._writer = HourWriter(plan.files, plan.columns, self._fold)
        self._side: IO[bytes] = tempfile.SpooledTemporaryFile(SPILL_BYTES)  # noqa: SIM115
        self._side_writer = pa.ipc.new_stream(self._side, ARROW)
        self._side_rows = 0
        self._counts = Counts()
        self._newest: int | None = None
        self._excluded: Book = {}
        self._unknown: Counter[str] = Counter()

    def run(self, batches: Iterator[pa.RecordBatch]) -> TaskReport:
        try:
            for batch in batches:
                chosen = batch if self._plan.offsets is None else self._plan.offsets.rows(batch)
                if chosen.num_rows:
                    self._add(without_empty_headers(chosen))
            files = tuple(self._writer.close())
            side = self._write_side()
            reach(PipelinePoint.TASK_WRITTEN)
        except BaseException:
            self._writer.discard()
            raise
        finally:
            self._side.close()
        unknown = dict(self._unknown.most_common(UNKNOWN_MAX))
        excluded = encode_book(self._excluded)
        return TaskReport(self._counts, files, side, None, self._newest, excluded, unknown)

    def _add(self, batch: pa.RecordBatch) -> None:
        decoded = self._decoded(batch)
        rows = self._rows(batch, decoded)
        times = rows.column(self._plan.event_time)
        reasons = {} if decoded is None else decoded.reasons
        if self._plan.value_format == "json" and self._plan.value_type is not None:
            known = {each.name for each in self._plan.value_type}
            self._unknown.update(unknown_fields(batch.column("value"), known))
        found = classify(times, reasons, self._plan.late_before_us)
        self._write_to_side_topics(batch, found)
        if found.good is not None:
            add_to(self._excluded, self._fold_records(rows.filter(pc.invert(found.good))))
            rows = rows.filter(found.good)
        late = 0 if found.late is None else int(pc.sum(found.late).as_py() or 0)
        good = rows.num_rows
        if self._plan.chosen is not None:
            rows = rows.filter(self._plan.chosen.mask(rows.column(self._plan.event_time)))
        others = good - rows.num_rows
        self._counts += Counts(batch.num_rows, rows.num_rows, others, len(found.bad), late)
        if rows.num_rows:
            times = rows.column(self._plan.event_time)
            newest = newest_us(times)
            if newest is not None:
                self._newest = max(newest, self._newest or newest)
            self._writer.add(rows, times)

    def _decoded(self, batch: pa.RecordBatch) -> DecodedValues | None:
        if self._decode is None:
            return None
        return self._decode(batch.column("value"), self._plan.value_type)

    def _rows(self, batch: pa.RecordBatch, decoded: DecodedValues | None) -> pa.RecordBatch:
        """The columns of the table, and those that are summed."""
        plan = self._plan
        columns: dict[str, pa.Array] = {}
        if plan.is_transformed:
            columns = dict(zip(batch.schema.names, batch.columns, strict=True))
        elif decoded is not None:
            fields = [each.name for each in plan.value_type]  # type: ignore[union-attr]
            columns = dict(zip(fields, decoded.values.flatten(), strict=True))
        else:
            columns["value"] = batch.column("value")
        for name in ("topic", "partition", "offset", "timestamp"):
            columns[name] = batch.column(name)
        if "topic_id" not in columns:
            columns["topic_id"] = self._topic_ids(batch.column("topic"))
        for name in plan.keep:
            columns[f"record_{name}"] = batch.column(name)
        arrays = [columns[each.name].cast(each.type) for each in plan.columns]
        names = list(plan.columns.names)
        if not plan.is_transformed:
            arrays += [batch.column(name) for name in KEPT]
            names += [RAW + name for name in KEPT]
        return pa.RecordBatch.from_arrays(arrays, names)

    def _topic_ids(self, topics: pa.Array) -> pa.Array:
        found = topics.dictionary_encode()
        ids = [self._plan.topic_ids[name] for name in found.dictionary.to_pylist()]
        return pa.array(ids, pa.string()).take(found.indices)

    def _fold(self, rows: pa.RecordBatch) -> Book:
        """Sums of the records, where their bytes are known, and of the rows as they are written."""
        written = rows.select(self._plan.columns.names)
        return self._fold_records(rows, row_hashes(written))

    def _fold_records(self, rows: pa.RecordBatch, hashes: bytearray | None = None) -> Book:
        columns = {
            name: rows.column(name) for name in ("topic_id", "partition", "offset", "timestamp")
        }
        for name in KEPT:
            if RAW + name in rows.schema.names:
                columns[name] = rows.column(RAW + name)
        return fold_arrow(pa.record_batch(columns), row_hashes=hashes)

    # Side records

    def _write_to_side_topics(self, batch: pa.RecordBatch, found: Classified) -> None:
        plan = self._plan
        if found.bad:
            if plan.bad_topic is None:
                self._refuse(batch, found)
            assert plan.bad_topic is not None
            self._spill(batch, list(found.bad), list(found.bad.values()), plan.bad_topic)
        if found.late is not None:
            assert plan.late_topic is not None
            numbers = pc.indices_nonzero(found.late).to_pylist()
            self._spill(batch, numbers, [LATE_REASON] * len(numbers), plan.late_topic)

    def _spill(
        self, batch: pa.RecordBatch, numbers: list[int], reasons: list[str], topic: str
    ) -> None:
        source = batch if not self._plan.is_transformed else as_records(batch)
        records = side_records(
            source, numbers, reasons, topic, self._plan.pipeline, self._plan.topic_ids
        )
        self._side_writer.write_batch(records)
        self._side_rows += len(numbers)

    def _refuse(self, batch: pa.RecordBatch, found: Classified) -> None:
        row, reason = min(found.bad.items())
        origin = [batch.column(name)[row].as_py() for name in ("topic", "partition", "offset")]
        raise PipelineError(
            f"{self._plan.pipeline}: topic {origin[0]}, partition {origin[1]}, offset {origin[2]} "
            f"cannot be decoded: {reason}. Declare `bad: {{topic: ...}}` to write such records "
            "to a topic of their own"
        )

    def _write_side(self) -> TaskWritten | None:
        if self._plan.side is None:
            return None
        self._side_writer.close()
        self._side.seek(0)
        return self._plan.side.write(iter(pa.ipc.open_stream(self._side)))


def as_records(rows: pa.RecordBatch) -> pa.RecordBatch:
    """Rows of a query, whose original bytes are not known: the row as JSON is the value."""
    import json

    values = [json.dumps(row, default=str).encode() for row in rows.to_pylist()]
    columns = {name: rows.column(name) for name in ("topic", "partition", "offset", "timestamp")}
    columns["key"] = pa.nulls(rows.num_rows, pa.binary())
    columns["value"] = pa.array(values, pa.binary())
    return pa.record_batch(columns)
