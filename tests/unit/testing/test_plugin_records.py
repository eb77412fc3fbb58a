"""How tests write down the records they send and expect."""

from __future__ import annotations

from unittest.mock import ANY

import pytest

from ottla.testing.differences import difference
from ottla.testing.records import Record, as_record, matches, rows_of

RECORD_OF_ANYTHING = Record(
    {"a": 1},  # type: ignore[arg-type]  # the parts of a record are rows, too
    "key",  # type: ignore[arg-type]
    [("h", "text"), ("n", None)],  # type: ignore[arg-type]
)


@pytest.mark.parametrize(
    ("row", "record"),
    [
        ("text", Record(b"text")),
        (b"\xff", Record(b"\xff")),
        (None, Record(None)),
        ({"a": 1}, Record(b'{"a": 1}')),
        (5, Record(b"5")),
        (("key", "value"), Record(b"value", b"key")),
        (("key", None), Record(None, b"key")),
        ((7, {"a": 1}), Record(b'{"a": 1}', b"7")),
        (Record(b"x", headers=(("h", b"1"),)), Record(b"x", headers=(("h", b"1"),))),
        (RECORD_OF_ANYTHING, Record(b'{"a": 1}', b"key", headers=(("h", b"text"), ("n", None)))),
    ],
)
def test_a_row_is_a_record_in_short(row: object, record: Record) -> None:
    assert as_record(row) == record
    assert matches(record, row)


@pytest.mark.parametrize(
    ("record", "row"),
    [
        (Record(b"a"), "b"),
        (Record(b"a"), None),
        (Record(None), ""),
        (Record(b"a", b"k"), ("other", "a")),
        (Record(b"a"), ("k", "a")),
        (Record(b"no json"), {"a": 1}),
        (Record(b'{"a": 2}'), {"a": 1}),
        (Record(None), {}),
        (Record(b"true"), 1),
        (Record(b"0"), False),
        (Record(b'{"a": [true]}'), {"a": [1.0]}),
        (Record(b"[1, 2]"), [1]),
        (Record(b'{"a": 1}'), {"b": 1}),
        (Record(b'{"a": 1}'), {"a": 1, "b": None}),
        (Record(b"x"), Record(b"x", b"k")),
        (Record(b"x"), Record(b"x", headers=(("h", b"1"),))),
        (Record(b"x", partition=0), Record(b"x", partition=1)),
        (Record(b"x", offset=0), Record(b"x", offset=1)),
        (Record(b"x", timestamp_ms=0), Record(b"x", timestamp_ms=1)),
        (Record(b"x", topic="a"), Record(b"x", topic="b")),
    ],
)
def test_what_differs_does_not_match(record: Record, row: object) -> None:
    assert not matches(record, row)


def test_json_is_compared_by_meaning_and_a_test_may_say_less_than_there_is() -> None:
    assert matches(Record(b'{"b":2,"a":1}', b"key", (("h", b"1"),)), {"a": 1, "b": 2})
    assert matches(Record(b"x", b"key", (("h", b"1"),)), Record(b"x", b"key"))
    assert matches(Record(b'{"a": [1, true, {"b": 0.30000000000000004}]}'),
                   {"a": (1.0, True, {"b": pytest.approx(0.3)})})  # fmt: skip
    assert matches(Record(b'{"id": 1, "is_new": true}'), {"id": 1, "is_new": ANY})


@pytest.mark.parametrize("row", ["hello", b"hello", {"a": 1}, 5, Record(b"x"), bytearray(b"x")])
def test_a_single_row_need_not_be_in_a_list(row: object) -> None:
    assert rows_of(row) == [row]


def test_a_tuple_in_the_place_of_rows_is_refused() -> None:
    assert rows_of(["a", "b"]) == rows_of(iter("ab")) == ["a", "b"]
    assert rows_of([]) == []
    with pytest.raises(TypeError, match=r"\('k', 'v'\) may be one row"):
        rows_of(("k", "v"))


