from __future__ import annotations

import json

import pytest

from ottla.cli.errors import CommandFailed, did_you_mean
from ottla.cli.output.documents import formatted
from ottla.cli.output.tables import Column, count_text, fields_text, table
from ottla.cli.output.yaml import to_yaml


def test_numbers_stand_right_and_what_is_unknown_is_a_dash() -> None:
    columns = (Column("NAME", "name"), Column("COUNT", "count"), Column("LIST", "list"))
    rows: list[dict[str, object]] = [
        {"list": [1, 2], "count": 5, "name": "a"},
        {"list": [], "count": None, "name": "longer"},
        {"list": [3], "count": 12345, "name": "b", "not shown": 1},
    ]
    shown = table(columns, rows)
    assert shown.splitlines() == [
        "NAME    COUNT  LIST",
        "a           5  1,2",
        "longer      -  -",
        "b       12345  3",
    ]
    assert table(columns[:2], []) == "NAME  COUNT"


def test_facts_are_names_and_values() -> None:
    assert fields_text([("a", "x"), ("longer", None)]) == "a       x\nlonger  -"


def test_things_are_counted_in_words() -> None:
    assert [count_text(n, "record") for n in (0, 1, 2)] == ["0 records", "1 record", "2 records"]


@pytest.mark.parametrize(
    ("document", "lines"),
    [
        ({"a": 1, "b": None, "c": True}, ["a: 1", "b: null", "c: true"]),
        ([], ["[]"]),
        ({}, ["{}"]),
        ({"a": [], "b": {}}, ["a: []", "b: {}"]),
        ([{"a": [1, {"b": "x"}]}, "z"], ["- a:", "    - 1", "    - b: x", "- z"]),
        ({"a": "yes", "b": "1", "c": "x: y", "d": ""},
         ['a: "yes"', 'b: "1"', 'c: "x: y"', 'd: ""']),
        ({"a": "line\nline", "b": "käse", "c": "2024-01-01", "on": "a#b"},
         ['a: "line\\nline"', 'b: "käse"', 'c: "2024-01-01"', '"on": "a#b"']),
        (["\x7f\u2028\t😀"], [r'- "\U0000007f\U00002028\t😀"']),
        ([[1, 2], [3]], ["- - 1", "  - 2", "- - 3"]),
    ],
)  # fmt: skip
def test_yaml_says_what_the_document_says(document: object, lines: list[str]) -> None:
    assert to_yaml(document).splitlines() == lines
    assert formatted("yaml", document).splitlines() == lines
    assert json.loads(formatted("json", document)) == document


def test_near_names_are_offered_whatever_their_case() -> None:
    assert did_you_mean("Order", ["orders", "refunds"]) == "did you mean orders?"
    assert did_you_mean("xyz", ["orders"]) is None


def test_a_failure_shows_its_advice_below() -> None:
    assert str(CommandFailed("it broke", "mend it", "or not")) == "it broke\n  mend it\n  or not"
