"""A group coordinator over real partitions on a disk in memory, without network or controller."""

from __future__ import annotations

from collections.abc import Iterable
from random import Random

from ottla.base.clock import Clock
from ottla.base.ids import TopicId
from ottla.base.scheduling.step_scheduler import StepScheduler
from ottla.base.scheduling.steps import Steps
from ottla.config.load import load_config
from ottla.config.resource_options import GroupConfig
from ottla.config.topic_options import TopicConfig
from ottla.coordinators.groups.coordinator import GroupCoordinator
from ottla.coordinators.groups.record_types import OFFSETS_TOPIC
from ottla.metadata.features import new_cluster_levels
from ottla.metadata.image import Batch, Image
from ottla.metadata.publisher import Publisher
from ottla.metadata.records import (
    PartitionChanged,
    PartitionCreated,
    Record,
    TopicCreated,
    TopicDeleted,
)
from ottla.protocol.error_codes import ErrorCode
from ottla.replication.partition import Partition
from ottla.replication.replica_manager import ReplicaManager
from ottla.replication.sole_replica import SoleReplica
from ottla.storage.directories.directory_ownership import Owner
from ottla.storage.directories.log_manager import LogManager
from ottla.testing.clock import ManualClock
from ottla.testing.filesystem import MemoryDisk
from ottla.testing.log_listener import IgnoringListener

BROKER = 1
DIRECTORY = "/data"
OFFSETS_ID = TopicId(b"offsets topic id")


class WithoutSyncs(StepScheduler):
    """No sync that the flush policy wants is ever done."""

    def start(self, steps: Steps[None]) -> None:
        steps.close()


class BrokerWorld:
    def __init__(
        self,
        *settings: str,
        clock: Clock | None = None,
        disk: MemoryDisk | None = None,
        image: Image | None = None,
    ) -> None:
        self.manual = ManualClock()
        self.clock = clock or self.manual
        self.disk = disk or MemoryDisk(clock=self.manual)
        if disk is None:
            self.disk.make_directory(DIRECTORY)
            self.disk.sync_directory("/")
        self.image = image or new_image()
        self.publisher = Publisher(self.image)
        self.logs = LogManager(self.disk, self.clock, Random(0), [DIRECTORY], IgnoringListener())
        self.logs.open(Owner("cluster", BROKER))
        list(self.logs.load(lambda _topic: TopicConfig()))
        self.replicas = ReplicaManager(
            BROKER,
            self.logs,
            lambda _topic: TopicConfig(),
            self.clock,
            WithoutSyncs(self.clock),
            SoleReplica(),
            SoleReplica(),
        )
        self.created: list[str] = []
        self.groups = GroupCoordinator(
            self.image,
            load_config(settings=settings).config,
            lambda _group_id: GroupConfig(),
            self.clock,
            self._create,
        )
        self.replicas.listeners.append(self.groups)
        self.publisher.subscribe(lambda _image, changes: self.replicas.apply(changes))
        self.publisher.subscribe(self.groups.metadata_changed)

    async def _create(self, names: Iterable[str]) -> dict[str, ErrorCode]:
        self.created += names
        return {}

    def publish(self, *records: Record) -> None:
        self.publisher.publish(Batch(self.image.offset, 1, records))

    def create_offsets_topic(self, partitions: int = 2, replicas: tuple[int, ...] = (1,)) -> None:
        self.create_topic(OFFSETS_TOPIC, partitions, OFFSETS_ID, replicas)

    def create_topic(
        self,
        name: str,
        partitions: int = 1,
        topic_id: TopicId | None = None,
        replicas: tuple[int, ...] = (1,),
    ) -> TopicId:
        topic_id = topic_id or TopicId(name.encode().ljust(16, b"\1"))
        created = (
            PartitionCreated(topic_id, at, replicas, replicas, replicas[0])
            for at in range(partitions)
        )
        self.publish(TopicCreated(topic_id, name), *created)
        return topic_id

    def lead(self, number: int, leader: int, epoch: int) -> None:
        """The cluster decides who leads a partition of the offsets topic."""
        self.publish(PartitionChanged(OFFSETS_ID, number, epoch, leader=leader, leader_epoch=epoch))

    def partition_of(self, group_id: str) -> Partition:
        return self.replicas.partition(*self.groups.topic.partition_of(group_id))

    def follower_catches_up(self, group_id: str) -> None:
        """The other replica has fetched everything."""
        partition = self.partition_of(group_id)
        assert partition.leader_state is not None
        end = partition.log.log_end_offset
        partition.leader_state.followers[2].fetched(end, 0, end, self.clock.now_ms())
        partition.advance()

    def delete_topic(self, name: str) -> None:
        topic = self.image.topic(name)
        assert topic is not None
        self.publish(TopicDeleted(topic.id))

    async def loaded(self) -> None:
        await self.groups.loaded()


def new_image() -> Image:
    image = Image()
    image.apply(Batch(0, 1, tuple(new_cluster_levels())))
    return image
