"""Groups whose members change from the classic to the consumer protocol and back at work."""

from __future__ import annotations

from collections.abc import Iterable

import pytest
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

from ottla.base.scheduling.steps import run_blocking
from ottla.coordinators.groups import consumer_api
from ottla.coordinators.groups.classic.group import ClassicGroup, ClassicGroupState
from ottla.coordinators.groups.consumer import classic_members
from ottla.coordinators.groups.consumer.group import ConsumerGroup
from ottla.coordinators.groups.embedded_protocol import decode_assignment, encode_assignment
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.errors import BrokerError
from ottla.protocol.messages.consumer_protocol_subscription import (
    ConsumerProtocolSubscription,
    TopicPartition,
)
from ottla.protocol.messages.leave_group_request import MemberIdentity


@pytest.fixture
def harness() -> Harness:
    harness = Harness()
    harness.create_topic("t", 4)
    return harness


def subscription(owned: Iterable[int] = ()) -> bytes:
    partitions = [TopicPartition("t", list(owned))] if owned else []
    return ConsumerProtocolSubscription(["t"], None, partitions).encode_prefixed(1)


def classic(harness: Harness, name: str, instance_id: str | None = None) -> ClassicClient:
    return ClassicClient(
        harness, name, instance_id=instance_id, protocols={"range": subscription()}
    )


def assigned(data: bytes) -> set[tuple[str, int]]:
    if not data:
        return set()
    topics = decode_assignment(data).assigned_partitions
    return {(each.topic, at) for each in topics for at in each.partitions}


def partitions_of(client: ClassicClient) -> set[tuple[str, int]]:
    return assigned(client.assignment or b"")


def work_classic(harness: Harness, *clients: ClassicClient) -> None:
    """The leader divides the topic in the order of the clients."""
    replies = [client.join() for client in clients]
    harness.advance_ms(0)
    answers = [client.joined(reply) for client, reply in zip(clients, replies, strict=True)]
    share = 4 // len(clients)
    parts = {
        client.member_id: encode_assignment({"t": range(at * share, at * share + share)}, 1)
        for at, client in enumerate(clients)
    }
    leader = next(each for each in clients if each.member_id == answers[0].leader)
    leader.synced(leader.sync(parts))
    for client in clients:
        client.synced(client.sync())


def follow(client: ClassicClient) -> ErrorCode:
    """A classic member in a consumer group: it joins again whenever a heartbeat demands it."""
    code = client.heartbeat()
    if code == ErrorCode.REBALANCE_IN_PROGRESS:
        kept = [at for _, at in partitions_of(client)]
        client.protocols = {"range": subscription(kept)}
        client.joined(client.join())
        reply = client.sync(protocol="range")
        before = partitions_of(client)
        client.synced(reply)
        if before - partitions_of(client):  # it has given up partitions: once more
            client.protocols = {"range": subscription([at for _, at in partitions_of(client)])}
            client.joined(client.join())
            client.synced(client.sync(protocol="range"))
    return code


# Up


def test_the_first_consumer_member_upgrades_the_group_and_others_keep_their_partitions(
    harness: Harness,
) -> None:
    first, second = classic(harness, "a"), classic(harness, "b")
    work_classic(harness, first, second)
    new = ConsumerClient(harness, "new")
    new.beat()
    group = harness.consumers()
    assert group.members.keys() == {first.member_id, second.member_id, new.member_id}
    assert group.epoch == 2
    assert new.partitions == set()
    assert first.heartbeat() == ErrorCode.REBALANCE_IN_PROGRESS
    described = run_blocking(consumer_api.describe(harness.shard, GROUP))
    assert {each.client_id: each.member_type for each in described.members} == {
        "a": 0,
        "b": 0,
        "new": 1,
    }


@pytest.mark.parametrize("is_restarted", [False, True])
def test_classic_and_new_members_share_the_partitions(harness: Harness, is_restarted: bool) -> None:
    first, second = classic(harness, "a"), classic(harness, "b")
    work_classic(harness, first, second)
    new = ConsumerClient(harness, "new")
    new.beat()
    if is_restarted:
        harness.restart()
    for _ in range(8):
        follow(first)
        follow(second)
        new.beat()
        harness.advance_ms(1000)
    parts = [partitions_of(first), partitions_of(second), new.partitions]
    assert sorted(len(each) for each in parts) == [1, 1, 2]
    assert set().union(*parts) == {("t", at) for at in range(4)}
    assert harness.consumers().state_name == "Stable"


