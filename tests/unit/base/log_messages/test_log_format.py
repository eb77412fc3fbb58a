"""Whatever a message quotes, it is one printable line of the log."""

from __future__ import annotations

import logging
import sys

import pytest

from ottla.base.log_messages.log_format import LINE_CHARS_MAX, LineFormatter, RepetitionFilter

FORGED = "x\n2026-01-01 ERROR ottla: forged\r\x1b[2J\x9b\u202e\u2028\ud800"


def formatted(message: str, *arguments: object, error: Exception | None = None) -> str:
    exc_info = None
    if error is not None:
        try:
            raise error
        except Exception:
            exc_info = sys.exc_info()
    record = logging.LogRecord("ottla", logging.INFO, "", 1, message, arguments, exc_info)
    return LineFormatter("%(levelname)s %(name)s: %(message)s").format(record)


def test_a_message_is_one_printable_line() -> None:
    line = formatted("group %s is gone", FORGED)
    assert line.isprintable()
    assert line.startswith("INFO ottla: group x\\x0a2026-01-01 ERROR ottla: forged\\x0d\\x1b[2J")


def test_what_is_escaped_already_stays_as_it_is() -> None:
    assert formatted("group %s", "a\\x0ab").endswith("group a\\x0ab")


def test_a_long_message_is_cut() -> None:
    line = formatted("group %s", "a" * 100_000)
    assert len(line) < LINE_CHARS_MAX + 100
    assert line.endswith("characters)")


@pytest.mark.parametrize("text", [FORGED, "a" * 1_000_000])
def test_a_traceback_is_indented_printable_and_bounded(text: str) -> None:
    first, *others = formatted("a bug", error=ValueError(text)).split("\n")
    assert first == "INFO ottla: a bug"
    assert others[0] == "  Traceback (most recent call last):"
    assert all(line.startswith("  ") and line.isprintable() for line in others)
    assert sum(map(len, others)) < 100_000


def passed(flood: RepetitionFilter, message: str, argument: object, now_s: float) -> str | None:
    record = logging.LogRecord("ottla", logging.ERROR, "", 1, message, (argument,), None)
    record.created = now_s
    return record.getMessage() if flood.filter(record) else None


def test_a_flood_of_one_message_is_cut_and_counted() -> None:
    flood = RepetitionFilter(lines_max=2, every_s=10)
    lines = [passed(flood, "%s failed", number, number / 100) for number in range(50)]
    assert [line for line in lines if line] == ["0 failed", "1 failed"]
    assert passed(flood, "%s is another", 1, 1) == "1 is another"
    after = passed(flood, "%s failed", 50, 10)
    assert after == "50 failed (and 48 like it were left out)"
    assert passed(flood, "%s failed", 51, 11) == "51 failed"


def test_a_clock_that_is_set_back_keeps_no_message_away() -> None:
    flood = RepetitionFilter(lines_max=1, every_s=10)
    assert passed(flood, "%s", "a", 1e9)
    assert passed(flood, "%s", "b", 0) == "b"


def test_messages_that_are_no_constants_take_no_memory() -> None:
    flood = RepetitionFilter(lines_max=1, every_s=10)
    for number in range(30_000):
        passed(flood, f"{number} %s", number, 0)
    assert len(flood._windows) <= 10_000
