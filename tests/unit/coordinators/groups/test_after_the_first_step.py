"""Rules of groups after one more event: a second member, a restart, time that passes."""

from __future__ import annotations

import asyncio

import pytest
from tests.unit.coordinators.groups.broker_world import BrokerWorld
from tests.unit.coordinators.groups.harness import (
    GROUP,
    REBALANCE_MS,
    SESSION_MS,
    ClassicClient,
    ConsumerClient,
    Harness,
    code_of,
    leave,
    rebalance,
    settle,
)
from tests.unit.coordinators.groups.test_conversion import (
    classic,
    follow,
    partitions_of,
    subscription,
    work_classic,
)
from tests.unit.coordinators.groups.test_service import GROUP as READERS
from tests.unit.coordinators.groups.test_service import join, new_world, outcome, run

from ottla.coordinators.groups.classic.group import ClassicGroupState
from ottla.coordinators.groups.committed_offsets import OffsetName, from_record
from ottla.coordinators.groups.consumer.member import MemberState
from ottla.coordinators.groups.offset_commits import offset_record
from ottla.coordinators.groups.service import LEAVING_MAX
from ottla.coordinators.groups.shard_context import Caller
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.errors import BrokerError
from ottla.protocol.messages.consumer_group_heartbeat_request import (
    ConsumerGroupHeartbeatRequest,
)
from ottla.protocol.messages.consumer_protocol_subscription import ConsumerProtocolSubscription
from ottla.protocol.messages.leave_group_request import LeaveGroupRequest, MemberIdentity
from ottla.protocol.messages.legacy_offset_commit_value import LegacyOffsetCommitValue
from ottla.protocol.messages.offset_commit_request import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from ottla.protocol.messages.offset_commit_value import OffsetCommitValue
from ottla.testing.clock import ManualClock


@pytest.fixture
def harness() -> Harness:
    harness = Harness()
    harness.create_topic("t", 4)
    return harness


# Classic groups


def test_no_member_skips_the_assignment_in_an_ordinary_rebalance(harness: Harness) -> None:
    clients = [ClassicClient(harness, name) for name in "abc"]
    replies = [client.join() for client in clients]
    harness.advance_ms(harness.config.group_initial_rebalance_delay_ms)
    answers = [client.joined(reply) for client, reply in zip(clients, replies, strict=True)]
    assert [answer.skip_assignment for answer in answers] == [False] * 3
    assert sum(len(answer.members) == 3 for answer in answers) == 1


@pytest.mark.parametrize("is_restarted", [False, True])
def test_an_empty_group_has_neither_leader_nor_protocol(
    harness: Harness, is_restarted: bool
) -> None:
    first, second = ClassicClient(harness, "a"), ClassicClient(harness, "b")
    rebalance(harness, first, second)
    generation = harness.classic().generation
    assert first.leave() == second.leave() == ErrorCode.NONE
    harness.advance_ms(REBALANCE_MS)
    if is_restarted:
        harness.restart()
    group = harness.classic()
    assert (group.state, group.leader, group.protocol) == (ClassicGroupState.EMPTY, None, None)
    assert group.generation == generation + 1
    third = ClassicClient(harness, "c", protocols={"roundrobin": b""})
    rebalance(harness, third)
    group = harness.classic()
    assert (group.leader, group.protocol) == (third.member_id, "roundrobin")
    assert group.generation == generation + 2


def test_a_protocol_wins_by_votes_and_not_by_its_place(harness: Harness) -> None:
    both = {"x": b"", "y": b""}
    turned = {"y": b"", "x": b""}
    clients = [
        ClassicClient(harness, "a", protocols=both),
        ClassicClient(harness, "b", protocols=turned),
        ClassicClient(harness, "c", protocols=turned),
    ]
    rebalance(harness, *clients)
    assert harness.classic().protocol == "y"


# Consumer groups


@pytest.mark.parametrize("is_restarted", [False, True])
def test_a_member_with_nothing_to_revoke_has_only_its_session_timeout(
    harness: Harness, is_restarted: bool
) -> None:
    """Only its session counts, which each heartbeat renews, before and after a restart."""
    client = ConsumerClient(harness, rebalance_ms=10_000)
    client.beat()
    if is_restarted:
        harness.restart()
    for _ in range(5):
        harness.advance_ms(SESSION_MS - 1)
        client.beat()
    assert client.member_id in harness.consumers().members
    assert len(client.partitions) == 4