def test_members_that_wait_in_a_rebalance_are_sent_to_the_new_group(harness: Harness) -> None:
    first, second = classic(harness, "a"), classic(harness, "b")
    work_classic(harness, first)
    waiting = second.join()
    ConsumerClient(harness, "new").beat()
    assert waiting.code == ErrorCode.REBALANCE_IN_PROGRESS
    assert second.join().code == ErrorCode.NONE


def test_a_member_that_offers_other_protocols_by_now_goes_with_the_group(harness: Harness) -> None:
    first, second = classic(harness, "first"), classic(harness, "second")
    for each in (first, second):
        each.protocols = {"sticky": subscription(), "range": subscription()}
    work_classic(harness, first, second)
    second.protocols = {"range": subscription()}
    waiting = second.join()
    ConsumerClient(harness, "new").beat()
    assert waiting.code == ErrorCode.REBALANCE_IN_PROGRESS
    assert len(harness.consumers().members) == 3


def test_an_empty_classic_group_becomes_a_new_group_and_keeps_its_offsets(harness: Harness) -> None:
    client = classic(harness, "a")
    work_classic(harness, client)
    client.commit({("t", 0): 5})
    client.leave()
    ConsumerClient(harness).beat()
    for _ in range(2):
        assert isinstance(harness.shard.groups[GROUP], ConsumerGroup)
        assert harness.fetch("t", 0) == 5
        harness.restart()


def test_offsets_without_members_become_a_new_group(harness: Harness) -> None:
    harness.commit({("t", 0): 5})
    ConsumerClient(harness).beat()
    harness.restart()
    assert isinstance(harness.shard.groups[GROUP], ConsumerGroup)
    assert harness.fetch("t", 0) == 5


@pytest.mark.parametrize("policy", ["disabled", "downgrade"])
def test_a_group_is_not_upgraded_against_the_policy(policy: str) -> None:
    harness = Harness(f"group.consumer.migration.policy={policy}")
    harness.create_topic("t", 4)
    work_classic(harness, classic(harness, "a"))
    assert ConsumerClient(harness).refusal() == ErrorCode.GROUP_ID_NOT_FOUND
    assert isinstance(harness.shard.groups[GROUP], ClassicGroup)


def test_a_group_with_another_protocol_type_is_not_upgraded(harness: Harness) -> None:
    rebalance(harness, ClassicClient(harness, protocol_type="connect"))
    assert ConsumerClient(harness).refusal() == ErrorCode.GROUP_ID_NOT_FOUND


def test_a_group_with_invalid_metadata_is_not_upgraded(harness: Harness) -> None:
    rebalance(harness, ClassicClient(harness, protocols={"range": b"\0\1nonsense"}))
    size = len(harness.log)
    with pytest.raises(BrokerError) as refused:
        ConsumerClient(harness).beat()
    assert refused.value.code == ErrorCode.GROUP_ID_NOT_FOUND
    assert "malformed" in refused.value.message
    assert len(harness.log) == size


def test_a_group_with_a_client_side_assignor_is_not_upgraded(harness: Harness) -> None:
    client = classic(harness, "a")
    reply = client.join()
    harness.advance_ms(0)
    client.joined(reply)
    own = b"\0\0" + b"\0\0\0\0" + b"\0\0\0\3own"
    client.synced(client.sync({client.member_id: own}))
    assert ConsumerClient(harness).refusal() == ErrorCode.GROUP_ID_NOT_FOUND


# Classic members of a consumer group


def mixed(harness: Harness) -> tuple[ClassicClient, ConsumerClient]:
    old, new = classic(harness, "old"), ConsumerClient(harness, "new")
    new.beat()
    reply = old.join()
    old.joined(reply)
    old.synced(old.sync(protocol="range"))
    for _ in range(6):
        harness.advance_ms(1000)
        new.beat()
        follow(old)
    return old, new


def test_a_classic_client_may_join_a_consumer_group(harness: Harness) -> None:
    old, new = mixed(harness)
    assert (len(partitions_of(old)), len(new.partitions)) == (2, 2)
    assert old.generation == new.epoch
    assert old.commit({min(partitions_of(old)): 1}) == ErrorCode.NONE
    assert old.heartbeat() == ErrorCode.NONE


def test_a_classic_client_is_refused_where_the_policy_is_against_it() -> None:
    harness = Harness("group.consumer.migration.policy=disabled")
    harness.create_topic("t", 4)
    ConsumerClient(harness).beat()
    assert code_of(lambda: classic(harness, "a").join().code) == (
        ErrorCode.INCONSISTENT_GROUP_PROTOCOL
    )


