from __future__ import annotations

import errno
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.volumes import Volume

from ottla.base.ids import TopicPartition
from ottla.storage.directories.checkpoints import OffsetCheckpoint
from ottla.storage.errors import CorruptLogError
from ottla.testing.disk_faults import ANY
from ottla.testing.filesystem import MemoryDisk

NAME = "recovery-point-offset-checkpoint"


def checkpoint(volume: Volume) -> OffsetCheckpoint:
    return OffsetCheckpoint(volume.files, volume.path(NAME))


def test_without_a_file_there_are_no_offsets(volume: Volume) -> None:
    assert checkpoint(volume).read() == {}


def test_offsets_are_written_as_kafka_writes_them(volume: Volume) -> None:
    offsets = {
        TopicPartition("orders", 0): 42,
        TopicPartition("my-topic.v1_x", 12): 2**63 - 1,
        TopicPartition("__consumer_offsets", 49): 0,
    }
    checkpoint(volume).write(offsets)
    assert volume.get(NAME) == (
        b"0\n3\norders 0 42\nmy-topic.v1_x 12 9223372036854775807\n__consumer_offsets 49 0\n"
    )
    assert checkpoint(volume).read() == offsets


def test_no_offsets_are_written_too(volume: Volume) -> None:
    checkpoint(volume).write({TopicPartition("t", 0): 1})
    checkpoint(volume).write({})
    assert volume.get(NAME) == b"0\n0\n"
    assert checkpoint(volume).read() == {}


@pytest.mark.parametrize("content", [b"", b"0", b"0\n", b"0\n0", b"0\r\n0\r\n"])
def test_a_file_without_entries_is_fine(volume: Volume, content: bytes) -> None:
    volume.put(NAME, content)
    assert checkpoint(volume).read() == {}


@pytest.mark.parametrize("content", [b"0\n1\nt 0 5", b"0\n1\nt  0\t5\n", b"0\r\n1\r\nt 0 5\r\n"])
def test_space_between_fields_may_vary(volume: Volume, content: bytes) -> None:
    volume.put(NAME, content)
    assert checkpoint(volume).read() == {TopicPartition("t", 0): 5}


def test_of_two_lines_for_a_partition_the_last_counts(volume: Volume) -> None:
    volume.put(NAME, b"0\n2\nt 0 5\nt 0 6\n")
    assert checkpoint(volume).read() == {TopicPartition("t", 0): 6}


@pytest.mark.parametrize(
    ("content", "position", "what"),
    [
        (b"1\n0\n", 0, "line 1: version 1"),
        (b"x\n0\n", 0, "line 1: 'x' is no number"),
        (b"\n", 0, "line 1: '' is no number"),
        (b"0\n-2\n", 2, "line 2: -2"),
        (b"0\n2\nt 0 5\n", 2, "line 2: 2 entries announced, 1 found"),
        (b"0\n99999999999999999999999\n", 2, "line 2: '9999"),
        (b"0\n0\nt 0 5\n", 2, "line 2: 0 entries announced, 1 found"),
        (b"0\n2\nt 0 5\nt 1\n", 10, "line 4: 2 fields"),
        (b"0\n1\nt 0 5 6\n", 4, "line 3: 4 fields"),
        (b"0\n1\n\n", 4, "line 3: 0 fields"),
        (b"0\n1\nt x 5\n", 4, "line 3: 'x' is no number"),
        (b"0\n1\nt -1 5\n", 4, "line 3: 't' -1 is no partition"),
        (b"0\n1\nt 2147483648 5\n", 4, "line 3: 2147483648"),
        (b"0\n1\nt 0 9223372036854775808\n", 4, "line 3: 9223372036854775808"),
        (b"0\n1\nt 0 5x\n", 4, "line 3: '5x' is no number"),
        (b"0\n1\nt 0 \xd9\xa5\n", 4, "line 3: '\u0665' is no number"),
        (b"0\n1\nt/../x 0 5\n", 4, "line 3: 't/../x' 0 is no partition"),
        (b"0\n1\nt\xff 0 5\n", 4, "line 3: 'utf-8'"),
        (bytes(64), 0, "line 1: "),
    ],
)
def test_a_damaged_file_says_where(
    volume: Volume, content: bytes, position: int, what: str
) -> None:
    volume.put(NAME, content)
    with pytest.raises(CorruptLogError) as raised:
        checkpoint(volume).read()
    assert raised.value.path == volume.path(NAME)
    assert raised.value.position == position
    assert raised.value.what.startswith(what)


@given(st.binary(max_size=200) | st.text("0123456789 \nt-", max_size=60).map(str.encode))
def test_whatever_the_file_holds_reading_ends_in_offsets_or_a_typed_error(content: bytes) -> None:
    disk = MemoryDisk()
    disk.make_directory("/data")
    volume = Volume(disk, "/data")
    volume.put(NAME, content)
    try:
        checkpoint(volume).read()
    except CorruptLogError:
        pass


def test_a_power_cut_leaves_the_old_or_the_new_offsets() -> None:
    seen = set()
    for stop in range(10):
        for seed in range(10):
            disk = MemoryDisk()
            disk.make_directory("/data")
            disk.sync_directory("/")
            held = checkpoint(Volume(disk, "/data"))
            held.write({TopicPartition("t", 0): 1})
            disk.fail(ANY, skip=stop, times=None)
            try:
                held.write({TopicPartition("t", 0): 22222})
                is_written = True
            except OSError:
                is_written = False
            disk.heal()
            disk.crash(Random(seed))
            left = held.read()[TopicPartition("t", 0)]
            assert left == 22222 or not is_written
            seen.add(left)
    assert seen == {1, 22222}


def test_a_full_disk_leaves_the_old_offsets(disk: MemoryDisk) -> None:
    held = checkpoint(Volume(disk, "/data"))
    held.write({TopicPartition("t", 0): 1})
    disk.fail("write", error=errno.ENOSPC, keep_bytes=3)
    with pytest.raises(OSError):
        held.write({TopicPartition("t", 0): 2})
    assert held.read() == {TopicPartition("t", 0): 1}
    held.write({TopicPartition("t", 0): 3})
    assert held.read() == {TopicPartition("t", 0): 3}
