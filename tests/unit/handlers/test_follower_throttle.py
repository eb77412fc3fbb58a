"""A leader's throttle: replicas that catch up wait, and replicas in sync do not."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from tests.unit.handlers.asking import produce
from tests.unit.handlers.test_closest_replica import NEAR_BROKER, publish
from tests.unit.handlers.world import World

from ottla.base.ids import TopicId
from ottla.base.rates import Windows
from ottla.metadata.records import PartitionChanged
from ottla.protocol.messages.fetch_request import (
    FetchPartition,
    FetchRequest,
    FetchTopic,
    ReplicaState,
)
from ottla.replication.replication_quota import ReplicationQuota, sent_by_leaders

LEADER, FOLLOWER = 1, 2
NEW, IN_SYNC = 0, 1  # partitions
VERSION = 17
THROTTLED = {"leader.replication.throttled.replicas": f"{NEW}:{LEADER},{IN_SYNC}:{LEADER}"}


class ThrottledWorld(World):
    rate = 100.0

    def share(self) -> None:
        """The follower has to copy one partition, and is in sync with the other."""
        self.topic_id = self.create_topic("t", 2, config=THROTTLED)
        for index in (NEW, IN_SYNC):
            produce(self, "t", 20, partition=index)
        publish(
            self,
            NEAR_BROKER,
            self.change(NEW, in_sync_replicas=(LEADER,)),
            self.change(IN_SYNC, in_sync_replicas=(LEADER, FOLLOWER)),
        )
        self.broker.parts.leader_quota = ReplicationQuota(
            LEADER, sent_by_leaders, lambda: self.rate, Windows(2, 1000), self.clock
        )
        self.session = (0, 0)

    def change(self, index: int, **fields: Any) -> PartitionChanged:
        topic_id = TopicId(self.topic_id)
        return PartitionChanged(topic_id, index, 1, replicas=(LEADER, FOLLOWER), **fields)

    def fetch(self, offsets: dict[int, int]) -> dict[int, int]:
        """Bytes of each partition in the next response of the session."""
        wanted = [
            FetchPartition(each, 0, offset, partition_max_bytes=1 << 20)
            for each, offset in offsets.items()
        ]
        request = FetchRequest(
            replica_state=ReplicaState(FOLLOWER, 5),
            max_wait_ms=0,
            min_bytes=1,
            max_bytes=1 << 20,
            session_id=self.session[0],
            session_epoch=self.session[1],
            topics=[FetchTopic("", self.topic_id, wanted)] if wanted else [],
        )
        response = self.ask(request, VERSION)
        assert response.error_code == 0
        self.session = (response.session_id, self.session[1] + 1)
        found = [each for topic in response.responses for each in topic.partitions]
        assert not any(each.error_code for each in found)
        return {each.partition_index: len(each.records) for each in found if each.records}


@pytest.fixture
def world() -> Iterator[ThrottledWorld]:
    with ThrottledWorld() as world:
        world.share()
        yield world


def test_a_replica_that_catches_up_waits_and_one_in_sync_does_not(world: ThrottledWorld) -> None:
    first = world.fetch({NEW: 0, IN_SYNC: 0})
    assert set(first) == {NEW, IN_SYNC}
    produce(world, "t", 20, partition=IN_SYNC)
    assert set(world.fetch({NEW: 5, IN_SYNC: 20})) == {IN_SYNC}
    assert world.fetch({}) == world.fetch({}) != {}, "what is in sync is sent until it is copied"
    assert world.fetch({IN_SYNC: 40}) == {}
    world.clock.advance_ms(60_000)
    assert set(world.fetch({})) == {NEW}, "it was not forgotten"


def test_a_rate_that_is_raised_counts_at_once(world: ThrottledWorld) -> None:
    world.fetch({NEW: 0})
    assert world.fetch({NEW: 5}) == {}
    world.rate = 1e9
    assert set(world.fetch({})) == {NEW}
