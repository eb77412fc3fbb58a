from __future__ import annotations

import pytest

from ottla.cli.arguments.offset_ranges import (
    At,
    AtTime,
    BadRange,
    End,
    OffsetRange,
    Start,
    parse_position,
    parse_range,
)

NOW_MS = 1_700_000_000_000
HOUR_MS = 3_600_000
VALENTINE_MS = 1_644_796_800_000


@pytest.mark.parametrize(
    ("text", "start", "end"),
    [
        ("start", Start(), None),
        ("beginning", Start(), None),
        ("end", End(), None),
        (":end", Start(), End()),
        ("+5", Start(5), None),
        ("-5", End(5), None),
        ("17", At(17), None),
        ("17:", At(17), None),
        (":20", Start(), At(20)),
        ("17:20", At(17), At(20)),
        ("17:end", At(17), End()),
        ("@1700000000000", AtTime(NOW_MS), None),
        ("@1700000000:", AtTime(NOW_MS), None),
        ("@:1700000000", Start(), AtTime(NOW_MS)),
        ("@-1h", AtTime(NOW_MS - HOUR_MS), None),
        ("@-1h:end", AtTime(NOW_MS - HOUR_MS), End()),
        ("@:-1h", Start(), AtTime(NOW_MS - HOUR_MS)),
        ("@-48h:-24h", AtTime(NOW_MS - 48 * HOUR_MS), AtTime(NOW_MS - 24 * HOUR_MS)),
        ("@-48h:1h", AtTime(NOW_MS - 48 * HOUR_MS), AtTime(NOW_MS - 47 * HOUR_MS)),
        ("@2022-02-14:1h", AtTime(VALENTINE_MS), AtTime(VALENTINE_MS + HOUR_MS)),
        ("@2022-02-14:2022-02-15", AtTime(VALENTINE_MS), AtTime(VALENTINE_MS + 24 * HOUR_MS)),
        (
            "@2022-02-14T01:00:00Z:2022-02-14T02:00:00Z",
            AtTime(VALENTINE_MS + HOUR_MS),
            AtTime(VALENTINE_MS + 2 * HOUR_MS),
        ),
        ("@2022-02-14T01:00:10m", AtTime(VALENTINE_MS + HOUR_MS), AtTime(VALENTINE_MS + 4_200_000)),
    ],
)
def test_a_range_is_read(text: str, start: object, end: object) -> None:
    assert parse_range(text, NOW_MS) == OffsetRange(start, end)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "text",
    ["", ":", "@", "@:", "x", "1:2:3", "-", "+", "--5", "1.5", "@soon", "@2022-13-14", "@-1h-2h",
     "@:2022-02-31", "5:-3", "start:end", "٣"],
)  # fmt: skip
def test_what_is_no_range_is_refused_with_examples(text: str) -> None:
    with pytest.raises(BadRange, match="the last hour"):
        parse_range(text, NOW_MS)


def test_a_position_is_a_range_without_an_end() -> None:
    assert parse_position("@-1h", NOW_MS) == AtTime(NOW_MS - HOUR_MS)
    with pytest.raises(BadRange, match="one position"):
        parse_position(":end", NOW_MS)


@pytest.mark.parametrize("text", ["5:3", "1:0", "@2024-02-02:2024-01-01", "@-1h:-2h"])
def test_a_range_that_ends_before_it_starts_is_refused(text: str) -> None:
    with pytest.raises(BadRange, match="ends before it starts"):
        parse_range(text, 1_700_000_000_000)
