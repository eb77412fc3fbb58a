"""The snapshot file: Kafka's bytes, and every kind of damage."""

from __future__ import annotations

from pathlib import Path

import pytest
from crc32c import crc32c

from ottla.storage.producers.producer_entry import ProducerEntry
from ottla.storage.producers.producer_snapshot import (
    CorruptSnapshotError,
    decode_snapshot,
    encode_snapshot,
)

# Written by Apache Kafka 4.3.1: producer 5, epoch 2, sequences 8-9 at offsets 40-41 (timestamp
# 1234), coordinator epoch 3, transaction open since offset 38; producer 7, without batches.
KAFKA_FILE = bytes.fromhex(
    "000121bc0bf000000002"
    "00000000000000050002000000090000000000000029"
    "00000001" "00000000000004d2" "00000003" "0000000000000026"
    "0000000000000007ffffffffffffffffffffffffffff"
    "00000000" "00000000000003e7" "00000001" "ffffffffffffffff"
)  # fmt: skip


def some_producers() -> dict[int, ProducerEntry]:
    return {
        5: ProducerEntry.restored(2, 3, 38, (9, 41, 1, 1234)),
        7: ProducerEntry.restored(-1, 1, -1, (-1, -1, 0, 999)),
    }


def resealed(data: bytes) -> bytes:
    return data[:2] + crc32c(data[6:]).to_bytes(4, "big") + data[6:]


def test_a_snapshot_has_the_bytes_that_kafka_writes() -> None:
    assert encode_snapshot(some_producers()) == KAFKA_FILE


def test_producers_are_written_in_the_order_of_their_ids() -> None:
    backwards = dict(reversed(some_producers().items()))
    assert encode_snapshot(backwards) == encode_snapshot(some_producers())


def test_what_was_written_is_read_again() -> None:
    data = encode_snapshot(some_producers())
    producers = decode_snapshot(data, "p")
    assert encode_snapshot(producers) == data
    assert producers[5].has_open_transaction
    assert [written.base_offset for written in producers[5].batches()] == [40]
    assert not producers[7].has_batches


def test_an_empty_snapshot_has_no_producers() -> None:
    assert decode_snapshot(encode_snapshot({}), "p") == {}


@pytest.mark.parametrize("size", [0, 1, 5, 9, 10, 55, 101])
def test_a_file_that_is_cut_off_is_corrupt(size: int) -> None:
    with pytest.raises(CorruptSnapshotError):
        decode_snapshot(encode_snapshot(some_producers())[:size], "p")


def test_any_flipped_bit_is_noticed() -> None:
    data = encode_snapshot(some_producers())
    for position in range(len(data)):
        damaged = bytearray(data)
        damaged[position] ^= 1
        with pytest.raises(CorruptSnapshotError):
            decode_snapshot(bytes(damaged), "p")


@pytest.mark.parametrize("count", [-1, 3, 2**31 - 1])
def test_a_number_of_entries_that_does_not_fit_is_refused(count: int) -> None:
    data = encode_snapshot(some_producers())
    lie = resealed(data[:6] + count.to_bytes(4, "big", signed=True) + data[10:])
    with pytest.raises(CorruptSnapshotError, match="array"):
        decode_snapshot(lie, "p")


def test_the_error_says_which_file(tmp_path: Path) -> None:
    with pytest.raises(CorruptSnapshotError, match=r"dir/007\.snapshot at byte 0: version 9"):
        decode_snapshot(b"\0\x09" + bytes(20), "dir/007.snapshot")
