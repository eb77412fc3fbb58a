"""The two tiers of a lake: what its writer has booked, and what is counted in the table itself.

Owns      sums of the manifests (*booked*), and of all rows of the table (*counted*).
Promises  booked sums were computed by the tasks that wrote the files, counted ones by reading every
          row now; both use the hashes of `sums/`. Only counted ones prove
          that rows are there.
Leaves    reading to `lake_tables.py`, comparing to `books.py`.

What each proves. Place sums: that every record arrived once. Row sums: that rows are what was
written. Content sums, only if the table keeps key, value and headers of the records: that they are
what producers wrote. How values become columns is not proved by sums, but by tests of the pipeline.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from ottla.pipelines.audit.lake_tables import RECORD_COLUMNS, LakeReader, manifests
from ottla.pipelines.audit.report_log import AuditError
from ottla.pipelines.audit.reports import (
    BOOKED,
    COUNTED,
    BucketReport,
    Coverage,
    PartitionId,
    Tier,
    with_totals,
)
from ottla.pipelines.audit.side_topics import Excluded, book_of_excluded, without_present
from ottla.pipelines.sums.record_sums import Book, add_to, decode_book, fold_arrow
from ottla.pipelines.sums.row_hashes import row_hashes

KEPT = {"record_key": "key", "record_value": "value", "record_headers": "headers"}
COUNTS_MAX = 5  # of a table whose files are being replaced
COUNTS = ("read", "written", "filtered", "bad", "late")


@dataclass(frozen=True)
class Booked:
    """The sum of all manifests of a table."""

    files: Mapping[str, Book] = field(default_factory=dict)  # by path
    topics: Mapping[str, str] = field(default_factory=dict)  # names by id
    starts: Mapping[PartitionId, int] = field(default_factory=dict)
    ends: Mapping[PartitionId, int] = field(default_factory=dict)
    counts: Mapping[str, int] = field(default_factory=dict)
    pipeline: str = ""

    def book(self) -> Book:
        total: Book = {}
        for each in self.files.values():
            add_to(total, each)
        return total


def read_booked(chain: Iterable[Mapping[str, Any]]) -> Booked:
    """The manifests, the oldest first."""
    files: dict[str, Book] = {}
    topics: dict[str, str] = {}
    starts: dict[PartitionId, int] = {}
    ends: dict[PartitionId, int] = {}
    counts = dict.fromkeys(COUNTS, 0)
    pipeline = ""
    for manifest in chain:
        pipeline = str(manifest["pipeline"])
        topics |= {topic_id: name for name, topic_id in manifest["topics"].items()}
        for path in (*manifest["removed"], *manifest.get("forgotten", ())):
            files.pop(path, None)
        files |= {file["path"]: decode_book(file["sums"]) for file in manifest["files"]}
        starts = _offsets(manifest["starts"]) | starts  # the first ones count
        ends |= _offsets(manifest["ends"])
        if manifest["kind"] == "batch":
            for name in COUNTS:
                counts[name] += int(manifest["counts"][name])
    return Booked(files, topics, starts, ends, counts, pipeline)


def _offsets(found: Mapping[str, Mapping[str, int]]) -> dict[PartitionId, int]:
    return {
        PartitionId(topic_id, int(partition)): int(offset)
        for topic_id, partitions in found.items()
        for partition, offset in partitions.items()
    }


def booked_tier(name: str, source: str, booked: Booked, excluded: Book, now_ms: int) -> Tier:
    book = booked.book()
    keys = book.keys() | excluded.keys()
    buckets = {key: BucketReport(book.get(key), excluded=excluded.get(key)) for key in sorted(keys)}
    coverage = _coverage(booked, booked.ends, now_ms)
    tier = Tier(name, BOOKED, source, with_totals(coverage, buckets), buckets)
    tier.counts = dict(booked.counts)
    return tier


def _coverage(
    booked: Booked, ends: Mapping[PartitionId, int], now_ms: int
) -> dict[PartitionId, Coverage]:
    return {
        partition_id: Coverage(
            booked.topics.get(partition_id.topic_id, partition_id.topic_id),
            booked.starts.get(partition_id, 0),
            end,
            now_ms,
        )
        for partition_id, end in ends.items()
    }


# Counting


@dataclass
class Counted:
    """The rows of a table: of records that the reference has counted, and of records before or
    between them. Rows that are ahead of the reference are in neither: the next pass counts them."""

    audited: Book = field(default_factory=dict)
    others: Book = field(default_factory=dict)
    present: dict[PartitionId, set[int]] = field(default_factory=dict)  # of excluded ones


def counted_tier(
    name: str, source: str, counted: Counted, booked: Booked, excluded: Book, now_ms: int
) -> Tier:
    audited, others = counted.audited, counted.others
    ends = dict(booked.ends) or _ends_of(audited, others)
    coverage = _coverage(booked, ends, now_ms)
    keys = audited.keys() | others.keys() | excluded.keys()
    buckets = {
        key: BucketReport(
            audited.get(key),
            excluded=excluded.get(key),
            unaudited=others[key].count if key in others else 0,
        )
        for key in sorted(keys)
    }
    return Tier(name, COUNTED, source, with_totals(coverage, buckets), buckets)


def count_rows(table: LakeReader, reference: Tier, excluded: Excluded | None = None) -> Counted:
    """`excluded` are bad and late records: those that have rows nevertheless are noted."""
    columns = table.columns()
    counted = Counted()
    missing = [each for each in RECORD_COLUMNS if each not in columns]
    if columns and missing:
        raise AuditError(
            f"{table.directory}: the table has no column {', '.join(missing)}: its rows cannot be "
            f"compared with records. Rows must keep {', '.join(RECORD_COLUMNS)}"
        )
    for batch in table.batches() if columns else ():
        if batch.num_rows:
            _add_batch(batch, reference, counted, excluded or {})
    return counted


def count_unchanged(
    table: LakeReader, reference: Tier, excluded: Excluded | None = None
) -> Counted:
    """Again if files that were there have been replaced meanwhile, by a compaction or a repair:
    some of them may have been read, and some not. New files alone change nothing."""
    for _ in range(COUNTS_MAX):
        before = table.committed()
        try:
            counted = count_rows(table, reference, excluded)
        except FileNotFoundError:
            if before <= table.committed():
                raise
            continue
        if before <= table.committed():
            return counted
    raise AuditError(
        f"{table.directory}: files of the table were replaced each of the {COUNTS_MAX} times that "
        "it was counted: compact it less often"
    )


def _add_batch(
    batch: pa.RecordBatch, reference: Tier, counted: Counted, excluded: Excluded
) -> None:
    hashes = row_hashes(batch)
    rows = with_content_columns(batch)
    offsets = batch.column("offset")
    for partition_id, mine in _rows_by_partition(batch):
        if aside := excluded.get(partition_id):
            is_aside = pc.is_in(offsets, pa.array(list(aside), pa.int64()))
            found = offsets.filter(pc.and_(mine, is_aside)).to_pylist()
            counted.present.setdefault(partition_id, set()).update(found)
        is_known, is_other = masks(offsets, reference.coverage.get(partition_id))
        for book, mask in ((counted.audited, is_known), (counted.others, is_other)):
            chosen = pc.and_(mine, mask)
            if pc.any(chosen).as_py():
                part = fold_arrow(
                    rows.filter(chosen),
                    topic_id=partition_id.topic_id,
                    partition=partition_id.partition,
                    row_hashes=chosen_hashes(hashes, chosen),
                )
                add_to(book, part)


def _rows_by_partition(batch: pa.RecordBatch) -> Iterator[tuple[PartitionId, pa.Array]]:
    """Each partition of a topic, and its rows. AuditError for rows of none."""
    ids, numbers = batch.column("topic_id"), batch.column("partition")
    if any(batch.column(name).null_count for name in RECORD_COLUMNS):
        raise AuditError(
            f"the table has rows without {', '.join(RECORD_COLUMNS)}: they belong to no record, "
            "and another program has written them. Delete them, or write them to another table"
        )
    for topic_id in pc.unique(ids).to_pylist():
        of_topic = pc.equal(ids, topic_id)
        for number in pc.unique(numbers.filter(of_topic)).to_pylist():
            yield PartitionId(topic_id, number), pc.and_(of_topic, pc.equal(numbers, number))


def masks(offsets: pa.Array, known: Coverage | None) -> tuple[pa.Array, pa.Array]:
    """Masks of rows: the reference has counted their records, or never can."""
    if known is None:
        return pa.repeat(True, len(offsets)), pa.repeat(False, len(offsets))
    is_other = pc.less(offsets, known.start)
    for start, end in known.gaps:
        inside = pc.and_(pc.greater_equal(offsets, start), pc.less(offsets, end))
        is_other = pc.or_(is_other, inside)
    is_known = pc.and_(pc.less(offsets, known.covers), pc.invert(is_other))
    return is_known, is_other


def chosen_hashes(hashes: bytearray, rows: pa.Array) -> bytearray:
    array = pa.Array.from_buffers(pa.uint64(), len(rows), [None, pa.py_buffer(hashes)])
    chosen = array.filter(rows)
    return bytearray(memoryview(chosen.buffers()[1])[: 8 * len(chosen)])


def with_content_columns(batch: pa.RecordBatch) -> pa.RecordBatch:
    """The columns that sums are made of. The original bytes only if all of them were kept: a hash
    without the headers would not be that of the record."""
    names = [*RECORD_COLUMNS]
    found = [batch.column(name) for name in names]
    kept = _kept_columns(batch.schema.names)
    for column, name in kept.items():
        found.append(batch.column(column))
        names.append(name)
    return pa.RecordBatch.from_arrays(found, names=names)


def _kept_columns(names: Sequence[str]) -> dict[str, str]:
    return dict(KEPT) if all(column in names for column in KEPT) else {}


def _ends_of(*books: Book) -> dict[PartitionId, int]:
    """Where a table without manifests ends: one after the last offset there."""
    ends: dict[PartitionId, int] = {}
    for book in books:
        for key, sums in book.items():
            partition_id = PartitionId(key.topic_id, key.partition)
            ends[partition_id] = max(ends.get(partition_id, 0), sums.last_offset + 1)
    return ends


def lake_tiers(
    name: str,
    table: LakeReader,
    reference: Tier,
    now_ms: int,
    aside: Callable[[Booked], Excluded] = lambda _: {},
) -> list[Tier]:
    """`name.booked` (if the table has manifests) and `name.counted`. `aside` finds the records that
    the pipeline of the table has excluded; after the manifests were read, which are committed
    last."""
    source = str(table.directory.absolute())
    chain = manifests(table)
    booked = read_booked(chain)
    all_left_out = aside(booked)
    rows = count_unchanged(table, reference, all_left_out)
    excluded = book_of_excluded(
        audited_only(without_present(all_left_out, rows.present), reference, booked)
    )
    tiers = []
    if chain:
        tiers.append(booked_tier(f"{name}.booked", source, booked, excluded, now_ms))
    else:
        booked = replace(booked, topics=reference.topics())
    tiers.append(counted_tier(f"{name}.counted", source, rows, booked, excluded, now_ms))
    return tiers


def audited_only(excluded: Excluded, reference: Tier, booked: Booked) -> Excluded:
    """Without what the reference has not counted, or the table has not committed, yet."""
    kept: Excluded = {}
    for partition_id, offsets in excluded.items():
        known = reference.coverage.get(partition_id)
        end = booked.ends.get(partition_id, 0)
        kept[partition_id] = {
            at: time
            for at, time in offsets.items()
            if at < end and (known is None or known.has(at, at))
        }
    return kept