def test_a_tuple_that_is_no_key_and_value_is_named() -> None:
    for use in (as_record, lambda row: matches(Record(b"a"), row)):
        with pytest.raises(TypeError, match=r"\('a', 'b', 'c'\) has 3 parts"):
            use(("a", "b", "c"))


def test_headers_may_be_a_dict() -> None:
    row = Record("x", headers={"h": "1"})  # type: ignore[arg-type]
    assert as_record(row) == Record(b"x", headers=(("h", b"1"),))
    assert matches(as_record(row), row)


def test_order_counts_unless_it_does_not() -> None:
    records = [Record(b"a"), Record(b"b")]
    assert difference(records, ["a", "b"], any_order=False) is None
    assert difference(records, ["b", "a"], any_order=True) is None
    assert difference(records, ["b", "a"], any_order=False) == (
        "2 records as expected, but in another order (any_order=True allows it)\n"
        "expected, in order:\n  'b'\n  'a'\n"
        "found, in order:\n  [-1@-1] 'a'\n  [-1@-1] 'b'"
    )


def test_another_order_of_partitions_is_explained() -> None:
    records = [Record(b"a", partition=0), Record(b"b", partition=1)]
    reported = difference(records, ["b", "a"], any_order=False)
    assert "several partitions are compared one after the other" in str(reported)


def test_differences_between_equally_many_records_are_listed() -> None:
    records = [Record(b"a", partition=0, offset=0), Record(b"\xff", b"k", partition=1, offset=5)]
    assert difference(records, ["a", "c"], any_order=False) == (
        "1 of 2 records differs from what is expected\n"
        "  missing     'c'\n"
        "  unexpected  [1@5] 'k': b'\\xff'\n"
        "found, in order:\n  [0@0] 'a'\n  [1@5] 'k': b'\\xff'"
    )


def test_headers_and_places_that_differ_are_shown() -> None:
    record = Record(b"x", headers=(("h", b"1"),), partition=0, offset=0)
    expected = Record(b"x", headers=(("h", b"2"),), partition=3)
    assert difference([record], [expected], any_order=False) == (
        "1 of 1 record differs from what is expected\n"
        "  missing     'x' headers h='2' partition=3\n"
        "  unexpected  [0@0] 'x' headers h='1'"
    )


def test_a_timestamp_that_differs_is_shown() -> None:
    record = Record(b"x", partition=0, offset=0, timestamp_ms=5)
    assert difference([record], [Record(b"x", timestamp_ms=6)], any_order=False) == (
        "1 of 1 record differs from what is expected\n"
        "  missing     'x' timestamp_ms=6\n"
        "  unexpected  [0@0] 'x' timestamp_ms=5"
    )


def test_a_row_that_is_no_json_is_shown_as_it_was_written() -> None:
    record = Record(b'{"a": 1, "id": 7}', partition=0, offset=0)
    reported = difference([record], [{"a": 2, "id": ANY}], any_order=False)
    assert "missing     {'a': 2, 'id': <ANY>}" in str(reported)


@pytest.mark.parametrize("row", [{1: 2}, {True: 1}, {None: 1}, {1.5: [{7: 8}]}, [{"a": {3: None}}]])
def test_a_row_matches_what_is_written_for_it(row: object) -> None:
    assert matches(as_record(row), row)


def test_many_and_large_records_are_shown_in_part() -> None:
    reported = difference([Record(b"x" * 1_000_000)] * 1000, [], any_order=True)
    assert reported is not None
    assert "expected 0 records, found 1000" in reported
    assert "... and 980 more" in reported
    assert "(1000000 bytes)" in reported
    assert len(reported) < 10_000


def test_equal_records_are_counted() -> None:
    twice = [Record(b"a"), Record(b"a")]
    assert difference(twice, ["a", "a"], any_order=True) is None
    assert difference(twice, ["a"], any_order=True) is not None
    assert difference(twice, ["a"], any_order=False) is not None


def test_values_are_read_as_text_or_json() -> None:
    assert Record("ä".encode()).text == "ä"
    assert Record(b"[1]").json == [1]
    assert Record(None).json is None
