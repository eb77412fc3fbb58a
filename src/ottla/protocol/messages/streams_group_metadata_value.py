"""Generated from schemas/data/streams_group_metadata_value.schema: StreamsGroupMetadataValue, versions 0. Do not edit."""

from __future__ import annotations

from collections.abc import Sequence
from struct import Struct as Layout

from ottla.protocol.message import Message, Struct
from ottla.protocol.primitives import (
    check_tag_end,
    read_compact_nullable_count,
    read_compact_string,
    read_tag,
    read_tag_count,
    skip_tags,
    uvarint,
    write_compact_string,
    write_tags,
)

_unpack_i = Layout(">i").unpack_from
_pack_i = Layout(">i").pack
_unpack_iq = Layout(">iq").unpack_from
_pack_iq = Layout(">iq").pack


class StreamsGroupMetadataValue(Message):
    __slots__ = ("epoch", "metadata_hash", "validated_topology_epoch", "last_assignment_configs",)
    RECORD_TYPE = 17
    VERSIONS = range(0, 1)
    FLEXIBLE_FROM = 0

    def __init__(
        self,
        epoch: int = 0,
        metadata_hash: int = 0,
        validated_topology_epoch: int = -1,
        last_assignment_configs: Sequence[LastAssignmentConfig] | None = (),
    ) -> None:
        self.epoch = epoch
        self.metadata_hash = metadata_hash
        self.validated_topology_epoch = validated_topology_epoch
        self.last_assignment_configs = last_assignment_configs


class LastAssignmentConfig(Struct):
    __slots__ = ("key", "value",)

    def __init__(
        self,
        key: str = "",
        value: str = "",
    ) -> None:
        self.key = key
        self.value = value


def _read_last_assignment_configs_v0(data: memoryview, at: int, count: int) -> tuple[list[LastAssignmentConfig], int]:
    items: list[LastAssignmentConfig] = []
    for _ in range(count):
        key, at = read_compact_string(data, at)
        value, at = read_compact_string(data, at)
        at = skip_tags(data, at) if data[at] else at + 1
        items.append(LastAssignmentConfig(key, value))
    return items, at


def _read_streams_group_metadata_value_v0(data: memoryview, at: int) -> tuple[StreamsGroupMetadataValue, int]:
    epoch, metadata_hash = _unpack_iq(data, at)
    at += 12
    validated_topology_epoch: int = -1
    last_assignment_configs: Sequence[LastAssignmentConfig] | None = ()
    if not data[at]:
        at += 1
    else:
        more, at = read_tag_count(data, at)
        while more:
            more -= 1
            tag, end, at = read_tag(data, at)
            if tag == 0:
                (validated_topology_epoch,) = _unpack_i(data, at)
                at += 4
            elif tag == 1:
                count, at = read_compact_nullable_count(data, at, 3)
                last_assignment_configs = None
                if count >= 0:
                    last_assignment_configs, at = _read_last_assignment_configs_v0(data, at, count)
            else:
                at = end
            check_tag_end(tag, at, end)
    return StreamsGroupMetadataValue(epoch, metadata_hash, validated_topology_epoch, last_assignment_configs), at


def _write_last_assignment_configs_v0(items: Sequence[LastAssignmentConfig], out: bytearray) -> None:
    for item in items:
        write_compact_string(item.key, out)
        write_compact_string(item.value, out)
        out.append(0)


def _write_streams_group_metadata_value_v0(item: StreamsGroupMetadataValue, out: bytearray) -> None:
    out += _pack_iq(item.epoch, item.metadata_hash)
    if not (item.validated_topology_epoch != -1 or (item.last_assignment_configs is None or item.last_assignment_configs)):
        out.append(0)
    else:
        tags: list[tuple[int, bytearray]] = []
        if item.validated_topology_epoch != -1:
            value = bytearray()
            value += _pack_i(item.validated_topology_epoch)
            tags.append((0, value))
        if (item.last_assignment_configs is None or item.last_assignment_configs):
            value = bytearray()
            if item.last_assignment_configs:
                value += uvarint(len(item.last_assignment_configs) + 1)
                _write_last_assignment_configs_v0(item.last_assignment_configs, value)
            else:
                value.append(0 if item.last_assignment_configs is None else 1)
            tags.append((1, value))
        write_tags(tags, out)


StreamsGroupMetadataValue.DECODERS = {
    0: _read_streams_group_metadata_value_v0,
}
StreamsGroupMetadataValue.ENCODERS = {
    0: _write_streams_group_metadata_value_v0,
}
