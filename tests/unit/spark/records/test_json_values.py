"""JSON values into columns: the fast way, the slow way, and that they agree."""

import json
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ottla.config.options import InvalidOption
from ottla.spark.records import json_values
from ottla.spark.records.json_values import decode_json, is_simple, is_time, parse
from ottla.spark.records.value_converters import converter_of
from ottla.spark.records.values import BadValue, decode_one_by_one

WANTED = pa.struct([
    ("id", pa.int64()), ("name", pa.string()), ("is_ok", pa.bool_()), ("x", pa.float64()),
    ("tags", pa.list_(pa.string())), ("sub", pa.struct([("a", pa.int32())])),
    ("at", pa.timestamp("us", "UTC")), ("day", pa.date32()),
])  # fmt: skip
EMPTY = dict.fromkeys(["id", "name", "is_ok", "x", "tags", "sub", "at", "day"])


def slowly(values: list[bytes | None]) -> tuple[list[Any], set[int]]:
    convert = converter_of(WANTED)
    found = decode_one_by_one(
        pa.array(values, pa.binary()), WANTED, lambda value: convert(parse(value), ())
    )
    return found.values.to_pylist(), set(found.reasons)


def decoded(*values: bytes | None) -> tuple[list[Any], dict[int, str]]:
    found = decode_json(pa.array(values, pa.binary()), WANTED)
    return found.values.to_pylist(), dict(found.reasons)


def test_values_become_structs_and_fields_that_are_not_there_are_null() -> None:
    whole = {"id": 1, "name": "n", "is_ok": True, "x": 0.5, "tags": ["a"], "sub": {"a": 2}}
    values, reasons = decoded(json.dumps({**whole, "extra": {}}).encode(), b"{}", None, b"null")
    assert values == [whole | {"at": None, "day": None}, EMPTY, None, None]
    assert reasons == {}


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        (b"", "not JSON"),
        (b"{", "not JSON"),
        (b"{}{}", "not JSON"),
        (b'{"id":1},"z":5', "not JSON"),
        (b'{"id":1}}\n{"i":1,"v":{}', "not JSON"),
        (b'{"name":"\xff"}', "not JSON"),
        (b"[" * 100_000, "not JSON"),
        (b"5", "the value is 5, not an object"),
        (b'{"id":"1"}', "id is '1', not a whole number"),
        (b'{"id":1.5}', "id is 1.5, not a whole number"),
        (b'{"id":true}', "id is True, not a whole number"),
        (b'{"id":9223372036854775808}', "id does not fit into 64 bits"),
        (b'{"name":1}', "name is 1, not a string"),
        (b'{"name":"\\ud800"}', "name is no valid Unicode text"),
        (b'{"is_ok":"yes"}', "is_ok is 'yes', not true or false"),
        (b'{"tags":["a",1]}', "tags.1 is 1, not a string"),
        (b'{"sub":{"a":{}}}', "sub.a is {}, not a whole number"),
        (b'{"at":"noon"}', "at is 'noon', not a time"),
        (b'{"day":5}', "day is 5, not a date"),
    ],
)
def test_a_bad_value_is_reported_and_does_not_affect_others(value: bytes, reason: str) -> None:
    values, reasons = decoded(b'{"id":1}', value, b'{"id":2}')
    assert [each and each["id"] for each in values] == [1, None, 2]
    assert list(reasons) == [1]
    assert reasons[1].startswith(reason)


def test_one_bad_value_among_many_is_found() -> None:
    values = [b'{"id":%d}' % number for number in range(3000)]
    values[2500] = b"bad"
    found, reasons = decoded(*values)
    assert [each and each["id"] for each in found] == [
        None if number == 2500 else number for number in range(3000)
    ]
    assert list(reasons) == [2500]


@pytest.mark.parametrize("value", [b'{"x":NaN}', b'\xef\xbb\xbf{"id":7}', b'{"id":7,"y":1e999}'])
def test_what_one_parser_refuses_and_the_other_takes_is_taken(value: bytes) -> None:
    found, reasons = decoded(b'{"id":1}', value, b'{"id":2}')
    assert found[1] is not None
    assert reasons == {}


