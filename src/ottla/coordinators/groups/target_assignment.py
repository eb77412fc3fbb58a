"""The target assignment of a large consumer group: planned in slices, computed in a thread.

Promises  an assignment computed for an epoch is written as the target of that epoch, even if the
          group has changed since; then the next target follows. Members keep the previous target
          until the new one is complete, and a partition with a holder is never assigned to another
          member.
"""

from __future__ import annotations

import logging
from itertools import islice

from ottla.base.log_messages.log_text import shown
from ottla.base.scheduling.step_scheduler import StepScheduler
from ottla.base.scheduling.steps import Steps
from ottla.coordinators.groups.assignors.division import Division
from ottla.coordinators.groups.consumer.group import ConsumerGroup
from ottla.coordinators.groups.consumer.records import target_epoch_record, target_record
from ottla.coordinators.groups.consumer.targets import TargetPlan, planning
from ottla.coordinators.groups.shard import GroupShard, LoadedShard
from ottla.coordinators.records import CoordinatorRecord
from ottla.coordinators.runtime import Runtime
from ottla.protocol.errors import BrokerError

log = logging.getLogger(__name__)

TARGETS_MAX = 20  # per batch


async def assign_target(
    shard: LoadedShard, group_id: str, runtime: Runtime[GroupShard], scheduler: StepScheduler
) -> None:
    """Assign a target; repeated if member ids change meanwhile."""
    context = shard.state.context
    try:
        is_written = False
        while not is_written:
            group = unassigned(shard, group_id)
            if group is None:
                return
            default = context.config.group_consumer_assignors[0]
            plan = await scheduler.run_later(planning(group, context.image, default))
            division = await scheduler.in_thread(plan.divide)
            is_written = await scheduler.run_later(
                writing(shard, group_id, plan, division, runtime)
            )
    except BrokerError as error:
        log.warning("group %s: it keeps its current target assignment: %s", shown(group_id), error)
    finally:
        context.assigning.discard(group_id)


def unassigned(shard: LoadedShard, group_id: str) -> ConsumerGroup | None:
    """The group, if its target is behind its epoch."""
    group = shard.state.groups.get(group_id)
    is_behind = isinstance(group, ConsumerGroup) and group.target_epoch < group.epoch
    return group if is_behind and isinstance(group, ConsumerGroup) else None


def writing(
    shard: LoadedShard,
    group_id: str,
    plan: TargetPlan,
    division: Division,
    runtime: Runtime[GroupShard],
) -> Steps[bool]:
    """Write the target, a few members at a time; returns whether it is complete.

    A member is looked up and its record is written without a yield in between: otherwise the
    target of a member that has left meanwhile would stay in the log.
    """
    has_skipped = False
    left = iter(division.items())
    while some := list(islice(left, TARGETS_MAX)):
        group = unassigned(shard, group_id)
        if group is None or group.target_epoch >= plan.epoch:
            return False
        records: list[CoordinatorRecord] = []
        for member_id, target in some:
            if member_id not in group.members:
                has_skipped = True
            elif group.target.get(member_id) != target:
                records.append(target_record(group_id, member_id, target))
        runtime.write(shard, records)
        yield 0
    group = unassigned(shard, group_id)
    if group is None or (has_skipped and group.epoch == plan.epoch):
        return False  # the id of a static member has changed
    now_ms = shard.state.context.now_ms()
    runtime.write(shard, [target_epoch_record(group_id, plan.epoch, now_ms)])
    return True
