"""Schemas in Spark's DDL: what is wrong is named by its place in the user's own text."""

from __future__ import annotations

import pytest

from ottla.config.options import InvalidOption
from ottla.spark.records.ddl_schema import parse_ddl


def test_columns_are_read_in_their_order() -> None:
    found = parse_ddl(
        "id bigint, `a b`: array<struct<x:int, y map<string,decimal(10,2)>>> NOT NULL"
    )
    assert found.simpleString() == (
        "struct<id:bigint,a b:array<struct<x:int,y:map<string,decimal(10,2)>>>>"
    )
    assert [field.nullable for field in found] == [True, False]


def test_the_text_of_a_struct_is_read_as_its_columns() -> None:
    assert parse_ddl("struct<id:bigint,name:string>") == parse_ddl("id bigint, name string")
    assert parse_ddl(" STRUCT <a: struct<b:int>> ").simpleString() == "struct<a:struct<b:int>>"
    assert parse_ddl("struct int").simpleString() == "struct<struct:int>"
    with pytest.raises(InvalidOption, match=r"simpleString\(\)"):
        parse_ddl(str(parse_ddl("id bigint")))


@pytest.mark.parametrize(
    ("text", "reported"),
    [
        ("struct<id:bigint>, x int", r"at character 18, ', x int': expected the end"),
        ("id bigin, name string", r"at character 4, 'bigin, name string': .* bigint is meant"),
        ("id bigint, when momnt", r"at character 17, 'momnt'"),
        ("id bigint, note varchar(3)", r"at character 17, 'varchar\(3\)': .* cannot be decoded"),
        ("id", r"at the end of 'id': expected the type of id"),
        ("id bigint,", r"at the end of 'id bigint,': expected the name of a column"),
        ("id bigint name string", r"at character 11, 'name string': expected a comma or the end"),
        ("tags array<string", r"at the end of .*: expected >"),
        ("tags array string", r"at character 12, 'string': expected <"),
        ("counts map<string>", r"at character 18, '>': expected ,"),
        ("pair struct<x:int", r"at the end of .*: expected a comma or >"),
        ("price decimal(39)", r"at character 7, 'decimal\(39\)': a decimal has at most 38 digits"),
        ("price decimal(2,3)", r"at character 7"),
        ("price decimal(two)", r"at character 15, 'two\)': expected a number"),
        ("id bigint COMMENT order", r"at character 19, 'order': expected the text of the comment"),
        ("'id' bigint", r"at character 1, .*: expected the name of a column"),
        ("id-number bigint", r"at character 3, '-number bigint': expected the type of id"),
    ],
)
def test_mistakes_are_named_by_their_place(text: str, reported: str) -> None:
    with pytest.raises(InvalidOption, match=f"Option valueSchema: {reported}"):
        parse_ddl(text)