def test_classic_members_of_a_consumer_group_must_have_a_protocol_in_common(
    harness: Harness,
) -> None:
    mixed(harness)
    other = ClassicClient(harness, protocols={"own": subscription()})
    assert code_of(lambda: other.join().code) == ErrorCode.INCONSISTENT_GROUP_PROTOCOL


def test_a_classic_member_is_checked_like_in_its_own_group(harness: Harness) -> None:
    old, new = mixed(harness)
    old.generation += 1
    assert old.heartbeat() == ErrorCode.ILLEGAL_GENERATION
    assert code_of(lambda: old.sync().code) == ErrorCode.ILLEGAL_GENERATION
    assert old.commit({("t", 0): 1}) == ErrorCode.ILLEGAL_GENERATION
    old.generation -= 1
    assert code_of(lambda: old.sync(protocol="own").code) == (ErrorCode.INCONSISTENT_GROUP_PROTOCOL)
    old.member_id = new.member_id
    assert old.heartbeat() == ErrorCode.UNKNOWN_MEMBER_ID


def test_a_classic_member_without_heartbeats_is_removed(harness: Harness) -> None:
    old, new = mixed(harness)
    harness.advance_ms(SESSION_MS)
    assert old.member_id not in harness.consumers().members
    settle(new)
    assert len(new.partitions) == 4


