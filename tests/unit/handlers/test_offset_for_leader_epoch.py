"""OffsetForLeaderEpoch: where the records of an epoch end."""

from __future__ import annotations

import pytest
from tests.unit.handlers.asking import produce
from tests.unit.handlers.world import World

from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.messages.offset_for_leader_epoch_request import (
    OffsetForLeaderEpochRequest,
    OffsetForLeaderPartition,
    OffsetForLeaderTopic,
)
from ottla.replication.leadership import Leadership


def ask(
    world: World, epoch: int, current: int = -1, version: int = 4, index: int = 0
) -> tuple[int, int, int]:
    """(error, epoch, end offset)."""
    wanted = OffsetForLeaderPartition(index, current, epoch)
    request = OffsetForLeaderEpochRequest(-1, [OffsetForLeaderTopic("t", [wanted])])
    (answer,) = world.ask(request, version).topics[0].partitions
    return answer.error_code, answer.leader_epoch, answer.end_offset


@pytest.fixture
def grown(world: World) -> World:
    """Three records of epoch 0, two of epoch 4."""
    world.create_topic("t")
    produce(world, "t", 3)
    partition = world.broker.replicas.partition("t", 0)
    partition.lead_or_follow(Leadership(1, 4, 1, (1,), (1,)), world.clock.now_ms())
    produce(world, "t", 2)
    return world


@pytest.mark.parametrize("version", range(2, 5))
def test_the_response_contains_the_end_of_an_epoch(grown: World, version: int) -> None:
    assert ask(grown, 0, version=version) == (0, 0, 3)
    assert ask(grown, 4, version=version) == (0, 4, 5)
    assert ask(grown, 2, version=version) == (0, 0, 3)  # none of its own: the one before it


def test_what_was_never_there_has_no_end(grown: World) -> None:
    assert ask(grown, 9) == (0, -1, -1)
    assert ask(grown, 0, index=8)[0] == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


def test_the_asker_must_know_the_leader(grown: World) -> None:
    assert ask(grown, 0, current=4) == (0, 0, 3)
    assert ask(grown, 0, current=3)[0] == ErrorCode.FENCED_LEADER_EPOCH
    assert ask(grown, 0, current=5)[0] == ErrorCode.UNKNOWN_LEADER_EPOCH
