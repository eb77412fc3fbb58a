"""Reading the batches of a segment: whole, checked, or not at all."""

from __future__ import annotations

import pytest

from ottla.protocol.records.building import build_batch
from ottla.protocol.records.record import Record
from ottla.storage.compaction.batch_source import walk_batches
from ottla.storage.errors import CorruptLogError
from ottla.testing.filesystem import MemoryDisk

PATH = "/t-0/00000000000000000000.log"


def batch(base_offset: int, value_bytes: int = 10) -> bytes:
    records = [Record(base_offset + at, 1, b"k", b"v" * value_bytes) for at in range(2)]
    return bytes(build_batch(records, base_offset=base_offset))


def disk_with(data: bytes) -> MemoryDisk:
    disk = MemoryDisk()
    disk.make_directory("/t-0")
    disk.open(PATH, create=True).write_at(0, data)
    return disk


def found(
    data: bytes, read_bytes: int = 1000, from_offset: int = 0
) -> list[tuple[int, int, bytes]]:
    walk = walk_batches(disk_with(data), PATH, len(data), from_offset, read_bytes)
    return [(position, header.base_offset, bytes(whole)) for position, header, whole in walk]


@pytest.mark.parametrize("read_bytes", [1, 60, 61, 62, 100, 200, 1000])
def test_batches_are_whole_however_little_is_read_at_a_time(read_bytes: int) -> None:
    batches = [batch(0), batch(2, value_bytes=300), batch(4)]
    positions = [0, len(batches[0]), len(batches[0]) + len(batches[1])]
    expected = list(zip(positions, (0, 2, 4), batches, strict=True))
    assert found(b"".join(batches), read_bytes) == expected


def test_batches_that_end_before_the_first_offset_are_passed_over() -> None:
    data = batch(0) + batch(2) + batch(4)
    assert [base for _, base, _ in found(data, from_offset=3)] == [2, 4]


def test_only_what_belongs_to_the_segment_is_read() -> None:
    data = batch(0) + batch(2)
    walk = walk_batches(disk_with(data), PATH, len(batch(0)), 0, 1000)
    assert [header.base_offset for _, header, _ in walk] == [0]


@pytest.mark.parametrize(
    ("data", "position", "what"),
    [
        (batch(0) + batch(2)[:-1], len(batch(0)), "are left"),
        (batch(0) + batch(2)[:30], len(batch(0)), "bytes left"),
        (batch(0)[:-1] + b"?", 0, "checksum"),
        (batch(2) + batch(1), len(batch(2)), "offset 1 after 3"),
        (b"\0" * 100, 0, "magic 0"),
        (batch(0)[:8] + b"\x7f\xff\xff\xff" + batch(0)[12:], 0, "are left"),
        (batch(0)[:8] + b"\0\0\0\0" + batch(0)[12:], 0, "too small"),
    ],
)
def test_damage_is_named_with_its_place(data: bytes, position: int, what: str) -> None:
    with pytest.raises(CorruptLogError, match=what) as raised:
        found(data)
    assert (raised.value.path, raised.value.position) == (PATH, position)
