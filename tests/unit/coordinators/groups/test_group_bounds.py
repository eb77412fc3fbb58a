"""What groups may hold: members, metadata, subscriptions, offsets."""

from __future__ import annotations

import tracemalloc

import pytest
from tests.unit.coordinators.groups.bench import GROUP, Bench, ClassicClient, ReplyBox

from ottla.coordinators.groups import consumer_requests, group_requests
from ottla.coordinators.groups.shared import PENDING_BYTES, Caller
from ottla.coordinators.groups.timers import STALE_MAX, Timers
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.errors import BrokerError
from ottla.protocol.messages.consumer_group_heartbeat_request import (
    ConsumerGroupHeartbeatRequest,
)
from ottla.protocol.messages.join_group_request import JoinGroupRequest, JoinGroupRequestProtocol

MIB = 1024 * 1024


def join(bench: Bench, metadata: bytes, group_id: str = GROUP, version: int = 3) -> ErrorCode:
    """A new member; version 4 and later get an id first, and wait."""
    protocols = [JoinGroupRequestProtocol("range", metadata)]
    request = JoinGroupRequest(group_id, 10_000, 60_000, "", None, "consumer", protocols)
    caller, reply = Caller("client", "/host", version), ReplyBox()
    try:
        bench.step(lambda shard: group_requests.prepare_join(shard, request), group_id)
        bench.step(lambda shard: group_requests.join(shard, request, caller, reply), group_id)
    except BrokerError as error:
        return error.code
    return ErrorCode.NONE if reply.is_waiting else reply.code


def beat(bench: Bench, member_id: str, **changes: object) -> ErrorCode:
    request = ConsumerGroupHeartbeatRequest(
        GROUP, member_id, 0, rebalance_timeout_ms=60_000, topic_partitions=[]
    )
    for name, value in changes.items():
        setattr(request, name, value)
    caller = Caller("client", "/host", 1)
    try:
        bench.decide(lambda shard: consumer_requests.heartbeat(shard, request, caller))
    except BrokerError as error:
        return error.code
    return ErrorCode.NONE


def test_the_members_of_a_group_may_hold_so_much_metadata() -> None:
    bench = Bench("ottla.group.bytes.max=100000")
    codes = [join(bench, bytes(20_000)) for _ in range(8)]
    assert codes == [ErrorCode.NONE] * 4 + [ErrorCode.GROUP_MAX_SIZE_REACHED] * 4
    assert join(bench, bytes(20_000), "another") == ErrorCode.NONE


def test_all_groups_together_may_hold_so_much_and_clients_try_again() -> None:
    bench = Bench("ottla.groups.bytes.max=1000000")
    tracemalloc.start()
    try:
        codes = [join(bench, bytes(10_000), f"g{at}") for at in range(1000)]
        _, peak_bytes = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert codes[0] == ErrorCode.NONE
    assert codes[-1] == ErrorCode.COORDINATOR_NOT_AVAILABLE
    assert peak_bytes < 3 * MIB
    bench.advance_ms(600_000)  # nobody shows up
    assert join(bench, bytes(10_000), "late") == ErrorCode.NONE


def test_groups_of_pending_members_count_and_are_free_again() -> None:
    bench = Bench("ottla.groups.bytes.max=1000000")
    codes = [join(bench, b"", f"g{at}", version=4) for at in range(1000)]
    assert codes[0] == ErrorCode.MEMBER_ID_REQUIRED
    assert codes[-1] == ErrorCode.COORDINATOR_NOT_AVAILABLE
    bench.advance_ms(60_000)
    bench.expire_offsets()
    assert not bench.shard.groups
    assert bench.shard.shared.usage.member_bytes == 0


def test_of_many_pending_ids_the_oldest_is_forgotten() -> None:
    bench = Bench("ottla.group.members.max=10")
    for _ in range(50):
        assert join(bench, b"", version=4) == ErrorCode.MEMBER_ID_REQUIRED
    group = bench.classic()
    assert len(group.pending) == 10
    assert group.held_bytes == 10 * PENDING_BYTES
    assert len(bench.shard.shared.timers) == 10


def test_a_group_has_at_most_so_many_members() -> None:
    bench = Bench("ottla.group.members.max=3")
    codes = [join(bench, b"") for _ in range(4)]
    assert codes == [ErrorCode.NONE] * 3 + [ErrorCode.GROUP_MAX_SIZE_REACHED]
    bench = Bench("ottla.group.members.max=3")
    codes = [beat(bench, f"m{at}", subscribed_topic_names=["t"]) for at in range(4)]
    assert codes == [ErrorCode.NONE] * 3 + [ErrorCode.GROUP_MAX_SIZE_REACHED]


