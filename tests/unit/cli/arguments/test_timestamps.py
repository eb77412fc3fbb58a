from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ottla.cli.arguments.timestamps import format_timestamp, parse_timestamp

NOW_MS = 1_700_000_000_000


@pytest.mark.parametrize(
    ("text", "timestamp_ms"),
    [
        ("1700000000123", 1_700_000_000_123),
        ("1700000000", 1_700_000_000_000),
        ("999999999", 999_999_999_000),
        ("2022-02-14", 1_644_796_800_000),
        ("2022-02-14T01:02:03Z", 1_644_800_523_000),
        ("2022-02-14T01:02:03.250Z", 1_644_800_523_250),
        ("2022-02-14T01:02:03+01:00", 1_644_796_923_000),
        ("2022-02-14T01:02", 1_644_800_520_000),
        ("-1h", NOW_MS - 3_600_000),
    ],
)
def test_moments_can_be_written_in_several_ways(text: str, timestamp_ms: int) -> None:
    assert parse_timestamp(text, NOW_MS) == timestamp_ms


@pytest.mark.parametrize("text", ["", "12", "12345678901", "2022-13-14", "yesterday", "2022-02-30"])
def test_what_is_no_moment_is_none(text: str) -> None:
    assert parse_timestamp(text, NOW_MS) is None


def test_a_timestamp_beyond_the_calendar_is_a_number() -> None:
    assert format_timestamp(2**63 - 1) == "9223372036854775807"


@given(st.integers(0, 4_000_000_000_000))
def test_a_formatted_moment_is_read_back(timestamp_ms: int) -> None:
    assert parse_timestamp(format_timestamp(timestamp_ms), 0) == timestamp_ms
