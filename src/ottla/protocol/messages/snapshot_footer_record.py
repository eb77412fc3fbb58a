"""Generated from schemas/data/snapshot_footer_record.schema: SnapshotFooterRecord, versions 0. Do not edit."""

from __future__ import annotations

from struct import Struct as Layout

from ottla.protocol.message import Message
from ottla.protocol.primitives import (
    skip_tags,
)

_unpack_hB = Layout(">hB").unpack_from
_pack_hx = Layout(">hx").pack


class SnapshotFooterRecord(Message):
    __slots__ = ("version",)
    VERSIONS = range(0, 1)
    FLEXIBLE_FROM = 0

    def __init__(
        self,
        version: int = 0,
    ) -> None:
        self.version = version


def _read_snapshot_footer_record_v0(data: memoryview, at: int) -> tuple[SnapshotFooterRecord, int]:
    version, more = _unpack_hB(data, at)
    at += 3
    if more:
        at = skip_tags(data, at - 1)
    return SnapshotFooterRecord(version), at


def _write_snapshot_footer_record_v0(item: SnapshotFooterRecord, out: bytearray) -> None:
    out += _pack_hx(item.version)


SnapshotFooterRecord.DECODERS = {
    0: _read_snapshot_footer_record_v0,
}
SnapshotFooterRecord.ENCODERS = {
    0: _write_snapshot_footer_record_v0,
}
