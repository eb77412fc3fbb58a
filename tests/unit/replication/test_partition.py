"""One partition: which requests wait for its records, and when none may any more."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest
from tests.unit.coordinators.groups.broker_world import BrokerWorld
from tests.unit.storage.log_making import batch_of

from ottla.config.topic_options import TopicConfig
from ottla.metadata.records import PartitionChanged, TopicDeleted
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.errors import BrokerError
from ottla.replication.leader_role import ACKS_ALL


def delete(world: BrokerWorld) -> None:
    topic = world.image.topic("t")
    assert topic is not None
    world.publish(TopicDeleted(topic.id))


def lead_elsewhere(world: BrokerWorld) -> None:
    topic = world.image.topic("t")
    assert topic is not None
    world.publish(PartitionChanged(topic.id, 0, 1, leader=2, leader_epoch=1))


@pytest.mark.parametrize("change", [delete, lead_elsewhere])
def test_who_begins_to_wait_after_the_partition_has_gone_does_not_wait_forever(
    change: Callable[[BrokerWorld], None],
) -> None:
    """A request waits from the iteration of the event loop after its append on."""
    world = BrokerWorld()
    world.replicas.load(world.image)
    world.create_topic("t", replicas=(1, 2))
    partition = world.replicas.partition("t", 0)
    partition.log.update_config(TopicConfig(flush_messages=1))
    partition.append(batch_of(b"v"), ACKS_ALL)
    change(world)
    with pytest.raises(BrokerError) as raised:
        asyncio.run(asyncio.wait_for(partition.wait_replicated(1), 5))
    assert raised.value.code == ErrorCode.NOT_LEADER_OR_FOLLOWER
