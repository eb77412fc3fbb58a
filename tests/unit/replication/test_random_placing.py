"""Random decisions of the cluster, appends and restarts: each partition is where the metadata
places it, in the role that it gives it, and keeps its records until its topic is deleted."""

from __future__ import annotations

from random import Random

import pytest
from tests.unit.replication.test_set_aside import remove_due
from tests.unit.replication.test_several_directories import BROKER, PATHS, World
from tests.unit.storage.log_making import append, batch_of, values_of

from ottla.base.ids import TopicId, TopicPartition
from ottla.metadata.entities import Partition as Decided
from ottla.metadata.image import Image
from ottla.metadata.records import (
    PartitionChanged,
    PartitionCreated,
    TopicCreated,
    TopicDeleted,
)
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.errors import BrokerError
from ottla.protocol.records.batch import stamp_offset_and_epoch
from ottla.replication.partition import Partition
from ottla.testing.filesystem import MemoryDisk

OTHER, THIRD, NOBODY = 2, 3, -1
NAMES = ("t", "u")
Key = tuple[TopicId, int]


class Listener:
    """What a coordinator would believe that this broker leads."""

    def __init__(self) -> None:
        self.leading: dict[TopicPartition, int] = {}

    def leads(self, partition: Partition) -> None:
        assert self.leading.get(partition.name) != partition.leader_epoch, "told twice"
        self.leading[partition.name] = partition.leader_epoch

    def resigned(self, name: TopicPartition) -> None:
        del self.leading[name]


