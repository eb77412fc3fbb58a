"""Whatever the disk does to an append, the state of a shard is that of its log afterwards."""

from __future__ import annotations

import asyncio
import errno
from collections.abc import Awaitable, Callable
from dataclasses import replace
from random import Random
from typing import Any

import pytest
from tests.unit.coordinators.groups.broker_world import BrokerWorld
from tests.unit.coordinators.groups.test_random_mixed_groups import known_of
from tests.unit.coordinators.groups.test_service import (
    GROUP,
    beat,
    commit,
    fetched,
    join,
    new_world,
    outcome,
    run,
)
from tests.unit.coordinators.transactions.test_service import TransactionWorld

from ottla.base.scheduling.step_scheduler import StepScheduler
from ottla.coordinators.groups.classic.group import ClassicGroup, ClassicGroupState
from ottla.coordinators.groups.record_types import GROUP_RECORDS
from ottla.coordinators.groups.shard import GroupShard
from ottla.coordinators.groups.shard_context import Caller
from ottla.coordinators.loading import load
from ottla.coordinators.shard import Shard
from ottla.coordinators.transactions.record_types import TRANSACTION_RECORDS
from ottla.coordinators.transactions.shard import TransactionShard
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.errors import BrokerError
from ottla.protocol.messages.consumer_group_heartbeat_request import (
    ConsumerGroupHeartbeatRequest,
)
from ottla.protocol.messages.leave_group_request import LeaveGroupRequest, MemberIdentity
from ottla.protocol.messages.sync_group_request import (
    SyncGroupRequest,
    SyncGroupRequestAssignment,
)

STEPS = 40
FAILING_ONE_OF = 3


# Groups


async def replayed(world: BrokerWorld) -> GroupShard:
    """The state that a broker would load from the log now."""
    shard = Shard(world.partition_of(GROUP), world.groups._new_shard())
    await load(shard, GROUP_RECORDS, StepScheduler(world.clock))
    return shard.state


def at_rest(shard: GroupShard) -> dict[str, Any]:
    """Classic groups between two rebalances: what a record and the responses contain."""
    return {
        group_id: (
            group.state,
            group.generation,
            group.protocol_type,
            group.protocol,
            group.leader,
            {each.member_id: each.assignment for each in group.members.values()},
        )
        for group_id, group in shard.groups.items()
        if isinstance(group, ClassicGroup)
        and group.state in (ClassicGroupState.STABLE, ClassicGroupState.EMPTY)
    }


async def check_groups(world: BrokerWorld) -> None:
    live = world.groups.service.shard_of(GROUP).state
    stored = await replayed(world)
    assert known_of(live) == known_of(stored)
    restored = at_rest(stored)
    for group_id, known in at_rest(live).items():
        assert restored[group_id] == known
    # What was loaded for the comparison counts as used, too.
    for _ in stored.unloaded():
        pass


class GroupStory:
    """One classic member, which may be replaced, one consumer in its turn, and offsets."""

    def __init__(self, world: BrokerWorld, rng: Random) -> None:
        self.world, self.rng = world, rng
        self.member_id, self.generation, self.epoch = "", -1, 0

    def acts(self) -> list[Callable[[], Awaitable[None]]]:
        return [self.commit, self.join, self.sync, self.leave, self.expire, self.beat, self.delete]

    async def commit(self) -> None:
        await outcome(commit(self.world, self.rng.randrange(1000)))

    async def join(self) -> None:
        waiting = join(self.world, self.member_id)
        self.world.manual.advance_ms(60_000)
        self.world.groups.expiration.expire_timers()
        answer = await asyncio.wait_for(outcome(waiting), 10)
        self.member_id, self.generation = answer.member_id, answer.generation_id
        if answer.error_code:
            self.member_id = ""

    async def sync(self) -> None:
        parts = [SyncGroupRequestAssignment(self.member_id, self.rng.randbytes(8))]
        request = SyncGroupRequest(GROUP, self.generation, self.member_id, assignments=parts)
        await asyncio.wait_for(outcome(self.world.groups.service.sync(request)), 10)

    async def leave(self) -> None:
        request = LeaveGroupRequest(GROUP, members=[MemberIdentity(self.member_id)])
        await outcome(self.world.groups.service.leave(request))
        self.member_id = ""

    async def expire(self) -> None:
        self.world.manual.advance_ms(self.rng.choice((1000, 120_000)))
        self.world.groups.expiration.expire_timers()

    async def beat(self) -> None:
        if self.epoch and self.rng.random() < 0.4:
            request = ConsumerGroupHeartbeatRequest(GROUP, "member", -1)
            heartbeat = self.world.groups.service.consumer_heartbeat
            await outcome(heartbeat(request, Caller("client", "/host", 1)))
            self.epoch = 0
        else:
            self.epoch = (await outcome(beat(self.world, self.epoch))).member_epoch

    async def delete(self) -> None:
        service = self.world.groups.service
        for _ in service.delete_group(service.shard_of(GROUP), GROUP):
            pass


