"""Generated from schemas/data/snapshot_header_record.schema: SnapshotHeaderRecord, versions 0. Do not edit."""

from __future__ import annotations

from struct import Struct as Layout

from ottla.protocol.message import Message
from ottla.protocol.primitives import (
    skip_tags,
)

_unpack_hqB = Layout(">hqB").unpack_from
_pack_hqx = Layout(">hqx").pack


class SnapshotHeaderRecord(Message):
    __slots__ = ("version", "last_contained_log_timestamp",)
    VERSIONS = range(0, 1)
    FLEXIBLE_FROM = 0

    def __init__(
        self,
        version: int = 0,
        last_contained_log_timestamp: int = 0,
    ) -> None:
        self.version = version
        self.last_contained_log_timestamp = last_contained_log_timestamp


def _read_snapshot_header_record_v0(data: memoryview, at: int) -> tuple[SnapshotHeaderRecord, int]:
    version, last_contained_log_timestamp, more = _unpack_hqB(data, at)
    at += 11
    if more:
        at = skip_tags(data, at - 1)
    return SnapshotHeaderRecord(version, last_contained_log_timestamp), at


def _write_snapshot_header_record_v0(item: SnapshotHeaderRecord, out: bytearray) -> None:
    out += _pack_hqx(item.version, item.last_contained_log_timestamp)


SnapshotHeaderRecord.DECODERS = {
    0: _read_snapshot_header_record_v0,
}
SnapshotHeaderRecord.ENCODERS = {
    0: _write_snapshot_header_record_v0,
}
