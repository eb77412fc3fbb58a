"""Adding to a table the records that it lacks.

Owns      finding them, reading them again, and one commit with their rows.
Promises  only offsets that the table does not have are added, so that a backfill may be repeated;
          a record is bad or late as in the batch that read it first, and is not written to
          its topic again.
          Two backfills at the same time do not add a row twice: one of them is refused.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow.compute as pc

from ottla.client.cluster.cluster import Cluster
from ottla.pipelines.declaration.tree import Declaration, Lake, Pipeline
from ottla.pipelines.errors import PipelineError
from ottla.pipelines.lake.committing import commit_repair, count_repairs
from ottla.pipelines.lake.hours import hour_name
from ottla.pipelines.lake.manifest import BACKFILL, Manifest
from ottla.pipelines.lake.opening import open_table
from ottla.pipelines.lake.table import LakeTable, chain, current_files, missing_files
from ottla.pipelines.running.batch import total
from ottla.pipelines.running.cluster_options import client_settings
from ottla.pipelines.running.tasks import TaskReport
from ottla.pipelines.verbs.log_starts import ranges_text, split_at_log_starts
from ottla.pipelines.verbs.missing import (
    Ranges,
    TablePartition,
    covered,
    difference,
    missing_ranges,
    parse_offsets,
    size,
)
from ottla.pipelines.verbs.progress import Progress
from ottla.pipelines.verbs.rereading import Rereading
from ottla.pipelines.verbs.times import ALWAYS, Times, after_start, within

RECORD_COLUMNS = ["topic_id", "partition", "offset"]


@dataclass(frozen=True)
class Backfilled:
    """`missing` are offsets, `added` rows: some offsets have no record, or none for the table.
    `deleted` are offsets that the table does not have, and the log neither."""

    missing: int
    added: int
    bad: int
    late: int
    files: int
    dropped_files: tuple[str, ...]
    deleted: int = 0


def backfill(
    declared: Declaration,
    pipeline: Pipeline,
    offsets: Sequence[str],
    open_session: Callable[[], Any],
    times: Times = ALWAYS,
    progress: Progress | None = None,
) -> Backfilled:
    """Add `offsets` (`TOPIC:PARTITION:FIRST-LAST`), or all that the table should have; with `times`
    only records with these timestamps. Spark is started only if much is missing, or for sql and
    Python."""
    progress = progress or Progress()
    table = table_of(pipeline)
    found = table.hours()  # first: files that are published meanwhile are not those of others
    commits = list(chain(table))[::-1]
    if not commits:
        raise PipelineError(f"{pipeline.name} has written nothing yet: run it first")
    repairs = count_repairs(table)
    files = lost_files(table, commits, found)
    topics = {name: each for manifest in commits for name, each in manifest.topics.items()}
    read: Ranges = covered(commits)
    wanted: Ranges = parse_offsets(offsets, topics) if offsets else read
    if unread := difference(wanted, read):
        raise PipelineError(
            f"{pipeline.name}: {ranges_text(unread, topics)} was never read by the pipeline: leave "
            "it out of --offsets; the next run reads what is new. Nothing was changed"
        )
    with Cluster(client_settings(declared.cluster_of(pipeline.source.cluster))) as cluster:
        missing, deleted = find_missing(cluster, table, wanted, topics, times, progress)
    if deleted and offsets:
        raise PipelineError(
            f"{pipeline.name}: retention has deleted {ranges_text(deleted, topics)} from the log: "
            "they cannot be read again. Nothing was changed; leave them out of --offsets"
        )
    if not missing and not files.dropped:
        return Backfilled(0, 0, 0, 0, 0, (), size(deleted))
    query = f"backfill-{uuid.uuid4().hex[:12]}"
    again = Rereading(declared, pipeline, table, query, topics, open_session, progress)
    try:
        again.read(missing, commits)
        check_hours(pipeline, files, again.reports)
    except BaseException:
        again.discard()
        raise
    manifest = _manifest(pipeline, query, topics, missing, again.reports, files)
    commit_repair(table, manifest, repairs)
    counts = manifest.counts
    return Backfilled(
        size(missing),
        counts.written,
        counts.bad,
        counts.late,
        len(manifest.files),
        files.dropped,
        size(deleted),
    )


def find_missing(
    cluster: Cluster,
    table: LakeTable,
    wanted: Ranges,
    topics: Mapping[str, str],
    times: Times,
    progress: Progress,
) -> tuple[Ranges, Ranges]:
    """The wanted offsets that the table does not have: those in the log, and those that retention
    has deleted from it."""
    progress.begin("reading the offsets of the table")
    names = {each: name for name, each in topics.items()}
    wanted = after_start(cluster, wanted, names, times)
    missing = missing_ranges(wanted, present_offsets(table))
    missing, deleted = split_at_log_starts(cluster, missing, topics)
    if times != ALWAYS:
        progress.begin("reading the timestamps of missing records")
        missing = within(cluster, missing, names, times)
    return missing, deleted


@dataclass(frozen=True)
class LostFiles:
    """Files that the commits name, and that are missing. `dropped` are those that the table still
    has; others have been removed from it by another program: they are `forgotten`, unless their
    hour is `rewritten`, so that their rows may be in files which no commit names."""

    dropped: tuple[str, ...]
    forgotten: tuple[str, ...]
    rewritten: frozenset[str | None]


def lost_files(
    table: LakeTable, commits: Sequence[Manifest], found: Mapping[str, str | None]
) -> LostFiles:
    """`found` are the files of the table and their hours, from before the commits were read."""
    known = {file.path for each in commits for file in each.files}
    named, missing = current_files(commits), missing_files(table)
    current = set(table.files())
    # Files of a batch that is being published right now are missing, too.
    dropped = [path for path in missing if path in known or not table.is_staged]
    removed = [path for path in named if path not in current]
    strange = {hour for path, hour in found.items() if path not in known}
    hours = {path: named[path].hour for path in (*dropped, *removed) if path in named}
    return LostFiles(
        tuple(dropped),
        tuple(path for path in removed if hours[path] not in strange),
        frozenset(strange.intersection(hours.values())),
    )


def check_hours(pipeline: Pipeline, files: LostFiles, reports: Sequence[TaskReport]) -> None:
    """PipelineError for hours whose rows may be in files of another program."""
    added = {file.hour for each in reports for file in each.files}
    if refused := sorted(hour_name(hour) for hour in added & files.rewritten):
        raise PipelineError(
            f"{pipeline.name}: another program has rewritten files of the hours "
            f"{', '.join(refused)}. Nothing was changed; write these hours again: ottla pipeline "
            f"backfill FILE {pipeline.name} --replace --hours {' '.join(refused)}"
        )


def table_of(pipeline: Pipeline) -> LakeTable:
    if not isinstance(pipeline.to, Lake):
        raise PipelineError(
            f"{pipeline.location}: {pipeline.name} writes to a topic: only a lake has rows "
            "to repair"
        )
    return open_table(pipeline.to, pipeline.name)


def present_offsets(table: LakeTable) -> Mapping[TablePartition, npt.NDArray[np.int64]]:
    """The sorted offsets of all rows."""
    rows = table.rows(RECORD_COLUMNS)
    found: dict[TablePartition, npt.NDArray[np.int64]] = {}
    for topic_id in pc.unique(rows.column("topic_id")).to_pylist():
        of_topic = rows.filter(pc.equal(rows.column("topic_id"), topic_id))
        for number in pc.unique(of_topic.column("partition")).to_pylist():
            mask = pc.equal(of_topic.column("partition"), number)
            offsets = of_topic.filter(mask).column("offset").to_numpy()
            found[TablePartition(topic_id, number)] = np.unique(offsets)
    return found


def _manifest(
    pipeline: Pipeline,
    query: str,
    topics: Mapping[str, str],
    missing: Ranges,
    reports: Sequence[TaskReport],
    files: LostFiles,
) -> Manifest:
    low: dict[str, dict[str, int]] = {}
    for partition, spans in missing.items():
        low.setdefault(partition.topic_id, {})[str(partition.partition)] = spans[0][0]
    return Manifest(
        pipeline.name,
        query,
        0,
        kind=BACKFILL,
        topics=topics,
        starts=low,
        counts=total(reports),
        files=tuple(file for each in reports for file in each.files),
        removed=files.dropped,
        forgotten=files.forgotten,
    )
