"""From a bucket to its offsets: which records are missing in a table, and which are there twice.

Owns      comparing the offsets of a log with the rows of a table, for one bucket.
Promises  offsets are compared one by one, so that the lists are exact. A log whose records were
          deleted meanwhile is named.
Leaves    which bucket is at fault to `books.py`, the repair to `ottla pipeline backfill`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from ottla.base.ids import TopicPartition
from ottla.base.uuids import uuid_from_text
from ottla.client.admin.list_offsets import earliest_offsets
from ottla.client.cluster.cluster import Cluster
from ottla.client.fetching.fetcher import fetch_range
from ottla.client.settings import READ_COMMITTED
from ottla.pipelines.audit.lake_tables import PLACE_COLUMNS, LakeReader, manifests
from ottla.pipelines.audit.lake_tier import read_booked, with_content_columns
from ottla.pipelines.audit.reports import PartitionId, Tier
from ottla.pipelines.audit.row_hashes import row_hashes
from ottla.pipelines.audit.side_topics import LeftOut
from ottla.pipelines.audit.sums import BucketKey, Sums, add_to, fold_arrow, milliseconds
from ottla.protocol.records.arrow import read_arrow

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
    deleted_before: int | None = None  # the log begins here; older offsets cannot be compared


def drill(
    cluster: Cluster,
    reference: Tier,
    table: LakeReader,
    key: BucketKey,
    left_out: LeftOut | None = None,
) -> Drill:
    """`left_out` are records that the pipeline put aside: they are not missing."""
    report = reference.buckets.get(key)
    sums = None if report is None else report.sums
    topic = reference.topics().get(key.topic_id, key.topic_id)
    in_log, log_start = _log_rows(cluster, topic, key, sums)
    rows = _table_rows(table, key)
    in_table = Counter(rows.column("offset").to_pylist())
    first = 0 if sums is None else sums.first_offset
    is_cut = sums is not None and log_start > first
    expected = set(in_log)
    aside = (left_out or {}).get(PartitionId(key.topic_id, key.partition), {})
    covered = [each for each in in_table if not is_cut or each >= log_start]
    return Drill(
        key,
        topic,
        len(expected),
        sum(in_table.values()),
        ranges_of(expected - in_table.keys() - aside.keys()),
        ranges_of(offset for offset, count in in_table.items() if count > 1),
        ranges_of(offset for offset in covered if offset not in expected),
        _changed_offsets(in_log, rows, key),
        changed_files(table, key),
        log_start if is_cut else None,
    )


def ranges_of(offsets: Iterable[int]) -> tuple[Range, ...]:
    found: list[list[int]] = []
    for offset in sorted(offsets):
        if found and found[-1][1] == offset:
            found[-1][1] = offset + 1
        else:
            found.append([offset, offset + 1])
    return tuple((start, end) for start, end in found)


def _log_rows(
    cluster: Cluster, topic: str, key: BucketKey, sums: Sums | None
) -> tuple[dict[int, pa.RecordBatch], int]:
    """The committed records of the bucket that are in the log still, and where the log begins."""
    at = TopicPartition(topic, key.partition)
    log_start = earliest_offsets(cluster, [at])[at]
    found: dict[int, pa.RecordBatch] = {}
    if sums is None or log_start > sums.last_offset:
        return found, log_start
    start, end = max(log_start, sums.first_offset), sums.last_offset + 1
    topic_id = uuid_from_text(key.topic_id)
    for fetched in fetch_range(
        cluster, at, start, end, topic_id=topic_id, isolation_level=READ_COMMITTED
    ):
        for batch in read_arrow(
            fetched.data,
            from_offset=max(start, fetched.start_offset),
            end_offset=min(end, fetched.end_offset),
            with_headers=True,
            is_wanted=fetched.is_wanted,
        ):
            chosen = batch.filter(_is_inside(batch, key))
            offsets = chosen.column("offset").to_pylist()
            found.update({offset: chosen.slice(n, 1) for n, offset in enumerate(offsets)})
    return found, log_start


def _is_inside(batch: pa.RecordBatch, key: BucketKey) -> pa.Array:
    times = milliseconds(batch.column("timestamp"))
    return pc.and_(pc.greater_equal(times, key.start_ms), pc.less(times, key.end_ms))


def _table_rows(table: LakeReader, key: BucketKey) -> pa.Table:
    parts = []
    for batch in table.batches():
        mine = pc.and_(
            pc.equal(batch.column("topic_id"), key.topic_id),
            pc.equal(batch.column("partition"), key.partition),
        )
        rows = with_content_columns(batch).filter(pc.and_(mine, _is_inside(batch, key)))
        if rows.num_rows:
            parts.append(rows)
    if not parts:
        return pa.table({name: pa.array([], pa.int64()) for name in PLACE_COLUMNS})
    return pa.Table.from_batches(parts)


def _changed_offsets(
    in_log: dict[int, pa.RecordBatch], rows: pa.Table, key: BucketKey
) -> tuple[int, ...]:
    """Rows whose original bytes differ; only of tables that keep them."""
    if "value" not in rows.column_names:
        return ()
    changed = []
    for batch in rows.to_batches():
        for number, offset in enumerate(batch.column("offset").to_pylist()):
            if offset not in in_log:
                continue
            found = [
                fold_arrow(row, topic_id=key.topic_id, partition=key.partition)[key]
                for row in (batch.slice(number, 1), in_log[offset])
            ]
            if found[0].content != found[1].content:
                changed.append(offset)
    return tuple(sorted(changed))


def changed_files(table: LakeReader, key: BucketKey) -> tuple[str, ...]:
    """Files whose rows of the bucket are not those that their writer booked."""
    import pyarrow.parquet as pq

    booked = read_booked(manifests(table)).files
    found = []
    for path in table.files():
        name = str(path.relative_to(table.directory))
        written = booked.get(name, {}).get(key)
        if written is None or written.rows is None or not path.exists():
            continue
        total: dict[BucketKey, Sums] = {}
        for batch in pq.ParquetFile(path).iter_batches():
            add_to(total, fold_arrow(with_content_columns(batch), row_hashes=row_hashes(batch)))
        if key not in total or total[key].rows != written.rows:
            found.append(name)
    return tuple(found)


def missing_files(table: LakeReader) -> list[str]:
    """Files that were committed, and are not there."""
    booked = read_booked(manifests(table)).files
    return sorted(name for name in booked if not (table.directory / name).exists())


def span_text(start: int, end: int) -> str:
    return str(start) if end == start + 1 else f"{start}-{end - 1}"


def repair_command(found: Sequence[Drill], pipeline: str, file: str = "FILE") -> str | None:
    """The one command that adds what is missing; None if nothing is."""
    parts = []
    for each in found:
        spans = ",".join(span_text(*span) for span in each.missing)
        if spans:
            parts.append(f"{each.topic}:{each.key.partition}:{spans}")
    if not parts:
        return None
    return f"ottla pipeline backfill {file} {pipeline} --offsets " + " ".join(parts)