def test_a_classic_member_that_does_not_join_again_in_time_is_removed(harness: Harness) -> None:
    old, new = mixed(harness)
    third = ConsumerClient(harness, "third")
    harness.advance_ms(1000)
    third.beat()
    for _ in range(REBALANCE_MS // 5000 + 1):
        code = old.heartbeat()
        new.beat()
        third.beat()
        harness.advance_ms(5000)
    assert code == ErrorCode.UNKNOWN_MEMBER_ID


def test_a_classic_member_that_does_not_sync_in_time_is_removed(harness: Harness) -> None:
    old, new = mixed(harness)
    late = classic(harness, "late")
    late.session_ms = 5 * REBALANCE_MS
    late.joined(late.join())
    for _ in range(REBALANCE_MS // 5000):
        old.heartbeat()
        new.beat()
        harness.advance_ms(5000)
    assert late.member_id not in harness.consumers().members


# Down


def test_when_the_last_new_member_leaves_the_group_is_classic_again(harness: Harness) -> None:
    old, new = mixed(harness)
    generation = old.generation
    new.leave()
    group = harness.classic()
    assert (group.state, group.generation) == (ClassicGroupState.PREPARING_REBALANCE, generation)
    assert old.heartbeat() == ErrorCode.REBALANCE_IN_PROGRESS
    work_classic(harness, old)
    assert len(partitions_of(old)) == 4
    harness.restart()
    assert old.heartbeat() == ErrorCode.NONE


def test_a_restart_after_a_downgrade_finds_a_classic_group(
    harness: Harness,
) -> None:
    old, new = mixed(harness)
    new.leave()
    harness.restart()
    assert harness.classic().state is ClassicGroupState.STABLE
    assert old.heartbeat() == ErrorCode.NONE
    assert old.member_id in harness.classic().members


def test_when_the_last_new_member_goes_silent_the_group_is_classic_again(harness: Harness) -> None:
    old, _ = mixed(harness)
    for _ in range(10):
        harness.advance_ms(SESSION_MS - 1000)
        old.heartbeat()
    assert harness.classic().state is ClassicGroupState.PREPARING_REBALANCE


def test_invalid_metadata_of_an_unused_protocol_does_not_prevent_a_downgrade(
    harness: Harness,
) -> None:
    new = ConsumerClient(harness, "new")
    new.beat()
    for preferred in ("range", "sticky"):
        old = classic(harness, preferred)
        old.protocols = {preferred: subscription(), "odd": b"x"}
        old.joined(old.join())
    new.leave()
    assert harness.classic().protocol == "odd"


def test_a_group_stays_as_it_is_where_there_is_no_way_back() -> None:
    harness = Harness("group.consumer.migration.policy=upgrade")
    harness.create_topic("t", 4)
    old, new = mixed(harness)
    new.leave()
    harness.advance_ms(1000)
    assert harness.consumers().members.keys() == {old.member_id}
    for _ in range(5):
        harness.advance_ms(1000)
        follow(old)


def test_a_static_member_that_comes_back_as_a_classic_one_takes_its_place(harness: Harness) -> None:
    new = ConsumerClient(harness, "x", instance_id="x")
    settle(new)
    had = new.partitions
    back = classic(harness, "x", instance_id="x")
    back.joined(back.send_join())
    assert isinstance(harness.shard.groups[GROUP], ClassicGroup)
    assert back.synced(back.sync(protocol="range"))
    assert partitions_of(back) == had
    assert harness.classic().state is ClassicGroupState.STABLE
    harness.restart()
    assert back.heartbeat() == ErrorCode.NONE


def test_a_member_that_becomes_classic_in_its_own_place_leaves_the_group_as_it_is(
    harness: Harness,
) -> None:
    new = ConsumerClient(harness, "new")
    new.beat()
    same, other = classic(harness, "same"), classic(harness, "other")
    same.member_id = new.member_id
    same.joined(same.join())
    assert harness.consumers().members[new.member_id].speaks_classic
    other.joined(other.join())
    assert len(harness.consumers().members) == 2
    leave(harness, [MemberIdentity(other.member_id)])
    assert harness.classic().members.keys() == {same.member_id}


def test_a_static_member_that_comes_back_as_a_new_one_takes_its_place(harness: Harness) -> None:
    old = classic(harness, "x", instance_id="x")
    work_classic(harness, old)
    new = ConsumerClient(harness, "x", instance_id="x")
    new.beat()
    assert harness.consumers().members.keys() == {new.member_id}
    settle(new)
    assert len(new.partitions) == 4


def test_tools_remove_classic_and_new_members(harness: Harness) -> None:
    old, new = mixed(harness)
    answers = leave(
        harness, [MemberIdentity(old.member_id), MemberIdentity("x"), MemberIdentity("", "i")]
    )
    unknown = ErrorCode.UNKNOWN_MEMBER_ID
    assert [each.error_code for each in answers] == [0, unknown, unknown]
    assert harness.consumers().members.keys() == {new.member_id}


def test_an_empty_consumer_group_becomes_a_classic_one(harness: Harness) -> None:
    new = ConsumerClient(harness)
    new.beat()
    new.commit({("t", 0): 5})
    new.leave()
    old = classic(harness, "a")
    work_classic(harness, old)
    for _ in range(2):
        assert harness.classic().state is ClassicGroupState.STABLE
        assert harness.fetch("t", 0) == 5
        harness.restart()


def test_a_join_without_protocols_leaves_a_classic_group_where_an_empty_consumer_group_was(
    harness: Harness,
) -> None:
    new = ConsumerClient(harness)
    new.beat()
    new.leave()
    refused = ClassicClient(harness, protocols={})
    assert code_of(lambda: refused.join().code) == ErrorCode.INCONSISTENT_GROUP_PROTOCOL
    group = harness.shard.groups[GROUP]
    assert isinstance(group, ClassicGroup)
    assert group.is_empty


# A change is one step, so its size is bounded.


def stable(members: int, topics: int) -> Harness:
    """A classic group at work."""
    harness = Harness()
    reported = ConsumerProtocolSubscription([f"t{at}" for at in range(topics)], None, [])
    clients = [
        ClassicClient(harness, str(at), protocols={"range": reported.encode_prefixed(1)})
        for at in range(members)
    ]
    replies = [client.join() for client in clients]
    harness.advance_ms(0)
    for client, reply in zip(clients, replies, strict=True):
        client.joined(reply)
    clients[0].synced(clients[0].sync({}))
    return harness


@pytest.mark.parametrize(
    ("members", "topics", "can_turn"),
    [(400, 0, True), (401, 0, False), (100, 150, True), (100, 151, False)],
)
def test_a_group_with_few_members_and_topics_is_upgraded(
    members: int, topics: int, can_turn: bool
) -> None:
    harness = stable(members, topics)
    client = ConsumerClient(harness, "new", topics=["t"])
    if can_turn:
        client.beat()
        assert len(harness.consumers().members) == members + 1
    else:
        assert client.refusal() == ErrorCode.GROUP_ID_NOT_FOUND
        assert len(harness.classic().members) == members


def test_a_group_of_many_classic_members_stays_a_consumer_group(
    harness: Harness, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(classic_members, "DOWNGRADE_MEMBERS_MAX", 1)
    first, second = classic(harness, "a"), classic(harness, "b")
    work_classic(harness, first, second)
    new = ConsumerClient(harness, "new")
    new.beat()
    new.leave()
    assert harness.consumers().members.keys() == {first.member_id, second.member_id}
    leave(harness, [MemberIdentity(second.member_id)])
    assert harness.classic().members.keys() == {first.member_id}
