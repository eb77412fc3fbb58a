from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ottla.cli.records.json_format import json_value, record_document, record_from_json
from ottla.cli.records.record import BadRecord, TopicRecord

contents = st.none() | st.binary(max_size=30)


@given(
    contents,
    contents,
    st.lists(st.tuples(st.text(max_size=5), contents), max_size=3),
    st.just(-1) | st.integers(0, 4_000_000_000_000) | st.integers(2**60, 2**63 - 1),
)
def test_every_record_survives(
    value: bytes | None,
    key: bytes | None,
    headers: list[tuple[str, bytes | None]],
    timestamp_ms: int,
) -> None:
    record = TopicRecord(value, key, tuple(headers), timestamp_ms=timestamp_ms)
    assert record_from_json(json.dumps(record_document(record))) == record


def test_text_is_text_and_other_bytes_are_base64() -> None:
    document = record_document(
        TopicRecord(b"\xff", "schön".encode(), topic="t", partition=0, offset=5)
    )
    assert document["key"] == "schön"
    assert document["value_base64"] == "/w=="
    assert "value" not in document


def test_a_value_that_is_an_object_is_kept_as_compact_json() -> None:
    assert record_from_json('{"value": {"a": [1, "ü"]}}').value == '{"a":[1,"ü"]}'.encode()


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("", "not JSON: Expecting value at column 1"),
        ("{", "not JSON: .* at column 2"),
        ("[1]", "expected an object such as .*, found a list"),
        ('"text"', "found text"),
        ("NaN", "NaN is not a JSON number"),
        ("[" * 100_000, "nested too deeply"),
        ('{"valeu": "x"}', 'unknown field "valeu"; did you mean value'),
        ('{"total": 12}', 'unknown field "total"'),
        ('{"key": "k"}', 'there is no "value"'),
        ('{"value": "a", "value_base64": "YQ=="}', "either value or value_base64"),
        ('{"value": "\\ud800"}', "value: a lone surrogate"),
        ('{"value_base64": "%"}', "value_base64"),
        ('{"value_base64": 5}', "value_base64: expected text, found a number"),
        (b'{"value": "\xff"}', "not UTF-8: byte 0xff at column 12"),
        ('{"value": "x"}'.encode("utf-16"), "not UTF-8, but UTF-16"),
        ('{"value": "x"}'.encode("utf-16-be"), "not UTF-8, but UTF-16"),
        ('{"value": "a", "partition": "a"}', 'partition: expected a number from 0, found "a"'),
        ('{"value": "a", "partition": -1}', "partition: expected a number"),
        ('{"value": "a", "partition": true}', "partition: expected a number"),
        ('{"value": "a", "offset": 1.5}', "offset: expected a number"),
        ('{"value": "a", "topic": 5}', "topic: expected text, found a number"),
        ('{"value": "a", "headers": 1}', "headers: expected a list"),
        ('{"value": "a", "headers": {"a": "b"}}', "headers: expected a list .*, found an object"),
        ('{"value": "a", "headers": [1]}', "name and value"),
        ('{"value": "a", "headers": [{"name": "h"}]}', 'h: there is no "value"'),
        ('{"value": "a", "headers": [{"name": "h", "valeu": 1}]}', "headers: unknown field"),
        ('{"value": "a", "timestamp": "noon"}', "not a time"),
        ('{"value": "a", "timestamp": -5}', "not a time"),
        ('{"value": "a", "timestamp": true}', "not a time"),
    ],
    ids=lambda text: text[:40],
)
def test_what_is_not_the_documented_object_is_refused_by_field(line: str, reason: str) -> None:
    with pytest.raises(BadRecord, match=reason):
        record_from_json(line)


def test_a_record_with_an_offset_is_a_copy_and_goes_where_the_command_says() -> None:
    line = '{"value": "a", "topic": "t", "partition": 3, "offset": 5}'
    assert record_from_json(line) == TopicRecord(b"a")


def test_a_record_without_an_offset_says_where_it_is_written() -> None:
    line = '{"value": "a", "topic": "t", "partition": 3}'
    assert record_from_json(line) == TopicRecord(b"a", topic="t", partition=3)


def test_values_that_are_json_are_kept_as_they_are_written() -> None:
    assert json_value(b' {"total":  12}\n') == TopicRecord(b'{"total":  12}')
    with pytest.raises(BadRecord, match="not JSON"):
        json_value(b"{total: 12}")
