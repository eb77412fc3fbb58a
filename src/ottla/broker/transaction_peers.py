"""Transactions over several brokers: markers for other leaders, questions to other coordinators.

Promises  markers and questions that arrive while a request to the same broker is in flight share
          the next one. A broker that cannot be reached is an error that the caller retries.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Awaitable, Callable, Collection, Iterable, Sequence
from functools import partial
from typing import Generic, TypeVar

from ottla.base.ids import TopicPartition
from ottla.base.scheduling.tasks import OwnedTasks
from ottla.coordinators.transactions.coordinator import TransactionCoordinator
from ottla.coordinators.transactions.transaction import ProducerIdAndEpoch
from ottla.network.channel.channel import Channels
from ottla.network.channel.errors import ChannelError
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.errors import BrokerError
from ottla.protocol.messages.add_partitions_to_txn_request import (
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnTopic,
    AddPartitionsToTxnTransaction,
)
from ottla.protocol.messages.add_partitions_to_txn_response import AddPartitionsToTxnResult
from ottla.protocol.messages.write_txn_markers_request import (
    WritableTxnMarker,
    WriteTxnMarkersRequest,
)
from ottla.protocol.messages.write_txn_markers_response import WritableTxnMarkerResult

I = TypeVar("I")  # noqa: E741
R = TypeVar("R")
BATCH_MAX = 500  # items of one request


class BatchedRequests(Generic[I, R]):
    """Items for one broker, and their results."""

    def __init__(
        self, send: Callable[[list[I]], Awaitable[Sequence[R]]], tasks: OwnedTasks
    ) -> None:
        self._send = send
        self._tasks = tasks
        self._waiting: list[tuple[I, asyncio.Future[R]]] = []
        self._is_sending = False

    async def add(self, item: I) -> R:
        """OSError if there was no response."""
        result: asyncio.Future[R] = asyncio.get_running_loop().create_future()
        self._waiting.append((item, result))
        if not self._is_sending:
            self._is_sending = True
            self._tasks.start(self._send_all(), name="transactions on other brokers")
        return await result

    async def _send_all(self) -> None:
        try:
            while self._waiting:
                batch, self._waiting = self._waiting[:BATCH_MAX], self._waiting[BATCH_MAX:]
                await self._send_batch(batch)
        finally:
            self._is_sending = False

    async def _send_batch(self, batch: list[tuple[I, asyncio.Future[R]]]) -> None:
        try:
            results = await self._send([item for item, _ in batch])
            if len(results) != len(batch):
                what = f"{len(results)} results for {len(batch)} items"
                raise BrokerError(ErrorCode.UNKNOWN_SERVER_ERROR, what)
        except (ChannelError, BrokerError) as error:
            for _, result in batch:
                if not result.done():
                    result.set_exception(ConnectionError(str(error)))
            return
        except BaseException:
            for _, result in batch:
                result.cancel()
            raise
        for (_, result), found in zip(batch, results, strict=True):
            if not result.done():
                result.set_result(found)


class TransactionPeers:
    """Every other broker, as leader of partitions and as coordinator of transactions."""

    def __init__(self, channels: Channels, timeout_s: float, tasks: OwnedTasks) -> None:
        self._channels = channels
        self._timeout_s = timeout_s
        self._tasks = tasks
        self._markers: dict[int, RemoteMarkers] = {}
        self._questions: dict[
            int, BatchedRequests[AddPartitionsToTxnTransaction, AddPartitionsToTxnResult]
        ] = {}

    def markers_to(self, broker_id: int) -> RemoteMarkers:
        if broker_id not in self._markers:
            send = partial(self._send_markers, broker_id)
            self._markers[broker_id] = RemoteMarkers(BatchedRequests(send, self._tasks))
        return self._markers[broker_id]

    async def ask(
        self, broker_id: int, question: AddPartitionsToTxnTransaction
    ) -> AddPartitionsToTxnResult:
        if broker_id not in self._questions:
            send = partial(self._send_questions, broker_id)
            self._questions[broker_id] = BatchedRequests(send, self._tasks)
        return await self._questions[broker_id].add(question)

    async def _send_markers(
        self, broker_id: int, markers: list[WritableTxnMarker]
    ) -> Sequence[WritableTxnMarkerResult]:
        request = WriteTxnMarkersRequest(markers)
        response = await self._channels.to(broker_id).request(request, self._timeout_s)
        return response.markers  # type: ignore[no-any-return]

    async def _send_questions(
        self, broker_id: int, questions: list[AddPartitionsToTxnTransaction]
    ) -> Sequence[AddPartitionsToTxnResult]:
        request = AddPartitionsToTxnRequest(transactions=questions)
        response = await self._channels.to(broker_id).request(request, self._timeout_s)
        if response.error_code != ErrorCode.NONE:
            raise BrokerError(ErrorCode(response.error_code))
        return response.results_by_transaction  # type: ignore[no-any-return]


class RemoteMarkers:
    """The marker channel to another broker."""

    def __init__(
        self, batched: BatchedRequests[WritableTxnMarker, WritableTxnMarkerResult]
    ) -> None:
        self._batched = batched

    async def write(
        self, markers: Sequence[WritableTxnMarker]
    ) -> Sequence[WritableTxnMarkerResult]:
        return await asyncio.gather(*map(self._batched.add, markers))


class RoutedCoordinator:
    """The coordinator of a transactional id, on the broker that leads its partition."""

    def __init__(
        self, broker_id: int, here: TransactionCoordinator, peers: TransactionPeers
    ) -> None:
        self._broker_id = broker_id
        self._here = here
        self._peers = peers

    async def add_partitions(
        self,
        transactional_id: str,
        producer: ProducerIdAndEpoch,
        partitions: Collection[TopicPartition],
        client_version: int,
    ) -> None:
        leader = self._here.topic.leader_of(transactional_id)
        if leader == self._broker_id:
            await self._here.add_partitions(transactional_id, producer, partitions, client_version)
            return
        question = _question(transactional_id, producer, partitions, verifies=False)
        codes = await self._codes(leader, question)
        # One that cannot be added has its own error; the others were not attempted.
        wrong = [each for each in codes.values() if each is not ErrorCode.NONE]
        causes = [each for each in wrong if each is not ErrorCode.OPERATION_NOT_ATTEMPTED]
        if wrong:
            raise BrokerError((causes or wrong)[0])

    async def verify_partitions(
        self,
        transactional_id: str,
        producer: ProducerIdAndEpoch,
        partitions: Collection[TopicPartition],
    ) -> dict[TopicPartition, ErrorCode]:
        leader = self._here.topic.leader_of(transactional_id)
        if leader == self._broker_id:
            return await self._here.verify_partitions(transactional_id, producer, partitions)
        question = _question(transactional_id, producer, partitions, verifies=True)
        return await self._codes(leader, question)

    async def _codes(
        self, leader: int, question: AddPartitionsToTxnTransaction
    ) -> dict[TopicPartition, ErrorCode]:
        """Producers retry NOT_ENOUGH_REPLICAS, as in Kafka."""
        try:
            result = await self._peers.ask(leader, question)
        except OSError as error:
            raise BrokerError(ErrorCode.NOT_ENOUGH_REPLICAS, str(error)) from error
        codes = {
            TopicPartition(topic.name, each.partition_index): _for_leader(
                ErrorCode(each.partition_error_code)
            )
            for topic in result.topic_results
            for each in topic.results_by_partition
        }
        if ErrorCode.COORDINATOR_LOAD_IN_PROGRESS in codes.values():
            raise BrokerError(ErrorCode.COORDINATOR_LOAD_IN_PROGRESS)  # the caller waits for it
        return codes


def _for_leader(code: ErrorCode) -> ErrorCode:
    """The response of a leader: producers do not expect error codes of a coordinator in it."""
    if code in (ErrorCode.NOT_COORDINATOR, ErrorCode.COORDINATOR_NOT_AVAILABLE):
        return ErrorCode.NOT_ENOUGH_REPLICAS
    return code


def _question(
    transactional_id: str,
    producer: ProducerIdAndEpoch,
    partitions: Iterable[TopicPartition],
    *,
    verifies: bool,
) -> AddPartitionsToTxnTransaction:
    topics: defaultdict[str, list[int]] = defaultdict(list)
    for topic, partition in partitions:
        topics[topic].append(partition)
    return AddPartitionsToTxnTransaction(
        transactional_id,
        producer.producer_id,
        producer.epoch,
        verifies,
        [AddPartitionsToTxnTopic(name, indexes) for name, indexes in topics.items()],
    )