def test_a_member_may_name_so_many_topics() -> None:
    bench = Bench("ottla.group.topics.max=10")
    names = [f"t{at}" for at in range(11)]
    assert beat(bench, "m", subscribed_topic_names=names) == ErrorCode.INVALID_REQUEST
    assert beat(bench, "m", subscribed_topic_names=names[:10]) == ErrorCode.NONE


def test_members_that_want_the_same_topics_share_them() -> None:
    bench = Bench("ottla.group.bytes.max=100000")
    names = [f"a topic with a long name {at}" for at in range(300)]
    for at in range(20):
        assert beat(bench, f"m{at}", subscribed_topic_names=list(names)) == ErrorCode.NONE
    others = [f"another topic {at}" for at in range(300)]
    assert beat(bench, "m", subscribed_topic_names=others) == ErrorCode.GROUP_MAX_SIZE_REACHED
    assert len(bench.consumers().members) == 20


def test_the_members_of_a_group_may_have_so_many_patterns() -> None:
    bench = Bench("ottla.group.patterns.max=3")
    codes = [beat(bench, f"m{at}", subscribed_topic_regex=f"t{at}.*") for at in range(4)]
    assert codes == [ErrorCode.NONE] * 3 + [ErrorCode.INVALID_REQUEST]
    assert beat(bench, "again", subscribed_topic_regex="t1.*") == ErrorCode.NONE


def test_beyond_so_many_offsets_only_known_ones_are_committed() -> None:
    bench = Bench("ottla.offsets.max=3")
    bench.commit({("t", at): 1 for at in range(3)})
    refused = ErrorCode.INVALID_COMMIT_OFFSET_SIZE
    assert bench.commit({("t", 0): 2, ("t", 3): 2}) == {("t", 0): 0, ("t", 3): refused}
    bench.delete_group()
    assert bench.commit({("t", 3): 2}) == {("t", 3): 0}


def test_cancelled_deadlines_leave_nothing_behind() -> None:
    timers: Timers[int] = Timers(lambda: 0)
    timers.start(-1, 1000)
    for at in range(10 * STALE_MAX):
        timers.start(at, 1_000_000)
        timers.cancel(at)
    assert len(timers._queue) <= STALE_MAX + 3
    assert timers.next_ms == 1000


@pytest.mark.parametrize("is_static", [False, True])
def test_what_a_member_says_anew_replaces_what_it_said(is_static: bool) -> None:
    bench = Bench()
    client = ClassicClient(bench, instance_id="i" if is_static else None)
    client.join()
    held = bench.classic().held_bytes
    client.protocols = {"range": bytes(5000)}
    client.join()
    assert bench.classic().held_bytes == held + 5000


def test_a_transaction_commits_at_most_so_many_offsets() -> None:
    bench = Bench("ottla.transaction.offsets.max=3")
    bench.commit_in_transaction(7, {("t", at): 1 for at in range(3)})
    with pytest.raises(BrokerError) as refused:
        bench.commit_in_transaction(7, {("t", 3): 1})
    assert refused.value.code == ErrorCode.INVALID_COMMIT_OFFSET_SIZE
    bench.commit_in_transaction(8, {("t", 3): 1})
    bench.end_transaction(7, is_commit=True)
    bench.commit_in_transaction(7, {("t", 3): 1})


def test_a_transaction_commits_offsets_of_at_most_so_many_topics() -> None:
    bench = Bench("ottla.transaction.offset.topics.max=3")
    for _ in range(3):  # the same again and again are no more
        bench.commit_in_transaction(7, {(f"t{at}", 0): 1 for at in range(3)})
    for topics in (["t3"], ["t0", "t3"], [f"t{at}" for at in range(4)]):
        with pytest.raises(BrokerError) as refused:
            bench.commit_in_transaction(7, {(each, 0): 1 for each in topics})
        assert refused.value.code == ErrorCode.INVALID_COMMIT_OFFSET_SIZE
    with pytest.raises(BrokerError):
        bench.commit_in_transaction(8, {(f"t{at}", 0): 1 for at in range(4)})
    bench.commit_in_transaction(8, {("t3", 0): 1})
    bench.end_transaction(7, is_commit=True)
    bench.commit_in_transaction(7, {("t3", 0): 1})
