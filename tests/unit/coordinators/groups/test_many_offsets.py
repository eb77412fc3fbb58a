"""Commits of many offsets take another way through the coordinator, and come to the same."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from tests.unit.coordinators.groups.broker_world import BrokerWorld
from tests.unit.coordinators.groups.test_service import GROUP, beat, new_world, outcome, run

from ottla.base.scheduling.steps import run_blocking
from ottla.coordinators.groups.shard_context import Caller
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.errors import BrokerError
from ottla.protocol.messages.offset_commit_request import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from ottla.protocol.messages.txn_offset_commit_request import (
    TxnOffsetCommitRequest,
    TxnOffsetCommitRequestPartition,
    TxnOffsetCommitRequestTopic,
)

METADATA_MAX = 4096
PLACES = [  # topic, partition, offset, metadata
    [("t", 0, 5, "a")],
    [("t", 0, 5, ""), ("t", 1, 6, "b" * METADATA_MAX), ("u", 0, 7, "c" * (METADATA_MAX + 1))],
    [("nobody", 0, 1, ""), ("t", 0, 2, "")],
    [("t", 0, 2, ""), ("nobody", 0, 1, "")],
    [],
]
MEMBERS = [("", -1), ("member", 1), ("member", 0), ("member", 9), ("stranger", 1)]


def topics_of(places: list[tuple[str, int, int, str]]) -> dict[str, list[Any]]:
    topics: dict[str, list[Any]] = {}
    for name, index, offset, metadata in places:
        wanted = TxnOffsetCommitRequestPartition(index, offset, 3, metadata)
        topics.setdefault(name, []).append(wanted)
    return topics


async def result_of(answer: Callable[[], Any]) -> object:
    try:
        found = answer()
        return await outcome(found) if isinstance(found, Awaitable) else found
    except BrokerError as error:
        return error.code


def known_of(world: BrokerWorld) -> tuple[object, ...]:
    """What was committed, without the offsets of records: those may be in other batches."""
    state = world.groups.service._shard(GROUP).state.offsets
    return (
        {
            (group, topic, at): each._replace(record_offset=0)
            for group, topics in state.committed.items()
            for topic, partitions in topics.items()
            for at, each in partitions.items()
        },
        set(state.pending),
    )


async def world_with(has_member: bool) -> BrokerWorld:
    world = await new_world()
    world.create_topic("u")
    if has_member:
        await outcome(beat(world, 0))
    return world


@pytest.mark.parametrize("places", PLACES)
@pytest.mark.parametrize(("member_id", "epoch"), MEMBERS)
@pytest.mark.parametrize("has_member", [False, True])
def test_many_offsets_in_a_transaction_are_committed_as_few_are(
    has_member: bool, member_id: str, epoch: int, places: list[tuple[str, int, int, str]]
) -> None:
    places = [each for each in places if each[0] != "nobody"]  # only topics that exist come so far

    async def story() -> None:
        request = TxnOffsetCommitRequest(
            "transaction",
            GROUP,
            7,
            0,
            epoch,
            member_id,
            None,
            [TxnOffsetCommitRequestTopic(name, each) for name, each in topics_of(places).items()],
        )
        few, many = await world_with(has_member), await world_with(has_member)
        expected = await result_of(
            lambda: few.groups.service.offsets.commit_transactional(request, 3)
        )
        topic_ids = {name: topic.id for name, topic in many.image.topics.items()}
        found = await result_of(
            lambda: many.groups.service.offsets.commit_many_transactional(request, 3, topic_ids)
        )
        assert found == expected
        assert known_of(many) == known_of(few)

    run(story())


@pytest.mark.parametrize("places", PLACES)
@pytest.mark.parametrize(("member_id", "epoch"), MEMBERS)
def test_many_offsets_are_committed_as_few_are(
    member_id: str, epoch: int, places: list[tuple[str, int, int, str]]
) -> None:
    async def story() -> None:
        few, many = await world_with(True), await world_with(True)
        topics = []
        for name, each in topics_of(places).items():
            topic = few.image.topic(name)
            partitions = [
                OffsetCommitRequestPartition(
                    one.partition_index, one.committed_offset, 3, one.committed_metadata
                )
                for one in each
            ]
            topic_id = bytes(16) if topic is None else topic.id
            topics.append(OffsetCommitRequestTopic(name, topic_id, partitions))
        request = OffsetCommitRequest(GROUP, epoch, member_id, None, -1, topics)
        caller = Caller("client", "/host", 9)
        expected = await result_of(lambda: few.groups.service.offsets.commit(request, caller))
        found = await result_of(
            lambda: run_blocking(many.groups.service.offsets.commit_many(request, caller))
        )
        assert found == expected
        assert known_of(many) == known_of(few)
        assert found != ErrorCode.UNKNOWN_SERVER_ERROR

    run(story())
