"""However much groups and transactions hold, an iteration of the event loop does one slice."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Sequence
from typing import Any

import pytest
from tests.unit.handlers.steps.counting import LINE_S, CountedWorld, counted_world

from ottla.base.ids import TopicId
from ottla.base.scheduling.step_scheduler import FIRST_SLICE_S, SLICE_S
from ottla.coordinators.groups import offset_commits
from ottla.coordinators.groups.classic.group import ClassicGroup, ClassicGroupState
from ottla.coordinators.groups.committed_offsets import CommittedOffset
from ottla.coordinators.groups.consumer import targets
from ottla.coordinators.groups.consumer.group import ConsumerGroup
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.messages.add_partitions_to_txn_request import (
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnTopic,
)
from ottla.protocol.messages.consumer_group_heartbeat_request import (
    ConsumerGroupHeartbeatRequest,
)
from ottla.protocol.messages.delete_groups_request import DeleteGroupsRequest
from ottla.protocol.messages.describe_groups_request import DescribeGroupsRequest
from ottla.protocol.messages.end_txn_request import EndTxnRequest
from ottla.protocol.messages.find_coordinator_request import FindCoordinatorRequest
from ottla.protocol.messages.init_producer_id_request import InitProducerIdRequest
from ottla.protocol.messages.join_group_request import (
    JoinGroupRequest,
    JoinGroupRequestProtocol,
)
from ottla.protocol.messages.list_groups_request import ListGroupsRequest
from ottla.protocol.messages.offset_commit_request import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from ottla.protocol.messages.offset_delete_request import (
    OffsetDeleteRequest,
    OffsetDeleteRequestPartition,
    OffsetDeleteRequestTopic,
)
from ottla.protocol.messages.offset_fetch_request import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
)
from ottla.protocol.messages.sync_group_request import SyncGroupRequest

PARTITIONS = 400
GROUPS = 300
TOPICS = 2000
LINES_MAX = int((FIRST_SLICE_S + SLICE_S) / LINE_S) + 3000  # a slice, and a few appends
TRANSACTION = 1


@pytest.fixture
def world() -> Iterator[CountedWorld]:
    with counted_world() as world:
        world.create_topic("t", PARTITIONS)
        world.ask(FindCoordinatorRequest("g"), 3)
        world.run(world.broker.groups.loaded())
        yield world


def steps_in(world: CountedWorld, work: Callable[[], Awaitable[Any]]) -> int:
    """The lines of the longest turn until the work is done."""

    async def counted() -> None:
        world.counter.longest_turn = 0
        await work()

    world.counter.on()
    try:
        world.run(counted())
    finally:
        world.counter.off()
    return world.counter.longest_turn


async def until(is_so: Callable[[], bool]) -> None:
    while not is_so():
        await asyncio.sleep(0)


def commit(world: CountedWorld, group_id: str, partitions: int, topic: str = "t") -> set[int]:
    offsets = [OffsetCommitRequestPartition(each, 1) for each in range(partitions)]
    topics = [OffsetCommitRequestTopic(topic, partitions=offsets)]
    answer = world.ask(OffsetCommitRequest(group_id, -1, "", topics=topics), 8)
    return {each.error_code for topic in answer.topics for each in topic.partitions}


def heartbeat(
    group_id: str, member_id: str, topics: Sequence[str] = ("t",)
) -> ConsumerGroupHeartbeatRequest:
    return ConsumerGroupHeartbeatRequest(
        group_id,
        member_id,
        0,
        rebalance_timeout_ms=60_000,
        subscribed_topic_names=list(topics),
        topic_partitions=[],
    )


def test_many_offsets_of_a_deleted_topic_are_forgotten_in_slices(world: CountedWorld) -> None:
    world.create_topic("gone", 5)
    for at in range(GROUPS):
        commit(world, f"g{at}", 5, "gone")
    groups, image = world.broker.groups, world.broker.parts.metadata
    topic = image.topic("gone")
    assert topic is not None

    async def forget() -> None:
        groups._forget_topics(list(groups._runtime.active_shards()), {"gone": {topic.id}})
        await until(lambda: groups._usage.offsets == 0)

    assert steps_in(world, forget) < LINES_MAX


def test_many_deleted_topics_without_offsets_cost_little(world: CountedWorld) -> None:
    """Neither a long iteration, nor a scan of all groups for each of them."""
    groups = world.broker.groups
    shards = list(groups._runtime.active_shards())
    assert len(shards) > 1
    pending = {0: CommittedOffset(1, -1, "", 0, -1, bytes(16), 0)}
    for at in range(GROUPS):
        shards[at % len(shards)].state.offsets.put(f"g{at}", "t", pending, TRANSACTION)
    deleted = {f"gone-{at}": {TopicId(bytes(16))} for at in range(TOPICS)}
    lines_before = world.counter.lines

    async def forget() -> None:
        groups._forget_topics(shards, deleted)
        await until(lambda: not len(groups._tasks))

    assert steps_in(world, forget) < LINES_MAX
    assert world.counter.lines - lines_before < 4 * TOPICS * len(shards)


@pytest.mark.parametrize("how", ["offsets", "group", "topic", "expiration"])
def test_offsets_that_very_many_open_transactions_have_are_forgotten_in_slices(
    world: CountedWorld, how: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A tombstone removes the offset from each of the transactions."""
    monkeypatch.setattr(offset_commits, "TRANSACTIONS_AT_ONCE", 100)
    assert commit(world, "g", 50) == {0}
    world.ask(DeleteGroupsRequest(["other"]), 2)  # modules are loaded with the first request
    world.ask(OffsetDeleteRequest("other"), 0)
    groups = world.broker.groups
    image = world.broker.parts.metadata
    topic = image.topic("t")
    assert topic is not None
    offsets = groups.service._shard("g").state.offsets
    pending = {at: CommittedOffset(1, -1, "", 0, -1, topic.id, 0) for at in range(50)}
    for producer_id in range(200):
        offsets.put("g", "t", pending, producer_id)

    async def forget() -> None:
        match how:
            case "offsets":
                partitions = [OffsetDeleteRequestPartition(at) for at in range(50)]
                request = OffsetDeleteRequest("g", [OffsetDeleteRequestTopic("t", partitions)])
                await world._answer(request, 0, world.me, "test")
            case "group":
                await world._answer(DeleteGroupsRequest(["g"]), 2, world.me, "test")
            case "topic":
                groups._forget_topics(list(groups._runtime.active_shards()), {"t": {topic.id}})
                await until(lambda: groups._usage.offsets == 0)
            case "expiration":
                world.clock.advance_ms(60_001)
                await groups.expiration.expire_offsets(60_000)

    assert steps_in(world, forget) < LINES_MAX
    # Those of open transactions do not expire.
    assert groups._usage.offsets == (50 * 201 if how == "expiration" else 0)


