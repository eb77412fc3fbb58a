"""What groups may hold: members, metadata, subscriptions, offsets."""

from __future__ import annotations

import tracemalloc

import pytest
from tests.unit.coordinators.groups.harness import GROUP, ClassicClient, Harness, ReplyBox

from ottla.coordinators.groups import consumer_api, membership_api
from ottla.coordinators.groups.shard_context import PENDING_BYTES, Caller
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.errors import BrokerError
from ottla.protocol.messages.consumer_group_heartbeat_request import (
    ConsumerGroupHeartbeatRequest,
)
from ottla.protocol.messages.join_group_request import JoinGroupRequest, JoinGroupRequestProtocol

MIB = 1024 * 1024


def join(harness: Harness, metadata: bytes, group_id: str = GROUP, version: int = 3) -> ErrorCode:
    """A new member; version 4 and later get an id first, and wait."""
    protocols = [JoinGroupRequestProtocol("range", metadata)]
    request = JoinGroupRequest(group_id, 10_000, 60_000, "", None, "consumer", protocols)
    caller, reply = Caller("client", "/host", version), ReplyBox()
    try:
        harness.step(lambda shard: membership_api.prepare_join(shard, request))
        harness.step(lambda shard: membership_api.join(shard, request, caller, reply))
    except BrokerError as error:
        return error.code
    return ErrorCode.NONE if reply.is_waiting else reply.code


def beat(harness: Harness, member_id: str, **changes: object) -> ErrorCode:
    request = ConsumerGroupHeartbeatRequest(
        GROUP, member_id, 0, rebalance_timeout_ms=60_000, topic_partitions=[]
    )
    for name, value in changes.items():
        setattr(request, name, value)
    caller = Caller("client", "/host", 1)
    try:
        harness.decide(lambda shard: consumer_api.heartbeat(shard, request, caller))
    except BrokerError as error:
        return error.code
    return ErrorCode.NONE


def test_the_members_of_a_group_may_hold_so_much_metadata() -> None:
    harness = Harness("ottla.group.bytes.max=100000")
    codes = [join(harness, bytes(20_000)) for _ in range(8)]
    assert codes == [ErrorCode.NONE] * 4 + [ErrorCode.GROUP_MAX_SIZE_REACHED] * 4
    assert join(harness, bytes(20_000), "another") == ErrorCode.NONE


def test_all_groups_together_may_hold_so_much_and_clients_try_again() -> None:
    harness = Harness("ottla.groups.bytes.max=1000000")
    tracemalloc.start()
    try:
        codes = [join(harness, bytes(10_000), f"g{at}") for at in range(1000)]
        _, peak_bytes = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert codes[0] == ErrorCode.NONE
    assert codes[-1] == ErrorCode.COORDINATOR_NOT_AVAILABLE
    assert peak_bytes < 3 * MIB
    harness.advance_ms(600_000)  # no member joins
    assert join(harness, bytes(10_000), "late") == ErrorCode.NONE


def test_groups_of_pending_members_count_and_are_free_again() -> None:
    harness = Harness("ottla.groups.bytes.max=1000000")
    codes = [join(harness, b"", f"g{at}", version=4) for at in range(1000)]
    assert codes[0] == ErrorCode.MEMBER_ID_REQUIRED
    assert codes[-1] == ErrorCode.COORDINATOR_NOT_AVAILABLE
    harness.advance_ms(60_000)
    harness.expire_offsets()
    assert not harness.shard.groups
    assert harness.shard.context.usage.member_bytes == 0


def test_of_many_pending_ids_the_oldest_is_forgotten() -> None:
    harness = Harness("ottla.group.members.max=10")
    for _ in range(50):
        assert join(harness, b"", version=4) == ErrorCode.MEMBER_ID_REQUIRED
    group = harness.classic()
    assert len(group.membership.pending) == 10
    assert group.held_bytes == 10 * PENDING_BYTES
    assert len(harness.shard.context.timers) == 10


def test_a_group_has_at_most_so_many_members() -> None:
    harness = Harness("ottla.group.members.max=3")
    codes = [join(harness, b"") for _ in range(4)]
    assert codes == [ErrorCode.NONE] * 3 + [ErrorCode.GROUP_MAX_SIZE_REACHED]
    harness = Harness("ottla.group.members.max=3")
    codes = [beat(harness, f"m{at}", subscribed_topic_names=["t"]) for at in range(4)]
    assert codes == [ErrorCode.NONE] * 3 + [ErrorCode.GROUP_MAX_SIZE_REACHED]


def test_a_member_may_name_so_many_topics() -> None:
    harness = Harness("ottla.group.topics.max=10")
    names = [f"t{at}" for at in range(11)]
    assert beat(harness, "m", subscribed_topic_names=names) == ErrorCode.INVALID_REQUEST
    assert beat(harness, "m", subscribed_topic_names=names[:10]) == ErrorCode.NONE


