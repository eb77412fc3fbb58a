"""Whole hours of a table written again from the log: doubled, changed and foreign rows are
removed, missing ones are added.

Owns      choosing the hours, reading their records, and one commit that replaces their files.
Promises  readers see the old rows or the new ones. Rows that batches add meanwhile stay. An hour
          whose records the log no longer has is left as it is, with an error.
Leaves    reading to `rereading.py`. Hours are those of the event time, as in the table.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from ottla.client.cluster.cluster import Cluster
from ottla.pipelines.declaration.tree import Declaration, Pipeline
from ottla.pipelines.errors import LakeUnavailable, PipelineError
from ottla.pipelines.lake.committing import commit_repair, count_repairs
from ottla.pipelines.lake.hours import NO_HOUR, hour_name, hour_number
from ottla.pipelines.lake.manifest import REPLACEMENT, Manifest
from ottla.pipelines.lake.table import LakeTable, chain, current_files
from ottla.pipelines.running.batch import total
from ottla.pipelines.running.cluster_options import client_settings
from ottla.pipelines.running.tasks import ChosenHours, TaskReport
from ottla.pipelines.sums.record_sums import decode_book
from ottla.pipelines.verbs.backfill import RECORD_COLUMNS, table_of
from ottla.pipelines.verbs.log_starts import compacted_topics, ranges_text, split_at_log_starts
from ottla.pipelines.verbs.missing import (
    Range,
    Ranges,
    TablePartition,
    covered,
    intersection,
    merged,
    missing_ranges,
    parse_offsets,
)
from ottla.pipelines.verbs.progress import Progress
from ottla.pipelines.verbs.rereading import Rereading
from ottla.pipelines.verbs.times import ALWAYS, Times

HOUR_MS = 3_600_000
LOOKS_MAX = 20


@dataclass(frozen=True)
class Replaced:
    hours: tuple[str, ...] = ()
    rows_before: int = 0
    rows_after: int = 0
    files_before: int = 0
    files_after: int = 0
    bad: int = 0
    late: int = 0


@dataclass(frozen=True)
class View:
    """A table at one moment: its files with their hours, and its commits, the oldest first."""

    files: Mapping[str, str | None]
    commits: Sequence[Manifest]
    repairs: int

    @property
    def topics(self) -> dict[str, str]:
        return {name: each for one in self.commits for name, each in one.topics.items()}


def replace_hours(
    declared: Declaration,
    pipeline: Pipeline,
    hours: Sequence[str],
    offsets: Sequence[str],
    open_session: Callable[[], Any],
    times: Times = ALWAYS,
    progress: Progress | None = None,
) -> Replaced:
    """The hours that are named, those within `times`, and those of rows with these `offsets`."""
    progress = progress or Progress()
    table = table_of(pipeline)
    named = parse_hours(hours)
    view = look(table)
    progress.begin("looking for the offsets in the table")
    if not view.commits:
        raise PipelineError(f"{pipeline.name} has written nothing yet: run it first")
    wanted = parse_offsets(offsets, view.topics)
    chosen = frozenset(named | hours_within(view, times) | hours_with(table, view, wanted))
    if not chosen and not wanted:
        raise PipelineError(f"{pipeline.name} has no rows of such hours")
    inside = hour_ranges(view, chosen, wanted)
    missing = missing_ranges(wanted, present_in(table, view, wanted))
    check_readable(declared, pipeline, view.topics, merged([inside, missing]))
    query = f"replace-{uuid.uuid4().hex[:12]}"
    again = Rereading(declared, pipeline, table, query, view.topics, open_session, progress)
    try:
        again.read(inside, view.commits, ChosenHours(chosen))
        again.read(missing, view.commits, ChosenHours(chosen, is_outside=True))
        manifest = _manifest(pipeline, query, view, chosen, again.reports)
        rows_before = sum(_row_count(Path(table.directory) / path) for path in manifest.removed)
    except BaseException:
        again.discard()
        raise
    commit_repair(table, manifest, view.repairs)
    return _replaced(chosen, manifest, rows_before)


def _manifest(
    pipeline: Pipeline,
    query: str,
    view: View,
    hours: Collection[str | None],
    reports: Sequence[TaskReport],
) -> Manifest:
    """The commit that replaces the files of the hours by those of the reports."""
    return Manifest(
        pipeline.name,
        query,
        0,
        kind=REPLACEMENT,
        topics=view.topics,
        counts=total(reports),
        files=tuple(file for each in reports for file in each.files),
        removed=tuple(sorted(path for path, hour in view.files.items() if hour in hours)),
        forgotten=forgotten_files(view, hours),
    )


def _replaced(hours: Collection[str | None], manifest: Manifest, rows_before: int) -> Replaced:
    return Replaced(
        tuple(sorted(map(hour_name, hours))),
        rows_before,
        sum(file.rows for file in manifest.files),
        len(manifest.removed),
        len(manifest.files),
        manifest.counts.bad,
        manifest.counts.late,
    )


def look(table: LakeTable) -> View:
    """A file that a batch publishes meanwhile must not be mistaken for a foreign one: the files are
    those of the commits."""
    for _ in range(LOOKS_MAX):
        before = table.hours()
        commits = list(chain(table))[::-1]
        repairs = count_repairs(table)
        if before == table.hours():
            return View(before, commits, repairs)
    raise LakeUnavailable(f"{table.directory} changes all the time: stop the pipeline, and repeat")


def parse_hours(words: Iterable[str]) -> set[str | None]:
    found: set[str | None] = set()
    for word in words:
        try:
            hour_number(word if word != NO_HOUR else None)
        except ValueError:
            raise PipelineError(f"{word} is no hour, such as 2026-03-01-10") from None
        found.add(None if word == NO_HOUR else word)
    return found


def hours_within(view: View, times: Times) -> set[str | None]:
    """Hours of the table that begin within the times."""
    if times == ALWAYS:
        return set()
    known = {file.hour for each in view.commits for file in each.files} | set(view.files.values())
    return {hour for hour in known if hour is not None and _begins_within(hour, times)}


def _begins_within(hour: str, times: Times) -> bool:
    at_ms = (hour_number(hour) or 0) * HOUR_MS
    low = times.from_ms is None or at_ms > times.from_ms - HOUR_MS
    return low and (times.to_ms is None or at_ms < times.to_ms)


def hours_with(table: LakeTable, view: View, wanted: Ranges) -> set[str | None]:
    """Hours with files that have rows of these offsets."""
    return {
        hour
        for path, hour in view.files.items()
        if wanted and present_in(table, view, wanted, [path])
    }


def present_in(
    table: LakeTable, view: View, wanted: Ranges, paths: Collection[str] | None = None
) -> dict[TablePartition, Any]:
    """The offsets of rows that are among the wanted ones, sorted; of the files that are there."""
    found: dict[TablePartition, Any] = {}
    chosen = view.files if paths is None else paths
    for path in (Path(table.directory) / each for each in chosen):
        if not path.exists():
            continue
        rows = pq.read_table(path, columns=RECORD_COLUMNS, partitioning=None)
        for table_partition, spans in wanted.items():
            is_mine = pc.and_(
                pc.equal(rows.column("topic_id").cast(pa.string()), table_partition.topic_id),
                pc.equal(rows.column("partition"), table_partition.partition),
            )
            offsets = rows.column("offset").filter(is_mine).to_numpy()
            mask = np.zeros(len(offsets), bool)
            for low, high in spans:
                mask |= (offsets >= low) & (offsets < high)
            if mask.any():
                found[table_partition] = np.union1d(
                    found.get(table_partition, np.empty(0, np.int64)), offsets[mask]
                )
    return found


def hour_ranges(view: View, hours: Collection[str | None], wanted: Ranges) -> Ranges:
    """Offsets among which all records of the hours are: those that any commit wrote to them."""
    found: dict[TablePartition, list[Range]] = {}
    for manifest in view.commits:
        for file in manifest.files:
            if file.hour in hours:
                for key, sums in decode_book(file.sums).items():
                    table_partition = TablePartition(key.topic_id, key.partition)
                    found.setdefault(table_partition, []).append(
                        (sums.first_offset, sums.last_offset + 1)
                    )
    ranges = merged([found, wanted]) if hours else {}
    return intersection(ranges, covered(view.commits))


def forgotten_files(view: View, hours: Collection[str | None]) -> tuple[str, ...]:
    """Files that the commits name and the table does not have: another program, or an accident,
    has removed them."""
    named = current_files(view.commits)
    return tuple(
        path for path, file in named.items() if file.hour in hours and path not in view.files
    )


def check_readable(
    declared: Declaration, pipeline: Pipeline, topics: Mapping[str, str], ranges: Ranges
) -> None:
    names = {topic_id: name for name, topic_id in topics.items()}
    with Cluster(client_settings(declared.cluster_of(pipeline.source.cluster))) as cluster:
        _, deleted = split_at_log_starts(cluster, ranges, topics)
        compacted = compacted_topics(cluster, sorted({names[each.topic_id] for each in ranges}))
    if deleted:
        raise PipelineError(
            f"{pipeline.name}: the log no longer has {ranges_text(deleted, topics)}: the hours "
            "would lose their rows. Nothing was changed; hours whose records are all in the log "
            "can be replaced, and `backfill` without --replace adds what is missing"
        )
    if compacted:
        raise PipelineError(
            f"{pipeline.name}: the topic {compacted[0]} is compacted, and the log may lack records "
            "that the table has: its hours are not replaced. Nothing was changed"
        )


def _row_count(path: Path) -> int:
    """0 if something has removed the file."""
    return int(pq.read_metadata(path).num_rows) if path.exists() else 0
