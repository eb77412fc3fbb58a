"""The schema files' own format: what each word means, and what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest
from tools.messages.schema import (
    FieldSchema,
    MessageSchema,
    Schema,
    Versions,
    parse_field,
    parse_versions,
    read_schema,
    read_schemas,
    snake_case,
)

EXAMPLE = """\
# Reads something,
# over two lines.
api 99 Example
on broker controller
unstable 5

request 2-5 flexible 4+
  name:    string
  limit:   int32  3+  = -1  ignorable
  owner:   string?5+  3+
  label:   string?  4+  tag 1  = null
  topics:  []Topic
    id:         uuid
    partitions: []Partition  3+
      index: int32
      log:   records?
  places:  []Place?
  struct Place
    host: string  plain
    port: uint16

response 2-5
  topics: []Answer  kept
    text: string  -4
"""


def read(text: str, tmp_path: Path) -> Schema:
    path = tmp_path / "example.schema"
    path.write_text(text)
    return read_schema(path)


@pytest.fixture
def example(tmp_path: Path) -> Schema:
    return read(EXAMPLE, tmp_path)


def field(message: MessageSchema, name: str, struct: str | None = None) -> FieldSchema:
    owner = message.structs[struct] if struct else message.root
    return next(each for each in owner.fields if each.name == name)


def test_the_head_names_the_api_and_where_it_is_served(example: Schema) -> None:
    assert (example.name, example.api_key) == ("Example", 99)
    assert example.remark == "Reads something, over two lines."
    assert example.listeners == ("broker", "controller")
    assert example.unstable == 5


def test_request_and_response_are_messages_of_their_own(example: Schema) -> None:
    request, response = example.request, example.response
    assert (request.name, request.module) == ("ExampleRequest", "example_request")
    assert (response.name, list(response.versions)) == ("ExampleResponse", [2, 3, 4, 5])
    assert [request.is_flexible(version) for version in request.versions] == [0, 0, 1, 1]
    assert response.flexible_from is None
    assert not response.is_flexible(5)


def test_a_data_record_has_one_message_of_its_own_name(tmp_path: Path) -> None:
    schema = read("data OffsetKey\ntype 1\n\nversions 0\n  group: string\n", tmp_path)
    (message,) = schema.messages
    assert (message.name, schema.record_type, schema.api_key) == ("OffsetKey", 1, None)


def test_a_field_exists_in_all_versions_unless_it_says_otherwise(example: Schema) -> None:
    assert field(example.request, "name").versions == Versions(2, 5)
    assert field(example.request, "limit").versions == Versions(3, 5)
    assert field(example.response, "text", "Answer").versions == Versions(2, 4)


def test_inside_a_struct_the_versions_are_those_of_the_field_above(example: Schema) -> None:
    assert field(example.request, "partitions", "Topic").versions == Versions(3, 5)
    assert field(example.request, "index", "Partition").versions == Versions(3, 5)


def test_a_question_mark_allows_null_from_a_version_on(example: Schema) -> None:
    owner, label = field(example.request, "owner"), field(example.request, "label")
    assert [owner.is_nullable(version) for version in (3, 4, 5)] == [False, False, True]
    assert [label.is_nullable(version) for version in (3, 4, 5)] == [False, True, True]
    assert not any(field(example.request, "name").is_nullable(version) for version in range(9))


def test_tags_defaults_and_flags_are_read(example: Schema) -> None:
    label, limit = field(example.request, "label"), field(example.request, "limit")
    assert (label.tag, label.default) == (1, "null")
    assert (limit.tag, limit.default, limit.is_ignorable) == (None, "-1", True)
    assert field(example.request, "host", "Place").is_plain
    assert field(example.response, "topics").is_kept


def test_structs_are_indented_below_their_field_or_shared_by_name(example: Schema) -> None:
    assert list(example.request.structs) == ["Partition", "Topic", "Place"]
    places = field(example.request, "places")
    assert (places.type, places.is_array, places.is_struct) == ("Place", True, True)
    assert [each.name for each in example.request.all_structs()][-1] == "ExampleRequest"


@pytest.mark.parametrize(
    ("text", "outer", "expected"),
    [
        ("3", None, Versions(3, 3)),
        ("3-7", None, Versions(3, 7)),
        ("4+", Versions(2, 9), Versions(4, 9)),
        ("-4", Versions(2, 9), Versions(2, 4)),
        ("5-6", Versions(2, 9), Versions(5, 6)),
    ],
)
def test_version_ranges(text: str, outer: Versions | None, expected: Versions) -> None:
    assert parse_versions(text, outer) == expected


def test_versions_are_shown_as_they_are_written() -> None:
    assert (str(Versions(3, 3)), str(Versions(0, 12))) == ("3", "0-12")
    assert 4 in Versions(2, 4)
    assert 5 not in Versions(2, 4)


@pytest.mark.parametrize(
    "line",
    ["name string", "name: string 3+ tag", "name: string sometimes", "name: = 3", "name: []"],
)
def test_a_field_that_is_not_understood_is_named(line: str) -> None:
    with pytest.raises(ValueError, match="field not understood: name"):
        parse_field(line, Versions(0, 5))


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("api x Example\n", "invalid literal"),
        ("hello there\n", "line not understood: hello there"),
        ("data A\nversions 0\n  items: []Missing\n", "A.items: unknown type Missing"),
        (
            "data A\nversions 0\n  a: []B\n    x: int8\n  b: []B\n    x: int8\n",
            "struct B defined twice",
        ),
        ("data A\nversions 0\n  a: int8 what\n", "field not understood: a: int8 what"),
    ],
)
def test_a_broken_schema_ends_with_its_path_and_the_reason(
    text: str, reason: str, tmp_path: Path
) -> None:
    with pytest.raises(SystemExit) as error:
        read(text, tmp_path)
    assert "example.schema: " in str(error.value)
    assert reason in str(error.value)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("ApiVersions", "api_versions"),
        ("FetchResponse", "fetch_response"),
        ("KRaftVersionRecord", "k_raft_version_record"),
        ("AddPartitionsToTxn", "add_partitions_to_txn"),
    ],
)
def test_names_of_modules(name: str, expected: str) -> None:
    assert snake_case(name) == expected


def test_all_schemas_come_by_key_and_then_by_name() -> None:
    schemas = read_schemas()
    keys = [schema.api_key for schema in schemas if schema.api_key is not None]
    names = [schema.name for schema in schemas if schema.api_key is None]
    assert keys == sorted(set(keys))
    assert names == sorted(set(names))
    assert [schema.api_key for schema in schemas[: len(keys)]] == keys
