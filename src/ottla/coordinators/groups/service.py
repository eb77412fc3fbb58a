"""The group coordinator of a broker: groups and offsets of the partitions that it leads.

    groups = GroupCoordinator(...)
    replicas.listeners.append(groups)               # tells which partitions those are
    publisher.subscribe(groups.metadata_changed)    # topics come and go
    await groups.run()                              # time passes, until cancelled

Owns      the shards and the tasks that work for them.
Promises  a request has taken effect when its method returns; what is still awaited is that its
          records are replicated, or that other members do their part.
Leaves    everything about groups to the state machines, which know neither tasks nor time, and
          the requests to `requests.py`.
"""

from __future__ import annotations

import asyncio
import logging
import uuid
from collections.abc import Callable, Coroutine, Iterable, Mapping
from typing import Any

from ottla.base.clock import Clock
from ottla.base.ids import TopicId, TopicPartition
from ottla.base.pacing import pause_s
from ottla.base.tasks import OwnedTasks
from ottla.base.turns import Slices, Turns
from ottla.config.broker_options import BrokerConfig
from ottla.config.resource_options import GroupConfig
from ottla.coordinators.groups.assigning import assign_target
from ottla.coordinators.groups.offset_commits import Deleted, forgetting_topics
from ottla.coordinators.groups.record_types import GROUP_RECORDS, OFFSETS_TOPIC
from ottla.coordinators.groups.requests import GroupRequests
from ottla.coordinators.groups.resolving import resolve_patterns
from ottla.coordinators.groups.shard import GroupShard
from ottla.coordinators.groups.shared import Deadline, Shared, Usage
from ottla.coordinators.groups.stepping import LoadedShard, Stepper
from ottla.coordinators.groups.sweeping import Sweeper
from ottla.coordinators.groups.timers import Timers
from ottla.coordinators.internal_topic import CreateTopics, InternalTopic
from ottla.coordinators.records import CoordinatorRecord
from ottla.coordinators.runtime import Runtime
from ottla.metadata.changes import Changes
from ottla.metadata.image import Image
from ottla.protocol.errors import BrokerError
from ottla.replication.partition import Partition

log = logging.getLogger(__name__)

MINUTE_MS = 60 * 1000


