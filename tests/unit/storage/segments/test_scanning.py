from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from random import Random

import pytest
from tests.unit.storage.log_making import batch_of, placed

from ottla.base.files.filesystem import Buffer, File
from ottla.base.files.readers import BLOCKING
from ottla.protocol.records.batch import BatchHeader
from ottla.storage.errors import CorruptLogError
from ottla.storage.segments.scanning import (
    CHECK_READ_BYTES,
    checksum_of_file,
    find_valid_batch,
    scan_checked,
    scan_headers,
)
from ottla.testing.filesystem import MemoryDisk

Scan = Callable[[File, int, int], Iterator[tuple[int, BatchHeader]]]


scan_all_headers = partial(scan_headers, BLOCKING)


def file_of(content: Buffer) -> File:
    file = MemoryDisk().open("/file", create=True)
    file.write_at(0, content)
    return file


def batches(*sizes: int) -> list[bytes]:
    return [placed(batch_of(bytes(size)), offset) for offset, size in enumerate(sizes)]


@pytest.mark.parametrize("scan", [scan_all_headers, scan_checked])
@pytest.mark.parametrize(
    "sizes",
    [(), (0,), (10, 5000, 1, 4000, 90), (CHECK_READ_BYTES * 3, 7, CHECK_READ_BYTES), (1,) * 300],
    ids=str,
)
def test_every_batch_is_found_whatever_its_size(scan: Scan, sizes: tuple[int, ...]) -> None:
    content = batches(*sizes)
    file = file_of(b"".join(content))
    found = list(scan(file, 0, file.size()))
    assert [header.base_offset for _, header in found] == list(range(len(sizes)))
    starts = [sum(map(len, content[:at])) for at in range(len(content))]
    assert [position for position, _ in found] == starts


@pytest.mark.parametrize("scan", [scan_all_headers, scan_checked])
def test_a_truncated_batch_is_reported_with_its_position(scan: Scan) -> None:
    first, second = batches(5, 5)
    for size in range(1, len(second)):
        with pytest.raises(CorruptLogError) as raised:
            list(scan(file_of(first + second[:size]), 0, len(first) + size))
        assert raised.value.position == len(first)


def test_any_flipped_bit_that_a_checksum_covers_is_found() -> None:
    content = b"".join(batches(5, 30, 5))
    size = len(content) // 3
    for position in range(size + 16, 2 * size):
        damaged = bytearray(content)
        damaged[position] ^= 1 << position % 8
        with pytest.raises(CorruptLogError):
            list(scan_checked(file_of(damaged), 0, len(damaged)))


def test_offsets_that_go_back_are_damage() -> None:
    first, second = placed(batch_of(b"a", b"b"), 10), placed(batch_of(b"c"), 11)
    for scan in (scan_all_headers, scan_checked):
        with pytest.raises(CorruptLogError, match="below 12"):
            list(scan(file_of(first + second), 0, len(first) + len(second)))


def test_a_huge_claimed_length_reads_nothing() -> None:
    batch = bytearray(batches(5)[0])
    batch[8:12] = b"\x7f\xff\xff\xff"
    with pytest.raises(CorruptLogError, match="where"):
        list(scan_headers(BLOCKING, file_of(batch), 0, len(batch)))


def test_a_file_that_became_shorter_is_damage() -> None:
    content = batches(CHECK_READ_BYTES * 2)[0]
    with pytest.raises(CorruptLogError):
        list(scan_checked(file_of(content[:-100]), 0, len(content)))
    with pytest.raises(CorruptLogError, match="ends before"):
        checksum_of_file(file_of(b"abc"), 0, 10)


def test_the_next_valid_batch_is_found_behind_any_damage() -> None:
    random = Random(1)
    first, second, third = batches(40, 200, 10)
    for _ in range(200):
        damaged = bytearray(second)
        for _ in range(random.randrange(1, 50)):
            damaged[random.randrange(len(damaged))] = random.randrange(256)
        content = first + bytes(damaged) + third
        found = find_valid_batch(file_of(content), len(first) + 1, len(content), 1, 1000)
        assert found is not None
        assert found[0] == len(first) + len(second)
        assert found[1].base_offset == 2


def test_batches_with_other_offsets_are_not_taken_for_the_next() -> None:
    content = b"".join(batches(5, 5))
    assert find_valid_batch(file_of(content), 0, len(content), 5, 100) is None
    assert find_valid_batch(file_of(content), 0, len(content), 0, 0) is None
