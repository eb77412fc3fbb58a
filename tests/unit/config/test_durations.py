from __future__ import annotations

import pytest

from ottla.config.durations import format_duration, parse_duration


@pytest.mark.parametrize(
    ("text", "duration_ms"),
    [("3ms", 3), ("10s", 10_000), ("9m", 540_000), ("1h", 3_600_000), ("1m3ms", 60_003),
     ("-48h", -172_800_000), ("2d", 172_800_000), ("1w", 604_800_000),
     ("1.5s", 1_500), ("3min", 180_000),
     ("2500us", 2), ("0.001s", 1), ("9007199254740993ms", 9007199254740993)],
)  # fmt: skip
def test_durations_are_numbers_with_units(text: str, duration_ms: int) -> None:
    assert parse_duration(text) == duration_ms


@pytest.mark.parametrize(
    "text",
    [
        "",
        "-",
        "5",
        "h",
        "1x",
        "1 h",
        "1h-",
        "--1h",
        "1h 2m",
        "1.h",
        ".5h",
        "1.2.3s",
        "1h2",
        "1H",
        "9" * 41 + "s",
        "\u0661h",
    ],
)
def test_what_is_no_duration_is_none(text: str) -> None:
    assert parse_duration(text) is None


@pytest.mark.parametrize(
    ("duration_ms", "text"),
    [(0, "0ms"), (17, "17ms"), (4_200, "4.2s"), (60_000, "1m"), (5_400_000, "1h30m"),
     (183_600_000, "2d3h")],
)  # fmt: skip
def test_durations_are_printed_by_their_two_largest_units(duration_ms: int, text: str) -> None:
    assert format_duration(duration_ms) == text
