"""A client that leaves while its request is handled: the request takes effect whole, or not at all.

Each request is given up after every number of iterations of the event loop until it is answered.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from typing import Any, cast

import pytest
from tests.unit.coordinators.groups.test_leadership import SlicingClock
from tests.unit.handlers.group_world import GroupWorld
from tests.unit.handlers.world import FakeConnection

from ottla.network.connection import Connection
from ottla.network.request_server import Answer, Served, TakingEffect
from ottla.protocol.api_keys import ApiKey
from ottla.protocol.framing import LENGTH_BYTES
from ottla.protocol.headers import encode_request
from ottla.protocol.message import Message
from ottla.protocol.messages.add_partitions_to_txn_request import (
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnTopic,
)
from ottla.protocol.messages.delete_groups_request import DeleteGroupsRequest
from ottla.protocol.messages.find_coordinator_request import FindCoordinatorRequest
from ottla.protocol.messages.init_producer_id_request import InitProducerIdRequest
from ottla.protocol.messages.join_group_request import JoinGroupRequest, JoinGroupRequestProtocol
from ottla.protocol.messages.leave_group_request import LeaveGroupRequest, MemberIdentity
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
from ottla.protocol.messages.txn_offset_commit_request import (
    TxnOffsetCommitRequest,
    TxnOffsetCommitRequestPartition,
    TxnOffsetCommitRequestTopic,
)

GROUP = "readers"
PARTITIONS = 120
MEMBERS = 60
TRANSACTION = 1


@pytest.fixture
def world() -> Iterator[GroupWorld]:
    with GroupWorld(clock=SlicingClock()) as world:
        world.create_topic("many", PARTITIONS)
        yield world


def begin(world: GroupWorld, request: Message, version: int, by: FakeConnection) -> Served:
    key = ApiKey(request.API_KEY)  # type: ignore[attr-defined]  # of all requests
    frame = bytearray(b"".join(encode_request(key, version, 1, None, request)))
    return world.dispatcher.serve(memoryview(frame)[LENGTH_BYTES:], cast(Connection, by))


async def leave_after(turns: int, world: GroupWorld, request: Message, version: int) -> bool:
    """Whether it was answered before. What only waits is cancelled, as by the network."""
    connection = FakeConnection()
    served = begin(world, request, version, connection)
    is_gone = False
    while not isinstance(served, Answer):
        task = asyncio.ensure_future(served.answer)
        while not task.done() and not is_gone:
            await asyncio.sleep(0)
            turns -= 1
            if turns < 0:
                is_gone = True
                world.dispatcher.closed(cast(Connection, connection))
        if is_gone and not isinstance(served, TakingEffect):
            task.cancel()
        try:
            served = await task
        except asyncio.CancelledError:
            break
    return not is_gone


def effects(
    world: GroupWorld, request: Message, version: int, prepare: Callable[[], None],
    observe: Callable[[], Any],
) -> set[Any]:  # fmt: skip
    """What is left behind by a client that leaves, at one time or another."""
    found, turns, is_answered = set(), 0, False
    while not is_answered:
        prepare()
        is_answered = world.run(leave_after(turns, world, request, version))
        found.add(observe())
        turns = turns + 1 + turns // 4
    return found


def commit() -> OffsetCommitRequest:
    offsets = [OffsetCommitRequestPartition(each, 1) for each in range(PARTITIONS)]
    topics = [OffsetCommitRequestTopic("many", partitions=offsets)]
    return OffsetCommitRequest(GROUP, -1, "", topics=topics)


def offsets_of(world: GroupWorld) -> int:
    return world.broker.groups.service.shard_of(GROUP).state.offsets.count_of(GROUP)


def members_of(world: GroupWorld) -> set[str]:
    return set(world.broker.groups.service.member_ids(GROUP))


@pytest.mark.parametrize(
    "request_",
    [
        DeleteGroupsRequest([GROUP]),
        OffsetDeleteRequest(
            GROUP,
            [
                OffsetDeleteRequestTopic(
                    "many", [OffsetDeleteRequestPartition(each) for each in range(PARTITIONS)]
                )
            ],
        ),
    ],
    ids=lambda request: type(request).__name__,
)
def test_all_offsets_are_deleted_or_none(world: GroupWorld, request_: Message) -> None:
    def prepare() -> None:
        world.ask(commit(), 8)

    version = 2 if isinstance(request_, DeleteGroupsRequest) else 0
    left = effects(world, request_, version, prepare, lambda: offsets_of(world))
    assert 0 in left
    assert left <= {0, PARTITIONS}


def test_all_offsets_are_committed_or_none(world: GroupWorld) -> None:
    def prepare() -> None:
        world.ask(DeleteGroupsRequest([GROUP]), 2)

    assert effects(world, commit(), 8, prepare, lambda: offsets_of(world)) == {0, PARTITIONS}


def test_all_members_leave_or_none(world: GroupWorld) -> None:
    async def join(members: int) -> None:
        """Join until there are so many members, without waiting for the answers."""
        for _ in range(members):
            protocols = [JoinGroupRequestProtocol("range", b"topics")]
            request = JoinGroupRequest(GROUP, 1_800_000, 1_800_000, "", None, "consumer", protocols)
            served = begin(world, request, 3, FakeConnection())
            assert not isinstance(served, Answer)
            waiting.append(asyncio.ensure_future(served.answer))
        await asyncio.sleep(0)

    def prepare() -> None:
        world.run(join(MEMBERS - len(members_of(world))))
        members = [MemberIdentity(each) for each in members_of(world)]
        request.members = members

    waiting: list[asyncio.Future[Any]] = []
    request = LeaveGroupRequest(GROUP)
    left = effects(world, request, 5, prepare, lambda: len(members_of(world)))
    assert 0 in left
    assert left <= {0, MEMBERS}
    for each in waiting:
        each.cancel()


def producer_of(world: GroupWorld) -> tuple[int, int]:
    """Of a new transaction."""
    world.ask(FindCoordinatorRequest("tx", TRANSACTION), 3)
    while (answer := world.ask(InitProducerIdRequest("tx", 600_000), 4)).error_code:
        world.run(asyncio.sleep(0))
    return answer.producer_id, answer.producer_epoch


def test_all_partitions_are_added_to_a_transaction_or_none(world: GroupWorld) -> None:
    def prepare() -> None:
        producer_id, epoch = producer_of(world)
        request.v3_and_below_producer_id, request.v3_and_below_producer_epoch = producer_id, epoch

    def observe() -> int:
        _, transaction = world.broker.transactions.describe("tx")
        return len(transaction.partitions)

    topics = [AddPartitionsToTxnTopic("many", list(range(PARTITIONS)))]
    request = AddPartitionsToTxnRequest([], "tx", v3_and_below_topics=topics)
    assert effects(world, request, 3, prepare, observe) == {0, PARTITIONS}


def test_all_offsets_are_added_to_a_transaction_or_none(world: GroupWorld) -> None:
    def prepare() -> None:
        producer_id, epoch = producer_of(world)
        request.producer_id, request.producer_epoch = producer_id, epoch

    offsets = [TxnOffsetCommitRequestPartition(each, 1) for each in range(PARTITIONS)]
    topics = [TxnOffsetCommitRequestTopic("many", offsets)]
    request = TxnOffsetCommitRequest("tx", GROUP, topics=topics)
    assert effects(world, request, 5, prepare, lambda: offsets_of(world)) == {0, PARTITIONS}
