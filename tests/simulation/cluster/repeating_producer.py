"""An idempotent producer with several requests under way, which repeats all that failed.

Promises  what the broker promises is checked here: the first batch that is not acknowledged is
          never out of order, and the records are in the log once each, in the order of sending.
"""

from __future__ import annotations

import asyncio
from random import Random

from tests.simulation.cluster.client import ACKS_ALL, SENDING_S, TOPIC, Client
from tests.unit.storage.log_making import batch_of

from ottla.network.channel.errors import ChannelError
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.messages.init_producer_id_request import InitProducerIdRequest
from ottla.protocol.messages.produce_request import (
    PartitionProduceData,
    ProduceRequest,
    TopicProduceData,
)

IN_FLIGHT_MAX = 5  # requests, as Kafka's clients have
PREFIX = b"repeated-"
REFUSED = (
    ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER,
    ErrorCode.UNKNOWN_PRODUCER_ID,
    ErrorCode.INVALID_PRODUCER_EPOCH,
    ErrorCode.DUPLICATE_SEQUENCE_NUMBER,
)


class RepeatingProducer:
    def __init__(self, client: Client, index: int, rng: Random) -> None:
        self._client = client
        self._index = index
        self._rng = rng
        self._producer: tuple[int, int] | None = None  # id and epoch
        self.acknowledged = 0  # so many batches, from the first on
        self.sent = 0

    @property
    def values(self) -> list[bytes]:
        """In the order of sending."""
        return [self._value(each) for each in range(self.sent)]

    def _value(self, number: int) -> bytes:
        return PREFIX + f"{self._index}-{number}".encode()

    async def run(self) -> None:
        while True:
            leader = await self._client.leader_of(self._index)
            if leader is not None and await self._has_producer(leader):
                count = self._rng.randint(1, IN_FLIGHT_MAX)
                self.sent = max(self.sent, self.acknowledged + count)
                if not await self._send_all(leader):
                    self._client.leaders.pop(self._index, None)
            else:
                self._client.leaders.pop(self._index, None)
            await asyncio.sleep(SENDING_S * 4)

    async def _has_producer(self, broker_id: int) -> bool:
        if self._producer is None:
            try:
                response = await self._client.ask(broker_id, InitProducerIdRequest(None, 60_000))
            except ChannelError:
                return False
            if response.error_code == ErrorCode.NONE:
                self._producer = response.producer_id, response.producer_epoch
        return self._producer is not None

    async def _send_all(self, leader: int) -> bool:
        """All that is not acknowledged, together. Whether it was."""
        numbers = range(self.acknowledged, self.sent)
        requests = [asyncio.ensure_future(self._send(leader, each)) for each in numbers]
        codes = await asyncio.gather(*requests)
        for number, code in zip(numbers, codes, strict=True):
            if code != ErrorCode.NONE:
                is_refused = number == self.acknowledged and code in REFUSED
                assert not is_refused, f"{self._value(number)!r}, the next one, got {code!r}"
                return False
            self.acknowledged = number + 1
        return True

    async def _send(self, leader: int, number: int) -> ErrorCode | None:
        """None if there is no answer."""
        assert self._producer is not None
        batch = bytes(batch_of(self._value(number), producer=(*self._producer, number)))
        topic = TopicProduceData(TOPIC, partition_data=[PartitionProduceData(self._index, batch)])
        try:
            response = await self._client.ask(leader, ProduceRequest(None, ACKS_ALL, 3000, [topic]))
        except ChannelError:
            return None
        return ErrorCode(response.responses[0].partition_responses[0].error_code)

    def check(self, content: list[bytes]) -> None:
        """The values of the partition, in its order."""
        found = [each for each in content if each.startswith(PREFIX)]
        assert len(set(found)) == len(found), "a batch that was repeated is there twice"
        wanted = self.values[: len(found)]
        assert found == wanted, f"{found[-5:]} instead of {wanted[-5:]}"
        assert len(found) >= self.acknowledged, (
            f"{self.acknowledged} acknowledged, {len(found)} found"
        )
