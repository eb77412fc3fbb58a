"""Leadership that is lost while the groups of a partition are being loaded, or waited for."""

from __future__ import annotations

import asyncio
import logging

import pytest
from tests.unit.coordinators.groups.broker_world import BrokerWorld
from tests.unit.coordinators.groups.test_service import (
    GROUP,
    commit,
    join,
    many,
    new_world,
    outcome,
    run,
)

from ottla.base.scheduling.step_scheduler import SLICE_S
from ottla.base.scheduling.steps import run_blocking
from ottla.coordinators.groups.shard_context import Caller, Usage
from ottla.coordinators.replicated_answers import RESPONSES_MAX, unreplicated
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.errors import BrokerError
from ottla.protocol.messages.consumer_group_heartbeat_request import (
    ConsumerGroupHeartbeatRequest,
)
from ottla.testing.clock import ManualClock

NOTHING = Usage()


class SlicingClock(ManualClock):
    """Each look at it ends a slice."""

    def monotonic_s(self) -> float:
        self._elapsed_ms += round(SLICE_S * 1000)
        return super().monotonic_s()


async def world_with_groups(offsets: int = 20, groups: int = 10) -> BrokerWorld:
    world = BrokerWorld(clock=SlicingClock())
    world.create_topic("t")
    world.create_offsets_topic(partitions=1)
    await world.loaded()
    await run_blocking(many(world, offsets, 7))
    for at in range(groups):
        request = ConsumerGroupHeartbeatRequest(
            f"group-{at}",
            "member",
            0,
            rebalance_timeout_ms=60_000,
            subscribed_topic_names=["t"],
            topic_partitions=[],
        )
        caller = Caller("client", "/host", 1)
        await outcome(world.groups.service.consumer_heartbeat(request, caller))
    return world


def test_a_broker_that_resigns_while_it_loads_counts_nothing_of_what_it_has_read(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def story() -> None:
        world = await world_with_groups()
        usage, tasks = world.groups._usage, world.groups._tasks
        full = Usage(usage.member_bytes, usage.offsets)
        assert full.offsets == 20
        epoch = 0
        for turns in range(0, 5000, 5):
            world.lead(0, leader=2, epoch=epoch + 1)
            await tasks.finish()
            assert usage == NOTHING, f"after {turns} turns"
            epoch += 2
            world.lead(0, leader=1, epoch=epoch)
            for _ in range(turns):
                await asyncio.sleep(0)
            if usage == full:
                return
        pytest.fail("there was never time enough to load all")

    run(story())
    assert not [each for each in caplog.records if each.levelno >= logging.ERROR]


@pytest.mark.parametrize("turns", range(0, 40, 4))
def test_a_load_that_was_overtaken_leaves_the_next_one_alone(turns: int) -> None:
    """Leadership is lost and regained before the loader of the first state has noticed."""

    async def story() -> None:
        world = await world_with_groups(offsets=5, groups=2)
        for epoch in (2, 4):
            world.lead(0, leader=2, epoch=epoch - 1)
            world.lead(0, leader=1, epoch=epoch)
            for _ in range(turns):
                await asyncio.sleep(0)
        await world.loaded()
        await world.groups._tasks.finish()
        await outcome(commit(world, 8))

    run(story())


def test_a_commit_is_not_acknowledged_by_the_next_state_of_a_broker_that_leads_again() -> None:
    """What the shard has written may have been truncated, and replaced under the same offsets."""

    async def story() -> None:
        world = await new_world(replicas=(1, 2))
        number = world.groups.topic.partition_of(GROUP).partition
        answer = commit(world, 7)  # not awaited yet
        for epoch, leader in ((1, 2), (2, 1)):
            world.lead(number, leader, epoch)
        await world.loaded()
        world.follower_catches_up(GROUP)
        with pytest.raises(BrokerError) as refused:
            await outcome(answer)
        assert refused.value.code == ErrorCode.NOT_COORDINATOR

    run(story())


def test_no_member_receives_what_another_leader_may_have_replaced() -> None:
    """They are answered in parts, once everything before is replicated: it never is."""

    async def story() -> None:
        world = await new_world(replicas=(1, 2))
        number = world.groups.topic.partition_of(GROUP).partition
        committing = asyncio.ensure_future(outcome(commit(world, 7)))
        joining = [asyncio.ensure_future(outcome(join(world))) for _ in range(2 * RESPONSES_MAX)]
        await asyncio.sleep(0)
        world.groups.expiration.expire_timers()
        await asyncio.sleep(0)
        world.lead(number, leader=2, epoch=1)
        codes = [each.error_code for each in await asyncio.gather(*joining)]
        assert codes == [ErrorCode.NOT_COORDINATOR] * len(joining)
        with pytest.raises(BrokerError):
            await committing

    run(story())


def test_what_was_read_before_leadership_changed_is_not_shown() -> None:
    async def story() -> None:
        world = await new_world(replicas=(1, 2))
        number = world.groups.topic.partition_of(GROUP).partition
        shard = world.groups.service.shard_of(GROUP)
        for epoch, leader in ((1, 2), (2, 1)):
            world.lead(number, leader, epoch)
        await world.loaded()
        failed = await world.groups.service.replicated(unreplicated([shard]))
        assert failed[shard].code == ErrorCode.NOT_COORDINATOR

    run(story())


def test_a_new_epoch_with_the_same_leader_keeps_members_and_requests_that_wait() -> None:
    async def story() -> None:
        world = await new_world("group.initial.rebalance.delay.ms=3000", replicas=(1, 2))
        number = world.groups.topic.partition_of(GROUP).partition
        committing = asyncio.ensure_future(outcome(commit(world, 7)))
        joining = asyncio.ensure_future(outcome(join(world)))
        await asyncio.sleep(0)
        shard = world.groups.service.shard_of(GROUP)
        world.lead(number, leader=1, epoch=1)
        assert world.groups.service.shard_of(GROUP) is shard
        assert shard.leader_epoch == 1
        world.follower_catches_up(GROUP)
        await committing
        assert not joining.done()
        joining.cancel()

    run(story())
