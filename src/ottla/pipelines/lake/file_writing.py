"""In a task: rows into Parquet files, one or more for each hour.

Owns      the files of one task attempt, their names, and what is known about their contents.
Promises  memory is bounded: rows of an hour are collected to row groups, and all hours together
          stay below `BUFFERED_BYTES`. Files are complete and synced when `close` returns; after an
          error they are removed. Names of attempts never collide.
Leaves    making files part of a table to the driver.
"""

from __future__ import annotations

import contextlib
import os
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from ottla.pipelines.errors import LakeUnavailable
from ottla.pipelines.lake.file_stats import stats_of
from ottla.pipelines.lake.hours import hour_directory, hour_text, split_by_hour
from ottla.pipelines.lake.manifest import LakeFile
from ottla.pipelines.lake.manifest_files import (
    METADATA_DIRECTORY,
    make_directories,
    sync_directory,
)
from ottla.pipelines.lake.orphans import PREFIX
from ottla.pipelines.sums.record_sums import Book, add_to, encode_book

ROW_GROUP_BYTES = 32 * 1024 * 1024
BUFFERED_BYTES = 128 * 1024 * 1024
OPEN_MAX = 32
# Few values repeat in other columns: a dictionary would cost more than it saves.
DICTIONARIES = ("topic", "topic_id", "partition")

# The sums of rows; the second argument has the bytes of their records, if they are known.
Fold = Callable[[pa.RecordBatch], Book]


@dataclass(frozen=True)
class FilePlan:
    """Where the files of a batch go."""

    lake: str
    query: str
    batch: int
    is_staged: bool
    file_bytes: int


@dataclass
class _OpenFile:
    """A file that is being written."""

    path: Path
    final: str
    staged: str | None
    hour: str | None
    writer: Any
    rows: int = 0
    book: Book = field(default_factory=dict)


@dataclass
class _RowGroup:
    """Rows of one hour, which are written as one row group."""

    rows: list[pa.RecordBatch] = field(default_factory=list)
    bytes: int = 0


class HourWriter:
    """`add` takes rows with the columns of the table, and whatever `fold` needs besides."""

    def __init__(self, plan: FilePlan, columns: pa.Schema, fold: Fold) -> None:
        self._plan = plan
        self._columns = columns
        self._fold = fold
        self._attempt = uuid.uuid4().hex[:12]
        self._row_groups: dict[int | None, _RowGroup] = {}
        self._open_files: dict[int | None, _OpenFile] = {}
        self._closed: list[LakeFile] = []
        self._bytes = 0

    def add(self, rows: pa.RecordBatch, times: pa.Array) -> None:
        """LakeUnavailable if the files cannot be written."""
        with self._failures():
            for hour, part in split_by_hour(rows, times):
                group = self._row_groups.setdefault(hour, _RowGroup())
                group.rows.append(part)
                group.bytes += part.nbytes
                self._bytes += part.nbytes
                if group.bytes >= ROW_GROUP_BYTES:
                    self._flush(hour)
            if self._bytes >= BUFFERED_BYTES:
                self._flush_all()

    def close(self) -> list[LakeFile]:
        """LakeUnavailable if the files cannot be written."""
        with self._failures():
            self._flush_all()
            for hour in list(self._open_files):
                self._close(hour)
        return self._closed

    @contextlib.contextmanager
    def _failures(self) -> Iterator[None]:
        """Name the table in errors of the file system: pyarrow's messages have no path."""
        try:
            yield
        except OSError as error:
            raise LakeUnavailable(
                f"{self._plan.lake} cannot be written: {error.strerror or error}; nothing was "
                "committed, and the rows are written again when the batch or the command is "
                "repeated"
            ) from error

    def discard(self) -> None:
        """Remove what was written; the driver removes the rest."""
        for each in self._open_files.values():
            with contextlib.suppress(Exception):
                each.writer.close()
            each.path.unlink(missing_ok=True)
        for file in self._closed:
            (Path(self._plan.lake) / (file.staged or file.path)).unlink(missing_ok=True)

    def _flush_all(self) -> None:
        for hour in list(self._row_groups):
            self._flush(hour)

    def _flush(self, hour: int | None) -> None:
        group = self._row_groups.pop(hour)
        self._bytes -= group.bytes
        if hour not in self._open_files:
            if len(self._open_files) >= OPEN_MAX:
                self._close(next(iter(self._open_files)))
            self._open_files[hour] = self._begin(hour_text(hour))
        file = self._open_files[hour]
        table = pa.Table.from_batches(group.rows).combine_chunks()
        for batch in table.to_batches():
            add_to(file.book, self._fold(batch))
        file.writer.write_table(table.select(self._columns.names), row_group_size=table.num_rows)
        file.rows += table.num_rows
        if file.path.stat().st_size >= self._plan.file_bytes:
            self._close(hour)

    def _begin(self, hour: str | None) -> _OpenFile:
        plan = self._plan
        number = len(self._closed) + len(self._open_files)
        name = f"{PREFIX}{plan.query}-{plan.batch:06}-{self._attempt}-{number:03}.parquet"
        final = f"{hour_directory(hour)}/{name}"
        staged = (
            f"{METADATA_DIRECTORY}/staging/{plan.query}-{plan.batch:06}/{name}"
            if plan.is_staged
            else None
        )
        path = Path(plan.lake) / (staged or final)
        make_directories(path.parent)
        names = [each for each in DICTIONARIES if each in self._columns.names]
        writer = pq.ParquetWriter(str(path), self._columns, use_dictionary=names)
        return _OpenFile(path, final, staged, hour, writer)

    def _close(self, hour: int | None) -> None:
        file = self._open_files[hour]
        file.writer.close()
        with open(file.path, "rb") as written:
            os.fsync(written.fileno())
        sync_directory(file.path.parent)
        del self._open_files[hour]
        self._closed.append(
            LakeFile(
                file.final,
                file.rows,
                file.path.stat().st_size,
                file.hour,
                file.staged,
                encode_book(file.book),
                stats_of(pq.read_metadata(str(file.path))),
            )
        )
