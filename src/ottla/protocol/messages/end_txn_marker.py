"""Generated from schemas/data/end_txn_marker.schema: EndTxnMarker, versions 0. Do not edit."""

from __future__ import annotations

from struct import Struct as Layout

from ottla.protocol.message import Message

_unpack_i = Layout(">i").unpack_from
_pack_i = Layout(">i").pack


class EndTxnMarker(Message):
    __slots__ = ("coordinator_epoch",)
    VERSIONS = range(0, 1)

    def __init__(
        self,
        coordinator_epoch: int = 0,
    ) -> None:
        self.coordinator_epoch = coordinator_epoch


def _read_end_txn_marker_v0(data: memoryview, at: int) -> tuple[EndTxnMarker, int]:
    (coordinator_epoch,) = _unpack_i(data, at)
    at += 4
    return EndTxnMarker(coordinator_epoch), at


def _write_end_txn_marker_v0(item: EndTxnMarker, out: bytearray) -> None:
    out += _pack_i(item.coordinator_epoch)


EndTxnMarker.DECODERS = {
    0: _read_end_txn_marker_v0,
}
EndTxnMarker.ENCODERS = {
    0: _write_end_txn_marker_v0,
}
