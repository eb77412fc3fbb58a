from __future__ import annotations

import pytest
from tests.support.volumes import Volume

from ottla.base.files.readers import BLOCKING
from ottla.base.ids import NO_TOPIC_ID, TopicId
from ottla.base.uuids import uuid_from_text
from ottla.storage.errors import CorruptLogError
from ottla.storage.files.partition_metadata import read_topic_id, write_topic_id

NAME = "partition.metadata"
TOPIC_ID = TopicId(uuid_from_text("OvSUczdhS6eM5iWgr34w0A"))


def test_a_topic_id_is_written_as_kafka_writes_it(volume: Volume) -> None:
    write_topic_id(volume.files, volume.path(NAME), TOPIC_ID)
    assert volume.get(NAME) == b"version: 0\ntopic_id: OvSUczdhS6eM5iWgr34w0A"
    assert read_topic_id(BLOCKING, volume.files, volume.path(NAME)) == TOPIC_ID


def test_without_a_file_there_is_no_topic_id(volume: Volume) -> None:
    assert read_topic_id(BLOCKING, volume.files, volume.path(NAME)) is None


@pytest.mark.parametrize(
    "content",
    [
        b"version: 0\ntopic_id: OvSUczdhS6eM5iWgr34w0A\n",
        b"version: 0\r\ntopic_id: OvSUczdhS6eM5iWgr34w0A\r\n",
        b"version: 3\ntopic_id: OvSUczdhS6eM5iWgr34w0A\nlater: 1\n",
    ],
)
def test_other_line_ends_and_later_versions_are_read(volume: Volume, content: bytes) -> None:
    volume.put(NAME, content)
    assert read_topic_id(BLOCKING, volume.files, volume.path(NAME)) == TOPIC_ID


@pytest.mark.parametrize(
    ("content", "position"),
    [
        (b"", 0),
        (b"version: 0", 11),
        (b"version 0\ntopic_id: OvSUczdhS6eM5iWgr34w0A", 0),
        (b"version: -1\ntopic_id: OvSUczdhS6eM5iWgr34w0A", 0),
        (b"version: 0\ntopic: OvSUczdhS6eM5iWgr34w0A", 11),
        (b"version: 0\ntopic_id: OvSUczdhS6eM5iWgr34w0", 11),
        (b"version: 0\ntopic_id: \xff\xff", 11),
        (b"version: 0\ntopic_id: AAAAAAAAAAAAAAAAAAAAAA", 11),
    ],
)
def test_a_damaged_file_says_where(volume: Volume, content: bytes, position: int) -> None:
    volume.put(NAME, content)
    with pytest.raises(CorruptLogError, match="line") as raised:
        read_topic_id(BLOCKING, volume.files, volume.path(NAME))
    assert raised.value.position == position


def test_no_topic_id_is_not_written(volume: Volume) -> None:
    with pytest.raises(ValueError, match="invalid topic id"):
        write_topic_id(volume.files, volume.path(NAME), NO_TOPIC_ID)
