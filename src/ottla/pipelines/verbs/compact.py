"""Many small files of a closed hour into few large ones.

Owns      choosing the hours, rewriting their files, and one commit that replaces them.
Promises  the rows stay the same: their sums before and after are compared, and the commit is made
          only if they are equal. An hour is closed once the table has rows of the hour after the
          next one. Batches that are committed meanwhile are not touched.
"""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from ottla.pipelines.declaration.tree import Lake, Pipeline
from ottla.pipelines.errors import LakeError, PipelineError
from ottla.pipelines.lake.committing import commit_repair, count_repairs, remove_files
from ottla.pipelines.lake.file_writing import FilePlan, HourWriter
from ottla.pipelines.lake.hours import hour_text
from ottla.pipelines.lake.manifest import COMPACTION, LakeFile, Manifest
from ottla.pipelines.lake.opening import open_table
from ottla.pipelines.lake.ownership import RECORD_TIME
from ottla.pipelines.lake.table import LakeTable, chain, current_files
from ottla.pipelines.sums.record_sums import Book, decode_book, encode_book, fold_arrow, merge_books
from ottla.pipelines.sums.row_hashes import row_hashes
from ottla.pipelines.verbs.progress import Progress

MIB = 1024 * 1024
HOUR_MS = 3_600_000
OPEN_HOURS = 2


@dataclass(frozen=True)
class Compacted:
    hours: int = 0
    files_before: int = 0
    files_after: int = 0
    rows: int = 0


def compact(pipeline: Pipeline, progress: Progress | None = None) -> Compacted:
    progress = progress or Progress()
    lake = pipeline.to
    if not isinstance(lake, Lake):
        raise PipelineError(
            f"{pipeline.location}: {pipeline.name} writes to a topic, not to a lake"
        )
    table = open_table(lake, pipeline.name)
    commits = list(chain(table))[::-1]
    repairs = count_repairs(table)
    columns = table.columns()
    if not commits or columns is None:
        return Compacted()
    current = current_files(commits)
    if set(current) != set(table.files()):
        raise LakeError(
            f"{table.directory}: another program has replaced or removed files of the table, so "
            "that its manifests do not tell its rows. Compact it with that program"
        )
    chosen = choose_hours(current, commits[-1].newest_ms)
    if not chosen:
        return Compacted()
    query = f"compact-{uuid.uuid4().hex[:12]}"
    files: list[LakeFile] = []
    progress.begin(f"{pipeline.name}: compacting hours", len(chosen))
    try:
        for number, group in enumerate(chosen.values()):
            files += rewrite(table, group, columns, lake, query, number)
            progress.add(1)
    except BaseException:
        remove_files(table, files)
        raise
    old = [file for group in chosen.values() for file in group]
    manifest = Manifest(
        pipeline.name,
        query,
        0,
        kind=COMPACTION,
        topics=commits[-1].topics,
        files=tuple(files),
        removed=tuple(file.path for file in old),
    )
    commit_repair(table, manifest, repairs)
    return Compacted(len(chosen), len(old), len(files), sum(file.rows for file in old))


def choose_hours(files: Mapping[str, LakeFile], newest_ms: int | None) -> dict[str, list[LakeFile]]:
    """The closed hours that have several files."""
    if newest_ms is None:
        return {}
    closed_before = hour_text(newest_ms // HOUR_MS - OPEN_HOURS) or ""
    groups: dict[str, list[LakeFile]] = {}
    for file in files.values():
        if file.hour is not None and file.hour < closed_before:
            groups.setdefault(file.hour, []).append(file)
    return {hour: group for hour, group in sorted(groups.items()) if len(group) > 1}


def rewrite(
    table: LakeTable,
    group: Sequence[LakeFile],
    columns: pa.Schema,
    lake: Lake,
    query: str,
    number: int,
) -> list[LakeFile]:
    """New files with the rows of the old ones, in the order of their records."""
    plan = FilePlan(table.directory, query, number, table.is_staged, lake.file_mb * MIB)
    writer = HourWriter(plan, columns, fold_rows)
    try:
        for file in group:
            rows = _read(Path(table.directory) / file.path, columns)
            for batch in rows.to_batches():
                writer.add(batch, batch.column(lake.hourly or RECORD_TIME))
        files = writer.close()
    except BaseException:
        writer.discard()
        raise
    before = merge_books(decode_book(file.sums) for file in group)
    after = merge_books(decode_book(file.sums) for file in files)
    if not is_same(before, after):
        writer.discard()
        raise LakeError(
            f"{table.directory}: the files of the hour {group[0].hour} do not have the rows that "
            "were written: nothing was changed. `ottla audit report` shows what differs"
        )
    return _with_sums(files, before, after)


def _read(path: Path, columns: pa.Schema) -> pa.Table:
    """Columns that were added after the file was written are null."""
    try:
        found = pq.read_table(path, partitioning=None)
    except FileNotFoundError:
        raise LakeError(
            f"{path} is missing, and a commit of the table names it: nothing was changed. "
            "`ottla pipeline backfill` adds its rows again; then repeat this command"
        ) from None
    arrays = [
        found.column(each.name).cast(each.type)
        if each.name in found.column_names
        else pa.nulls(found.num_rows, each.type)
        for each in columns
    ]
    return pa.Table.from_arrays(arrays, schema=columns)


def fold_rows(rows: pa.RecordBatch) -> Book:
    names = ("topic_id", "partition", "offset", "timestamp")
    records = pa.record_batch({name: rows.column(name) for name in names})
    return fold_arrow(records, row_hashes=row_hashes(rows))


def is_same(before: Book, after: Book) -> bool:
    return before.keys() == after.keys() and all(
        (one.count, one.place) == (after[key].count, after[key].place)
        and (one.rows is None or one.rows == after[key].rows)
        for key, one in before.items()
    )


def _with_sums(files: Sequence[LakeFile], before: Book, after: Book) -> list[LakeFile]:
    """The sums of the records' bytes are those of the old files, where one new file has them all:
    the table does not have the bytes."""
    if len(files) != 1 or after.keys() != before.keys():
        return list(files)
    return [replace(files[0], sums=encode_book(before))]
