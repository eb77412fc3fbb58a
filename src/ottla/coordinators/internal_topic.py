"""The internal topic that stores a coordinator's state: its creation, and its leaders.

The topic is created at the first FindCoordinator request. Concurrent requests wait for the same
creation, and continue some at a time.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable

from ottla.base.ids import TopicPartition
from ottla.base.scheduling.gradual_event import GradualEvent
from ottla.coordinators.sharding import shard_of
from ottla.metadata.image import Image
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.errors import BrokerError

log = logging.getLogger(__name__)

# Creates topics by name; returns those that could not be created, with the errors.
CreateTopics = Callable[[Iterable[str]], Awaitable[dict[str, ErrorCode]]]


class InternalTopic:
    def __init__(
        self, image: Image, name: str, partitions_wanted: int, create: CreateTopics
    ) -> None:
        self.name = name
        self._image = image
        self._partitions_wanted = partitions_wanted
        self._create = create
        self._creating: GradualEvent | None = None
        self._task: asyncio.Task[None] | None = None  # that creates it

    @property
    def exists(self) -> bool:
        return self._image.topic(self.name) is not None

    @property
    def is_ready(self) -> bool:
        """Whether coordinators can be looked up. A topic with many partitions is in the metadata
        before all of them exist, and clients would be sent to another broker."""
        return self.exists and self._creating is None

    @property
    def partition_count(self) -> int:
        topic = self._image.topic(self.name)
        return 0 if topic is None else len(topic.partitions)

    def partition_of(self, key: str) -> TopicPartition:
        """The partition that stores a group or transactional id."""
        count = self.partition_count or self._partitions_wanted
        return TopicPartition(self.name, shard_of(key, count))

    def leader_of(self, key: str) -> int:
        """The coordinating broker; BrokerError if there is none."""
        partition = self._image.partition(*self.partition_of(key))
        if partition is None or not partition.has_leader:
            raise BrokerError(ErrorCode.COORDINATOR_NOT_AVAILABLE)
        return partition.leader

    async def ensure(self) -> None:
        """Create the topic unless it exists; after a failure, the next call tries again."""
        if self.is_ready:
            return
        if self._creating is None:
            self._creating = GradualEvent()
            self._task = asyncio.create_task(self._create_topic(self._creating))
        await self._creating.wait()

    async def _create_topic(self, creating: GradualEvent) -> None:
        try:
            failed = await self._create([self.name])
            if self.name in failed:
                log.warning("cannot create %s: %s", self.name, failed[self.name].name)
            creating.set()
        except Exception as error:
            creating.fail(error)
        finally:
            self._creating = None
