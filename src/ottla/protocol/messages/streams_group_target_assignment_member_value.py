"""Generated from schemas/data/streams_group_target_assignment_member_value.schema: StreamsGroupTargetAssignmentMemberValue, versions 0. Do not edit."""

from __future__ import annotations

from collections.abc import Sequence

from ottla.protocol.message import Message, Struct
from ottla.protocol.primitives import (
    read_compact_count,
    read_compact_string,
    read_numbers,
    skip_tags,
    uvarint,
    write_compact_string,
    write_numbers,
)



class StreamsGroupTargetAssignmentMemberValue(Message):
    __slots__ = ("active_tasks", "standby_tasks", "warmup_tasks",)
    RECORD_TYPE = 21
    VERSIONS = range(0, 1)
    FLEXIBLE_FROM = 0

    def __init__(
        self,
        active_tasks: Sequence[TaskIds] = (),
        standby_tasks: Sequence[TaskIds] = (),
        warmup_tasks: Sequence[TaskIds] = (),
    ) -> None:
        self.active_tasks = active_tasks
        self.standby_tasks = standby_tasks
        self.warmup_tasks = warmup_tasks


class TaskIds(Struct):
    __slots__ = ("subtopology_id", "partitions",)

    def __init__(
        self,
        subtopology_id: str = "",
        partitions: Sequence[int] = (),
    ) -> None:
        self.subtopology_id = subtopology_id
        self.partitions = partitions


def _read_task_idss_v0(data: memoryview, at: int, count: int) -> tuple[list[TaskIds], int]:
    items: list[TaskIds] = []
    for _ in range(count):
        subtopology_id, at = read_compact_string(data, at)
        count, at = read_compact_count(data, at, 4)
        partitions, at = read_numbers(data, at, count, "i") if count else ([], at)
        at = skip_tags(data, at) if data[at] else at + 1
        items.append(TaskIds(subtopology_id, partitions))
    return items, at


def _read_streams_group_target_assignment_member_value_v0(data: memoryview, at: int) -> tuple[StreamsGroupTargetAssignmentMemberValue, int]:
    count, at = read_compact_count(data, at, 3)
    active_tasks, at = _read_task_idss_v0(data, at, count) if count else ([], at)
    count, at = read_compact_count(data, at, 3)
    standby_tasks, at = _read_task_idss_v0(data, at, count) if count else ([], at)
    count, at = read_compact_count(data, at, 3)
    warmup_tasks, at = _read_task_idss_v0(data, at, count) if count else ([], at)
    at = skip_tags(data, at) if data[at] else at + 1
    return StreamsGroupTargetAssignmentMemberValue(active_tasks, standby_tasks, warmup_tasks), at


def _write_task_idss_v0(items: Sequence[TaskIds], out: bytearray) -> None:
    for item in items:
        write_compact_string(item.subtopology_id, out)
        if item.partitions:
            out += uvarint(len(item.partitions) + 1)
            write_numbers(item.partitions, "i", out)
        else:
            out.append(1)
        out.append(0)


def _write_streams_group_target_assignment_member_value_v0(item: StreamsGroupTargetAssignmentMemberValue, out: bytearray) -> None:
    if item.active_tasks:
        out += uvarint(len(item.active_tasks) + 1)
        _write_task_idss_v0(item.active_tasks, out)
    else:
        out.append(1)
    if item.standby_tasks:
        out += uvarint(len(item.standby_tasks) + 1)
        _write_task_idss_v0(item.standby_tasks, out)
    else:
        out.append(1)
    if item.warmup_tasks:
        out += uvarint(len(item.warmup_tasks) + 1)
        _write_task_idss_v0(item.warmup_tasks, out)
    else:
        out.append(1)
    out.append(0)


StreamsGroupTargetAssignmentMemberValue.DECODERS = {
    0: _read_streams_group_target_assignment_member_value_v0,
}
StreamsGroupTargetAssignmentMemberValue.ENCODERS = {
    0: _write_streams_group_target_assignment_member_value_v0,
}
