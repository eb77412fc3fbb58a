"""Generated from schemas/share_group_heartbeat.schema: ShareGroupHeartbeatRequest, versions 1. Do not edit."""

from __future__ import annotations

from collections.abc import Sequence
from struct import Struct as Layout

from ottla.protocol.message import Message
from ottla.protocol.primitives import (
    read_compact_nullable_count,
    read_compact_string,
    read_compact_strings,
    skip_tags,
    uvarint,
    write_compact_string,
    write_compact_strings,
)

_unpack_i = Layout(">i").unpack_from
_pack_i = Layout(">i").pack


class ShareGroupHeartbeatRequest(Message):
    __slots__ = ("group_id", "member_id", "member_epoch", "rack_id", "subscribed_topic_names",)
    API_KEY = 76
    VERSIONS = range(1, 2)
    FLEXIBLE_FROM = 1

    def __init__(
        self,
        group_id: str = "",
        member_id: str = "",
        member_epoch: int = 0,
        rack_id: str | None = None,
        subscribed_topic_names: Sequence[str] | None = None,
    ) -> None:
        self.group_id = group_id
        self.member_id = member_id
        self.member_epoch = member_epoch
        self.rack_id = rack_id
        self.subscribed_topic_names = subscribed_topic_names


def _read_share_group_heartbeat_request_v1(data: memoryview, at: int) -> tuple[ShareGroupHeartbeatRequest, int]:
    group_id, at = read_compact_string(data, at)
    member_id, at = read_compact_string(data, at)
    (member_epoch,) = _unpack_i(data, at)
    at += 4
    rack_id: str | None = None
    if data[at]:
        rack_id, at = read_compact_string(data, at)
    else:
        at += 1
    count, at = read_compact_nullable_count(data, at, 1)
    subscribed_topic_names: list[str] | None = None
    if count >= 0:
        subscribed_topic_names, at = read_compact_strings(data, at, count)
    at = skip_tags(data, at) if data[at] else at + 1
    return ShareGroupHeartbeatRequest(group_id, member_id, member_epoch, rack_id, subscribed_topic_names), at


def _write_share_group_heartbeat_request_v1(item: ShareGroupHeartbeatRequest, out: bytearray) -> None:
    write_compact_string(item.group_id, out)
    write_compact_string(item.member_id, out)
    out += _pack_i(item.member_epoch)
    if item.rack_id is None:
        out.append(0)
    else:
        write_compact_string(item.rack_id, out)
    if item.subscribed_topic_names:
        out += uvarint(len(item.subscribed_topic_names) + 1)
        write_compact_strings(item.subscribed_topic_names, out)
    else:
        out.append(0 if item.subscribed_topic_names is None else 1)
    out.append(0)


ShareGroupHeartbeatRequest.DECODERS = {
    1: _read_share_group_heartbeat_request_v1,
}
ShareGroupHeartbeatRequest.ENCODERS = {
    1: _write_share_group_heartbeat_request_v1,
}
