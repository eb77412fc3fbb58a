"""Checked reads of batches about as large as one read: every byte counts, wherever a read ends."""

from __future__ import annotations

import pytest
from tests.unit.storage.log_making import SMALL, Place, batch_of, placed, read_records

from ottla.base.files.filesystem import Buffer, File
from ottla.protocol.records.batch import CHECKED_FROM, HEADER_BYTES
from ottla.storage.errors import CorruptLogError
from ottla.storage.log.recovery import Checkpoint
from ottla.storage.segments.scanning import CHECK_READ_BYTES, checksum_of_file, scan_checked
from ottla.testing.filesystem import MemoryDisk

READ = CHECK_READ_BYTES
KEY_BYTES = 1000  # the length of a key makes up for that of a header
STEPS = (-HEADER_BYTES, -2, -1, 0, 1, 2, HEADER_BYTES)
LARGE = [READ + step for step in STEPS] + [2 * READ + step for step in (-1, 0, 1)]


def sized(size: int, offset: int) -> bytes:
    """A batch of exactly so many bytes, with a pattern in it."""
    value = (bytes(range(251)) * (size // 251 + 1))[: size - KEY_BYTES]
    for spare in range(KEY_BYTES):
        batch = placed(batch_of(value, key=bytes(KEY_BYTES - spare)), offset)
        if len(batch) == size:
            return batch
    raise AssertionError(size)


def file_of(content: Buffer) -> File:
    file = MemoryDisk().open("/file", create=True)
    file.write_at(0, content)
    return file


def first_damage(file: File) -> int | None:
    try:
        for _ in scan_checked(file, 0, file.size()):
            pass
    except CorruptLogError as error:
        return error.position
    return None


@pytest.mark.parametrize("size", LARGE)
@pytest.mark.parametrize("before", [0, 1], ids=["first", "behind a small one"])
def test_a_flipped_bit_is_found_in_every_read_of_a_large_batch(size: int, before: int) -> None:
    start = before * len(placed(batch_of(b"small"), 0))
    content = bytearray(b"".join([placed(batch_of(b"small"), 0)][:before]) + sized(size, before))
    content += placed(batch_of(b"last"), before + 1)
    assert first_damage(file_of(content)) is None
    edges = {at + step for at in (READ, 2 * READ) for step in (-1, 0, 1)}
    places = {start + CHECKED_FROM, start + size // 2, start + size - 1}
    places |= edges | {start + CHECKED_FROM + edge for edge in edges}
    for at in sorted(each for each in places if start + CHECKED_FROM <= each < start + size):
        content[at] ^= 0x10
        assert first_damage(file_of(content)) == start, at
        content[at] ^= 0x10


@pytest.mark.parametrize("size", [1, READ - 1, READ, READ + 1, 2 * READ, 2 * READ + 1])
def test_a_checksum_in_pieces_is_that_of_the_whole(size: int) -> None:
    from crc32c import crc32c

    content = (bytes(range(253)) * (size // 253 + 2))[: size + 3]
    file = file_of(content)
    assert checksum_of_file(file, 2, size + 2) == crc32c(content[2 : size + 2])


@pytest.mark.parametrize("size", LARGE)
def test_a_large_batch_is_served_and_survives_recovery_and_its_damage_does_not(size: int) -> None:
    place = Place(config=SMALL)
    log = place.open()
    batch = sized(size, 0)
    log.append_as_follower(batch)
    log.append_as_follower(placed(batch_of(b"after"), 1))
    log = place.reopen_killed()
    assert [record.offset for record in read_records(log)] == [0, 1]
    log = place.reopen_clean(log)
    place.disk.flip_bit(log.segments[0].path, size - 1)
    with pytest.raises(CorruptLogError):
        read_records(log)
    place.disk.kill()
    log = place.open(Checkpoint(0))
    assert log.log_end_offset == 0
