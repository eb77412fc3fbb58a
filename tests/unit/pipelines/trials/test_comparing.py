"""Expected rows against found ones."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from ottla.pipelines.trials.comparing import differences, is_equal

AT = datetime(2026, 3, 1, 10, tzinfo=UTC)


def test_only_named_columns_count_and_the_order_does_not() -> None:
    found = [{"id": 1, "item": "pen", "offset": 7}, {"id": 2, "item": "ink", "offset": 8}]
    assert differences("out", [{"id": 2}, {"id": 1, "item": "pen"}], found) == []


def test_each_found_row_stands_for_one_expected_row() -> None:
    wrong = differences("out", [{"id": 1}, {"id": 1}], [{"id": 1, "at": AT}])
    assert wrong == ['out: missing    {"id": 1}']


def test_rows_that_say_more_are_found_first() -> None:
    found = [{"id": 1, "item": "pen"}, {"id": 1, "item": "ink"}]
    assert differences("out", [{"id": 1}, {"id": 1, "item": "pen"}], found) == []


def test_what_is_missing_and_what_is_too_much_is_shown() -> None:
    wrong = differences("out", [{"id": 1}], [{"id": 2, "at": AT, "value": b"x"}])
    assert wrong == [
        'out: missing    {"id": 1}',
        'out: unexpected {"id": 2, "at": "2026-03-01T10:00:00Z", "value": "x"}',
    ]


def test_a_number_of_rows() -> None:
    assert differences("bad", 1, [{"value": b"x"}]) == []
    assert differences("bad", 0, [{"value": b"x"}])[0] == "bad: 1 found, 0 expected"


@pytest.mark.parametrize(
    ("expected", "found", "equal"),
    [
        ("2026-03-01T11:00:00+01:00", AT, True),
        ("2026-03-01T10:00:01Z", AT, False),
        ("no time", AT, False),
        ({"id": 1}, b'{"id": 1}', True),
        ({"id": 1}, b'{"id": 1, "more": 2}', False),
        ({"id": 1}, b"no JSON", False),
        ([1, 2], [1, 2], True),
        ([1, 2], [1], False),
        (1, 1.0, True),
        (1, True, False),
        (1, None, False),
        (None, None, True),
        ("pen", b"pen", True),
        ("1", 1, False),
    ],
)
def test_values(expected: Any, found: Any, equal: bool) -> None:
    assert is_equal(expected, found) is equal
