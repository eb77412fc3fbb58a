"""The group coordinator over real partitions: loading, replication, leadership, time."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from dataclasses import replace
from typing import Any, TypeVar

import pytest
from tests.unit.coordinators.groups.broker_world import BrokerWorld

from ottla.base.clock import SystemClock
from ottla.base.files.readers import BLOCKING
from ottla.base.ids import TopicId
from ottla.base.scheduling.steps import Steps, run_blocking
from ottla.coordinators.batches import Writer
from ottla.coordinators.groups.committed_offsets import OffsetName
from ottla.coordinators.groups.consumer.group import ConsumerGroup
from ottla.coordinators.groups.consumer.regexes import REFRESH_MS_MIN
from ottla.coordinators.groups.offset_commits import TOMBSTONES_MAX, DeletedTopics, offset_record
from ottla.coordinators.groups.service import PROTOCOLS_MAX
from ottla.coordinators.groups.shard import LoadedShard
from ottla.coordinators.groups.shard_context import Caller, Deadline, TimerKind
from ottla.coordinators.records import CoordinatorRecord
from ottla.coordinators.replicated_answers import unreplicated
from ottla.coordinators.runtime import BY_COORDINATOR
from ottla.metadata.features import GROUP_VERSION
from ottla.metadata.records import FeatureLevelSet
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.errors import BrokerError
from ottla.protocol.messages.consumer_group_describe_response import DescribedGroup
from ottla.protocol.messages.consumer_group_heartbeat_request import (
    ConsumerGroupHeartbeatRequest,
)
from ottla.protocol.messages.consumer_group_heartbeat_request import (
    TopicPartitions as HeldPartitions,
)
from ottla.protocol.messages.consumer_group_heartbeat_response import (
    ConsumerGroupHeartbeatResponse,
)
from ottla.protocol.messages.heartbeat_request import HeartbeatRequest
from ottla.protocol.messages.join_group_request import JoinGroupRequest, JoinGroupRequestProtocol
from ottla.protocol.messages.join_group_response import JoinGroupResponse
from ottla.protocol.messages.leave_group_request import LeaveGroupRequest, MemberIdentity
from ottla.protocol.messages.list_groups_request import ListGroupsRequest
from ottla.protocol.messages.offset_commit_request import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from ottla.protocol.messages.offset_commit_response import OffsetCommitResponse
from ottla.protocol.messages.offset_commit_value import OffsetCommitValue
from ottla.protocol.messages.offset_fetch_request import (
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopics,
)
from ottla.protocol.messages.offset_fetch_response import OffsetFetchResponseGroup
from ottla.protocol.messages.sync_group_request import SyncGroupRequest
from ottla.protocol.messages.txn_offset_commit_request import (
    TxnOffsetCommitRequest,
    TxnOffsetCommitRequestPartition,
    TxnOffsetCommitRequestTopic,
)
from ottla.protocol.records.batch import read_header
from ottla.protocol.records.building import build_batch
from ottla.protocol.records.control import EndMarker
from ottla.protocol.records.record import Record

T = TypeVar("T")
GROUP = "readers"
OLD_CLIENT = Caller("client", "/host", 3)


def run(story: Coroutine[Any, Any, T]) -> T:
    return asyncio.run(asyncio.wait_for(story, 300))


async def read(world: BrokerWorld, group_id: str, reading: Callable[[LoadedShard], Steps[T]]) -> T:
    """What a shard says, once that may be shown."""
    shard = world.groups.service.shard_of(group_id)
    found = run_blocking(reading(shard))
    for error in (await world.groups.service.replicated(unreplicated([shard]))).values():
        raise error
    return found


async def described(world: BrokerWorld) -> DescribedGroup:
    return await read(
        world, GROUP, lambda shard: world.groups.service.describe_consumers(shard, GROUP)
    )


async def outcome(answer: T | Awaitable[T]) -> T:
    return await answer if isinstance(answer, Awaitable) else answer


def commit(
    world: BrokerWorld, offset: int
) -> OffsetCommitResponse | Awaitable[OffsetCommitResponse]:
    topic = world.image.topic("t")
    assert topic is not None
    partition = OffsetCommitRequestPartition(0, offset)
    request = OffsetCommitRequest(
        GROUP, topics=[OffsetCommitRequestTopic("t", topic.id, [partition])]
    )
    return world.groups.service.offsets.commit(request, Caller("client", "/host", 9))


def commit_many(
    world: BrokerWorld, count: int
) -> OffsetCommitResponse | Awaitable[OffsetCommitResponse]:
    partitions = [OffsetCommitRequestPartition(each, 1) for each in range(count)]
    request = OffsetCommitRequest(
        GROUP, topics=[OffsetCommitRequestTopic("t", partitions=partitions)]
    )
    return world.groups.service.offsets.commit(request, Caller("client", "/host", 9))


async def fetch(
    world: BrokerWorld,
    topics: Sequence[OffsetFetchRequestTopics] | None = (
        OffsetFetchRequestTopics("t", partition_indexes=[0]),
    ),
    *,
    require_stable: bool = False,
) -> OffsetFetchResponseGroup:
    wanted = OffsetFetchRequestGroup(GROUP, topics=topics)
    return await read(
        world,
        GROUP,
        lambda shard: world.groups.service.offsets.fetch(shard, wanted, require_stable),
    )


async def fetched(world: BrokerWorld) -> int:
    return (await fetch(world)).topics[0].partitions[0].committed_offset


def join(
    world: BrokerWorld, member_id: str = ""
) -> JoinGroupResponse | Awaitable[JoinGroupResponse]:
    request = JoinGroupRequest(
        GROUP, 10_000, 60_000, member_id, None, "consumer", [JoinGroupRequestProtocol("range")]
    )
    return world.groups.service.join(request, OLD_CLIENT)


def refusal_of(world: BrokerWorld) -> ErrorCode:
    try:
        commit(world, 1)
    except BrokerError as error:
        return error.code
    return ErrorCode.NONE


async def new_world(*settings: str, replicas: tuple[int, ...] = (1,)) -> BrokerWorld:
    world = BrokerWorld(*settings)
    world.create_topic("t")
    world.create_offsets_topic(replicas=replicas)
    await world.loaded()
    return world


def test_the_offsets_topic_is_created_at_the_first_find_coordinator() -> None:
    async def story() -> None:
        world = BrokerWorld()
        world.create_topic("t")
        assert refusal_of(world) == ErrorCode.COORDINATOR_NOT_AVAILABLE
        await asyncio.gather(world.groups.topic.ensure(), world.groups.topic.ensure())
        assert world.created == ["__consumer_offsets"]
        world.create_offsets_topic()
        assert world.groups.topic.leader_of(GROUP) == 1
        assert refusal_of(world) == ErrorCode.COORDINATOR_LOAD_IN_PROGRESS
        await world.loaded()
        assert refusal_of(world) == ErrorCode.NONE

    run(story())


def test_a_heartbeat_during_loading_is_taken_for_good() -> None:
    async def story() -> None:
        world = BrokerWorld()
        world.create_offsets_topic()
        answer = world.groups.service.heartbeat(HeartbeatRequest(GROUP, 1, "m"))
        assert (await outcome(answer)).error_code == ErrorCode.NONE
        with pytest.raises(BrokerError):
            run_blocking(world.groups.service.list_groups(ListGroupsRequest()))
        await world.loaded()

    run(story())


def test_a_commit_with_one_replica_is_answered_immediately() -> None:
    async def story() -> None:
        world = await new_world()
        assert isinstance(commit(world, 7), OffsetCommitResponse)
        assert await fetched(world) == 7

    run(story())


def test_a_commit_and_who_reads_it_wait_until_it_is_replicated() -> None:
    async def story() -> None:
        world = await new_world(replicas=(1, 2))
        commits = [asyncio.ensure_future(outcome(commit(world, at))) for at in (7, 8)]
        reading = asyncio.ensure_future(fetched(world))
        await asyncio.sleep(0)
        assert not any(each.done() for each in (*commits, reading))
        world.follower_catches_up(GROUP)
        assert await reading == 8
        await asyncio.gather(*commits)

    run(story())


def test_a_commit_that_is_not_replicated_in_time_is_refused_and_may_yet_count() -> None:
    async def story() -> None:
        world = await new_world("offsets.commit.timeout.ms=1", replicas=(1, 2))
        with pytest.raises(BrokerError) as refused:
            await outcome(commit(world, 7))
        assert refused.value.code == ErrorCode.COORDINATOR_NOT_AVAILABLE
        world.follower_catches_up(GROUP)
        assert await fetched(world) == 7

    run(story())


def test_who_waits_for_a_broker_that_resigns_is_sent_to_the_next() -> None:
    async def story() -> None:
        world = await new_world("group.initial.rebalance.delay.ms=3000", replicas=(1, 2))
        waiting = asyncio.ensure_future(outcome(commit(world, 7)))
        joining = asyncio.ensure_future(outcome(join(world)))
        await asyncio.sleep(0)
        for number in range(2):
            world.lead(number, leader=2, epoch=1)
        with pytest.raises(BrokerError) as refused:
            await waiting
        assert refused.value.code == ErrorCode.NOT_COORDINATOR
        assert (await joining).error_code == ErrorCode.NOT_COORDINATOR
        assert refusal_of(world) == ErrorCode.NOT_COORDINATOR
        assert run_blocking(world.groups.service.list_groups(ListGroupsRequest())).groups == []

    run(story())


def test_a_broker_that_leads_again_reads_everything_from_the_log() -> None:
    async def story() -> None:
        world = await new_world()
        await outcome(commit(world, 7))
        lead_again(world)
        await world.loaded()
        assert await fetched(world) == 7

    run(story())


@pytest.mark.parametrize("start", range(4))
def test_records_before_the_start_of_the_log_are_not_loaded(start: int) -> None:
    async def story() -> None:
        world = await new_world()
        await outcome(commit_many(world, 3))  # one batch
        log = world.partition_of(GROUP).log
        assert log.log_end_offset == 3
        log.advance_log_start(start)
        lead_again(world)
        await world.loaded()
        topics = (await fetch(world, None)).topics
        found = [each.partition_index for topic in topics for each in topic.partitions]
        assert found == list(range(start, 3))

    run(story())


def lead_again(world: BrokerWorld) -> None:
    """Loading begins again."""
    for epoch, leader in ((1, 2), (2, 1)):
        for number in range(2):
            world.lead(number, leader, epoch)


def test_offsets_of_a_topic_that_is_deleted_during_loading_are_forgotten() -> None:
    async def story() -> None:
        world = await new_world()
        await outcome(commit(world, 7))
        lead_again(world)
        world.delete_topic("t")
        world.create_topic("t", topic_id=TopicId(b"the next topic t"))
        await world.loaded()
        assert await fetched(world) == -1

    run(story())


def test_offsets_of_a_topic_that_is_deleted_twice_during_loading_are_forgotten() -> None:
    async def story() -> None:
        world = await new_world()
        await outcome(commit(world, 7))
        lead_again(world)
        for number in range(2):
            world.delete_topic("t")
            world.create_topic("t", topic_id=TopicId(f"another topic {number}".ljust(16).encode()))
        await world.loaded()
        assert await fetched(world) == -1

    run(story())


def test_a_topic_that_is_created_during_loading_is_found_by_patterns() -> None:
    async def story() -> None:
        world = await new_world()
        joined = await outcome(beat(world, regex="t|u"))
        while (await described(world)).group_epoch == 1:
            await asyncio.sleep(0)
        lead_again(world)
        world.create_topic("u")
        await world.loaded()
        world.manual.advance_ms(REFRESH_MS_MIN + 1)
        await outcome(beat(world, joined.member_epoch))
        for _ in range(10):
            await asyncio.sleep(0)
        found = world.groups.service._shard(GROUP).state.groups[GROUP]
        assert isinstance(found, ConsumerGroup)
        assert found.subscribed_topics() == {"t", "u"}

    run(story())


def test_offsets_and_members_survive_the_process() -> None:
    async def story() -> None:
        world = await new_world()
        await outcome(commit(world, 7))
        waiting = join(world)
        world.groups.expiration.expire_timers()
        member_id = (await outcome(waiting)).member_id
        await outcome(world.groups.service.sync(SyncGroupRequest(GROUP, 1, member_id)))
        world.logs.close(1)
        again = BrokerWorld(disk=world.disk, image=world.image)
        again.replicas.load(again.image)
        await again.loaded()
        assert await fetched(again) == 7
        alive = again.groups.service.heartbeat(HeartbeatRequest(GROUP, 1, member_id))
        assert (await outcome(alive)).error_code == ErrorCode.NONE

    run(story())


def test_joins_and_syncs_are_answered_when_the_others_have_done_their_part() -> None:
    async def story() -> None:
        world = await new_world()
        joins = [asyncio.ensure_future(outcome(join(world))) for _ in range(2)]
        await asyncio.sleep(0)
        world.groups.expiration.expire_timers()
        first, second = await asyncio.gather(*joins)
        assert first.leader == second.leader == first.member_id
        waiting = world.groups.service.sync(SyncGroupRequest(GROUP, 1, second.member_id))
        assert isinstance(waiting, Awaitable)
        await outcome(world.groups.service.sync(SyncGroupRequest(GROUP, 1, first.member_id)))
        assert (await waiting).error_code == ErrorCode.NONE
        members = [MemberIdentity(first.member_id), MemberIdentity(second.member_id)]
        left = await outcome(world.groups.service.leave(LeaveGroupRequest(GROUP, members=members)))
        assert [each.error_code for each in left.members] == [0, 0]

    run(story())


def test_a_sync_waits_until_the_assignment_is_replicated() -> None:
    async def story() -> None:
        world = await new_world(replicas=(1, 2))
        joining = join(world)
        world.groups.expiration.expire_timers()
        world.follower_catches_up(GROUP)
        member_id = (await outcome(joining)).member_id
        syncing = world.groups.service.sync(SyncGroupRequest(GROUP, 1, member_id))
        task = asyncio.ensure_future(outcome(syncing))
        await asyncio.sleep(0)
        assert not task.done()
        world.follower_catches_up(GROUP)
        assert (await task).error_code == ErrorCode.NONE

    run(story())


def test_a_sync_that_comes_later_is_not_answered_before_one_that_waited() -> None:
    async def story() -> None:
        world = await new_world(replicas=(1, 2))
        joining = join(world)
        world.groups.expiration.expire_timers()
        world.follower_catches_up(GROUP)
        member_id = (await outcome(joining)).member_id
        answered: list[str] = []

        async def sync(label: str) -> None:
            await outcome(world.groups.service.sync(SyncGroupRequest(GROUP, 1, member_id)))
            answered.append(label)

        waiting = asyncio.ensure_future(sync("waiting"))
        await asyncio.sleep(0)
        world.follower_catches_up(GROUP)
        await asyncio.gather(sync("later"), waiting)
        assert answered == ["waiting", "later"]

    run(story())


def test_members_of_a_silent_group_are_removed_by_the_passing_of_time() -> None:
    async def story() -> None:
        world = await new_world()
        joining = join(world)
        world.groups.expiration.expire_timers()
        member_id = (await outcome(joining)).member_id
        await outcome(world.groups.service.sync(SyncGroupRequest(GROUP, 1, member_id)))
        world.manual.advance_ms(10_000)
        world.groups.expiration.expire_timers()
        [group] = run_blocking(world.groups.service.list_groups(ListGroupsRequest())).groups
        assert group.group_state == "Empty"
        world.manual.advance_ms(8 * 24 * 3_600_000)
        await world.groups.expiration.expire_offsets(7 * 24 * 3_600_000)
        assert run_blocking(world.groups.service.list_groups(ListGroupsRequest())).groups == []

    run(story())


def test_time_passes_by_itself_while_the_coordinator_runs() -> None:
    async def story() -> None:
        world = BrokerWorld("group.initial.rebalance.delay.ms=1", clock=SystemClock())
        running = asyncio.ensure_future(world.groups.run())
        await asyncio.sleep(0)
        world.create_offsets_topic()
        await world.loaded()
        assert (await outcome(join(world))).generation_id == 1
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running

    run(story())


def test_a_transactions_offsets_count_with_the_marker() -> None:
    async def story() -> None:
        world = await new_world()
        wanted = TxnOffsetCommitRequestPartition(0, 9)
        request = TxnOffsetCommitRequest(
            "tx", GROUP, 77, 0, topics=[TxnOffsetCommitRequestTopic("t", [wanted])]
        )
        await outcome(world.groups.service.offsets.commit_transactional(request, 3))
        found = await fetch(world, require_stable=True)
        code = found.topics[0].partitions[0].error_code
        assert code == ErrorCode.UNSTABLE_OFFSET_COMMIT
        number = world.groups.topic.partition_of(GROUP).partition
        ending = world.groups.service.offsets.end_transaction(
            number, Writer(77, 0), EndMarker(True, 0)
        )
        await outcome(ending)
        assert await fetched(world) == 9
        for epoch in (1, 2):
            world.lead(number, leader=3 - epoch, epoch=epoch)
        await world.loaded()
        assert await fetched(world) == 9

    run(story())


def test_offsets_of_deleted_topics_are_forgotten() -> None:
    async def story() -> None:
        world = await new_world()
        await outcome(commit(world, 7))
        world.delete_topic("t")
        assert await fetched(world) == -1

    run(story())


@pytest.mark.parametrize("is_deleted", [True, False])
def test_offsets_are_forgotten_also_where_their_records_do_not_fit_into_one_batch(
    is_deleted: bool,
) -> None:
    async def story() -> None:
        world = await new_world()
        await outcome(commit_many(world, 30))
        partition_log = world.partition_of(GROUP).log
        partition_log.update_config(replace(partition_log.config, max_message_bytes=1000))
        if is_deleted:
            world.delete_topic("t")
        else:
            world.manual.advance_ms(61_000)
            await world.groups.expiration.expire_offsets(retention_ms=60_000)
        wanted = OffsetFetchRequestGroup(GROUP, topics=None)
        assert not (
            await read(
                world, GROUP, lambda shard: world.groups.service.offsets.fetch(shard, wanted, False)
            )
        ).topics

    run(story())


def test_a_log_that_takes_no_records_refuses_the_commit_and_nothing_has_changed() -> None:
    async def story() -> None:
        world = await new_world()
        await outcome(commit(world, 7))
        partition = world.partition_of(GROUP)
        assert partition.leader_state is not None
        partition.leader_state.in_sync_replicas = frozenset()
        assert refusal_of(world) == ErrorCode.COORDINATOR_NOT_AVAILABLE
        partition.leader_state.in_sync_replicas = frozenset({1})
        assert await fetched(world) == 7

    run(story())


# Consumer groups


def beat(
    world: BrokerWorld, epoch: int = 0, *, regex: str | None = None
) -> ConsumerGroupHeartbeatResponse | Awaitable[ConsumerGroupHeartbeatResponse]:
    is_joining = epoch == 0
    request = ConsumerGroupHeartbeatRequest(
        GROUP,
        "member",
        epoch,
        rebalance_timeout_ms=60_000 if is_joining else -1,
        subscribed_topic_names=["t"] if is_joining and regex is None else None,
        subscribed_topic_regex=regex if is_joining else None,
        topic_partitions=[] if is_joining else None,
    )
    return world.groups.service.consumer_heartbeat(request, Caller("client", "/host", 1))


def test_a_consumer_gets_its_partitions_when_they_are_replicated() -> None:
    async def story() -> None:
        world = await new_world(replicas=(1, 2))
        waiting = asyncio.ensure_future(outcome(beat(world)))
        await asyncio.sleep(0)
        assert not waiting.done()
        world.follower_catches_up(GROUP)
        answer = await waiting
        assert answer.assignment is not None
        assert answer.assignment.topic_partitions[0].partitions == [0]

    run(story())


def test_patterns_are_resolved_next_to_other_work() -> None:
    async def story() -> None:
        world = await new_world()
        for at in range(600):
            world.create_topic(f"noise-{at}")
        answer = await outcome(beat(world, regex="t|u"))
        assert answer.assignment is not None
        assert answer.assignment.topic_partitions == []
        while not (await described(world)).group_epoch > 1:
            await asyncio.sleep(0)
        world.manual.advance_ms(1000)
        answer = await outcome(beat(world, answer.member_epoch))
        assert answer.assignment is not None
        assert len(answer.assignment.topic_partitions) == 1

    run(story())


@pytest.mark.parametrize("is_set", [True, False])
def test_consumer_groups_may_be_switched_off(is_set: bool) -> None:
    async def story() -> None:
        protocols = "classic,consumer" if is_set else "classic"
        world = await new_world(f"group.coordinator.rebalance.protocols={protocols}")
        if is_set:
            world.publish(FeatureLevelSet(GROUP_VERSION, 0))
        for act in (lambda: beat(world), world.groups.service.check_enabled):
            with pytest.raises(BrokerError) as refused:
                act()
            assert refused.value.code == ErrorCode.UNSUPPORTED_VERSION

    run(story())


def test_the_topic_of_offsets_may_be_compressed() -> None:
    async def story() -> None:
        world = await new_world("offsets.topic.compression.codec=3")
        await outcome(commit(world, 7))
        found = world.partition_of(GROUP).log.read(BLOCKING, 0, 1000, 10)
        header = read_header(found.records.read())
        assert (header.codec, header.base_sequence) == (3, 0)  # as Kafka writes it
        number = world.groups.topic.partition_of(GROUP).partition
        for epoch in (1, 2):
            world.lead(number, leader=3 - epoch, epoch=epoch)
        await world.loaded()
        assert await fetched(world) == 7

    run(story())


def test_a_log_that_cannot_be_read_leaves_the_broker_without_these_groups_only() -> None:
    async def story() -> None:
        world = await new_world()
        partition = world.partition_of(GROUP)
        batch = build_batch([Record(0, 0, b"\0\1nonsense", b"", ())])
        partition.append(batch, -1, BY_COORDINATOR)
        for epoch in (1, 2):
            world.lead(partition.name.partition, leader=3 - epoch, epoch=epoch)
        await world.loaded()
        assert refusal_of(world) == ErrorCode.NOT_COORDINATOR
        other = next(
            name for name in "abc" if world.groups.topic.partition_of(name) != partition.name
        )
        assert (
            await read(world, other, lambda shard: world.groups.service.describe(shard, other, 5))
        ).group_state == "Dead"

    run(story())


def test_a_bug_in_one_group_does_not_stop_time_for_the_others(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async def story() -> None:
        world = await new_world()
        joining = join(world)
        bad = Deadline("another", TimerKind.SESSION, "m")
        shard = world.groups._runtime.shard(GROUP)
        right = shard.state.expire

        def expire(deadline: Deadline) -> list[CoordinatorRecord]:
            if deadline == bad:
                raise ZeroDivisionError
            return right(deadline)

        monkeypatch.setattr(shard.state, "expire", expire)
        shard.state.context.timers.start(bad, 0)
        world.groups.expiration.expire_timers()
        assert (await outcome(joining)).generation_id == 1
        assert bad in shard.state.context.timers  # it is tried again

    run(story())
    assert "ZeroDivisionError" in caplog.text


# Many offsets at once


def many(
    world: BrokerWorld, count: int, offset: int, metadata: str = ""
) -> Steps[Awaitable[OffsetCommitResponse]]:
    topic = world.image.topic("t")
    assert topic is not None
    partitions = [OffsetCommitRequestPartition(each, offset, -1, metadata) for each in range(count)]
    request = OffsetCommitRequest(
        GROUP, topics=[OffsetCommitRequestTopic("t", topic.id, partitions)]
    )
    return world.groups.service.offsets.commit_many(request, Caller("client", "/host", 9))


async def all_fetched(world: BrokerWorld) -> set[int]:
    topics = (await fetch(world, None)).topics
    return {each.committed_offset for topic in topics for each in topic.partitions}


def test_many_offsets_are_committed_as_one_batch_and_survive_a_restart() -> None:
    async def story() -> None:
        world = await new_world()
        drafting = many(world, 300, 7)
        await run_blocking(drafting)
        assert await all_fetched(world) == {7}
        log = world.partition_of(GROUP).log
        data = log.read(BLOCKING, 0, 1_000_000, log.log_end_offset).records.read()
        assert read_header(data, 0).records_count == 300
        before = dict(world.groups.service._shard(GROUP).state.offsets.committed)
        partition = world.partition_of(GROUP)
        world.groups.resigned(partition.name)
        world.groups.leads(partition)
        await world.loaded()
        assert world.groups.service._shard(GROUP).state.offsets.committed == before

    run(story())


def test_a_draft_that_the_log_does_not_take_changes_nothing() -> None:
    async def story() -> None:
        world = await new_world()
        await outcome(commit(world, 1))
        drafting = many(world, 300, 7)
        partition = world.partition_of(GROUP)
        assert partition.leader_state is not None
        partition.leader_state.in_sync_replicas = frozenset()
        with pytest.raises(BrokerError) as refused:
            await run_blocking(drafting)
        assert refused.value.code == ErrorCode.COORDINATOR_NOT_AVAILABLE
        partition.leader_state.in_sync_replicas = frozenset({1})
        assert await all_fetched(world) == {1}

    run(story())


def test_a_group_that_changes_while_offsets_are_drafted_is_asked_again() -> None:
    async def story() -> None:
        world = await new_world()
        drafting = many(world, 300, 7)
        writing = run_blocking(drafting)
        await outcome(beat(world))  # from now on only members may commit
        with pytest.raises(BrokerError) as refused:
            await writing
        assert refused.value.code == ErrorCode.UNKNOWN_MEMBER_ID
        assert await all_fetched(world) == set()

    run(story())


@pytest.mark.parametrize("is_made_again", [False, True])
def test_a_topic_that_is_deleted_while_its_offsets_are_drafted_leaves_none_to_the_next(
    is_made_again: bool,
) -> None:
    async def story() -> None:
        world = await new_world()
        writing = run_blocking(many(world, 300, 7))
        world.delete_topic("t")
        if is_made_again:
            world.create_topic("t", topic_id=TopicId(b"another".ljust(16)))
        with pytest.raises(BrokerError) as refused:
            await writing
        assert refused.value.code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        assert await all_fetched(world) == set()

    run(story())


@pytest.mark.parametrize("is_lost", [False, True])
def test_a_member_that_gives_up_partitions_meanwhile_commits_only_what_it_still_has(
    is_lost: bool,
) -> None:
    async def story() -> None:
        world = await new_world()
        topic_id = world.create_topic("u", 4)

        async def heartbeat(member_id: str, epoch: int, owned: set[int]) -> tuple[int, set[int]]:
            """(its epoch, its partitions)."""
            request = ConsumerGroupHeartbeatRequest(
                GROUP,
                member_id,
                epoch,
                rebalance_timeout_ms=60_000,
                subscribed_topic_names=["u"],
                topic_partitions=[HeldPartitions(topic_id, sorted(owned))] if owned else [],
            )
            caller = Caller("client", "/host", 1)
            answer = await outcome(world.groups.service.consumer_heartbeat(request, caller))
            assert answer.assignment is not None
            reported = answer.assignment.topic_partitions
            return answer.member_epoch, {at for each in reported for at in each.partitions}

        old_epoch, everything = await heartbeat("a", 0, set())
        assert everything == set(range(4))
        world.manual.advance_ms(60_000)
        await heartbeat("b", 0, set())
        _, kept = await heartbeat("a", old_epoch, everything)
        partitions = everything - kept if is_lost else kept
        wanted = [OffsetCommitRequestPartition(each, 7) for each in sorted(partitions)]
        request = OffsetCommitRequest(
            GROUP, old_epoch, "a", topics=[OffsetCommitRequestTopic("u", topic_id, wanted)]
        )
        commits = world.groups.service.offsets
        writing = run_blocking(commits.commit_many(request, Caller("client", "/host", 9)))
        new_epoch, _ = await heartbeat("a", old_epoch, kept)
        assert new_epoch > old_epoch
        if not is_lost:
            await writing
            assert await all_fetched(world) == {7}
            return
        with pytest.raises(BrokerError) as refused:
            await writing
        assert refused.value.code == ErrorCode.STALE_MEMBER_EPOCH
        assert await all_fetched(world) == set()

    run(story())


def test_offsets_that_do_not_fit_one_batch_are_refused_before_they_are_all_looked_at() -> None:
    async def story() -> None:
        world = await new_world()
        drafting, yielded = many(world, 1000, 7, metadata="x" * 4000), list[object]()
        with pytest.raises(BrokerError) as refused:
            yielded.extend(drafting)
        assert refused.value.code == ErrorCode.UNKNOWN_SERVER_ERROR
        assert len(yielded) < 300

    run(story())


def test_a_group_whose_offsets_are_being_deleted_cannot_be_used() -> None:
    async def story() -> None:
        world = await new_world()
        drafting = many(world, 300, 7)
        await run_blocking(drafting)
        deleting = world.groups.service.delete_group(world.groups.service.shard_of(GROUP), GROUP)
        next(deleting)
        assert refusal_of(world) == ErrorCode.COORDINATOR_LOAD_IN_PROGRESS
        with pytest.raises(BrokerError, match="LOAD_IN_PROGRESS"):
            await outcome(beat(world))
        run_blocking(deleting)
        assert await all_fetched(world) == set()
        await outcome(beat(world))

    run(story())


def test_offsets_that_a_transaction_commits_while_a_group_is_deleted_are_deleted_in_slices_too(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def story(at: int) -> bool:
        """Whether there was a pause at which the transaction could end."""
        world = await new_world()
        await run_blocking(many(world, 100, 7))
        shard = world.groups.service.shard_of(GROUP)
        offset = next(iter(shard.state.offsets.of_group(GROUP)["t"].values()))
        writer, sizes = Writer(5, 0), list[int]()
        pending = [OffsetName(GROUP, "u", each) for each in range(200)]
        world.groups._runtime.write(
            shard,
            [
                offset_record(each, OffsetCommitValue(7, 0, "", offset.commit_ms))
                for each in pending
            ],
            writer,
        )
        deleting = world.groups.service.delete_group(shard, GROUP)
        write = world.groups._runtime.write

        def write_counted(shard: LoadedShard, records: Any, *rest: Any) -> int:
            sizes.append(len(records))
            return write(shard, records, *rest)

        with monkeypatch.context() as counted:
            counted.setattr(world.groups._runtime, "write", write_counted)
            has_ended = False
            for number, _ in enumerate(deleting):
                if number == at:
                    world.groups._runtime.write_marker(shard, writer, EndMarker(True, 0))
                    has_ended = True
        assert not shard.state.offsets.has_group(GROUP), at
        assert max(sizes) <= TOMBSTONES_MAX + 1, at  # and the group itself
        return has_ended

    at = 0
    while run(story(at)):
        at += 1
    assert at > 3


def test_a_topic_of_the_same_name_keeps_offsets_that_came_after_the_deletion() -> None:
    async def story() -> None:
        world = await new_world()
        drafting = many(world, 300, 7)
        await run_blocking(drafting)
        shard = world.groups.service.shard_of(GROUP)
        topic = world.image.topic("t")
        assert topic is not None
        deleted = DeletedTopics({"t": {topic.id}}, shard.partition.log.log_end_offset)
        forgetting = world.groups._forgetting_topics(shard, deleted)
        request = TxnOffsetCommitRequest(
            "tx",
            GROUP,
            77,
            0,
            topics=[TxnOffsetCommitRequestTopic("t", [TxnOffsetCommitRequestPartition(0, 9)])],
        )
        await outcome(world.groups.service.offsets.commit_transactional(request, 3))
        number = world.groups.topic.partition_of(GROUP).partition
        await outcome(
            world.groups.service.offsets.end_transaction(number, Writer(77, 0), EndMarker(True, 0))
        )
        run_blocking(forgetting)
        assert await all_fetched(world) == {9}, "without a topic id, but later in the log"

    run(story())


def test_a_classic_member_offers_at_most_so_many_protocols() -> None:
    def request(count: int) -> JoinGroupRequest:
        offered = [JoinGroupRequestProtocol(f"p{at}") for at in range(count)]
        return JoinGroupRequest(GROUP, 10_000, 60_000, "", None, "consumer", offered)

    async def story() -> None:
        world = await new_world()
        world.groups.service.join(request(PROTOCOLS_MAX), OLD_CLIENT)
        with pytest.raises(BrokerError) as refused:
            world.groups.service.join(request(PROTOCOLS_MAX + 1), OLD_CLIENT)
        assert refused.value.code == ErrorCode.INVALID_REQUEST

    run(story())
