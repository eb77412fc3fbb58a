from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ottla.cli.records.json_format import BadRecord, record_document, record_from_json
from ottla.cli.records.record import Record

contents = st.none() | st.binary(max_size=30)


@given(
    st.builds(
        Record,
        contents,
        contents,
        st.lists(st.tuples(st.text(max_size=5), contents), max_size=3).map(tuple),
        timestamp_ms=st.just(-1) | st.integers(0, 4_000_000_000_000),
    )
)
def test_every_record_survives(record: Record) -> None:
    assert record_from_json(json.dumps(record_document(record))) == record


def test_text_is_text_and_other_bytes_are_base64() -> None:
    document = record_document(Record(b"\xff", "schön".encode(), topic="t", partition=0, offset=5))
    assert document["key"] == "schön"
    assert document["value_base64"] == "/w=="
    assert "value" not in document


def test_a_value_that_is_an_object_is_kept_as_compact_json() -> None:
    assert record_from_json('{"value": {"a": [1, "ü"]}}').value == '{"a":[1,"ü"]}'.encode()


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("", "no JSON"),
        ("{", "no JSON"),
        ("[1]", "no JSON object"),
        ('{"value_base64": "%"}', "value_base64"),
        ('{"value_base64": 5}', "value_base64"),
        ('{"headers": 1}', "expected a list"),
        ('{"headers": [1]}', "name and value"),
        ('{"timestamp": "noon"}', "not a time"),
    ],
)
def test_what_is_no_record_is_refused(line: str, reason: str) -> None:
    with pytest.raises(BadRecord, match=reason):
        record_from_json(line)