@pytest.mark.parametrize("is_restarted", [False, True])
def test_a_classic_member_that_synced_in_time_stays(harness: Harness, is_restarted: bool) -> None:
    new = ConsumerClient(harness, "new")
    new.beat()
    old = classic(harness, "old")
    old.session_ms = 10 * REBALANCE_MS
    old.joined(old.join())
    old.synced(old.sync(protocol="range"))
    for _ in range(5):
        follow(old)
        new.beat()
        harness.advance_ms(1000)
    if is_restarted:
        harness.restart()
    for _ in range(2 * REBALANCE_MS // 5000):
        new.beat()
        harness.advance_ms(5000)
    assert old.member_id in harness.consumers().members, "it has a long session, and owes nothing"
    assert follow(old) == ErrorCode.NONE
    assert len(partitions_of(old)) + len(new.partitions) == 4


@pytest.mark.parametrize(("version", "asks_twice"), [(3, False), (4, True), (9, True)])
def test_classic_clients_of_each_version_join_a_consumer_group(
    harness: Harness, version: int, asks_twice: bool
) -> None:
    ConsumerClient(harness, "new").beat()
    old = classic(harness, "old")
    old.version = version
    reply = old.send_join()
    assert (reply.code == ErrorCode.MEMBER_ID_REQUIRED) == asks_twice
    assert (reply.response.member_id in harness.consumers().members) != asks_twice


def test_a_classic_member_keeps_its_rack_until_it_names_another(harness: Harness) -> None:
    ConsumerClient(harness, "new").beat()

    def joined(rack: str | None) -> str | None:
        reported = ConsumerProtocolSubscription(["t"], None, [], rack_id=rack).encode_prefixed(3)
        old.protocols = {"range": reported}
        old.joined(old.join())
        return harness.consumers().members[old.member_id].rack_id

    old = classic(harness, "old")
    assert [joined(rack) for rack in (None, "r1", None, "r2")] == [None, "r1", "r1", "r2"]
    harness.restart()
    assert harness.consumers().members[old.member_id].rack_id == "r2"


def test_each_of_those_who_leave_is_answered_under_its_own_names(harness: Harness) -> None:
    static = ConsumerClient(harness, "static", instance_id="i")
    new, old = ConsumerClient(harness, "new"), classic(harness, "old")
    static.beat()
    new.beat()
    old.joined(old.join())
    size = len(harness.log)
    (answer,) = leave(harness, [MemberIdentity("nobody", None)])
    assert (answer.member_id, answer.error_code) == ("nobody", ErrorCode.UNKNOWN_MEMBER_ID)
    assert len(harness.log) == size, "nothing has changed"
    answers = leave(
        harness,
        [MemberIdentity("nobody"), MemberIdentity(old.member_id), MemberIdentity("", "i"),
         MemberIdentity("other", "i")],
    )  # fmt: skip
    assert [(each.member_id, each.group_instance_id, each.error_code) for each in answers] == [
        ("nobody", None, ErrorCode.UNKNOWN_MEMBER_ID),
        (old.member_id, None, ErrorCode.NONE),
        ("", "i", ErrorCode.NONE),
        ("other", "i", ErrorCode.FENCED_INSTANCE_ID),
    ]
    settle(new)
    assert harness.consumers().members.keys() == {new.member_id}
    assert len(new.partitions) == 4


def test_a_join_that_is_refused_is_no_member(harness: Harness) -> None:
    ConsumerClient(harness, "new").beat()
    broken = ClassicClient(harness, "broken", protocols={"range": b"\x00"})
    broken.version = 3
    assert code_of(lambda: broken.join().code) == ErrorCode.INCONSISTENT_GROUP_PROTOCOL
    stream = classic(harness, "stream")
    stream.protocol_type = "connect"
    stream.version = 3
    assert code_of(lambda: stream.join().code) == ErrorCode.INCONSISTENT_GROUP_PROTOCOL
    assert len(harness.consumers().members) == 1
    assert subscription([1]) != subscription()


# Records


def test_offsets_of_every_age_are_read_and_those_that_expire_say_no_more_than_they_can() -> None:
    legacy = LegacyOffsetCommitValue(5, "m", 1000)
    found = from_record(legacy, 77)
    assert (found.offset, found.leader_epoch, found.metadata) == (5, -1, "m")
    assert (found.commit_ms, found.expire_ms, found.record_offset) == (1000, -1, 77)
    assert found.topic_id == bytes(16)
    name = OffsetName(GROUP, "t", 3)
    lasting = offset_record(name, OffsetCommitValue(5, 4, "m", 1000, -1, b"i" * 16))
    expiring = offset_record(name, OffsetCommitValue(5, 4, "m", 1000, 2000, b"i" * 16))
    assert (lasting.value_version, expiring.value_version) == (4, 1)
    for record, epoch, topic_id in ((lasting, 4, b"i" * 16), (expiring, -1, bytes(16))):
        value = record.value
        assert isinstance(value, OffsetCommitValue)
        assert (value.leader_epoch, value.topic_id, value.offset) == (epoch, topic_id, 5)
        # The log contains the state in memory: a restart changes nothing.
        again = OffsetCommitValue.decode(value.encode(record.value_version), record.value_version)
        assert from_record(again, 1) == from_record(value, 1)


# The service around them


def test_very_many_members_leave_in_steps_each_with_its_answer() -> None:
    async def story() -> None:
        world = await new_world()
        waiting = join(world)
        world.groups.expiration.expire_timers()
        await outcome(waiting)
        members = [MemberIdentity(f"nobody-{at}") for at in range(2 * LEAVING_MAX + 1)]
        answer = await world.groups.service.leave_together(
            LeaveGroupRequest(READERS, members=members)
        )
        assert [each.member_id for each in answer.members] == [each.member_id for each in members]
        assert {each.error_code for each in answer.members} == {ErrorCode.UNKNOWN_MEMBER_ID}

    run(story())


def test_a_classic_member_that_a_consumer_group_refuses_is_answered_with_the_code() -> None:
    async def story() -> None:
        world = await new_world()
        heartbeat = ConsumerGroupHeartbeatRequest(
            READERS, "m", 0, None, None, 10_000, ["t"], None, None, []
        )
        await outcome(
            world.groups.service.consumer_heartbeat(heartbeat, Caller("client", "/host", 1))
        )
        answer = await outcome(join(world))  # its subscription cannot be read
        assert answer.error_code == ErrorCode.INCONSISTENT_GROUP_PROTOCOL
        assert answer.member_id == ""

    run(story())


class FastClock(ManualClock):
    """Time passes with every look at it, so that no work is done within its first slice."""

    def monotonic_s(self) -> float:
        self.advance_ms(20)
        return super().monotonic_s()


def test_offsets_of_a_deleted_topic_are_deleted_in_several_slices() -> None:
    async def story() -> None:
        world = BrokerWorld(clock=FastClock())
        world.create_topic("t")
        world.create_offsets_topic(1)
        await world.loaded()
        groups = [f"g{at}" for at in range(30)]
        for group in groups:
            wanted = OffsetCommitRequestTopic("t", partitions=[OffsetCommitRequestPartition(0, 7)])
            request = OffsetCommitRequest(group, topics=[wanted])
            await outcome(
                world.groups.service.offsets.commit(request, Caller("client", "/host", 9))
            )
        world.delete_topic("t")
        offsets = world.groups.service.shard_of("g0").state.offsets
        assert offsets.count > 0, "other tasks run in between"
        for _ in range(500):
            await asyncio.sleep(0)
        assert offsets.count == 0

    run(story())


def test_a_group_without_a_name_is_not_described() -> None:
    async def story() -> None:
        world = await new_world()
        shard = world.groups.service.shard_of(READERS)
        with pytest.raises(BrokerError) as raised:
            world.groups.service.describe_consumers(shard, "")
        assert raised.value.code is ErrorCode.INVALID_GROUP_ID

    run(story())


def test_a_classic_member_that_gives_up_partitions_keeps_its_own_time_after_a_restart(
    harness: Harness,
) -> None:
    """It has until it joins again, which the deadline of new members does not cut short."""
    old = classic(harness, "old")
    old.session_ms = 10 * REBALANCE_MS
    work_classic(harness, old)
    new = ConsumerClient(harness, "new")
    new.beat()
    harness.advance_ms(1000)
    new.beat()
    assert old.heartbeat() == ErrorCode.REBALANCE_IN_PROGRESS
    old.protocols = {"range": subscription(range(4))}
    old.joined(old.join())
    member = harness.consumers().members[old.member_id]
    assert member.state is MemberState.UNREVOKED_PARTITIONS
    harness.restart()
    for _ in range(2 * REBALANCE_MS // 5000):
        new.beat()
        harness.advance_ms(5000)
    assert old.member_id in harness.consumers().members
