"""DescribeProducers: what leaders and followers return about the producers of a partition."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from tests.unit.handlers.test_closest_replica import LEADER, NEAR, NEAR_BROKER, change, publish
from tests.unit.handlers.world import World
from tests.unit.storage.log_making import batch_of

from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.messages.describe_producers_request import (
    DescribeProducersRequest,
    TopicRequest,
)
from ottla.protocol.messages.describe_producers_response import PartitionResponse

PRODUCER_ID = 7


@pytest.fixture
def world() -> Iterator[World]:
    with World() as world:
        world.create_topic("t")
        log = world.broker.replicas.partition("t", 0).log
        log.append_as_leader(batch_of(b"v", producer=(PRODUCER_ID, 0, 0)), 0)
        yield world


def describe(world: World, partition: int = 0) -> PartitionResponse:
    request = DescribeProducersRequest([TopicRequest("t", [partition])])
    (answer,) = world.ask(request, 0).topics[0].partitions
    assert isinstance(answer, PartitionResponse)
    return answer


def test_the_leader_tells_its_producers(world: World) -> None:
    assert [each.producer_id for each in describe(world).active_producers] == [PRODUCER_ID]


def test_a_follower_tells_its_producers(world: World) -> None:
    """As Kafka's does: `kafka-transactions find-hanging --broker-id` asks it about all replicas."""
    publish(world, NEAR_BROKER)
    both = (LEADER, NEAR)
    change(world, replicas=both, in_sync_replicas=both, leader=NEAR, leader_epoch=1)
    assert not world.broker.replicas.partition("t", 0).is_leader
    answer = describe(world)
    assert answer.error_code == ErrorCode.NONE
    assert [each.producer_id for each in answer.active_producers] == [PRODUCER_ID]


def test_an_unknown_partition_is_refused(world: World) -> None:
    assert describe(world, 9).error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
