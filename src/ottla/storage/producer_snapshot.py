"""Producer state in a file: `<offset>.snapshot`, as Kafka writes it.

Owns      the format: version, CRC-32C, and one entry of fixed size a producer with its last batch.
Promises  a damaged file is found and named, never half loaded; the same state is the same bytes.
Leaves    when to write one, and which one to load, to the log. The older batches of each producer's
          window are not in the file: `ProducerStates.refill_windows` brings them back.
"""

from __future__ import annotations

from collections.abc import Mapping
from struct import Struct

from crc32c import crc32c

from ottla.base.filesystem import FileSystem, read_file
from ottla.storage.errors import CorruptLogError
from ottla.storage.producer_entry import ProducerEntry

VERSION = 1

_HEAD = Struct(">hIi")  # version, checksum of what follows it, number of entries
_CHECKED_FROM = 6
# producer id, epoch, last sequence, last offset, offset delta, timestamp, coordinator epoch,
# first offset of the open transaction
_ENTRY = Struct(">qhiqiqiq")


class CorruptSnapshotError(CorruptLogError):
    """Not a snapshot, or a damaged one. Recovery goes on without it."""


def encode_snapshot(producers: Mapping[int, ProducerEntry]) -> bytes:
    """All producers, in the order of their ids."""
    data = bytearray(_HEAD.size + _ENTRY.size * len(producers))
    position = _HEAD.size
    for producer_id, entry in sorted(producers.items()):
        _ENTRY.pack_into(
            data,
            position,
            producer_id,
            entry.epoch,
            entry.last_sequence,
            entry.last_offset,
            entry.last_offset_delta,
            entry.last_timestamp,
            entry.coordinator_epoch,
            entry.transaction_first_offset,
        )
        position += _ENTRY.size
    _HEAD.pack_into(data, 0, VERSION, 0, len(producers))
    checksum = crc32c(memoryview(data)[_CHECKED_FROM:])
    _HEAD.pack_into(data, 0, VERSION, checksum, len(producers))
    return bytes(data)


def decode_snapshot(data: bytes, path: str) -> dict[int, ProducerEntry]:
    """What `encode_snapshot` or Kafka wrote; CorruptSnapshotError with `path` otherwise."""
    if len(data) < _HEAD.size:
        raise CorruptSnapshotError(path, 0, f"{len(data)} bytes, too short for a snapshot")
    version, checksum, count = _HEAD.unpack_from(data)
    if version != VERSION:
        raise CorruptSnapshotError(path, 0, f"version {version}, not {VERSION}")
    if crc32c(memoryview(data)[_CHECKED_FROM:]) != checksum:
        raise CorruptSnapshotError(path, 2, "the checksum does not fit the content")
    room = len(data) - _HEAD.size
    if count < 0 or count * _ENTRY.size > room:
        raise CorruptSnapshotError(path, _CHECKED_FROM, f"{count} entries in {room} bytes")
    body = memoryview(data)[_HEAD.size : _HEAD.size + count * _ENTRY.size]
    entries = {}
    for producer_id, epoch, *last_batch, coordinator_epoch, first in _ENTRY.iter_unpack(body):
        sequence, offset, delta, timestamp = last_batch
        entries[producer_id] = ProducerEntry.restored(
            epoch, coordinator_epoch, first, (sequence, offset, delta, timestamp)
        )
    return entries


def read_snapshot(files: FileSystem, path: str) -> dict[int, ProducerEntry]:
    return decode_snapshot(read_file(files, path), path)


def write_snapshot(
    files: FileSystem, path: str, producers: Mapping[int, ProducerEntry], *, sync: bool = True
) -> None:
    """Written in place: half a file fails its checksum, and recovery does without it."""
    file = files.open(path, create=True)
    try:
        file.truncate(0)
        file.write_at(0, encode_snapshot(producers))
        if sync:
            file.sync()
    finally:
        file.close()
