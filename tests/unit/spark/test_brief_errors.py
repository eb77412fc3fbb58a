"""Errors that a user can cause have no calls in their traceback; bugs have."""

from __future__ import annotations

import traceback
from collections.abc import Iterator

import pytest

from ottla.config.options import InvalidOption
from ottla.spark.brief_errors import brief, brief_rows
from ottla.spark.data_source import stream_reader
from ottla.spark.records.schema import full_schema


def deep(error: Exception) -> int:
    raise error


def frames_of(error: BaseException) -> list[str]:
    return [each.name for each in traceback.extract_tb(error.__traceback__)]


@brief
def one(error: Exception) -> int:
    return deep(error)


@brief_rows
def several(error: Exception) -> Iterator[int]:
    yield 1
    yield deep(error)


@pytest.mark.parametrize("call", [one, lambda error: list(several(error))])
def test_only_bugs_show_the_calls_that_led_to_them(call: object) -> None:
    assert callable(call)
    with pytest.raises(InvalidOption) as expected:
        call(InvalidOption("a wrong option"))
    assert "deep" not in frames_of(expected.value)
    with pytest.raises(ZeroDivisionError) as bug:
        call(ZeroDivisionError())
    assert "deep" in frames_of(bug.value)


def test_rows_before_the_error_are_given() -> None:
    rows = several(InvalidOption("a wrong option"))
    assert next(rows) == 1


def test_a_refused_stream_does_not_show_where_its_options_were_read() -> None:
    options = {
        "kafka.bootstrap.servers": "localhost:1",
        "subscribe": "t",
        "endingOffsets": "latest",
    }
    reader = stream_reader(options, full_schema(with_headers=False))
    for _ in range(2):
        with pytest.raises(InvalidOption) as caught:
            reader.initialOffset()
        assert "parse_query" not in frames_of(caught.value)
