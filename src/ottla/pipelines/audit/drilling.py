"""From a bucket to its offsets: which records are missing in a table, and which are there twice.

Owns      comparing the offsets of a log with the rows of a table, for one bucket.
Promises  offsets are compared one by one, so that the lists are exact. A log whose records were
          deleted meanwhile is named.
Leaves    which bucket is at fault to `books.py`, the repair to `repair_command.py`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from ottla.base.ids import TopicPartition
from ottla.base.uuids import uuid_from_text
from ottla.client.admin.list_offsets import earliest_offsets
from ottla.client.cluster.cluster import Cluster
from ottla.pipelines.audit.lake_tables import (
    METADATA_DIRECTORY,
    RECORD_COLUMNS,
    LakeReader,
    manifests,
)
from ottla.pipelines.audit.lake_tier import read_booked, with_content_columns
from ottla.pipelines.audit.reports import PartitionId, Tier
from ottla.pipelines.audit.side_topics import Excluded
from ottla.pipelines.committed_records import committed_records
from ottla.pipelines.sums.record_sums import (
    UNDATED,
    Book,
    BucketKey,
    HashSums,
    Sums,
    add_to,
    fold_arrow,
    milliseconds,
)
from ottla.pipelines.sums.row_hashes import row_hashes
from ottla.protocol.records._plain_sums import DATED_FROM_MS, DATED_UNTIL_MS
from ottla.protocol.records.arrow import SCHEMA_WITH_HEADERS

Range = tuple[int, int]  # the end is one after the last


@dataclass(frozen=True)
class Drill:
    """What is wrong with one bucket of one partition."""

    key: BucketKey
    topic: str
    in_log: int
    in_table: int
    missing: tuple[Range, ...] = ()
    doubled: tuple[Range, ...] = ()
    unknown: tuple[Range, ...] = ()  # in the table, and not in the log
    changed: tuple[int, ...] = ()  # offsets of rows that differ from their records
    changed_files: tuple[str, ...] = ()  # files whose rows are not those that were written
    suspect: tuple[Range, ...] = ()  # rows of which some differ, and which ones is not known
    deleted_before: int | None = None  # the log begins here; older offsets cannot be compared

    @property
    def has_wrong_rows(self) -> bool:
        """Rows that adding others does not repair."""
        return bool(
            self.doubled or self.unknown or self.changed or self.changed_files or self.suspect
        )


def drill(
    cluster: Cluster,
    reference: Tier,
    table: LakeReader,
    key: BucketKey,
    excluded: Excluded | None = None,
    *,
    start: int = 0,
    is_changed: bool = False,
) -> Drill:
    """`excluded` are bad and late records: they are not missing, nor are those before `start`,
    where the table begins. With `is_changed` the sums say that rows differ."""
    report = reference.buckets.get(key)
    sums = None if report is None else report.sums
    topic = reference.topics().get(key.topic_id, key.topic_id)
    rows = _table_rows(table, key)
    keeps_content = "value" in rows.column_names
    log, log_start = _log_rows(cluster, topic, key, sums, keeps_content)
    log = log.filter(pc.greater_equal(log.column("offset"), start))
    in_log, in_table = log.column("offset"), rows.column("offset")
    aside = (excluded or {}).get(PartitionId(key.topic_id, key.partition), {})
    counts = pc.value_counts(in_table.combine_chunks())
    is_cut = sums is not None and log_start > sums.first_offset
    in_reach = in_table.filter(pc.greater_equal(in_table, log_start)) if is_cut else in_table
    missing = _difference(
        _difference(in_log, in_table), pa.chunked_array([list(aside)], pa.int64())
    )
    changed = _changed_offsets(log, rows, key) if keeps_content else ()
    files = changed_files(table, key)
    is_unclear = is_changed and not changed and not files
    return Drill(
        key,
        topic,
        len(in_log),
        len(in_table),
        ranges_of(missing.to_pylist()),
        ranges_of(counts.field("values").filter(pc.greater(counts.field("counts"), 1)).to_pylist()),
        ranges_of(_difference(in_reach, in_log).to_pylist()),
        changed,
        files,
        ranges_of(set(in_table.to_pylist())) if is_unclear else (),
        log_start if is_cut else None,
    )


def _difference(one: pa.ChunkedArray, other: pa.ChunkedArray) -> pa.ChunkedArray:
    return one.filter(pc.invert(pc.is_in(one, other)))


def ranges_of(offsets: Iterable[int]) -> tuple[Range, ...]:
    found: list[list[int]] = []
    for offset in sorted(offsets):
        if found and found[-1][1] == offset:
            found[-1][1] = offset + 1
        else:
            found.append([offset, offset + 1])
    return tuple((start, end) for start, end in found)


def _log_rows(
    cluster: Cluster, topic: str, key: BucketKey, sums: Sums | None, with_content: bool
) -> tuple[pa.Table, int]:
    """The committed records of the bucket that are in the log still, and where the log begins."""
    at = TopicPartition(topic, key.partition)
    log_start = earliest_offsets(cluster, [at])[at]
    columns = SCHEMA_WITH_HEADERS.names if with_content else ["offset"]
    found = [SCHEMA_WITH_HEADERS.empty_table().select(columns)]
    if sums is None or log_start > sums.last_offset:
        return found[0], log_start
    start, end = max(log_start, sums.first_offset), sums.last_offset + 1
    topic_id = uuid_from_text(key.topic_id)
    for batch in committed_records(cluster, at, topic_id, start, end, with_headers=True):
        chosen = batch.filter(is_inside(batch, key)).select(columns)
        found.append(pa.Table.from_batches([chosen]))
    return pa.concat_tables(found), log_start


def is_inside(batch: pa.RecordBatch, key: BucketKey) -> pa.Array:
    """A mask of the rows that belong to the bucket."""
    times = milliseconds(batch.column("timestamp"))
    if key.bucket == UNDATED:
        return pc.or_(pc.less(times, DATED_FROM_MS), pc.greater_equal(times, DATED_UNTIL_MS))
    return pc.and_(pc.greater_equal(times, key.start_ms), pc.less(times, key.end_ms))


def _table_rows(table: LakeReader, key: BucketKey) -> pa.Table:
    parts = []
    for batch in table.batches():
        mine = pc.and_(
            pc.equal(batch.column("topic_id"), key.topic_id),
            pc.equal(batch.column("partition"), key.partition),
        )
        rows = with_content_columns(batch).filter(pc.and_(mine, is_inside(batch, key)))
        if rows.num_rows:
            parts.append(rows)
    if not parts:
        return pa.table({name: pa.array([], pa.int64()) for name in RECORD_COLUMNS})
    return pa.Table.from_batches(parts)


def _changed_offsets(log: pa.Table, rows: pa.Table, key: BucketKey) -> tuple[int, ...]:
    """Rows whose original bytes differ from those of their records."""
    known = _content_by_offset(log, key)
    found = _content_by_offset(rows, key)
    return tuple(sorted(at for at, sums in found.items() if at in known and known[at] != sums))


def _content_by_offset(table: pa.Table, key: BucketKey) -> dict[int, HashSums | None]:
    found = {}
    for batch in table.to_batches():
        for number, offset in enumerate(batch.column("offset").to_pylist()):
            row = batch.slice(number, 1)
            sums = fold_arrow(row, topic_id=key.topic_id, partition=key.partition)
            found[offset] = sums[key].content
    return found


def changed_files(table: LakeReader, key: BucketKey) -> tuple[str, ...]:
    """Files whose rows of the bucket are not those that their writer booked. Files that are no
    longer in the table are among them if rows of the bucket are in files that no commit names:
    another program has rewritten them."""
    booked = read_booked(manifests(table)).files
    found, strange = [], []
    for path in table.files():
        name = str(path.relative_to(table.directory))
        written = booked.get(name, {}).get(key)
        if name not in booked and not name.startswith(METADATA_DIRECTORY):
            strange.append(path)
        elif written is not None and written.rows is not None and path.exists():
            total = _book_of_file(path).get(key)
            if total is None or total.rows != written.rows:
                found.append(name)
    committed = table.committed()
    missing = [
        name
        for name, book in booked.items()
        if key in book and not (name in committed and (table.directory / name).exists())
    ]
    is_rewritten = missing and any(path.exists() and _has_rows(path, key) for path in strange)
    return (*found, *missing) if is_rewritten else tuple(found)


def _has_rows(path: Path, key: BucketKey) -> bool:
    """Whether a file has rows of the bucket, whatever types its writer has chosen for texts."""
    import pyarrow.parquet as pq

    for batch in pq.ParquetFile(path).iter_batches(columns=list(RECORD_COLUMNS)):
        mine = pc.and_(
            pc.equal(batch.column("topic_id").cast(pa.string()), key.topic_id),
            pc.equal(batch.column("partition"), key.partition),
        )
        if pc.any(pc.and_(mine, is_inside(batch, key))).as_py():
            return True
    return False


def _book_of_file(path: Path) -> Book:
    import pyarrow.parquet as pq

    total: Book = {}
    for batch in pq.ParquetFile(path).iter_batches():
        add_to(total, fold_arrow(with_content_columns(batch), row_hashes=row_hashes(batch)))
    return total


def missing_files(table: LakeReader) -> list[str]:
    """Files that were committed, and are not there."""
    booked = read_booked(manifests(table)).files
    return sorted(name for name in booked if not (table.directory / name).exists())
