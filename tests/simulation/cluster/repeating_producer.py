"""An idempotent producer with several requests under way, which repeats all that failed.

Promises  what the broker promises is checked here: the first batch that is not acknowledged is
          never out of order, and the records are in the log once each, in the order of sending.
          It begins new epochs by itself, as idempotent clients do after errors; from then on a
          batch of the epoch before is refused.
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
STALE = b"stale-"
NEW_EPOCH_SHARE = 0.1
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
        self._first = 0  # the number of the first batch of this epoch
        self._stale_sent = 0
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
                self._begin_epoch_sometimes()
                count = self._rng.randint(1, IN_FLIGHT_MAX)
                self.sent = max(self.sent, self.acknowledged + count)
                if await self._send_all(leader):
                    await self._send_stale(leader)
                else:
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

    def _begin_epoch_sometimes(self) -> None:
        """Only after the last batch was acknowledged: sequences begin at 0 again."""
        assert self._producer is not None
        producer_id, epoch = self._producer
        if self.sent == self.acknowledged > self._first and self._rng.random() < NEW_EPOCH_SHARE:
            self._producer, self._first = (producer_id, epoch + 1), self.sent

    async def _send_stale(self, leader: int) -> None:
        """A batch of the epoch before, with a sequence that could follow: 0, or the next one."""
        assert self._producer is not None
        producer_id, epoch = self._producer
        if epoch == 0 or self.acknowledged == self._first:
            return
        value = STALE + f"{self._index}-{self._stale_sent}".encode()
        self._stale_sent += 1
        sequence = self._rng.choice((0, self.acknowledged - self._first))
        producer = (producer_id, epoch - 1, sequence)
        code = await self._produce(leader, value, producer)
        assert code != ErrorCode.NONE, f"{value!r}, of an earlier epoch, was acknowledged"

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
        return await self._produce(
            leader, self._value(number), (*self._producer, number - self._first)
        )

    async def _produce(
        self, leader: int, value: bytes, producer: tuple[int, int, int]
    ) -> ErrorCode | None:
        batch = bytes(batch_of(value, producer=producer))
        topic = TopicProduceData(TOPIC, partition_data=[PartitionProduceData(self._index, batch)])
        try:
            response = await self._client.ask(leader, ProduceRequest(None, ACKS_ALL, 3000, [topic]))
        except ChannelError:
            return None
        return ErrorCode(response.responses[0].partition_responses[0].error_code)

    def check(self, content: list[bytes]) -> None:
        """The values of the partition, in its order."""
        stale = [each for each in content if each.startswith(STALE)]
        assert not stale, f"{stale[0]!r}, of an earlier epoch, is in the log"
        found = [each for each in content if each.startswith(PREFIX)]
        assert len(set(found)) == len(found), "a batch that was repeated is there twice"
        wanted = self.values[: len(found)]
        assert found == wanted, f"{found[-5:]} instead of {wanted[-5:]}"
        assert len(found) >= self.acknowledged, (
            f"{self.acknowledged} acknowledged, {len(found)} found"
        )