def test_a_group_with_many_offsets_is_deleted_in_slices(world: CountedWorld) -> None:
    assert commit(world, "g", PARTITIONS) == {0}
    request = DeleteGroupsRequest(["g"])
    world.ask(DeleteGroupsRequest(["other"]), 2)  # modules are loaded with the first request
    assert world.steps_of(request, 2) < LINES_MAX
    assert world.broker.groups._usage.offsets == 0
    assert world.ask(request, 2).results[0].error_code == ErrorCode.GROUP_ID_NOT_FOUND


def test_old_offsets_expire_in_slices(world: CountedWorld) -> None:
    for group_id in ("g", "h"):
        commit(world, group_id, PARTITIONS)
    world.clock.advance_ms(60_001)
    sweeper = world.broker.groups.expiration
    assert steps_in(world, lambda: sweeper.expire_offsets(60_000)) < LINES_MAX
    assert world.broker.groups._usage.offsets == 0
    assert world.ask(ListGroupsRequest(), 5).groups == []


def test_a_shard_with_many_records_is_loaded_in_slices(world: CountedWorld) -> None:
    commit(world, "g", PARTITIONS)
    groups = world.broker.groups
    partition = groups.service._shard("g").partition

    async def load() -> None:
        groups.resigned(partition.name)
        groups.leads(partition)
        await groups.loaded()

    assert steps_in(world, load) < LINES_MAX
    assert groups._usage.offsets == PARTITIONS


def test_many_groups_are_listed_in_slices(world: CountedWorld) -> None:
    for at in range(GROUPS):
        commit(world, f"g{at}", 1)
    assert world.steps_of(ListGroupsRequest(), 5) < LINES_MAX
    assert len(world.ask(ListGroupsRequest(), 5).groups) == GROUPS


def test_a_group_that_is_asked_for_many_times_is_read_once(world: CountedWorld) -> None:
    commit(world, "g", PARTITIONS)
    wanted = [OffsetFetchRequestGroup("g", topics=None) for _ in range(20)]
    assert len(world.ask(OffsetFetchRequest(groups=wanted), 8).groups) == 20
    once, often = lines_of(world, wanted[:1]), lines_of(world, wanted)
    assert often < 2 * once


def lines_of(world: CountedWorld, wanted: list[OffsetFetchRequestGroup]) -> int:
    before = world.counter.lines
    world.steps_of(OffsetFetchRequest(groups=wanted), 8)
    return world.counter.lines - before


def test_an_answer_that_repeats_a_group_beyond_the_limit_is_refused() -> None:
    with counted_world({"ottla.response.bytes.max": "1048576"}) as world:
        world.create_topic("t", PARTITIONS)
        world.ask(FindCoordinatorRequest("g"), 3)
        world.run(world.broker.groups.loaded())
        commit(world, "g", PARTITIONS)
        wanted = [OffsetFetchRequestGroup("g", topics=None) for _ in range(200)]
        answer = world.ask(OffsetFetchRequest(groups=wanted), 8)
        assert {each.error_code for each in answer.groups} == {ErrorCode.INVALID_REQUEST}
        answer = world.ask(OffsetFetchRequest(groups=wanted[:2]), 8)
        assert {each.error_code for each in answer.groups} == {0}
        names = ["no group of this name" * 10] * 5000
        answer = world.ask(DescribeGroupsRequest(names), 5)
        assert {each.error_code for each in answer.groups} == {ErrorCode.INVALID_REQUEST}


