"""Generated from schemas/data/streams_group_current_member_assignment_value.schema: StreamsGroupCurrentMemberAssignmentValue, versions 0. Do not edit."""

from __future__ import annotations

from collections.abc import Sequence
from struct import Struct as Layout

from ottla.protocol.message import Message, Struct
from ottla.protocol.primitives import (
    check_tag_end,
    read_compact_count,
    read_compact_nullable_count,
    read_compact_string,
    read_numbers,
    read_tag,
    read_tag_count,
    skip_tags,
    uvarint,
    write_compact_string,
    write_numbers,
    write_tags,
)

_unpack_iib = Layout(">iib").unpack_from
_pack_iib = Layout(">iib").pack


class StreamsGroupCurrentMemberAssignmentValue(Message):
    __slots__ = ("member_epoch", "previous_member_epoch", "state", "active_tasks", "standby_tasks", "warmup_tasks", "active_tasks_pending_revocation", "standby_tasks_pending_revocation", "warmup_tasks_pending_revocation",)
    RECORD_TYPE = 22
    VERSIONS = range(0, 1)
    FLEXIBLE_FROM = 0

    def __init__(
        self,
        member_epoch: int = 0,
        previous_member_epoch: int = 0,
        state: int = 0,
        active_tasks: Sequence[TaskIds] = (),
        standby_tasks: Sequence[TaskIds] = (),
        warmup_tasks: Sequence[TaskIds] = (),
        active_tasks_pending_revocation: Sequence[TaskIds] = (),
        standby_tasks_pending_revocation: Sequence[TaskIds] = (),
        warmup_tasks_pending_revocation: Sequence[TaskIds] = (),
    ) -> None:
        self.member_epoch = member_epoch
        self.previous_member_epoch = previous_member_epoch
        self.state = state
        self.active_tasks = active_tasks
        self.standby_tasks = standby_tasks
        self.warmup_tasks = warmup_tasks
        self.active_tasks_pending_revocation = active_tasks_pending_revocation
        self.standby_tasks_pending_revocation = standby_tasks_pending_revocation
        self.warmup_tasks_pending_revocation = warmup_tasks_pending_revocation


class TaskIds(Struct):
    __slots__ = ("subtopology_id", "partitions", "assignment_epochs",)

    def __init__(
        self,
        subtopology_id: str = "",
        partitions: Sequence[int] = (),
        assignment_epochs: Sequence[int] | None = (),
    ) -> None:
        self.subtopology_id = subtopology_id
        self.partitions = partitions
        self.assignment_epochs = assignment_epochs


def _read_task_idss_v0(data: memoryview, at: int, count: int) -> tuple[list[TaskIds], int]:
    items: list[TaskIds] = []
    for _ in range(count):
        subtopology_id, at = read_compact_string(data, at)
        count, at = read_compact_count(data, at, 4)
        partitions, at = read_numbers(data, at, count, "i") if count else ([], at)
        assignment_epochs: Sequence[int] | None = ()
        if not data[at]:
            at += 1
        else:
            more, at = read_tag_count(data, at)
            while more:
                more -= 1
                tag, end, at = read_tag(data, at)
                if tag == 0:
                    count, at = read_compact_nullable_count(data, at, 4)
                    assignment_epochs = None
                    if count >= 0:
                        assignment_epochs, at = read_numbers(data, at, count, "i")
                else:
                    at = end
                check_tag_end(tag, at, end)
        items.append(TaskIds(subtopology_id, partitions, assignment_epochs))
    return items, at


def _read_streams_group_current_member_assignment_value_v0(data: memoryview, at: int) -> tuple[StreamsGroupCurrentMemberAssignmentValue, int]:
    member_epoch, previous_member_epoch, state = _unpack_iib(data, at)
    at += 9
    count, at = read_compact_count(data, at, 3)
    active_tasks, at = _read_task_idss_v0(data, at, count) if count else ([], at)
    count, at = read_compact_count(data, at, 3)
    standby_tasks, at = _read_task_idss_v0(data, at, count) if count else ([], at)
    count, at = read_compact_count(data, at, 3)
    warmup_tasks, at = _read_task_idss_v0(data, at, count) if count else ([], at)
    count, at = read_compact_count(data, at, 3)
    active_tasks_pending_revocation, at = _read_task_idss_v0(data, at, count) if count else ([], at)
    count, at = read_compact_count(data, at, 3)
    standby_tasks_pending_revocation, at = _read_task_idss_v0(data, at, count) if count else ([], at)
    count, at = read_compact_count(data, at, 3)
    warmup_tasks_pending_revocation, at = _read_task_idss_v0(data, at, count) if count else ([], at)
    at = skip_tags(data, at) if data[at] else at + 1
    return StreamsGroupCurrentMemberAssignmentValue(member_epoch, previous_member_epoch, state, active_tasks, standby_tasks, warmup_tasks, active_tasks_pending_revocation, standby_tasks_pending_revocation, warmup_tasks_pending_revocation), at


def _write_task_idss_v0(items: Sequence[TaskIds], out: bytearray) -> None:
    for item in items:
        write_compact_string(item.subtopology_id, out)
        if item.partitions:
            out += uvarint(len(item.partitions) + 1)
            write_numbers(item.partitions, "i", out)
        else:
            out.append(1)
        if not ((item.assignment_epochs is None or item.assignment_epochs)):
            out.append(0)
        else:
            tags: list[tuple[int, bytearray]] = []
            if (item.assignment_epochs is None or item.assignment_epochs):
                value = bytearray()
                if item.assignment_epochs:
                    value += uvarint(len(item.assignment_epochs) + 1)
                    write_numbers(item.assignment_epochs, "i", value)
                else:
                    value.append(0 if item.assignment_epochs is None else 1)
                tags.append((0, value))
            write_tags(tags, out)


def _write_streams_group_current_member_assignment_value_v0(item: StreamsGroupCurrentMemberAssignmentValue, out: bytearray) -> None:
    out += _pack_iib(item.member_epoch, item.previous_member_epoch, item.state)
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
    if item.active_tasks_pending_revocation:
        out += uvarint(len(item.active_tasks_pending_revocation) + 1)
        _write_task_idss_v0(item.active_tasks_pending_revocation, out)
    else:
        out.append(1)
    if item.standby_tasks_pending_revocation:
        out += uvarint(len(item.standby_tasks_pending_revocation) + 1)
        _write_task_idss_v0(item.standby_tasks_pending_revocation, out)
    else:
        out.append(1)
    if item.warmup_tasks_pending_revocation:
        out += uvarint(len(item.warmup_tasks_pending_revocation) + 1)
        _write_task_idss_v0(item.warmup_tasks_pending_revocation, out)
    else:
        out.append(1)
    out.append(0)


StreamsGroupCurrentMemberAssignmentValue.DECODERS = {
    0: _read_streams_group_current_member_assignment_value_v0,
}
StreamsGroupCurrentMemberAssignmentValue.ENCODERS = {
    0: _write_streams_group_current_member_assignment_value_v0,
}
