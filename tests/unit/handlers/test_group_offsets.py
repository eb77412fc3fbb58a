"""OffsetCommit, OffsetFetch and OffsetDelete: names and ids, what exists and what does not."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from typing import Any

import pytest
from tests.unit.handlers.group_world import GroupWorld
from tests.unit.storage.log_making import batch_of

from ottla.base.scheduling.steps import run_blocking
from ottla.handlers.groups.known_partitions import PARTITIONS_AT_ONCE
from ottla.handlers.offset_fetch import ITEMS_AT_ONCE, offset_fetch
from ottla.handlers.serving.context import Context
from ottla.metadata.image import Batch
from ottla.metadata.records import PartitionChanged
from ottla.protocol.api_keys import ApiKey
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.messages.create_topics_request import CreatableTopic, CreateTopicsRequest
from ottla.protocol.messages.delete_topics_request import DeleteTopicsRequest
from ottla.protocol.messages.end_txn_request import EndTxnRequest
from ottla.protocol.messages.find_coordinator_request import FindCoordinatorRequest
from ottla.protocol.messages.init_producer_id_request import InitProducerIdRequest
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
    OffsetFetchRequestTopic,
    OffsetFetchRequestTopics,
)
from ottla.protocol.messages.offset_fetch_response import OffsetFetchResponse
from ottla.protocol.messages.txn_offset_commit_request import (
    TxnOffsetCommitRequest,
    TxnOffsetCommitRequestPartition,
    TxnOffsetCommitRequestTopic,
)

GROUP = "readers"
UNKNOWN = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
NO_ID = bytes(16)


@pytest.fixture
def world() -> Iterator[GroupWorld]:
    with GroupWorld() as world:
        yield world


def commit(
    world: GroupWorld,
    topics: dict[str | bytes, list[int]],
    version: int = 9,
    offset: int = 7,
    generation: int = -1,
) -> list[tuple[str | bytes, int, int]]:
    """(topic, partition, error code) in the order of the answer."""
    request = OffsetCommitRequest(
        GROUP,
        generation,
        topics=[
            OffsetCommitRequestTopic(
                topic if isinstance(topic, str) else "",
                topic if isinstance(topic, bytes) else NO_ID,
                [OffsetCommitRequestPartition(index, offset) for index in partitions],
            )
            for topic, partitions in topics.items()
        ],
    )
    answer = world.ask(request, version)
    return [
        (topic.topic_id if version >= 10 else topic.name, each.partition_index, each.error_code)
        for topic in answer.topics
        for each in topic.partitions
    ]


def fetch(
    world: GroupWorld, topics: list[OffsetFetchRequestTopics] | None, version: int
) -> dict[tuple[str | bytes, int], int]:
    """Offsets, or error codes below zero, by topic and partition."""
    request = OffsetFetchRequest(groups=[OffsetFetchRequestGroup(GROUP, topics=topics)])
    (group,) = world.ask(request, version).groups
    assert group.error_code == ErrorCode.NONE
    return {
        (topic.topic_id if version >= 10 else topic.name, each.partition_index): (
            -each.error_code or each.committed_offset
        )
        for topic in group.topics
        for each in topic.partitions
    }


@pytest.mark.parametrize("version", range(2, 10))
def test_only_offsets_of_partitions_that_exist_are_stored(world: GroupWorld, version: int) -> None:
    answers = commit(world, {"t": [0, 9], "nowhere": [0]}, version)
    assert sorted(answers) == [("nowhere", 0, UNKNOWN), ("t", 0, 0), ("t", 9, UNKNOWN)]
    assert fetch(world, None, 9) == {("t", 0): 7}


def test_nothing_is_asked_of_a_group_if_nothing_exists(world: GroupWorld) -> None:
    assert commit(world, {"nowhere": [0]}) == [("nowhere", 0, UNKNOWN)]


def test_missing_partitions_are_reported_beside_those_that_the_group_refuses(
    world: GroupWorld,
) -> None:
    refused = ErrorCode.GROUP_ID_NOT_FOUND
    assert commit(world, {"nowhere": [0], "t": [0, 9]}, generation=1) == [
        ("nowhere", 0, UNKNOWN), ("t", 9, UNKNOWN), ("t", 0, refused),
    ]  # fmt: skip


def test_a_missing_topic_is_returned_once_however_often_it_is_named(
    world: GroupWorld,
) -> None:
    named = OffsetCommitRequestTopic("nowhere", NO_ID, [OffsetCommitRequestPartition(0, 7)])
    (reported,) = world.ask(OffsetCommitRequest(GROUP, topics=[named, named]), 9).topics
    assert [each.partition_index for each in reported.partitions] == [0, 0]


def test_topics_by_id(world: GroupWorld) -> None:
    stranger = b"x" * 16
    answers = commit(world, {world.topic_id: [0, 9], stranger: [0]}, 10)
    assert sorted(answers) == sorted(
        [
            (world.topic_id, 0, 0),
            (world.topic_id, 9, UNKNOWN),
            (stranger, 0, ErrorCode.UNKNOWN_TOPIC_ID),
        ]
    )
    wanted = [
        OffsetFetchRequestTopics("", world.topic_id, [0, 1]),
        OffsetFetchRequestTopics("", stranger, [0]),
    ]
    assert fetch(world, wanted, 10) == {
        (world.topic_id, 0): 7,
        (world.topic_id, 1): -1,
        (stranger, 0): -ErrorCode.UNKNOWN_TOPIC_ID,
    }
    assert fetch(world, None, 10) == {(world.topic_id, 0): 7}


@pytest.mark.parametrize("version", range(1, 8))
def test_one_group_in_the_older_form(world: GroupWorld, version: int) -> None:
    commit(world, {"t": [0]})
    request = OffsetFetchRequest(GROUP, [OffsetFetchRequestTopic("t", [0, 1])])
    answer = world.ask(request, version)
    found = {each.partition_index: each.committed_offset for each in answer.topics[0].partitions}
    assert found == {0: 7, 1: -1}


@pytest.mark.parametrize("version", range(8, 11))
def test_several_groups_each_with_its_own_answer(world: GroupWorld, version: int) -> None:
    commit(world, {"t": [0]})
    request = OffsetFetchRequest(
        groups=[OffsetFetchRequestGroup(each, topics=None) for each in (GROUP, "other")]
    )
    answer = world.ask(request, version)
    assert [(each.group_id, len(each.topics)) for each in answer.groups] == [
        (GROUP, 1),
        ("other", 0),
    ]


def test_a_group_led_elsewhere_is_refused_alone(world: GroupWorld) -> None:
    groups = world.broker.groups

    async def resign() -> None:
        groups.resigned(groups.topic.partition_of(GROUP))

    world.run(resign())
    other = next(
        name
        for name in "abcdef"
        if world.broker.groups.topic.partition_of(name)
        != world.broker.groups.topic.partition_of(GROUP)
    )
    request = OffsetFetchRequest(
        groups=[OffsetFetchRequestGroup(each, topics=None) for each in (GROUP, other)]
    )
    answer = world.ask(request, 9)
    assert [each.error_code for each in answer.groups] == [ErrorCode.NOT_COORDINATOR, 0]
    old = world.ask(OffsetFetchRequest(GROUP, [OffsetFetchRequestTopic("t", [0])]), 1)
    assert old.topics[0].partitions[0].error_code == ErrorCode.NOT_COORDINATOR


@pytest.mark.parametrize("version", [1, 2, 5, 7])
def test_a_partition_whose_offset_cannot_be_shown_has_an_error(version: int) -> None:
    """Clients that do not look at the error of the group would begin at its start."""
    with GroupWorld({"offsets.commit.timeout.ms": "20"}) as world:
        commit(world, {"t": [0]})
        place = world.broker.groups.topic.partition_of(GROUP)
        topic = world.broker.publisher.image.topic("__consumer_offsets")
        assert topic is not None
        replicas = (world.broker.parts.broker_id, 2)
        other = PartitionChanged(
            topic.id, place.partition, 1, replicas=replicas, in_sync_replicas=replicas
        )

        async def lead_with_another() -> None:
            publisher = world.broker.publisher
            publisher.publish(Batch(publisher.image.offset, 1, (other,)))
            partition = world.broker.replicas.partition(*place)
            partition.append(batch_of(b"unreplicated"), 1)

        world.run(lead_with_another())
        request = OffsetFetchRequest(GROUP, [OffsetFetchRequestTopic("t", [0, 1])])
        (answer,) = world.ask(request, version).topics
        codes = [each.error_code for each in answer.partitions]
        assert codes == [ErrorCode.NOT_COORDINATOR] * 2


def test_deleting_says_of_each_partition_what_became_of_it(world: GroupWorld) -> None:
    commit(world, {"t": [0, 1]})
    request = OffsetDeleteRequest(
        GROUP,
        [
            OffsetDeleteRequestTopic(
                "t", [OffsetDeleteRequestPartition(0), OffsetDeleteRequestPartition(9)]
            ),
            OffsetDeleteRequestTopic("nowhere", [OffsetDeleteRequestPartition(0)]),
        ],
    )
    answer = world.ask(request, 0)
    codes = {
        (topic.name, each.partition_index): each.error_code
        for topic in answer.topics
        for each in topic.partitions
    }
    assert answer.error_code == ErrorCode.NONE
    assert codes == {("t", 0): 0, ("t", 9): UNKNOWN, ("nowhere", 0): UNKNOWN}
    assert fetch(world, None, 9) == {("t", 1): 7}


@pytest.mark.parametrize("partitions", [1, 2 * ITEMS_AT_ONCE])
def test_a_request_by_topic_id_keeps_its_topics_so_that_they_are_freed_in_pieces(
    world: GroupWorld, partitions: int
) -> None:
    commit(world, {"t": [0]})
    unknown = bytes([1] * 16)
    topics = [OffsetFetchRequestTopics(topic_id=unknown, partition_indexes=range(partitions))]
    request = OffsetFetchRequest(groups=[OffsetFetchRequestGroup(GROUP, topics=topics)])
    context = Context(world.broker.parts, world.me.session, ApiKey.OFFSET_FETCH, 10, 1, "client")
    outcome = offset_fetch(request, context)
    response = run_blocking(outcome) if isinstance(outcome, Generator) else outcome
    assert isinstance(response, OffsetFetchResponse)
    (reported,) = response.groups[0].topics
    assert {each.error_code for each in reported.partitions} == {ErrorCode.UNKNOWN_TOPIC_ID}
    assert request.groups[0].topics is topics


@pytest.mark.parametrize("partitions", [1, 2 * ITEMS_AT_ONCE])
def test_few_offsets_and_many_have_equal_answers(world: GroupWorld, partitions: int) -> None:
    commit(world, {"t": [0, 1]})
    wanted = [OffsetFetchRequestTopics("t", partition_indexes=list(range(partitions)))]
    known = {0: 7, 1: 7}
    for version in (8, 9):
        found = fetch(world, wanted, version)
        assert found == {("t", each): known.get(each, -1) for each in range(partitions)}


@pytest.mark.parametrize("metadata_bytes", [10, 3000])
def test_few_offsets_with_much_metadata_are_refused_by_the_size_of_the_response(
    world: GroupWorld, metadata_bytes: int
) -> None:
    world.broker.parts.large_responses.bytes_max = 2500
    each = OffsetCommitRequestPartition(0, 7, committed_metadata="m" * metadata_bytes)
    topic = OffsetCommitRequestTopic("t", partitions=[each])
    world.ask(OffsetCommitRequest(GROUP, -1, topics=[topic]), 8)
    wanted = [OffsetFetchRequestTopics("t", partition_indexes=[0])]
    request = OffsetFetchRequest(groups=[OffsetFetchRequestGroup(GROUP, topics=wanted)])
    (group,) = world.ask(request, 8).groups
    is_refused = group.error_code == ErrorCode.INVALID_REQUEST
    assert is_refused == (metadata_bytes == 3000)


@pytest.mark.parametrize("made_again", ["never", "during the verification", "later"])
@pytest.mark.parametrize("partitions", [1, 2 * PARTITIONS_AT_ONCE])
def test_a_topic_that_is_deleted_while_a_transaction_is_verified_leaves_no_offset_to_the_next(
    world: GroupWorld, monkeypatch: pytest.MonkeyPatch, partitions: int, made_again: str
) -> None:
    world.create_topic("gone", partitions)
    world.ask(FindCoordinatorRequest("tx", 1), 3)
    world.run(world.broker.transactions.runtime.loaded())
    producer = world.ask(InitProducerIdRequest("tx", 60_000), 4)
    verifier = world.broker.parts.verifier
    ask = verifier.ask
    again = CreateTopicsRequest([CreatableTopic("gone", partitions, 1)], 30_000)

    async def ask_late(*asked: Any) -> Any:
        await world._answer(DeleteTopicsRequest(topic_names=["gone"]), 5, world.me, None)
        if made_again == "during the verification":
            await world._answer(again, 7, world.me, None)
        return await ask(*asked)

    monkeypatch.setattr(verifier, "ask", ask_late)
    offsets = [TxnOffsetCommitRequestPartition(each, 7) for each in range(partitions)]
    topic = TxnOffsetCommitRequestTopic("gone", offsets)
    who = producer.producer_id, producer.producer_epoch
    (refused,) = world.ask(TxnOffsetCommitRequest("tx", GROUP, *who, topics=[topic]), 5).topics
    codes = {each.error_code for each in refused.partitions}
    assert codes == {ErrorCode.COORDINATOR_NOT_AVAILABLE}
    if made_again == "later":
        world.ask(again, 7)
    world.ask(EndTxnRequest("tx", *who, True), 5)
    assert not world.broker.groups.service._shard(GROUP).state.offsets.of_group(GROUP)