@pytest.mark.parametrize("seed", range(6))
def test_a_refused_append_leaves_groups_as_their_log_has_them(seed: int) -> None:
    rng = Random(seed)
    refusals: list[ErrorCode] = []

    async def story() -> None:
        world = await new_world("group.initial.rebalance.delay.ms=0")
        groups = GroupStory(world, rng)
        for _ in range(STEPS):
            if rng.randrange(FAILING_ONE_OF) == 0:
                world.disk.fail(
                    "write",
                    "*/__consumer_offsets-*.log",
                    error=errno.ENOSPC,
                    keep_bytes=rng.choice((0, 1, 100)),
                )
            act = rng.choice(groups.acts())
            try:
                await act()
            except BrokerError as error:
                refusals.append(error.code)
            world.disk.heal()
            await world.loaded()
            await check_groups(world)
        for _ in range(5):  # all members have left, so every client may commit
            world.manual.advance_ms(120_000)
            world.groups.expiration.expire_timers()
        await outcome(commit(world, 4711))
        assert await fetched(world) == 4711

    run(story())
    assert ErrorCode.NOT_COORDINATOR in refusals, "the disk has refused something"


def test_a_record_that_cannot_be_applied_makes_the_shard_load_again(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    apply, failures = GroupShard.apply, [RuntimeError("a bug")]

    def apply_or_fail(self: GroupShard, *record: Any) -> None:
        if failures:
            raise failures.pop()
        apply(self, *record)

    async def story() -> None:
        world = await new_world()
        await outcome(commit(world, 7))
        before = world.groups.service.shard_of(GROUP)
        monkeypatch.setattr(GroupShard, "apply", apply_or_fail)
        with pytest.raises(RuntimeError, match="a bug"):
            commit(world, 8)
        with pytest.raises(BrokerError) as refused:
            commit(world, 9)
        assert refused.value.code == ErrorCode.COORDINATOR_LOAD_IN_PROGRESS
        await world.loaded()
        assert world.groups.service.shard_of(GROUP) is not before
        assert await fetched(world) == 8, "it was appended"
        await check_groups(world)

    run(story())
    assert "loading the state again" in caplog.text


# Transactions


def transactions_of(state: TransactionShard) -> dict[str, Any]:
    """All that must survive a restart: `last_epoch` is in memory only."""
    return {each: replace(known, last_epoch=-1) for each, known in state.transactions.items()}


def check_transactions(world: TransactionWorld) -> None:
    for live in world.coordinator.runtime.active_shards():
        stored = Shard(live.partition, TransactionShard())
        world.run(load(stored, TRANSACTION_RECORDS, StepScheduler(world.clock)))
        assert transactions_of(live.state) == transactions_of(stored.state)
        assert live.state._end_offsets == stored.state._end_offsets


@pytest.mark.parametrize("seed", range(4))
def test_a_refused_append_leaves_transactions_as_their_log_has_them(seed: int) -> None:
    rng = Random(seed)
    refusals = 0
    with TransactionWorld() as world:
        world.open_coordinator()
        producer = world.begin()
        for _ in range(40):
            if rng.randrange(FAILING_ONE_OF) == 0:
                world.disk.fail(
                    "write",
                    "*/__transaction_state-*.log",
                    error=errno.ENOSPC,
                    keep_bytes=rng.choice((0, 1, 100)),
                )
            try:
                match rng.choice(("begin", "add", "end", "wait")):
                    case "begin":
                        producer = world.begin()
                    case "add":
                        world.add(producer)
                    case "end":
                        producer = world.end(producer, rng.random() < 0.5)
                    case "wait":
                        world.clock.advance_ms(120_000)
                        world.run(world.coordinator.expiration.abort_timed_out())
            except BrokerError as error:
                refusals += error.code == ErrorCode.NOT_COORDINATOR
            world.disk.heal()
            world.settle()
            check_transactions(world)
    assert refusals, "the disk has refused something"
