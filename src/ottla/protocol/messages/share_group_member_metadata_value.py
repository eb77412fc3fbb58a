"""Generated from schemas/data/share_group_member_metadata_value.schema: ShareGroupMemberMetadataValue, versions 0. Do not edit."""

from __future__ import annotations

from collections.abc import Sequence

from ottla.protocol.message import Message
from ottla.protocol.primitives import (
    read_compact_count,
    read_compact_string,
    read_compact_strings,
    skip_tags,
    uvarint,
    write_compact_string,
    write_compact_strings,
)



class ShareGroupMemberMetadataValue(Message):
    __slots__ = ("rack_id", "client_id", "client_host", "subscribed_topic_names",)
    RECORD_TYPE = 10
    VERSIONS = range(0, 1)
    FLEXIBLE_FROM = 0

    def __init__(
        self,
        rack_id: str | None = "",
        client_id: str = "",
        client_host: str = "",
        subscribed_topic_names: Sequence[str] = (),
    ) -> None:
        self.rack_id = rack_id
        self.client_id = client_id
        self.client_host = client_host
        self.subscribed_topic_names = subscribed_topic_names


def _read_share_group_member_metadata_value_v0(data: memoryview, at: int) -> tuple[ShareGroupMemberMetadataValue, int]:
    rack_id: str | None = None
    if data[at]:
        rack_id, at = read_compact_string(data, at)
    else:
        at += 1
    client_id, at = read_compact_string(data, at)
    client_host, at = read_compact_string(data, at)
    count, at = read_compact_count(data, at, 1)
    subscribed_topic_names, at = read_compact_strings(data, at, count) if count else ([], at)
    at = skip_tags(data, at) if data[at] else at + 1
    return ShareGroupMemberMetadataValue(rack_id, client_id, client_host, subscribed_topic_names), at


def _write_share_group_member_metadata_value_v0(item: ShareGroupMemberMetadataValue, out: bytearray) -> None:
    if item.rack_id is None:
        out.append(0)
    else:
        write_compact_string(item.rack_id, out)
    write_compact_string(item.client_id, out)
    write_compact_string(item.client_host, out)
    if item.subscribed_topic_names:
        out += uvarint(len(item.subscribed_topic_names) + 1)
        write_compact_strings(item.subscribed_topic_names, out)
    else:
        out.append(1)
    out.append(0)


ShareGroupMemberMetadataValue.DECODERS = {
    0: _read_share_group_member_metadata_value_v0,
}
ShareGroupMemberMetadataValue.ENCODERS = {
    0: _write_share_group_member_metadata_value_v0,
}
