"""Generated from schemas/data/producer_snapshot.schema: ProducerSnapshot, versions 1. Do not edit."""

from __future__ import annotations

from collections.abc import Sequence
from struct import Struct as Layout

from ottla.protocol.message import Message, Struct
from ottla.protocol.primitives import (
    read_count,
)

_unpack_I = Layout(">I").unpack_from
_pack_Ii = Layout(">Ii").pack
_unpack_qhiqiqiq = Layout(">qhiqiqiq").unpack_from
_pack_qhiqiqiq = Layout(">qhiqiqiq").pack


class ProducerSnapshot(Message):
    __slots__ = ("crc", "producer_entries",)
    VERSIONS = range(1, 2)

    def __init__(
        self,
        crc: int = 0,
        producer_entries: Sequence[ProducerEntry] = (),
    ) -> None:
        self.crc = crc
        self.producer_entries = producer_entries


class ProducerEntry(Struct):
    __slots__ = ("producer_id", "epoch", "last_sequence", "last_offset", "offset_delta", "timestamp", "coordinator_epoch", "current_txn_first_offset",)

    def __init__(
        self,
        producer_id: int = 0,
        epoch: int = 0,
        last_sequence: int = 0,
        last_offset: int = 0,
        offset_delta: int = 0,
        timestamp: int = 0,
        coordinator_epoch: int = 0,
        current_txn_first_offset: int = 0,
    ) -> None:
        self.producer_id = producer_id
        self.epoch = epoch
        self.last_sequence = last_sequence
        self.last_offset = last_offset
        self.offset_delta = offset_delta
        self.timestamp = timestamp
        self.coordinator_epoch = coordinator_epoch
        self.current_txn_first_offset = current_txn_first_offset


def _read_producer_entrys_v1(data: memoryview, at: int, count: int) -> tuple[list[ProducerEntry], int]:
    items: list[ProducerEntry] = []
    for _ in range(count):
        producer_id, epoch, last_sequence, last_offset, offset_delta, timestamp, coordinator_epoch, current_txn_first_offset = _unpack_qhiqiqiq(data, at)
        at += 46
        items.append(ProducerEntry(producer_id, epoch, last_sequence, last_offset, offset_delta, timestamp, coordinator_epoch, current_txn_first_offset))
    return items, at


def _read_producer_snapshot_v1(data: memoryview, at: int) -> tuple[ProducerSnapshot, int]:
    (crc,) = _unpack_I(data, at)
    at += 4
    count, at = read_count(data, at, 46)
    producer_entries, at = _read_producer_entrys_v1(data, at, count) if count else ([], at)
    return ProducerSnapshot(crc, producer_entries), at


def _write_producer_entrys_v1(items: Sequence[ProducerEntry], out: bytearray) -> None:
    for item in items:
        out += _pack_qhiqiqiq(item.producer_id, item.epoch, item.last_sequence, item.last_offset, item.offset_delta, item.timestamp, item.coordinator_epoch, item.current_txn_first_offset)


def _write_producer_snapshot_v1(item: ProducerSnapshot, out: bytearray) -> None:
    out += _pack_Ii(item.crc, len(item.producer_entries))
    if item.producer_entries:
        _write_producer_entrys_v1(item.producer_entries, out)


ProducerSnapshot.DECODERS = {
    1: _read_producer_snapshot_v1,
}
ProducerSnapshot.ENCODERS = {
    1: _write_producer_snapshot_v1,
}