def test_bad_values_make_no_others_slow(monkeypatch: pytest.MonkeyPatch) -> None:
    values = [b"bad" if number % 100 == 7 else b'{"id":1}' for number in range(5000)]
    parsed_slowly = []

    def noted(value: bytes) -> object:
        parsed_slowly.append(value)
        return parse(value)

    monkeypatch.setattr(json_values, "parse", noted)
    _, reasons = decoded(*values)
    assert list(reasons) == [number for number in range(5000) if number % 100 == 7]
    assert parsed_slowly == [b"bad"] * len(reasons)


PIECES = st.sampled_from([
    b"{", b"}", b"[", b"]", b",", b":", b'"', b"\n", b" ", b"1", b"null", b'"id"', b'"v"', b'"i"',
    b'{"at":"2024-12-31T23:59:59"}', b'"day":"2024-12-31"',
    b'{"id":1}', b'"name":"x"', b"\\", b"-", b".5", b"e3", b"\xc3\xa9", b"\xff", b"true",
])  # fmt: skip
TEXTS = st.lists(PIECES, max_size=8).map(b"".join)


@given(st.lists(st.none() | TEXTS, min_size=1, max_size=6))
def test_whatever_text_comes_both_ways_agree(values: list[bytes | None]) -> None:
    found, reasons = decoded(*values)
    expected, bad = slowly(values)
    assert found == expected
    assert set(reasons) == bad


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=5,
)


@given(st.lists(st.fixed_dictionaries({}, optional=dict.fromkeys(EMPTY, JSON)), max_size=4))
def test_whatever_json_comes_both_ways_agree(objects: list[dict[str, Any]]) -> None:
    values: list[bytes | None] = [json.dumps(each).encode() for each in objects]
    found, reasons = decoded(*values)
    expected, bad = slowly(values)
    assert repr(found) == repr(expected)  # NaN equals itself in no other form
    assert set(reasons) == bad


@pytest.mark.parametrize(
    ("kind", "value", "expected"),
    [
        (pa.date32(), "2024-12-31", "2024-12-31"),
        (pa.timestamp("us", "UTC"), "2024-12-31T23:59:59+01:00", "2024-12-31 22:59:59+00:00"),
        (pa.timestamp("us", "UTC"), "2024-12-31T23:59:59", "2024-12-31 23:59:59+00:00"),
        (pa.decimal128(5, 2), 1.25, "1.25"),
        (pa.decimal128(5, 2), "123.40", "123.40"),
        (pa.binary(), "YWJj", "b'abc'"),
        (pa.float32(), 1, "1.0"),
        (pa.map_(pa.string(), pa.int32()), {"a": 1}, "[('a', 1)]"),
    ],
)  # fmt: skip
def test_other_types_are_read_from_text(kind: pa.DataType, value: Any, expected: str) -> None:
    wanted = pa.struct([("f", kind)])
    found = decode_json(pa.array([json.dumps({"f": value}).encode()], pa.binary()), wanted)
    assert str(found.values[0].as_py()["f"]) == expected
    assert is_simple(wanted) == is_time(kind)


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        (pa.date32(), "31.12.2024"),
        (pa.timestamp("us", "UTC"), "yesterday"),
        (pa.timestamp("us", "UTC"), 5),
        (pa.decimal128(5, 2), 1.255),
        (pa.decimal128(5, 2), "12345"),
        (pa.decimal128(5, 2), "x"),
        (pa.decimal128(5, 2), "1e999999999"),
        (pa.binary(), "?"),
        (pa.map_(pa.string(), pa.int32()), {"a": "b"}),
    ],
)
def test_text_that_is_none_of_the_type_is_bad(kind: pa.DataType, value: Any) -> None:
    with pytest.raises(BadValue, match=r"^f"):
        converter_of(pa.struct([("f", kind)]))({"f": value}, ())


def test_a_type_that_json_cannot_have_is_refused_by_its_field() -> None:
    with pytest.raises(InvalidOption, match=r"sub\.f has the type"):
        converter_of(pa.struct([("sub", pa.struct([("f", pa.duration("us"))]))]))