def test_members_that_want_the_same_topics_share_them() -> None:
    harness = Harness("ottla.group.bytes.max=100000")
    names = [f"a topic with a long name {at}" for at in range(300)]
    for at in range(20):
        assert beat(harness, f"m{at}", subscribed_topic_names=list(names)) == ErrorCode.NONE
    others = [f"another topic {at}" for at in range(300)]
    assert beat(harness, "m", subscribed_topic_names=others) == ErrorCode.GROUP_MAX_SIZE_REACHED
    assert len(harness.consumers().members) == 20


def test_the_members_of_a_group_may_have_so_many_patterns() -> None:
    harness = Harness("ottla.group.patterns.max=3")
    codes = [beat(harness, f"m{at}", subscribed_topic_regex=f"t{at}.*") for at in range(4)]
    assert codes == [ErrorCode.NONE] * 3 + [ErrorCode.INVALID_REQUEST]
    assert beat(harness, "again", subscribed_topic_regex="t1.*") == ErrorCode.NONE


def test_beyond_so_many_offsets_only_known_ones_are_committed() -> None:
    harness = Harness("ottla.offsets.max=3")
    harness.commit({("t", at): 1 for at in range(3)})
    refused = ErrorCode.INVALID_COMMIT_OFFSET_SIZE
    assert harness.commit({("t", 0): 2, ("t", 3): 2}) == {("t", 0): 0, ("t", 3): refused}
    harness.delete_group()
    assert harness.commit({("t", 3): 2}) == {("t", 3): 0}


def test_the_commit_that_reaches_the_bound_of_offsets_is_accepted_in_full() -> None:
    harness = Harness("ottla.offsets.max=3")
    assert set(harness.commit({("t", at): 1 for at in range(5)}).values()) == {0}
    assert harness.commit({("t", 5): 1}) == {("t", 5): ErrorCode.INVALID_COMMIT_OFFSET_SIZE}


@pytest.mark.parametrize("is_static", [False, True])
def test_new_metadata_of_a_member_replaces_the_old(is_static: bool) -> None:
    harness = Harness()
    client = ClassicClient(harness, instance_id="i" if is_static else None)
    client.join()
    held = harness.classic().held_bytes
    client.protocols = {"range": bytes(5000)}
    client.join()
    assert harness.classic().held_bytes == held + 5000


def test_a_transaction_commits_at_most_so_many_offsets() -> None:
    harness = Harness("ottla.transaction.offsets.max=3")
    harness.commit_in_transaction(7, {("t", at): 1 for at in range(3)})
    with pytest.raises(BrokerError) as refused:
        harness.commit_in_transaction(7, {("t", 3): 1})
    assert refused.value.code == ErrorCode.INVALID_COMMIT_OFFSET_SIZE
    harness.commit_in_transaction(8, {("t", 3): 1})
    harness.end_transaction(7, is_commit=True)
    harness.commit_in_transaction(7, {("t", 3): 1})


def test_one_commit_cannot_exceed_the_offsets_of_a_transaction() -> None:
    harness = Harness("ottla.transaction.offsets.max=3")
    for count in (4, 9):
        with pytest.raises(BrokerError) as refused:
            harness.commit_in_transaction(7, {("t", at): 1 for at in range(count)})
        assert refused.value.code == ErrorCode.INVALID_COMMIT_OFFSET_SIZE
    harness.commit_in_transaction(7, {("t", at): 1 for at in range(2)})
    for more in ((1, 2, 3), (2, 3)):
        with pytest.raises(BrokerError):
            harness.commit_in_transaction(7, {("t", at): 2 for at in more})
    harness.commit_in_transaction(7, {("t", at): 3 for at in range(3)})  # one of them is new
    harness.commit_in_transaction(7, {("t", at): 4 for at in range(3)})
    with pytest.raises(BrokerError):
        harness.commit_in_transaction(7, {("other", 0): 1})


def test_a_transaction_commits_offsets_of_at_most_so_many_topics() -> None:
    harness = Harness("ottla.transaction.offset.topics.max=3")
    for _ in range(3):  # the same again and again are no more
        harness.commit_in_transaction(7, {(f"t{at}", 0): 1 for at in range(3)})
    for topics in (["t3"], ["t0", "t3"], [f"t{at}" for at in range(4)]):
        with pytest.raises(BrokerError) as refused:
            harness.commit_in_transaction(7, {(each, 0): 1 for each in topics})
        assert refused.value.code == ErrorCode.INVALID_COMMIT_OFFSET_SIZE
    with pytest.raises(BrokerError):
        harness.commit_in_transaction(8, {(f"t{at}", 0): 1 for at in range(4)})
    harness.commit_in_transaction(8, {("t3", 0): 1})
    harness.end_transaction(7, is_commit=True)
    harness.commit_in_transaction(7, {("t3", 0): 1})
