"""How tests write down the records they send and expect."""

from __future__ import annotations

import pytest

from ottla.testing.records import Record, as_record, difference, matches

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
        (Record(b"x"), Record(b"x", b"k")),
        (Record(b"x"), Record(b"x", headers=(("h", b"1"),))),
    ],
)
def test_what_differs_does_not_match(record: Record, row: object) -> None:
    assert not matches(record, row)


def test_json_is_compared_by_meaning_and_a_test_may_say_less_than_there_is() -> None:
    assert matches(Record(b'{"b":2,"a":1}', b"key", (("h", b"1"),)), {"a": 1, "b": 2})
    assert matches(Record(b"x", b"key", (("h", b"1"),)), Record(b"x", b"key"))


def test_order_counts_unless_it_does_not() -> None:
    records = [Record(b"a"), Record(b"b")]
    assert difference(records, ["a", "b"], any_order=False) is None
    assert difference(records, ["b", "a"], any_order=True) is None
    told = difference(records, ["b", "a"], any_order=False)
    assert told is not None
    assert "in another order" in told


def test_the_difference_names_what_is_missing_and_what_is_too_much() -> None:
    records = [Record(b"a", partition=0, offset=0), Record(b"\xff", b"k", partition=1, offset=5)]
    told = difference(records, ["a", "c"], any_order=False)
    assert told is not None
    assert "expected 2 records, found 2" in told
    assert "missing     'c'" in told
    assert "unexpected  [1@5] 'k': b'\\xff'" in told
    assert "'a'" not in told.partition("found, in order")[0]


def test_equal_records_are_counted() -> None:
    twice = [Record(b"a"), Record(b"a")]
    assert difference(twice, ["a", "a"], any_order=True) is None
    assert difference(twice, ["a"], any_order=True) is not None
    assert difference(twice, ["a"], any_order=False) is not None


def test_values_are_read_as_text_or_json() -> None:
    assert Record("ä".encode()).text == "ä"
    assert Record(b"[1]").json == [1]
    assert Record(None).json is None
