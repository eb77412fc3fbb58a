"""A transactional writer, which is replaced at any time and continues although it is fenced.

Promises  what the broker promises is checked here: readers of committed data see all records of a
          committed transaction or none, none of an aborted one, each once and in order. A writer
          that was replaced gets no acknowledgement.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from enum import Enum, auto
from random import Random
from typing import Any

from tests.simulation.cluster.client import ACKS_ALL, ROOM, Client
from tests.unit.storage.log_making import batch_of

from ottla.network.channel.errors import ChannelError
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.message import Message
from ottla.protocol.messages.end_txn_request import EndTxnRequest
from ottla.protocol.messages.fetch_request import FetchPartition, FetchRequest, FetchTopic
from ottla.protocol.messages.find_coordinator_request import FindCoordinatorRequest
from ottla.protocol.messages.init_producer_id_request import InitProducerIdRequest
from ottla.protocol.messages.produce_request import (
    PartitionProduceData,
    ProduceRequest,
    TopicProduceData,
)
from ottla.protocol.records.batch import iterate_headers
from ottla.protocol.records.reading import iterate_records

TOPIC = "transactional"
PARTITIONS = 2
TRANSACTIONAL_ID = "writer"
TIMEOUT_MS = 20_000
PAUSE_S = 0.2
REPLACED_SHARE = 0.3
COMMITTED_SHARE = 0.7
READ_COMMITTED = 1
# Of Fetch: later versions are also answered by followers, which may just be copied again
FROM_LEADERS = 10
POLLS_MAX = 600


class Outcome(Enum):
    UNKNOWN = auto()
    COMMITTED = auto()
    ABORTED = auto()


class Failed(Exception):
    """Begin again, as a new instance of the writer."""


@dataclass
class Instance:
    producer_id: int
    epoch: int
    sent: int = 0  # records to each partition, in this epoch


class TransactionalWriter:
    def __init__(self, client: Client, rng: Random) -> None:
        self._client = client
        self._rng = rng
        self._coordinator: int | None = None
        self._instance: Instance | None = None
        self.outcomes: list[Outcome] = []

    async def run(self) -> None:
        while True:
            try:
                await self._transaction()
            except (Failed, ChannelError):
                self._forget()
            await asyncio.sleep(PAUSE_S)

    def _forget(self) -> None:
        self._coordinator = self._instance = None
        self._client.leaders.clear()

    async def _transaction(self) -> None:
        replaced = self._instance
        if replaced is None or self._rng.random() < REPLACED_SHARE:
            self._instance = await self._new_instance()
        else:
            replaced = None
        instance, number = self._instance, len(self.outcomes)
        assert instance is not None
        self.outcomes.append(Outcome.ABORTED)  # unless its end is requested
        for index in range(PARTITIONS):
            code = await self._send(instance, index, f"{number}-{index}", instance.sent)
            self._require(code)
        instance.sent += 1
        if replaced is not None:
            await self._go_on(replaced, number)
        await self._end(instance, number, is_committed=self._rng.random() < COMMITTED_SHARE)

    async def _go_on(self, replaced: Instance, number: int) -> None:
        sequence = self._rng.randint(0, replaced.sent + 1)
        code = await self._send(replaced, 0, f"{number}-fenced", sequence)
        assert code != ErrorCode.NONE, f"a record of a writer that was replaced, in {number}"

    async def _end(self, instance: Instance, number: int, *, is_committed: bool) -> None:
        if is_committed:
            self.outcomes[number] = Outcome.UNKNOWN
        producer = instance.producer_id, instance.epoch
        response = await self._ask(EndTxnRequest(TRANSACTIONAL_ID, *producer, is_committed))
        self._require(response.error_code)
        if is_committed:
            self.outcomes[number] = Outcome.COMMITTED
        self._instance = Instance(response.producer_id, response.producer_epoch)

    # Requests

    def _require(self, code: int) -> None:
        if code != ErrorCode.NONE:
            raise Failed

    async def _ask(self, request: Message) -> Any:
        if self._coordinator is None:
            wanted = FindCoordinatorRequest(key_type=1, coordinator_keys=[TRANSACTIONAL_ID])
            found = (await self._client.ask_any(wanted)).coordinators[0]
            self._require(found.error_code)
            self._coordinator = found.node_id
        return await self._client.ask(self._coordinator, request)

    async def _new_instance(self) -> Instance:
        """Ends the transaction of the one before."""
        response = await self._ask(InitProducerIdRequest(TRANSACTIONAL_ID, TIMEOUT_MS))
        self._require(response.error_code)
        return Instance(response.producer_id, response.producer_epoch)

    async def _send(self, instance: Instance, index: int, value: str, sequence: int) -> int:
        leader = await self._client.leader_of(index)
        if leader is None:
            raise Failed
        producer = (instance.producer_id, instance.epoch, sequence)
        batch = bytes(batch_of(value.encode(), producer=producer, is_transactional=True))
        topic = TopicProduceData(TOPIC, partition_data=[PartitionProduceData(index, batch)])
        request = ProduceRequest(TRANSACTIONAL_ID, ACKS_ALL, 3000, [topic])
        response = await self._client.ask(leader, request)
        return int(response.responses[0].partition_responses[0].error_code)

    # The end

    async def check_the_end(self) -> None:
        """After `run` was cancelled, without faults."""
        for _ in range(POLLS_MAX):
            self._forget()
            try:
                await self._new_instance()
                break
            except (Failed, ChannelError):
                await asyncio.sleep(PAUSE_S)
        seen = [await self._committed_in(index) for index in range(PARTITIONS)]
        for index, values in enumerate(seen):
            assert len(set(values)) == len(values), f"{index} has a record twice"
            numbers = [int(each.split("-")[0]) for each in values]
            assert numbers == sorted(numbers), f"{index} is not in order"
        for number, outcome in enumerate(self.outcomes):
            found = [f"{number}-{index}" in seen[index] for index in range(PARTITIONS)]
            allowed = {
                Outcome.COMMITTED: [[True, True]],
                Outcome.ABORTED: [[False, False]],
                Outcome.UNKNOWN: [[True, True], [False, False]],
            }[outcome]
            assert found in allowed, f"transaction {number} is {outcome.name}, and seen: {found}"
        assert not any("fenced" in each for values in seen for each in values)

    async def _committed_in(self, index: int) -> list[str]:
        reader, values = CommittedReader(), []
        for _ in range(POLLS_MAX):
            leader = await self._client.leader_of(index)
            part = FetchPartition(index, fetch_offset=reader.offset, partition_max_bytes=ROOM)
            request = FetchRequest(
                max_wait_ms=100, min_bytes=1, max_bytes=ROOM, isolation_level=READ_COMMITTED,
                topics=[FetchTopic(TOPIC, partitions=[part])],
            )  # fmt: skip
            try:
                assert leader is not None
                response = await self._client.ask(leader, request, FROM_LEADERS)
            except (ChannelError, AssertionError):
                self._client.leaders.clear()
                continue
            answer = response.responses[0].partitions[0]
            if answer.error_code:
                self._client.leaders.clear()
                continue
            values += reader.take(answer)
            if reader.offset >= answer.high_watermark:
                return values
        raise AssertionError(f"{TOPIC}-{index} is read only up to {reader.offset}")


class CommittedReader:
    """Leaves out what was aborted, as consumers do."""

    def __init__(self) -> None:
        self.offset = 0

    def take(self, answer: Any) -> list[str]:
        data = bytes(answer.records or b"")
        begun = sorted(
            (each.first_offset, each.producer_id) for each in answer.aborted_transactions or ()
        )
        aborted: set[int] = set()
        values = []
        for position, header in iterate_headers(data):
            while begun and begun[0][0] <= header.last_offset:
                aborted.add(begun.pop(0)[1])
            if header.last_offset >= self.offset:
                self.offset = header.last_offset + 1
                if header.is_control:
                    aborted.discard(header.producer_id)
                elif header.producer_id not in aborted:
                    records = iterate_records(data, position)
                    values += [bytes(each.value or b"").decode() for each in records]
        return values
