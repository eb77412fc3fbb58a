"""Markers and questions for other brokers: shared requests, and which error a producer gets."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from random import Random
from types import SimpleNamespace
from typing import Any, cast

import pytest
from tests.support.scripted_peer import ScriptedPeer

from ottla.base.ids import TopicPartition
from ottla.base.scheduling.tasks import OwnedTasks
from ottla.broker.transaction_peers import (
    BATCH_MAX,
    BatchedRequests,
    RoutedCoordinator,
    TransactionPeers,
)
from ottla.coordinators.transactions.coordinator import TransactionCoordinator
from ottla.coordinators.transactions.transaction import ProducerIdAndEpoch
from ottla.network.channel.channel import Channels, ChannelSettings
from ottla.network.channel.errors import ResponseLost
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.errors import BrokerError
from ottla.protocol.messages.add_partitions_to_txn_response import (
    AddPartitionsToTxnPartitionResult,
    AddPartitionsToTxnResponse,
    AddPartitionsToTxnResult,
    AddPartitionsToTxnTopicResult,
)

LONG_S = 60.0
SETTINGS = ChannelSettings("test", "1", LONG_S, 1 << 20)
PRODUCER = ProducerIdAndEpoch(7, 3)
PARTITIONS = (TopicPartition("a", 0), TopicPartition("b", 1), TopicPartition("a", 2))


def run(story: Coroutine[Any, Any, None]) -> None:
    asyncio.run(asyncio.wait_for(story, LONG_S))


class Peer:
    """Answers batches with their items, each doubled, when it is let."""

    def __init__(self) -> None:
        self.batches: list[list[int]] = []
        self.may_answer = asyncio.Event()
        self.failing = 0  # batches to come

    async def send(self, items: list[int]) -> list[int]:
        self.batches.append(items)
        await self.may_answer.wait()
        if self.failing:
            self.failing -= 1
            raise ResponseLost("of a test")
        return [2 * item for item in items]


@pytest.mark.parametrize("count", [1, 2, BATCH_MAX, BATCH_MAX + 1, 2 * BATCH_MAX + 1])
def test_every_item_gets_its_own_result(count: int) -> None:
    async def story() -> None:
        peer = Peer()
        requests = BatchedRequests(peer.send, OwnedTasks())
        results = asyncio.gather(*(requests.add(item) for item in range(count)))
        await asyncio.sleep(0)
        peer.may_answer.set()
        assert await results == [2 * item for item in range(count)]
        assert [item for batch in peer.batches for item in batch] == list(range(count))
        assert max(map(len, peer.batches)) <= BATCH_MAX

    run(story())


def test_items_that_come_during_a_request_share_the_next_one() -> None:
    async def story() -> None:
        peer = Peer()
        requests = BatchedRequests(peer.send, OwnedTasks())
        adding = [asyncio.ensure_future(requests.add(0))]
        while not peer.batches:
            await asyncio.sleep(0)
        adding += [asyncio.ensure_future(requests.add(item)) for item in (1, 2, 3)]
        await asyncio.sleep(0)
        peer.may_answer.set()
        assert await asyncio.gather(*adding) == [0, 2, 4, 6]
        assert peer.batches == [[0], [1, 2, 3]]

    run(story())


def test_a_lost_response_fails_the_items_of_its_request_alone() -> None:
    async def story() -> None:
        peer = Peer()
        peer.failing = 1
        requests = BatchedRequests(peer.send, OwnedTasks())
        first = asyncio.ensure_future(requests.add(1))
        while not peer.batches:
            await asyncio.sleep(0)
        second = asyncio.ensure_future(requests.add(2))
        await asyncio.sleep(0)
        peer.may_answer.set()
        with pytest.raises(ConnectionError, match="of a test"):
            await first
        assert await second == 4
        assert await requests.add(3) == 6

    run(story())


def test_a_response_with_too_few_results_fails_its_items() -> None:
    async def story() -> None:
        async def send(items: list[int]) -> list[int]:
            return items[1:]

        requests = BatchedRequests(send, OwnedTasks())
        adding = [requests.add(item) for item in range(3)]
        found = await asyncio.gather(*adding, return_exceptions=True)
        assert [type(each) for each in found] == [ConnectionError] * 3
        assert "2 results for 3 items" in str(found[0])

    run(story())


def test_items_come_and_leave_in_any_order() -> None:
    async def story(seed: int) -> None:
        rng, peer, tasks = Random(seed), Peer(), OwnedTasks()
        peer.may_answer.set()
        requests = BatchedRequests(peer.send, tasks)
        adding: dict[int, asyncio.Task[int]] = {}
        for item in range(200):
            adding[item] = asyncio.ensure_future(requests.add(item))
            if rng.random() < 0.2:
                rng.choice(list(adding.values())).cancel()
            if rng.random() < 0.05:
                peer.failing += 1
            for _ in range(rng.randrange(3)):
                await asyncio.sleep(0)
        await asyncio.wait(adding.values())
        for item, task in adding.items():
            if not task.cancelled() and task.exception() is None:
                assert task.result() == 2 * item
        await tasks.finish()

    for seed in range(20):
        run(story(seed))


class Answers(dict[TopicPartition, ErrorCode]):
    """The codes with which the other coordinator answers; NONE for the rest."""

    def to(self, request: Any) -> AddPartitionsToTxnResponse:
        (transaction,) = request.transactions
        topics = [
            AddPartitionsToTxnTopicResult(
                topic.name,
                [
                    AddPartitionsToTxnPartitionResult(
                        index, self.get(TopicPartition(topic.name, index), ErrorCode.NONE)
                    )
                    for index in topic.partitions
                ],
            )
            for topic in transaction.topics
        ]
        result = AddPartitionsToTxnResult(transaction.transactional_id, topics)
        return AddPartitionsToTxnResponse(results_by_transaction=[result])


Ask = Callable[[RoutedCoordinator], Coroutine[Any, Any, Any]]


def ask_elsewhere(ask: Ask, answers: Answers | None) -> tuple[Any, Any]:
    """The result of `ask` if the coordinator is on another broker, and the request that it got;
    without `answers`, its connection is lost."""

    async def story() -> tuple[Any, Any]:
        here = SimpleNamespace(topic=SimpleNamespace(leader_of=lambda _id: 2))
        async with ScriptedPeer() as peer:
            channels = Channels(lambda _id: ("127.0.0.1", peer.port), SETTINGS)
            peers = TransactionPeers(channels, LONG_S, OwnedTasks())
            anywhere = RoutedCoordinator(1, cast(TransactionCoordinator, here), peers)
            asking = asyncio.ensure_future(ask(anywhere))
            received = await peer.received.get()
            if answers is None:
                received.writer.close()
            else:
                received.answer(answers.to(received.message))
            try:
                await asyncio.wait([asking])
                return asking, received.message
            finally:
                channels.close()

    return asyncio.run(asyncio.wait_for(story(), LONG_S))


def verify(anywhere: RoutedCoordinator) -> Coroutine[Any, Any, Any]:
    return anywhere.verify_partitions("id", PRODUCER, PARTITIONS)


def add(anywhere: RoutedCoordinator) -> Coroutine[Any, Any, Any]:
    return anywhere.add_partitions("id", PRODUCER, PARTITIONS, 2)


def code_of(asking: asyncio.Task[Any]) -> ErrorCode:
    error = asking.exception()
    assert isinstance(error, BrokerError)
    return error.code


@pytest.mark.parametrize("verifies", [True, False])
def test_the_question_names_the_producer_and_all_partitions(verifies: bool) -> None:
    asking, request = ask_elsewhere(verify if verifies else add, Answers())
    (question,) = request.transactions
    assert question.transactional_id == "id"
    assert (question.producer_id, question.producer_epoch) == PRODUCER
    assert question.verify_only is verifies
    asked = {each.name: list(each.partitions) for each in question.topics}
    assert asked == {"a": [0, 2], "b": [1]}
    expected = dict.fromkeys(PARTITIONS, ErrorCode.NONE) if verifies else None
    assert asking.result() == expected


def test_of_several_errors_the_one_of_the_partition_itself_is_reported() -> None:
    """The others were not attempted because of it."""
    for wrong in PARTITIONS:
        answers = Answers(dict.fromkeys(PARTITIONS, ErrorCode.OPERATION_NOT_ATTEMPTED))
        answers[wrong] = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        asking, _ = ask_elsewhere(add, answers)
        assert code_of(asking) is ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


@pytest.mark.parametrize(
    ("theirs", "ours"),
    [
        (ErrorCode.NOT_COORDINATOR, ErrorCode.NOT_ENOUGH_REPLICAS),
        (ErrorCode.COORDINATOR_NOT_AVAILABLE, ErrorCode.NOT_ENOUGH_REPLICAS),
        (ErrorCode.INVALID_TXN_STATE, ErrorCode.INVALID_TXN_STATE),
        (ErrorCode.INVALID_PRODUCER_EPOCH, ErrorCode.INVALID_PRODUCER_EPOCH),
    ],
)
def test_a_producer_gets_errors_that_leaders_have(theirs: ErrorCode, ours: ErrorCode) -> None:
    answers = Answers({PARTITIONS[1]: theirs})
    asking, _ = ask_elsewhere(verify, answers)
    expected = dict.fromkeys(PARTITIONS, ErrorCode.NONE) | {PARTITIONS[1]: ours}
    assert asking.result() == expected
    asking, _ = ask_elsewhere(add, answers)
    assert code_of(asking) is ours


@pytest.mark.parametrize("ask", [verify, add])
def test_a_coordinator_that_loads_is_waited_for(ask: Ask) -> None:
    loading = ErrorCode.COORDINATOR_LOAD_IN_PROGRESS
    asking, _ = ask_elsewhere(ask, Answers({PARTITIONS[2]: loading}))
    assert code_of(asking) is loading


@pytest.mark.parametrize("ask", [verify, add])
def test_a_coordinator_that_is_lost_is_an_error_that_producers_retry(ask: Ask) -> None:
    asking, _ = ask_elsewhere(ask, None)
    assert code_of(asking) is ErrorCode.NOT_ENOUGH_REPLICAS
