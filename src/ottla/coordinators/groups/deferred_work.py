"""Work requested by a step of a consumer group that takes too long for the step itself:
resolving its patterns, and assigning the partitions of a large group."""

from __future__ import annotations

from ottla.base.scheduling.step_scheduler import StepScheduler
from ottla.base.scheduling.tasks import OwnedTasks
from ottla.coordinators.groups.pattern_matching import resolve_patterns
from ottla.coordinators.groups.shard import GroupShard, LoadedShard
from ottla.coordinators.groups.target_assignment import assign_target
from ottla.coordinators.runtime import Runtime


class DeferredWork:
    def __init__(
        self, runtime: Runtime[GroupShard], scheduler: StepScheduler, tasks: OwnedTasks
    ) -> None:
        self._runtime = runtime
        self._scheduler = scheduler
        self._tasks = tasks

    def start(self, shard: LoadedShard) -> None:
        """Start the work requested by the last steps; one task per group and kind of work."""
        context = shard.state.context
        while context.unassigned:
            group_id = context.unassigned.pop()
            context.assigning.add(group_id)
            assigning = assign_target(shard, group_id, self._runtime, self._scheduler)
            self._tasks.start(assigning, name="target assignment of a group")
        while context.unresolved:
            group_id = context.unresolved.pop()
            context.resolving.add(group_id)
            resolving = resolve_patterns(shard, group_id, self._runtime, self._scheduler)
            self._tasks.start(resolving, name="patterns of a group")
