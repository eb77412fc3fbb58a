from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.volumes import Volume

from ottla.base.java.properties import format_properties, parse_properties
from ottla.base.uuids import uuid_from_text
from ottla.storage.errors import CorruptLogError
from ottla.storage.files.meta_properties import (
    MetaProperties,
    read_meta_properties,
    write_meta_properties,
)

NAME = "meta.properties"
DIRECTORY_ID = uuid_from_text("OvSUczdhS6eM5iWgr34w0A")


def read(volume: Volume, content: bytes) -> MetaProperties | None:
    volume.put(NAME, content)
    return read_meta_properties(volume.files, volume.path(NAME))


def test_a_directory_formatted_by_kafka_is_read(volume: Volume) -> None:
    content = (
        b"#\n#Mon Mar 03 10:15:30 UTC 2025\ncluster.id=4L6g3nShT-eMCtK--X86sw\n"
        b"directory.id=OvSUczdhS6eM5iWgr34w0A\nnode.id=1\nversion=1\n"
    )
    assert read(volume, content) == MetaProperties("4L6g3nShT-eMCtK--X86sw", 1, DIRECTORY_ID)


def test_a_directory_of_version_0_has_a_broker_id(volume: Volume) -> None:
    content = b"version=0\nbroker.id=7\ncluster.id=abc\n"
    assert read(volume, content) == MetaProperties("abc", 7, None, version=0)
    assert read(volume, b"") == MetaProperties(None, None, None, version=0)


def test_without_a_file_the_directory_is_nobodys(volume: Volume) -> None:
    assert read_meta_properties(volume.files, volume.path(NAME)) is None


@pytest.mark.parametrize(
    "properties",
    [
        MetaProperties("4L6g3nShT-eMCtK--X86sw", 1, DIRECTORY_ID),
        MetaProperties("a=b:c #!\\ é 日本 😀", 0),
        MetaProperties(None, 3, DIRECTORY_ID, version=0),
        MetaProperties("abc", None, None, version=0),
    ],
)
def test_what_was_written_is_read_back(volume: Volume, properties: MetaProperties) -> None:
    write_meta_properties(volume.files, volume.path(NAME), properties)
    assert read_meta_properties(volume.files, volume.path(NAME)) == properties


def test_version_1_is_written_with_all_it_needs(volume: Volume) -> None:
    write_meta_properties(volume.files, volume.path(NAME), MetaProperties("abc", 1, DIRECTORY_ID))
    assert volume.get(NAME) == (
        b"version=1\ncluster.id=abc\nnode.id=1\ndirectory.id=OvSUczdhS6eM5iWgr34w0A\n"
    )
    with pytest.raises(ValueError, match="node id"):
        write_meta_properties(volume.files, volume.path(NAME), MetaProperties("abc", None))


@pytest.mark.parametrize(
    ("content", "what"),
    [
        (b"version=2\nnode.id=1\ncluster.id=a\n", "unknown version 2"),
        (b"version=x\n", "version is no number"),
        (b"version=1\ncluster.id=a\n", "node.id is missing"),
        (b"version=1\nnode.id=1\n", "cluster.id is missing"),
        (b"version=0\nbroker.id=4294967296\n", "broker.id is out of range"),
        (b"version=0\nbroker.id=\n", "broker.id is no number"),
        (b"version=0\ndirectory.id=abc\n", "not a base64url UUID"),
        (b"version=0\ncluster.id=\\u12\n", "line 2: malformed"),
    ],
)
def test_a_damaged_file_says_what_is_wrong(volume: Volume, content: bytes, what: str) -> None:
    with pytest.raises(CorruptLogError, match=what):
        read(volume, content)


@pytest.mark.parametrize(
    ("content", "values"),
    [
        (b"a=b", {"a": "b"}),
        (b"a = b \n", {"a": "b "}),
        (b"a:b\nc d\ne\tf\n", {"a": "b", "c": "d", "e": "f"}),
        (b"  a  =  b", {"a": "b"}),
        (b"a==b", {"a": "=b"}),
        (b"a", {"a": ""}),
        (b"=b", {"": "b"}),
        (b"# comment\n! comment\n\n \t\n  # comment\na=#b", {"a": "#b"}),
        (b"a=b\\\n   c", {"a": "bc"}),
        (b"a=b\\\\\nc=d", {"a": "b\\", "c": "d"}),
        (b"a=b\\\n# no comment", {"a": "b# no comment"}),
        (b"a\\=b\\:c\\ d=e", {"a=b:c d": "e"}),
        (b"a=\\t\\n\\r\\f\\q\\u00e9\\uD83D\\uDE00", {"a": "\t\n\r\fqé😀"}),
        (b"a=1\r\nb=2\rc=3", {"a": "1", "b": "2", "c": "3"}),
        (b"a=1\na=2", {"a": "2"}),
        (b"a=\xe9", {"a": "é"}),
        (b"a=b\\", {"a": "b"}),
    ],
)
def test_properties_are_read_as_java_reads_them(content: bytes, values: dict[str, str]) -> None:
    assert parse_properties(content) == values


@given(st.dictionaries(st.text(max_size=20), st.text(max_size=20), max_size=5))
def test_any_properties_survive_being_written(values: dict[str, str]) -> None:
    assert parse_properties(format_properties(values)) == values


@given(st.binary(max_size=100) | st.text("a\\=: \n\ru0#", max_size=40).map(str.encode))
def test_whatever_the_file_holds_parsing_ends_in_values_or_an_error(content: bytes) -> None:
    try:
        parse_properties(content)
    except ValueError:
        pass