class GroupCoordinator(GroupRequests):
    def __init__(
        self,
        image: Image,
        config: BrokerConfig,
        group_config: Callable[[str], GroupConfig],
        clock: Clock,
        create_topics: CreateTopics,
        turns: Turns | None = None,
        new_id: Callable[[], str] = lambda: str(uuid.uuid4()),
    ) -> None:
        self._turns = turns or Turns(clock)
        self._group_config = group_config
        self._clock = clock
        self._new_id = new_id
        self._topics_version = image.offset
        self._deleted: dict[str, set[TopicId]] = {}  # topics, while shards are being loaded
        self._tasks = OwnedTasks()
        self._usage = Usage()
        self.topic = InternalTopic(
            image, OFFSETS_TOPIC, config.offsets_topic_num_partitions, create_topics
        )
        runtime = Runtime(
            OFFSETS_TOPIC,
            GROUP_RECORDS,
            self._new_shard,
            lambda: self.topic.partition_count,
            clock.now_ms,
            self._turns,
            self._tasks,
            config.offsets_topic_compression_codec,
            base_sequence=0,
        )
        self._loading: set[asyncio.Task[None]] = set()
        stepper = Stepper(clock.now_ms, config.offsets_commit_timeout_ms, self._tasks, self._turns)
        super().__init__(runtime, stepper, config, image, self._turns)
        self.sweeper = Sweeper(runtime.active_shards, stepper, self._tick_ms, self._turns)

    def _tick_ms(self) -> int:
        return round(self._clock.monotonic_s() * 1000)

    def _new_shard(self, _number: int) -> GroupShard:
        timers: Timers[Deadline] = Timers(self._tick_ms, lambda at_ms: self.sweeper.started(at_ms))
        return GroupShard(
            Shared(
                self._config,
                self._group_config,
                self._image,
                timers,
                self._clock.now_ms,
                self._new_id,
                self._topics_version,
                self._usage,
            )
        )

    # Which partitions are led here

    def leads(self, partition: Partition) -> None:
        if partition.name.topic == OFFSETS_TOPIC:
            loading = self._load(partition.name, self._runtime.lead(partition))
            task = self._tasks.start(loading, name=f"load {partition.name}")
            self._loading.add(task)
            task.add_done_callback(self._loading.discard)

    def resigned(self, name: TopicPartition) -> None:
        if name.topic == OFFSETS_TOPIC:
            self._runtime.resign(name.partition)

    async def loaded(self) -> None:
        """Until nothing is being loaded any more."""
        while self._loading:
            await asyncio.wait(self._loading)

    async def _load(self, name: TopicPartition, loading: Coroutine[Any, Any, None]) -> None:
        started_s = self._clock.monotonic_s()
        try:
            await loading
        finally:
            self._catch_up(name)
        took_ms = (self._clock.monotonic_s() - started_s) * 1000
        log.info("groups of %s loaded in %.0f ms", name, took_ms)

    def _catch_up(self, name: TopicPartition) -> None:
        """What was changed while it was loaded is news to a shard."""
        for shard in list(self._runtime.active_shards()):
            if shard.partition.name == name:
                shard.state.shared.topics_version = self._topics_version
                self._forget_topics([shard], dict(self._deleted))
        if not self._runtime.is_loading:
            self._deleted = {}

    # What changes around groups

    def metadata_changed(self, image: Image, changes: Changes) -> None:
        """Offsets of deleted topics are forgotten; groups look at their topics again."""
        is_resized = any(None in (c.before, c.after) for c in changes.partitions.values())
        if not (changes.created_topics or changes.deleted_topics or is_resized):
            return
        self._topics_version = image.offset
        deleted = {topic.name: {topic.id} for topic in changes.deleted_topics.values()}
        if self._runtime.is_loading:
            for topic, ids in deleted.items():
                self._deleted.setdefault(topic, set()).update(ids)
        shards = list(self._runtime.active_shards())
        for shard in shards:
            shard.state.shared.topics_version = image.offset
        if deleted:
            self._forget_topics(shards, deleted)

    def _forget_topics(
        self, shards: Iterable[LoadedShard], deleted: Mapping[str, set[TopicId]]
    ) -> None:
        """In slices: there may be many groups. Others may commit to a new topic of the name."""
        ends = [(shard, shard.partition.log.log_end_offset) for shard in shards]

        def forgetting() -> Slices[None]:
            for shard, end_offset in ends:
                gone = {topic: Deleted(ids, end_offset) for topic, ids in deleted.items()}
                yield from self._forgetting_topics(shard, gone)

        work, is_done = self._turns.begin(forgetting())
        if not is_done:
            self._tasks.start(self._turns.finish(work), name="forget offsets of deleted topics")

    def _forgetting_topics(self, shard: LoadedShard, gone: Mapping[str, Deleted]) -> Slices[None]:
        def write(records: list[CoordinatorRecord]) -> None:
            shard.write(records, self._clock.now_ms())

        try:
            yield from forgetting_topics(shard.state.offsets, gone, write)
        except BrokerError as error:
            log.warning("%s: offsets of deleted topics stay: %s", shard.partition.name, error)

    # Work that follows on requests

    def _follow_up(self, shard: LoadedShard) -> None:
        shared = shard.state.shared
        while shared.unassigned:
            group_id = shared.unassigned.pop()
            shared.assigning.add(group_id)
            assigning = assign_target(shard, group_id, self._stepper, self._turns)
            self._tasks.start(assigning, name="target assignment of a group")
        while shared.unresolved:
            group_id = shared.unresolved.pop()
            shared.resolving.add(group_id)
            work = resolve_patterns(shard, group_id, self._stepper, self._turns)
            self._tasks.start(work, name=f"patterns of {group_id}")

    async def run(self) -> None:
        """Let time pass, until cancelled."""
        try:
            async with asyncio.TaskGroup() as tasks:
                tasks.create_task(self.sweeper.run(), name="group timers")
                tasks.create_task(self._expire_offsets(), name="offset expiry")
        finally:
            await self._tasks.close()

    async def _expire_offsets(self) -> None:
        while True:
            await asyncio.sleep(pause_s(self._config.offsets_retention_check_interval_ms))
            retention_ms = self._config.offsets_retention_minutes * MINUTE_MS
            await self.sweeper.expire_offsets(retention_ms)
