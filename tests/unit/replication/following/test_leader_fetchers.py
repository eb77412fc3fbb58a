"""How partitions are distributed among fetchers: `num.replica.fetchers`."""

from __future__ import annotations

import asyncio
from math import inf
from typing import Any

from tests.unit.replication.following.test_leader_fetcher import (
    LARGE,
    LEADER,
    LIMITS,
    ME,
    AtOnce,
    Leader,
    story,
    topic_of,
)
from tests.unit.replication.test_in_sync_changes import LoopClock
from tests.unit.storage.log_making import Place, batch_of, values_of

from ottla.base.ids import TopicPartition
from ottla.base.rates import Windows
from ottla.base.scheduling.steps import Steps, run_blocking
from ottla.base.scheduling.tasks import OwnedTasks
from ottla.protocol.message import Message
from ottla.replication.following.leader_fetchers import FollowerSettings, LeaderFetchers
from ottla.replication.following.lost_leaders import LostLeaders
from ottla.replication.leadership import Leadership
from ottla.replication.partition import Partition
from ottla.replication.replication_quota import ReplicationQuota, fetched_by_followers
from ottla.replication.sole_replica import SoleReplica
from ottla.storage.log.log import Log

PARTITIONS = 16


class Connections:
    """Those of one fetcher, with a session of its own."""

    def __init__(self, logs: dict[tuple[bytes, int], Log]) -> None:
        self._leader = Leader()
        self._leader.logs = logs
        self.is_closed = False

    async def request(self, _broker_id: int, request: Message, _timeout_s: float) -> Any:
        return await self._leader.request(request)

    def close(self) -> None:
        self.is_closed = True


class World:
    def __init__(self) -> None:
        self.logs: dict[tuple[bytes, int], Log] = {}
        self.count = 1
        self.opened: list[Connections] = []
        self.partitions = [self._partition(index) for index in range(PARTITIONS)]
        self.fetchers = LeaderFetchers(
            ME,
            lambda: 40,
            self._open,  # type: ignore[arg-type]  # only what fetchers use
            lambda: FollowerSettings(LIMITS, 30.0, 1.0, self.count),
            ReplicationQuota(ME, fetched_by_followers, lambda: inf, Windows(4, 1000), LoopClock()),
            AtOnce(),
            OwnedTasks(),
            LostLeaders(),
        )

    def _open(self) -> Connections:
        self.opened.append(Connections(self.logs))
        return self.opened[-1]

    def _partition(self, index: int) -> Partition:
        self.logs[topic_of(index), index] = Place(config=LARGE).open()
        name, log = TopicPartition("t", index), Place(config=LARGE).open()
        partition = Partition(name, topic_of(index), ME, log, run_blocking, SoleReplica())
        decided = Leadership(LEADER, 1, 1, (LEADER, ME), (LEADER, ME))
        partition.lead_or_follow(decided, 0)
        return partition

    @property
    def open_count(self) -> int:
        return sum(not each.is_closed for each in self.opened)

    async def append_and_wait(self, value: bytes) -> None:
        for log in self.logs.values():
            log.append_as_leader(batch_of(value), 1)
        await asyncio.sleep(5)
        assert all(values_of(each.log)[-1:] == [value] for each in self.partitions)


@story
async def test_partitions_are_distributed_again_when_the_number_of_fetchers_changes() -> None:
    world = World()
    for each in world.partitions:
        world.fetchers.leadership_changed(each)
    await world.append_and_wait(b"a")
    assert world.open_count == 1
    world.count = 3
    world.fetchers.settings_changed()
    await world.append_and_wait(b"b")
    assert world.open_count == 3
    world.count = 1
    world.fetchers.settings_changed()
    await world.append_and_wait(b"c")
    assert world.open_count == 1
    assert [values_of(each.log) for each in world.partitions] == [[b"a", b"b", b"c"]] * PARTITIONS
    world.fetchers.close()


@story
async def test_a_leader_that_stays_is_followed_in_its_next_epoch() -> None:
    world = World()
    for each in world.partitions:
        world.fetchers.leadership_changed(each)
    await world.append_and_wait(b"a")
    for each in world.partitions:
        each.lead_or_follow(Leadership(LEADER, 2, 2, (LEADER, ME), (LEADER, ME)), 0)
        world.fetchers.leadership_changed(each)
    await world.append_and_wait(b"b")
    assert world.open_count == 1
    world.fetchers.close()


@story
async def test_a_partition_that_is_truncated_changes_its_fetcher_afterwards() -> None:
    world = World()
    for each in world.partitions:
        world.fetchers.leadership_changed(each)
    await world.append_and_wait(b"a")
    truncating = [each.truncating(pausing()) for each in world.partitions]
    assert all(next(steps) == 0 for steps in truncating)
    world.count = 3
    world.fetchers.settings_changed()
    assert world.open_count == 1
    assert all(next(steps, None) is None for steps in truncating)
    await world.append_and_wait(b"b")
    assert world.open_count == 3
    world.fetchers.close()


def pausing() -> Steps[None]:
    yield 0
