"""The group coordinator of a broker: groups and offsets of the partitions that it leads.

    groups = GroupCoordinator(...)
    replicas.listeners.append(groups)               # notified of leadership changes
    publisher.subscribe(groups.metadata_changed)    # notified of topic changes
    await groups.run()                              # timers and expiration, until cancelled
    groups.service.join(...)                        # requests

Owns      the components of the coordinator, and its tasks.
Leaves    the rules to the state machines, which use neither tasks nor clocks, and requests to
          `service.py`.
"""

from __future__ import annotations

import asyncio
import logging
import uuid
from collections.abc import Callable, Iterable, Mapping

from ottla.base.clock import Clock
from ottla.base.ids import TopicId
from ottla.base.scheduling.pacing import pause_s
from ottla.base.scheduling.step_scheduler import StepScheduler
from ottla.base.scheduling.steps import Steps
from ottla.base.scheduling.tasks import OwnedTasks
from ottla.base.scheduling.timers import Timers
from ottla.config.broker_options import BrokerConfig
from ottla.config.resource_options import GroupConfig
from ottla.coordinators.batches import BatchFormat
from ottla.coordinators.groups.deferred_work import DeferredWork
from ottla.coordinators.groups.expiration import Expiration
from ottla.coordinators.groups.offset_commits import DeletedTopics, forgetting_topics
from ottla.coordinators.groups.record_types import GROUP_RECORDS, OFFSETS_TOPIC
from ottla.coordinators.groups.service import GroupService
from ottla.coordinators.groups.shard import GroupShard, LoadedShard
from ottla.coordinators.groups.shard_context import Deadline, ShardContext, Usage
from ottla.coordinators.internal_topic import CreateTopics, InternalTopic
from ottla.coordinators.runtime import CoordinatorTopic, Runtime
from ottla.coordinators.shard import Status
from ottla.metadata.changes import Changes
from ottla.metadata.image import Image
from ottla.protocol.errors import BrokerError

log = logging.getLogger(__name__)

MINUTE_MS = 60 * 1000


class GroupCoordinator:
    def __init__(
        self,
        image: Image,
        config: BrokerConfig,
        group_config: Callable[[str], GroupConfig],
        clock: Clock,
        create_topics: CreateTopics,
        scheduler: StepScheduler | None = None,
        new_id: Callable[[], str] = lambda: str(uuid.uuid4()),
    ) -> None:
        self._scheduler = scheduler or StepScheduler(clock)
        self._image = image
        self._config = config
        self._group_config = group_config
        self._clock = clock
        self._new_id = new_id
        self._topics_version = image.offset
        self._deleted: dict[str, set[TopicId]] = {}  # deleted topics, while shards are being loaded
        self._tasks = OwnedTasks()
        self._usage = Usage()
        self.topic = InternalTopic(
            image, OFFSETS_TOPIC, config.offsets_topic_num_partitions, create_topics
        )
        self._runtime: Runtime[GroupShard] = Runtime(
            CoordinatorTopic(
                OFFSETS_TOPIC,
                GROUP_RECORDS,
                BatchFormat(config.offsets_topic_compression_codec, base_sequence=0),
                lambda: self.topic.partition_count,
            ),
            self._new_shard,
            self._load_ended,
            clock.now_ms,
            config.offsets_commit_timeout_ms,
            self._scheduler,
            self._tasks,
        )
        self.leads, self.resigned = self._runtime.leads, self._runtime.resigned
        self.expiration = Expiration(self._runtime, self._tick_ms, self._scheduler)
        deferred = DeferredWork(self._runtime, self._scheduler, self._tasks)
        self.service = GroupService(
            self.topic, self._runtime, deferred, config, image, self._scheduler
        )

    def _tick_ms(self) -> int:
        return round(self._clock.monotonic_s() * 1000)

    def _new_shard(self) -> GroupShard:
        timers: Timers[Deadline] = Timers(self._tick_ms, self.expiration.timer_started)
        return GroupShard(
            ShardContext(
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

    # Loading

    async def loaded(self) -> None:
        """Wait until no shard is being loaded."""
        await self._runtime.loaded()

    async def _load_ended(self, shard: LoadedShard) -> None:
        """Apply the topic changes that occurred while the shard was being loaded."""
        if shard.status is Status.ACTIVE:
            shard.state.context.topics_version = self._topics_version
            self._forget_topics([shard], dict(self._deleted))
        if not self._runtime.is_loading:
            self._deleted = {}

    # Metadata changes

    def metadata_changed(self, image: Image, changes: Changes) -> None:
        """Delete the offsets of deleted topics, and let groups check their topics."""
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
            shard.state.context.topics_version = image.offset
        if deleted:
            self._forget_topics(shards, deleted)

    def _forget_topics(
        self, shards: Iterable[LoadedShard], deleted: Mapping[str, set[TopicId]]
    ) -> None:
        """In slices: there may be many groups. New topics with the same names are not affected."""
        ends = [(shard, shard.log_end_offset) for shard in shards]

        def forgetting() -> Steps[None]:
            for shard, end_offset in ends:
                yield from self._forgetting_topics(shard, DeletedTopics(deleted, end_offset))

        work, is_done = self._scheduler.begin(forgetting())
        if not is_done:
            self._tasks.start(self._scheduler.finish(work), name="forget offsets of deleted topics")

    def _forgetting_topics(self, shard: LoadedShard, deleted: DeletedTopics) -> Steps[None]:
        try:
            yield from forgetting_topics(shard.state.offsets, deleted, self._runtime.writer(shard))
        except BrokerError as error:
            log.warning(
                "%s: offsets of deleted topics are not deleted: %s", shard.partition.name, error
            )

    # Timers

    async def run(self) -> None:
        """Expire timers and offsets, until cancelled."""
        try:
            async with asyncio.TaskGroup() as tasks:
                tasks.create_task(self.expiration.run(), name="group timers")
                tasks.create_task(self._expire_offsets(), name="offset expiry")
        finally:
            await self._tasks.close()

    async def _expire_offsets(self) -> None:
        while True:
            await asyncio.sleep(pause_s(self._config.offsets_retention_check_interval_ms))
            retention_ms = self._config.offsets_retention_minutes * MINUTE_MS
            await self.expiration.expire_offsets(retention_ms)
