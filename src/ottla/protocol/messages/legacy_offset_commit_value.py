"""Generated from schemas/data/legacy_offset_commit_value.schema: LegacyOffsetCommitValue, versions 0. Do not edit."""

from __future__ import annotations

from struct import Struct as Layout

from ottla.protocol.message import Message
from ottla.protocol.primitives import (
    read_string,
    write_string,
)

_unpack_q = Layout(">q").unpack_from
_pack_q = Layout(">q").pack


class LegacyOffsetCommitValue(Message):
    __slots__ = ("offset", "metadata", "commit_timestamp",)
    RECORD_TYPE = 0
    VERSIONS = range(0, 1)

    def __init__(
        self,
        offset: int = 0,
        metadata: str = "",
        commit_timestamp: int = 0,
    ) -> None:
        self.offset = offset
        self.metadata = metadata
        self.commit_timestamp = commit_timestamp


def _read_legacy_offset_commit_value_v0(data: memoryview, at: int) -> tuple[LegacyOffsetCommitValue, int]:
    (offset,) = _unpack_q(data, at)
    at += 8
    metadata, at = read_string(data, at)
    (commit_timestamp,) = _unpack_q(data, at)
    at += 8
    return LegacyOffsetCommitValue(offset, metadata, commit_timestamp), at


def _write_legacy_offset_commit_value_v0(item: LegacyOffsetCommitValue, out: bytearray) -> None:
    out += _pack_q(item.offset)
    write_string(item.metadata, out)
    out += _pack_q(item.commit_timestamp)


LegacyOffsetCommitValue.DECODERS = {
    0: _read_legacy_offset_commit_value_v0,
}
LegacyOffsetCommitValue.ENCODERS = {
    0: _write_legacy_offset_commit_value_v0,
}
