"""Generated from schemas/data/streams_group_target_assignment_metadata_value.schema: StreamsGroupTargetAssignmentMetadataValue, versions 0. Do not edit."""

from __future__ import annotations

from struct import Struct as Layout

from ottla.protocol.message import Message
from ottla.protocol.primitives import (
    check_tag_end,
    read_tag,
    read_tag_count,
    write_tags,
)

_unpack_i = Layout(">i").unpack_from
_pack_i = Layout(">i").pack
_unpack_q = Layout(">q").unpack_from
_pack_q = Layout(">q").pack


class StreamsGroupTargetAssignmentMetadataValue(Message):
    __slots__ = ("assignment_epoch", "assignment_timestamp",)
    RECORD_TYPE = 20
    VERSIONS = range(0, 1)
    FLEXIBLE_FROM = 0

    def __init__(
        self,
        assignment_epoch: int = 0,
        assignment_timestamp: int = 0,
    ) -> None:
        self.assignment_epoch = assignment_epoch
        self.assignment_timestamp = assignment_timestamp


def _read_streams_group_target_assignment_metadata_value_v0(data: memoryview, at: int) -> tuple[StreamsGroupTargetAssignmentMetadataValue, int]:
    (assignment_epoch,) = _unpack_i(data, at)
    at += 4
    assignment_timestamp: int = 0
    if not data[at]:
        at += 1
    else:
        more, at = read_tag_count(data, at)
        while more:
            more -= 1
            tag, end, at = read_tag(data, at)
            if tag == 0:
                (assignment_timestamp,) = _unpack_q(data, at)
                at += 8
            else:
                at = end
            check_tag_end(tag, at, end)
    return StreamsGroupTargetAssignmentMetadataValue(assignment_epoch, assignment_timestamp), at


def _write_streams_group_target_assignment_metadata_value_v0(item: StreamsGroupTargetAssignmentMetadataValue, out: bytearray) -> None:
    out += _pack_i(item.assignment_epoch)
    if not (item.assignment_timestamp != 0):
        out.append(0)
    else:
        tags: list[tuple[int, bytearray]] = []
        if item.assignment_timestamp != 0:
            value = bytearray()
            value += _pack_q(item.assignment_timestamp)
            tags.append((0, value))
        write_tags(tags, out)


StreamsGroupTargetAssignmentMetadataValue.DECODERS = {
    0: _read_streams_group_target_assignment_metadata_value_v0,
}
StreamsGroupTargetAssignmentMetadataValue.ENCODERS = {
    0: _write_streams_group_target_assignment_metadata_value_v0,
}
