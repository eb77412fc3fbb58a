"""Generated from schemas/broker_heartbeat.schema: BrokerHeartbeatRequest, versions 0-2. Do not edit."""

from __future__ import annotations

from collections.abc import Sequence
from struct import Struct as Layout

from ottla.protocol.message import Message, refuse_field
from ottla.protocol.primitives import (
    check_tag_end,
    read_compact_count,
    read_compact_nullable_count,
    read_tag,
    read_tag_count,
    read_uuids,
    skip_tags,
    uvarint,
    write_tags,
)

_unpack_iqqtt = Layout(">iqq??").unpack_from
_pack_iqqtt = Layout(">iqq??").pack
_unpack_iqqttB = Layout(">iqq??B").unpack_from
_pack_iqqttx = Layout(">iqq??x").pack


class BrokerHeartbeatRequest(Message):
    __slots__ = ("broker_id", "broker_epoch", "current_metadata_offset", "want_fence", "want_shut_down", "offline_log_dirs", "cordoned_log_dirs",)
    API_KEY = 63
    VERSIONS = range(0, 3)
    FLEXIBLE_FROM = 0

    def __init__(
        self,
        broker_id: int = 0,
        broker_epoch: int = -1,
        current_metadata_offset: int = 0,
        want_fence: bool = False,
        want_shut_down: bool = False,
        offline_log_dirs: Sequence[bytes] = (),
        cordoned_log_dirs: Sequence[bytes] | None = None,
    ) -> None:
        self.broker_id = broker_id
        self.broker_epoch = broker_epoch
        self.current_metadata_offset = current_metadata_offset
        self.want_fence = want_fence
        self.want_shut_down = want_shut_down
        self.offline_log_dirs = offline_log_dirs
        self.cordoned_log_dirs = cordoned_log_dirs


def _read_broker_heartbeat_request_v0(data: memoryview, at: int) -> tuple[BrokerHeartbeatRequest, int]:
    broker_id, broker_epoch, current_metadata_offset, want_fence, want_shut_down, more = _unpack_iqqttB(data, at)
    at += 23
    if more:
        at = skip_tags(data, at - 1)
    return BrokerHeartbeatRequest(broker_id, broker_epoch, current_metadata_offset, want_fence, want_shut_down, (), None), at


def _read_broker_heartbeat_request_v1(data: memoryview, at: int) -> tuple[BrokerHeartbeatRequest, int]:
    broker_id, broker_epoch, current_metadata_offset, want_fence, want_shut_down = _unpack_iqqtt(data, at)
    at += 22
    offline_log_dirs: Sequence[bytes] = ()
    if not data[at]:
        at += 1
    else:
        more, at = read_tag_count(data, at)
        while more:
            more -= 1
            tag, end, at = read_tag(data, at)
            if tag == 0:
                count, at = read_compact_count(data, at, 16)
                offline_log_dirs, at = read_uuids(data, at, count) if count else ([], at)
            else:
                at = end
            check_tag_end(tag, at, end)
    return BrokerHeartbeatRequest(broker_id, broker_epoch, current_metadata_offset, want_fence, want_shut_down, offline_log_dirs, None), at


def _read_broker_heartbeat_request_v2(data: memoryview, at: int) -> tuple[BrokerHeartbeatRequest, int]:
    broker_id, broker_epoch, current_metadata_offset, want_fence, want_shut_down = _unpack_iqqtt(data, at)
    at += 22
    offline_log_dirs: Sequence[bytes] = ()
    cordoned_log_dirs: Sequence[bytes] | None = None
    if not data[at]:
        at += 1
    else:
        more, at = read_tag_count(data, at)
        while more:
            more -= 1
            tag, end, at = read_tag(data, at)
            if tag == 0:
                count, at = read_compact_count(data, at, 16)
                offline_log_dirs, at = read_uuids(data, at, count) if count else ([], at)
            elif tag == 1:
                count, at = read_compact_nullable_count(data, at, 16)
                cordoned_log_dirs = None
                if count >= 0:
                    cordoned_log_dirs, at = read_uuids(data, at, count)
            else:
                at = end
            check_tag_end(tag, at, end)
    return BrokerHeartbeatRequest(broker_id, broker_epoch, current_metadata_offset, want_fence, want_shut_down, offline_log_dirs, cordoned_log_dirs), at


def _write_broker_heartbeat_request_v0(item: BrokerHeartbeatRequest, out: bytearray) -> None:
    if item.offline_log_dirs:
        refuse_field("BrokerHeartbeatRequest.offline_log_dirs")
    if item.cordoned_log_dirs is not None:
        refuse_field("BrokerHeartbeatRequest.cordoned_log_dirs")
    out += _pack_iqqttx(item.broker_id, item.broker_epoch, item.current_metadata_offset, item.want_fence, item.want_shut_down)


def _write_broker_heartbeat_request_v1(item: BrokerHeartbeatRequest, out: bytearray) -> None:
    if item.cordoned_log_dirs is not None:
        refuse_field("BrokerHeartbeatRequest.cordoned_log_dirs")
    out += _pack_iqqtt(item.broker_id, item.broker_epoch, item.current_metadata_offset, item.want_fence, item.want_shut_down)
    if not (item.offline_log_dirs):
        out.append(0)
    else:
        tags: list[tuple[int, bytearray]] = []
        if item.offline_log_dirs:
            value = bytearray()
            if item.offline_log_dirs:
                value += uvarint(len(item.offline_log_dirs) + 1)
                value += b"".join(item.offline_log_dirs)
            else:
                value.append(1)
            tags.append((0, value))
        write_tags(tags, out)


def _write_broker_heartbeat_request_v2(item: BrokerHeartbeatRequest, out: bytearray) -> None:
    out += _pack_iqqtt(item.broker_id, item.broker_epoch, item.current_metadata_offset, item.want_fence, item.want_shut_down)
    if not (item.offline_log_dirs or item.cordoned_log_dirs is not None):
        out.append(0)
    else:
        tags: list[tuple[int, bytearray]] = []
        if item.offline_log_dirs:
            value = bytearray()
            if item.offline_log_dirs:
                value += uvarint(len(item.offline_log_dirs) + 1)
                value += b"".join(item.offline_log_dirs)
            else:
                value.append(1)
            tags.append((0, value))
        if item.cordoned_log_dirs is not None:
            value = bytearray()
            if item.cordoned_log_dirs:
                value += uvarint(len(item.cordoned_log_dirs) + 1)
                value += b"".join(item.cordoned_log_dirs)
            else:
                value.append(0 if item.cordoned_log_dirs is None else 1)
            tags.append((1, value))
        write_tags(tags, out)


BrokerHeartbeatRequest.DECODERS = {
    0: _read_broker_heartbeat_request_v0,
    1: _read_broker_heartbeat_request_v1,
    2: _read_broker_heartbeat_request_v2,
}
BrokerHeartbeatRequest.ENCODERS = {
    0: _write_broker_heartbeat_request_v0,
    1: _write_broker_heartbeat_request_v1,
    2: _write_broker_heartbeat_request_v2,
}
