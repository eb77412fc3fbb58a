"""Generated from schemas/data/share_update_value.schema: ShareUpdateValue, versions 0. Do not edit."""

from __future__ import annotations

from collections.abc import Sequence
from struct import Struct as Layout

from ottla.protocol.message import Message, Struct
from ottla.protocol.primitives import (
    check_tag_end,
    read_compact_count,
    read_tag,
    read_tag_count,
    skip_tags,
    uvarint,
    write_tags,
)

_unpack_i = Layout(">i").unpack_from
_pack_i = Layout(">i").pack
_unpack_iiq = Layout(">iiq").unpack_from
_pack_iiq = Layout(">iiq").pack
_unpack_qqbhB = Layout(">qqbhB").unpack_from
_pack_qqbhx = Layout(">qqbhx").pack


class ShareUpdateValue(Message):
    __slots__ = ("snapshot_epoch", "leader_epoch", "start_offset", "delivery_complete_count", "state_batches",)
    RECORD_TYPE = 1
    VERSIONS = range(0, 1)
    FLEXIBLE_FROM = 0

    def __init__(
        self,
        snapshot_epoch: int = 0,
        leader_epoch: int = 0,
        start_offset: int = 0,
        delivery_complete_count: int = -1,
        state_batches: Sequence[StateBatch] = (),
    ) -> None:
        self.snapshot_epoch = snapshot_epoch
        self.leader_epoch = leader_epoch
        self.start_offset = start_offset
        self.delivery_complete_count = delivery_complete_count
        self.state_batches = state_batches


class StateBatch(Struct):
    __slots__ = ("first_offset", "last_offset", "delivery_state", "delivery_count",)

    def __init__(
        self,
        first_offset: int = 0,
        last_offset: int = 0,
        delivery_state: int = 0,
        delivery_count: int = 0,
    ) -> None:
        self.first_offset = first_offset
        self.last_offset = last_offset
        self.delivery_state = delivery_state
        self.delivery_count = delivery_count


def _read_state_batchs_v0(data: memoryview, at: int, count: int) -> tuple[list[StateBatch], int]:
    items: list[StateBatch] = []
    for _ in range(count):
        first_offset, last_offset, delivery_state, delivery_count, more = _unpack_qqbhB(data, at)
        at += 20
        if more:
            at = skip_tags(data, at - 1)
        items.append(StateBatch(first_offset, last_offset, delivery_state, delivery_count))
    return items, at


def _read_share_update_value_v0(data: memoryview, at: int) -> tuple[ShareUpdateValue, int]:
    snapshot_epoch, leader_epoch, start_offset = _unpack_iiq(data, at)
    at += 16
    count, at = read_compact_count(data, at, 20)
    state_batches, at = _read_state_batchs_v0(data, at, count) if count else ([], at)
    delivery_complete_count: int = -1
    if not data[at]:
        at += 1
    else:
        more, at = read_tag_count(data, at)
        while more:
            more -= 1
            tag, end, at = read_tag(data, at)
            if tag == 0:
                (delivery_complete_count,) = _unpack_i(data, at)
                at += 4
            else:
                at = end
            check_tag_end(tag, at, end)
    return ShareUpdateValue(snapshot_epoch, leader_epoch, start_offset, delivery_complete_count, state_batches), at


def _write_state_batchs_v0(items: Sequence[StateBatch], out: bytearray) -> None:
    for item in items:
        out += _pack_qqbhx(item.first_offset, item.last_offset, item.delivery_state, item.delivery_count)


def _write_share_update_value_v0(item: ShareUpdateValue, out: bytearray) -> None:
    out += _pack_iiq(item.snapshot_epoch, item.leader_epoch, item.start_offset)
    if item.state_batches:
        out += uvarint(len(item.state_batches) + 1)
        _write_state_batchs_v0(item.state_batches, out)
    else:
        out.append(1)
    if not (item.delivery_complete_count != -1):
        out.append(0)
    else:
        tags: list[tuple[int, bytearray]] = []
        if item.delivery_complete_count != -1:
            value = bytearray()
            value += _pack_i(item.delivery_complete_count)
            tags.append((0, value))
        write_tags(tags, out)


ShareUpdateValue.DECODERS = {
    0: _read_share_update_value_v0,
}
ShareUpdateValue.ENCODERS = {
    0: _write_share_update_value_v0,
}
