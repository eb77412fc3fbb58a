"""Sums of manifests, rows that the reference has not counted, and records that were put aside."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from tests.unit.pipelines.audit.records import START_MS, TOPIC_ID, batch_of, book_of_rows, row

from ottla.pipelines.audit.drilling import Drill, is_inside, ranges_of
from ottla.pipelines.audit.lake_tier import count_rows, read_booked, with_content_columns
from ottla.pipelines.audit.repair_command import joined_spans, repair_command
from ottla.pipelines.audit.report_log import AuditError
from ottla.pipelines.audit.reports import Coverage, PartitionId, Tier
from ottla.pipelines.audit.side_topics import (
    book_of_excluded,
    excluded_in,
    origin_of,
    without_present,
)
from ottla.pipelines.sums.record_sums import Book, BucketKey, HashSums, encode_book, fold_arrow

PLACE = PartitionId(TOPIC_ID, 0)


class Rows:
    """A table in memory."""

    directory = Path("/nowhere")

    def __init__(self, *batches: pa.RecordBatch) -> None:
        self._batches = batches

    def batches(self, columns: list[str] | None = None) -> Iterator[pa.RecordBatch]:
        yield from self._batches

    def columns(self) -> list[str]:
        return list(self._batches[0].schema.names)

    def files(self) -> list[Path]:
        return []

    def last_manifest(self) -> str | None:
        return None

    def committed(self) -> frozenset[str]:
        return frozenset()

    def note_complete_until(self, until_ms: int | None, from_ms: int | None = None) -> None:
        raise NotImplementedError


def manifest(
    number: int, files: dict[str, range], removed: tuple[str, ...] = ()
) -> dict[str, object]:
    return {
        "pipeline": "p", "kind": "batch", "topics": {"t": TOPIC_ID}, "removed": list(removed),
        "starts": {TOPIC_ID: {"0": 100 * number}}, "ends": {TOPIC_ID: {"0": 100 * number + 100}},
        "counts": {"read": 10, "written": 7, "filtered": 0, "bad": 1, "late": 2},
        "files": [
            {"path": path, "sums": encode_book(book_of_rows([row(n) for n in offsets]))}
            for path, offsets in files.items()
        ],
    }  # fmt: skip


def test_booked_is_what_the_files_of_the_table_were_written_with() -> None:
    chain = [
        manifest(0, {"a": range(50), "b": range(50, 100)}),
        manifest(1, {"c": range(100, 200)}),
        manifest(2, {"d": range(100)}, removed=("a", "b")),  # a compaction
    ]
    booked = read_booked(chain)
    assert booked.book() == book_of_rows([row(n) for n in range(200)])
    assert (booked.starts, booked.ends) == ({PLACE: 0}, {PLACE: 300})
    assert booked.counts["read"] == 30


def test_rows_are_counted_as_far_as_the_reference_is() -> None:
    reference = Tier("broker", coverage={PLACE: Coverage("t", 10, 50, 0, gaps=((20, 25),))})
    rows = [row(n) for n in range(60)]
    found = count_rows(Rows(batch_of(rows[:30]), batch_of(rows[30:])), reference)
    known = [each for each in rows if 10 <= each["offset"] < 50]
    known = [each for each in known if not 20 <= each["offset"] < 25]
    assert places(found.audited) == places(book_of_rows(known))
    others = [each for each in rows if each["offset"] < 10 or 20 <= each["offset"] < 25]
    assert places(found.others) == places(book_of_rows(others))


def places(book: Book) -> dict[BucketKey, HashSums]:
    return {key: sums.place for key, sums in book.items()}


def test_content_is_compared_only_if_all_bytes_were_kept() -> None:
    batch = batch_of([row(0)]).rename_columns(
        ["topic_id", "partition", "offset", "timestamp", "record_key", "record_value",
         "record_headers"]
    )  # fmt: skip
    assert "value" in with_content_columns(batch).schema.names
    assert "value" not in with_content_columns(batch.drop_columns("record_headers")).schema.names


def test_a_table_without_places_is_refused() -> None:
    with pytest.raises(AuditError, match="no column offset"):
        count_rows(Rows(batch_of([row(0)]).drop_columns("offset")), Tier("broker"))
    with pytest.raises(AuditError, match="belong to no record"):
        count_rows(Rows(batch_of([row(0), row(1) | {"offset": None}])), Tier("broker"))


def test_records_that_were_replayed_are_not_left_out() -> None:
    times = {n: row(n)["timestamp"] // 1000 for n in (3, 4)}
    rows = [row(n) for n in range(60) if n != 3]
    found = count_rows(Rows(batch_of(rows)), Tier("broker"), {PLACE: times})
    assert found.present == {PLACE: {4}}
    left = book_of_excluded(without_present({PLACE: times}, found.present))
    assert places(left) == places(book_of_rows([row(3)]))


@pytest.mark.parametrize(("topic_id", "found"), [(TOPIC_ID, {2}), (None, {2}), ("other", set())])
def test_records_of_a_deleted_topic_with_the_same_name_are_not_excluded(
    topic_id: str | None, found: set[int]
) -> None:
    fields = {"pipeline": "p", "topic": "t", "partition": "0", "offset": "2", "timestamp": "7"}
    fields |= {"topic-id": topic_id} if topic_id is not None else {}
    excluded = excluded_in([fields, {**fields, "topic": "u"}], "p", {"t": TOPIC_ID})
    assert excluded == ({PLACE: {2: 7}} if found else {})


def test_headers_say_where_a_record_was_read() -> None:
    headers: list[dict[str, Any]] = [
        {"key": "ottla-offset", "value": b"1"},
        {"key": "other", "value": b"x"},
        {"key": "ottla-offset", "value": b"2"},
        {"key": "ottla-reason", "value": None},
    ]
    assert origin_of(headers) == {"offset": "2"}
    assert origin_of(None) == {}


def test_the_command_of_a_repair() -> None:
    key = BucketKey(TOPIC_ID, 2, 7)
    missing = ranges_of([7, 100, 101, 102])
    assert missing == ((7, 8), (100, 103))
    found = [Drill(key, "orders", 9, 5, missing), Drill(key, "orders", 9, 9)]
    assert repair_command(found, "lake", "p.yaml") == (
        "ottla pipeline backfill p.yaml lake --offsets orders:2:7,100-102"
    )
    assert repair_command(found[1:], "lake") is None


def test_the_buckets_of_a_partition_are_repaired_together() -> None:
    """The records of two buckets may alternate in a log."""
    even, odd = ranges_of(range(0, 100, 2)), ranges_of(range(1, 100, 2))
    found = [
        Drill(BucketKey(TOPIC_ID, 2, 7), "orders", 50, 0, even),
        Drill(BucketKey(TOPIC_ID, 2, 8), "orders", 50, 0, odd),
    ]
    assert repair_command(found, "lake", "p.yaml") == (
        "ottla pipeline backfill p.yaml lake --offsets orders:2:0-99"
    )


def test_a_command_stays_short_enough_to_be_typed() -> None:
    spans = ranges_of([*range(0, 100, 3), *range(1000, 1100, 3), 9000])
    assert joined_spans(spans, 3) == [(0, 100), (1000, 1100), (9000, 9001)]
    assert joined_spans(spans, len(spans)) == list(spans)
    assert joined_spans((), 3) == []


def test_records_without_a_usable_time_are_in_the_bucket_that_they_are_summed_in() -> None:
    times = (-1, 0, START_MS * 1000, 4_102_444_800_000_000)
    batch = batch_of([row(n, timestamp=time) for n, time in enumerate(times)])
    for key, sums in fold_arrow(batch).items():
        inside = batch.filter(is_inside(batch, key)).column("offset").to_pylist()
        assert len(inside) == sums.count, key
        assert (inside[0], inside[-1]) == (sums.first_offset, sums.last_offset)
