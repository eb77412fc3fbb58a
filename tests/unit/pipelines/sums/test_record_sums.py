"""Sums of records: what they must not depend on, and what they must show."""

from __future__ import annotations

import json
from random import Random

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.unit.pipelines.audit.records import (
    OTHER_ID,
    START_MS,
    TOPIC_ID,
    batch_of,
    book_of_rows,
    row,
)

from ottla.base.uuids import uuid_from_text
from ottla.pipelines.sums.record_sums import (
    BUCKET_MS,
    BucketKey,
    Sums,
    decode_book,
    decode_sums,
    encode_book,
    fold_arrow,
    merge_books,
)
from ottla.protocol.records import native
from ottla.protocol.records.column_layout import RecordSegment
from ottla.protocol.records.record import Record

KEY = BucketKey(TOPIC_ID, 0, START_MS // BUCKET_MS)
MANY = [row(n, partition=n % 3, topic_id=(TOPIC_ID, OTHER_ID)[n % 2]) for n in range(200)]
SUMMED = ["count", "place", "bytes", "content", "rows"]


def differences(expected: Sums, found: Sums) -> list[str]:
    """The names of what differs, of what both know."""
    pairs = [(name, getattr(expected, name), getattr(found, name)) for name in SUMMED]
    return [name for name, one, other in pairs if None not in (one, other) and one != other]


@given(st.randoms(use_true_random=False))
@settings(max_examples=50, deadline=None)
def test_neither_the_order_nor_the_division_of_records_matters(random: Random) -> None:
    rows = list(MANY)
    random.shuffle(rows)
    cuts = sorted(random.choices(range(len(rows) + 1), k=random.randrange(6)))
    parts = [rows[start:end] for start, end in zip([0, *cuts], [*cuts, len(rows)], strict=True)]
    books = [book_of_rows(part) for part in parts]
    random.shuffle(books)
    assert merge_books(books) == book_of_rows(MANY)


@given(st.randoms(use_true_random=False))
@settings(max_examples=50, deadline=None)
def test_merging_is_associative(random: Random) -> None:
    parts = [book_of_rows(random.choices(MANY, k=random.randrange(1, 20))) for _ in range(3)]
    one, two, three = parts
    assert merge_books([merge_books([one, two]), three]) == merge_books(
        [one, merge_books([three, two])]
    )


@given(lost=st.integers(0, 59), doubled=st.integers(0, 59))
@settings(max_examples=100, deadline=None)
def test_one_record_lost_and_another_doubled_is_seen(lost: int, doubled: int) -> None:
    rows = [row(n) for n in range(60)]
    spoiled = [each for each in rows if each["offset"] != lost] + [rows[doubled]]
    expected, found = book_of_rows(rows)[KEY], book_of_rows(spoiled)[KEY]
    assert expected.count == found.count
    assert ("place" in differences(expected, found)) == (lost != doubled)


def test_two_records_that_changed_places_in_a_file_are_the_same_records() -> None:
    rows = [row(n) for n in range(60)]
    rows[3], rows[50] = rows[50], rows[3]
    assert (
        differences(book_of_rows([row(n) for n in range(60)])[KEY], book_of_rows(rows)[KEY]) == []
    )


@pytest.mark.parametrize(
    "changed",
    [
        {"value": b"value X"},
        {"value": None},
        {"key": None},
        {"key": b""},
        {"headers": [{"key": "h", "value": b""}]},
        {"timestamp": (START_MS + 1) * 1000},
    ],
)
def test_changed_content_is_seen(changed: dict[str, object]) -> None:
    rows = [row(n) for n in range(60)]
    found = book_of_rows([row(0, **changed), *rows[1:]])[KEY]
    assert differences(book_of_rows(rows)[KEY], found)[-1] == "content"


def test_values_that_two_records_exchanged_are_seen() -> None:
    rows = [row(n) for n in range(60)]
    swapped = [row(0, value=rows[1]["value"]), row(1, value=rows[0]["value"]), *rows[2:]]
    assert differences(book_of_rows(rows)[KEY], book_of_rows(swapped)[KEY]) == ["content"]


def test_the_sums_of_arrow_are_those_of_record_batches() -> None:
    records = [
        Record(n, START_MS + n, None if n % 5 else b"k", b"v" * n, (("h", b"x"),) * (n % 3))
        for n in range(100)
    ]
    body = bytes(native.encode(records, 0, START_MS))
    segment = RecordSegment(body, 0, len(body), 0, len(records), True, 0, START_MS, None)
    (raw,) = native.fold_segments([segment], uuid_from_text(TOPIC_ID), 0, BUCKET_MS)
    rows = [
        row(
            each.offset,
            timestamp=each.timestamp * 1000,
            key=each.key,
            value=each.value,
            headers=[{"key": key, "value": value} for key, value in each.headers] or None,
        )
        for each in records
    ]
    found = book_of_rows(rows)[KEY]
    assert found.content == (raw.content_sum, raw.content_xor)
    assert found.place == (raw.place_sum, raw.place_xor)
    assert (found.count, found.bytes) == (raw.records, raw.size)
    assert (found.first_offset, found.last_offset) == (0, 99)


def test_rows_without_their_original_bytes_have_no_sums_of_them() -> None:
    table = batch_of([row(n) for n in range(10)])
    decoded = table.drop_columns(["key", "value", "headers"])
    found, full = fold_arrow(decoded)[KEY], fold_arrow(table)[KEY]
    assert (found.content, found.bytes) == (None, None)
    assert found.place == full.place
    assert differences(full, found) == []
    assert found.merged(full).content is None


def test_topic_ids_may_be_bytes_and_slices_of_batches_are_folded() -> None:
    table = batch_of([row(n) for n in range(30)])
    as_bytes = pa.array([uuid_from_text(TOPIC_ID)] * 30, pa.binary())
    other = table.set_column(0, "topic_id", as_bytes)
    parts = [fold_arrow(table.slice(0, 7)), fold_arrow(other.slice(7))]
    assert merge_books(parts) == fold_arrow(table)
    alone = table.drop_columns(["topic_id", "partition"])
    assert fold_arrow(alone, topic_id=TOPIC_ID, partition=0) == fold_arrow(table)


def test_the_json_form_keeps_everything() -> None:
    book = book_of_rows(MANY)
    assert decode_book(json.loads(json.dumps(encode_book(book)))) == book


@pytest.mark.parametrize("text", ['{"count": 1}', '{"count": 1, "place": 7}', "[]", '"x"'])
def test_other_json_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="not sums"):
        decode_sums(json.loads(text))


@pytest.mark.parametrize("column", ["topic_id", "partition", "offset", "timestamp"])
def test_rows_of_no_record_are_refused(column: str) -> None:
    with pytest.raises(ValueError, match="belongs to no record"):
        book_of_rows([row(0), row(1) | {column: None}])


def test_timestamps_are_rounded_down_also_before_1970() -> None:
    from ottla.pipelines.sums.record_sums import milliseconds

    times = pa.array([-1, -1000, -1001, 999, 1000, 1001], pa.timestamp("us", "UTC"))
    assert milliseconds(times).to_pylist() == [-1, -1, -2, 0, 1, 1]
    assert milliseconds(times.slice(3)).to_pylist() == [0, 1, 1]
