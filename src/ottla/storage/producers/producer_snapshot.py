"""Producer state in a file: `<offset>.snapshot`, as Kafka writes it.

Owns      the format: version, CRC-32C, and one entry of fixed size a producer with its last batch.
Promises  a damaged file is found and named, never half loaded; the same state is the same bytes.
Leaves    when to write one, and which one to load, to the log. The older batches of each producer's
          window are not in the file: `ProducerStates.refill_windows` restores them.
"""

from __future__ import annotations

from collections.abc import Mapping
from struct import Struct

from ottla.base.checksums import crc32c
from ottla.base.files.filesystem import FileSystem, read_file
from ottla.protocol.errors import MalformedMessage
from ottla.protocol.messages import producer_snapshot as message
from ottla.storage.errors import CorruptLogError
from ottla.storage.producers.producer_entry import ProducerEntry

VERSION = 1

_VERSION_BYTES = 2
_CHECKED_FROM = 6  # after version and checksum
_HEADER = Struct(">hIi")  # version, checksum, number of entries
_ENTRY = Struct(">qhiqiqiq")


class CorruptSnapshotError(CorruptLogError):
    """Not a snapshot, or a damaged one. Recovery continues without it."""


def encode_snapshot(producers: Mapping[int, ProducerEntry]) -> bytes:
    """All producers, in the order of their ids."""
    data = bytearray(_HEADER.pack(VERSION, 0, len(producers)))
    for number in sorted(producers):
        entry = producers[number]
        data += _ENTRY.pack(
            number,
            entry.epoch,
            entry.last_sequence,
            entry.last_offset,
            entry.last_offset_delta,
            entry.last_timestamp,
            entry.coordinator_epoch,
            entry.transaction_first_offset,
        )
    checksum = crc32c(memoryview(data)[_CHECKED_FROM:])
    _HEADER.pack_into(data, 0, VERSION, checksum, len(producers))
    return bytes(data)


def decode_snapshot(data: bytes, path: str) -> dict[int, ProducerEntry]:
    """Decode the bytes of `encode_snapshot` or Kafka; CorruptSnapshotError with `path`
    otherwise."""
    if len(data) < _CHECKED_FROM:
        raise CorruptSnapshotError(path, 0, f"{len(data)} bytes, too short for a snapshot")
    version = int.from_bytes(data[:_VERSION_BYTES], signed=True)
    if version != VERSION:
        raise CorruptSnapshotError(path, 0, f"version {version}, not {VERSION}")
    # Before anything is used, the number of entries included.
    if crc32c(memoryview(data)[_CHECKED_FROM:]) != int.from_bytes(data[2:_CHECKED_FROM]):
        raise CorruptSnapshotError(path, _VERSION_BYTES, "the checksum does not fit the content")
    try:
        snapshot = message.ProducerSnapshot.decode(data, VERSION, _VERSION_BYTES)
    except MalformedMessage as error:
        raise CorruptSnapshotError(path, _CHECKED_FROM, str(error)) from error
    return {stored.producer_id: _restored(stored) for stored in snapshot.producer_entries}


def _restored(stored: message.ProducerEntry) -> ProducerEntry:
    last = (stored.last_sequence, stored.last_offset, stored.offset_delta, stored.timestamp)
    return ProducerEntry.restored(
        stored.epoch, stored.coordinator_epoch, stored.current_txn_first_offset, last
    )


def read_snapshot(files: FileSystem, path: str) -> dict[int, ProducerEntry]:
    return decode_snapshot(read_file(files, path), path)


def write_snapshot(
    files: FileSystem, path: str, producers: Mapping[int, ProducerEntry], *, sync: bool = True
) -> None:
    write_encoded(files, path, encode_snapshot(producers), sync=sync)


def write_encoded(files: FileSystem, path: str, data: bytes, *, sync: bool) -> None:
    """Written in place: half a file fails its checksum, and recovery ignores it."""
    file = files.open(path, create=True)
    try:
        file.truncate(0)
        file.write_at(0, data)
        if sync:
            file.sync()
    finally:
        file.close()