class Story:
    def __init__(self, random: Random) -> None:
        self.random = random
        disk = MemoryDisk()
        for path in PATHS:
            disk.make_directory(path)
        disk.sync_directory("/")
        self.world = World(disk, Image())
        self.topics = 0
        self.values: dict[Key, list[bytes]] = {}  # what this broker has been given
        self.latest: dict[Key, int] = {}  # the latest leader epoch of these records
        self.listen()

    def listen(self) -> None:
        self.listener = Listener()
        for each in self.world.replicas:
            if each.is_leader:
                self.listener.leads(each)
        self.world.replicas.listeners.append(self.listener)

    @property
    def decided(self) -> dict[Key, Decided]:
        found = self.world.image.all_partitions()
        return {(topic.id, index): decided for topic, index, decided in found}

    def choose(self) -> tuple[Key, Decided] | None:
        known = list(self.decided.items())
        return self.random.choice(known) if known else None

    def placement(self) -> tuple[tuple[int, ...], tuple[int, ...], int]:
        """Replicas, those in sync, and the leader."""
        replicas = tuple(self.random.sample((BROKER, OTHER, THIRD), self.random.randint(1, 3)))
        if self.random.random() < 0.7 and BROKER not in replicas:
            replicas = (*replicas, BROKER)
        in_sync = tuple(self.random.sample(replicas, self.random.randint(1, len(replicas))))
        return replicas, in_sync, self.random.choice((*in_sync, in_sync[0], NOBODY))

    # Steps

    def create(self) -> None:
        name = self.random.choice(NAMES)
        if self.world.image.topic(name) is None:
            self.topics += 1
            topic_id = TopicId(b"%016d" % self.topics)
            created = (
                PartitionCreated(topic_id, index, *self.placement())
                for index in range(self.random.randint(1, 2))
            )
            self.world.publish(TopicCreated(topic_id, name), *created)

    def delete(self) -> None:
        if (chosen := self.choose()) is not None and self.random.random() < 0.5:
            (topic_id, _), _ = chosen
            self.world.publish(TopicDeleted(topic_id))
            remove_due(self.world)

    def elect(self) -> None:
        if (chosen := self.choose()) is not None:
            (topic_id, index), decided = chosen
            leader = self.random.choice((*decided.in_sync_replicas, NOBODY))
            self.world.publish(
                PartitionChanged(
                    topic_id, index, decided.partition_epoch + 1, leader=leader,
                    leader_epoch=decided.leader_epoch + 1,
                )
            )  # fmt: skip

    def place(self) -> None:
        if (chosen := self.choose()) is not None:
            (topic_id, index), decided = chosen
            replicas, in_sync, leader = self.placement()
            self.world.publish(
                PartitionChanged(
                    topic_id, index, decided.partition_epoch + 1, replicas=replicas,
                    in_sync_replicas=in_sync, leader=leader, leader_epoch=decided.leader_epoch + 1,
                )
            )  # fmt: skip

    def shrink_or_grow(self) -> None:
        """The in-sync replicas change, the leader stays."""
        if (chosen := self.choose()) is not None:
            (topic_id, index), decided = chosen
            others = [each for each in decided.replicas if each != decided.leader]
            some = self.random.sample(others, self.random.randint(0, len(others)))
            in_sync = (*some, decided.leader) if decided.leader != NOBODY else tuple(some)
            epoch = decided.partition_epoch + 1
            self.world.publish(PartitionChanged(topic_id, index, epoch, in_sync_replicas=in_sync))

    def write(self) -> None:
        """As leader, or as a follower whose leader may have epochs that are not known here yet."""
        chosen = self.choose()
        if chosen is None or BROKER not in chosen[1].replicas or self.is_offline(*chosen):
            return
        key, decided = chosen
        log = self.world.replicas.partition_by_id(*key).log
        value = b"%d" % self.random.randrange(1000)
        if decided.leader == BROKER:
            epoch = decided.leader_epoch
            append(log, value, epoch=epoch)
        else:
            epoch = max(decided.leader_epoch, self.latest.get(key, 0)) + self.random.choice((0, 2))
            batch = batch_of(value)
            stamp_offset_and_epoch(batch, 0, log.log_end_offset, epoch)
            log.append_as_follower(batch)
        self.values.setdefault(key, []).append(value)
        self.latest[key] = epoch

    def restart(self) -> None:
        if self.random.random() < 0.5:
            self.world.replicas.close()
            self.world.logs.close()
        self.world = self.world.restarted()
        remove_due(self.world)
        self.listen()

    # What must be true

    def is_offline(self, key: Key, decided: Decided) -> bool:
        """It is not led in an epoch that is older than its records."""
        return decided.leader == BROKER and self.latest.get(key, 0) > decided.leader_epoch

    def error_of(self, key: Key, decided: Decided) -> ErrorCode | None:
        if BROKER not in decided.replicas:
            return ErrorCode.NOT_LEADER_OR_FOLLOWER
        return ErrorCode.KAFKA_STORAGE_ERROR if self.is_offline(key, decided) else None

    def check(self) -> None:
        leading = {}
        for (topic_id, index), decided in self.decided.items():
            topic = self.world.image.topic_by_id(topic_id)
            assert topic is not None
            error = self.error_of((topic_id, index), decided)
            if error is not None:
                assert self.world.error(TopicPartition(topic.name, index)) is error
                continue
            found = self.world.replicas.partition(topic.name, index)
            assert found is self.world.replicas.partition_by_id(topic_id, index)
            known = found.leadership
            assert (known.leader, known.leader_epoch) == (decided.leader, decided.leader_epoch)
            assert (known.replicas, known.in_sync_replicas, known.partition_epoch) == (
                decided.replicas, decided.in_sync_replicas, decided.partition_epoch,
            )  # fmt: skip
            assert found.is_leader == (decided.leader == BROKER)
            if found.is_leader:
                leading[found.name] = decided.leader_epoch
            assert values_of(found.log) == self.values.get((topic_id, index), [])
        assert self.listener.leading == leading
        for name in NAMES:
            if self.world.image.topic(name) is None:
                with pytest.raises(BrokerError) as raised:
                    self.world.replicas.partition(name, 0)
                assert raised.value.code is ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


@pytest.mark.parametrize("seed", range(10))
def test_partitions_are_what_the_metadata_says_and_keep_their_records(seed: int) -> None:
    story = Story(Random(seed))
    steps = [story.create] * 2 + [story.write] * 4 + [
        story.elect, story.elect, story.place, story.place, story.shrink_or_grow, story.restart,
        story.delete,
    ]  # fmt: skip
    for _ in range(60):
        story.random.choice(steps)()
        story.check()