def test_a_join_costs_nothing_by_what_others_subscribe_to(world: CountedWorld) -> None:
    world.ask(heartbeat("small", "first"), 1)
    alone = world.steps_of(heartbeat("small", "second"), 1)
    names = [f"unknown-{at}" for at in range(2000)]
    assert world.ask(heartbeat("large", "first", names), 1).error_code == 0
    assert world.steps_of(heartbeat("large", "second"), 1) < alone + 500


def test_a_large_group_gets_its_target_beside_the_event_loop(
    world: CountedWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(targets, "MEMBERS_AT_ONCE", 10)
    for at in range(200):
        world.ask(heartbeat("g", f"m{at}"), 1)
    world.clock.advance_ms(5000)
    group = world.broker.groups.service._shard("g").state.groups["g"]
    assert isinstance(group, ConsumerGroup)

    async def join() -> None:
        await world._answer(heartbeat("g", "last"), 1, world.me, "test")
        await until(lambda: group.target_epoch == group.epoch)

    assert steps_in(world, join) < LINES_MAX
    shares = [sum(map(len, each.values())) for each in group.target.values()]
    assert sum(shares) == PARTITIONS
    assert max(shares) - min(shares) <= 1


def test_sessions_that_end_together_are_ended_in_slices(world: CountedWorld) -> None:
    world.create_topic("small", 4)
    for at in range(100):
        world.ask(heartbeat("g", f"m{at}", ["small"]), 1)
    world.clock.advance_ms(100_000)
    groups = world.broker.groups

    async def expire() -> None:
        await world.broker.parts.scheduler.run(groups.expiration._expiring_timers())

    assert steps_in(world, expire) < LINES_MAX
    assert groups.service._shard("g").state.groups["g"].is_empty


def test_a_transaction_over_many_partitions_gets_its_markers_in_slices(
    world: CountedWorld,
) -> None:
    world.ask(FindCoordinatorRequest("tx", TRANSACTION), 3)
    producer = world.ask(InitProducerIdRequest("tx", 60_000), 4)
    topics = [AddPartitionsToTxnTopic("t", list(range(PARTITIONS)))]
    who = "tx", producer.producer_id, producer.producer_epoch
    world.ask(AddPartitionsToTxnRequest((), *who, topics), 3)
    transactions = world.broker.transactions

    async def end() -> None:
        await world._answer(EndTxnRequest(*who, True), 3, world.me, "test")
        await until(lambda: transactions.describe("tx")[1].state.label == "CompleteCommit")

    # Each of twenty partitions in a turn takes some hundred lines to append to.
    assert steps_in(world, end) < LINES_MAX + 20 * 500


def static_join(number: int, protocols: int) -> JoinGroupRequest:
    names = ["range", *(f"own-{number}-{at}" for at in range(protocols))]
    offered = [JoinGroupRequestProtocol(each, b"") for each in names]
    return JoinGroupRequest("g", 60_000, 60_000, "", f"i{number}", "consumer", offered)


def lines_of_a_static_member_that_returns(members: int, protocols: int) -> int:
    with counted_world({"group.initial.rebalance.delay.ms": "100"}) as world:
        world.ask(FindCoordinatorRequest("g"), 3)
        world.run(world.broker.groups.loaded())

        async def begin() -> None:
            joins = [static_join(number, protocols) for number in range(members)]
            tasks = [
                asyncio.ensure_future(world._answer(each, 5, world.me, "test")) for each in joins
            ]
            groups = world.broker.groups.service._shard("g").state.groups
            while "g" not in groups or len(groups["g"].members) < members:
                await asyncio.sleep(0)
            group = groups["g"]
            assert isinstance(group, ClassicGroup)
            while group.state is ClassicGroupState.PREPARING_REBALANCE:
                world.clock.advance_ms(100)
                world.broker.groups.expiration.expire_timers()
            await asyncio.gather(*tasks)
            sync = SyncGroupRequest("g", 1, str(group.leader), None, "consumer", "range")
            await world._answer(sync, 5, world.me, "test")

        world.run(begin())
        world.steps_of(static_join(0, protocols), 5)
        before = world.counter.lines
        world.steps_of(static_join(0, protocols), 5)
        return world.counter.lines - before


def test_a_static_member_that_returns_costs_nothing_by_what_others_offer() -> None:
    few = lines_of_a_static_member_that_returns(30, 1)
    assert lines_of_a_static_member_that_returns(30, 90) < few + 90 * 60
