"""Clients of the simulated cluster: responses are compared with what is there at the end.

Each producer sends one record at a time, with a value that no other has, and never again.
"""

from __future__ import annotations

import asyncio
from random import Random
from typing import Any

from tests.simulation.cluster.process import PORT, host_of
from tests.unit.storage.log_making import batch_of

from ottla.network.channel.channel import Channel, ChannelSettings
from ottla.network.channel.errors import ChannelError
from ottla.protocol.message import Message
from ottla.protocol.messages.fetch_request import FetchPartition, FetchRequest, FetchTopic
from ottla.protocol.messages.metadata_request import MetadataRequest, MetadataRequestTopic
from ottla.protocol.messages.metadata_response import MetadataResponsePartition
from ottla.protocol.messages.produce_request import (
    PartitionProduceData,
    ProduceRequest,
    TopicProduceData,
)
from ottla.protocol.records.batch import has_valid_checksum, iterate_headers
from ottla.protocol.records.reading import iterate_records

TOPIC = "t"
WITH_NAMES = 12  # versions of Produce, Fetch and Metadata
ACKS_ALL = -1
REQUEST_S = 4.0
ROOM = 1 << 20
PAUSE_S = 0.1
SENDING_S = 0.05


class Client:
    def __init__(self, name: str, brokers: list[int], rng: Random, topic: str = TOPIC) -> None:
        self.name = name
        self._rng = rng
        self._topic = topic
        settings = ChannelSettings(name, "1", 1.0, ROOM)
        self._channels = {each: Channel(host_of(each), PORT, settings) for each in brokers}
        self.leaders: dict[int, int] = {}

    async def ask(self, broker_id: int, request: Message, at_most: int = WITH_NAMES) -> Any:
        return await self._channels[broker_id].request(request, REQUEST_S, at_most=at_most)

    async def ask_any(self, request: Message) -> Any:
        return await self.ask(self._rng.choice(list(self._channels)), request)

    async def partitions(self) -> list[MetadataResponsePartition]:
        """According to some broker; ChannelError if it does not answer."""
        request = MetadataRequest([MetadataRequestTopic(name=self._topic)], False)
        response = await self.ask_any(request)
        return sorted(response.topics[0].partitions, key=lambda each: each.partition_index)

    async def leader_of(self, index: int) -> int | None:
        """Known from before, or found out now."""
        if index not in self.leaders:
            try:
                for each in await self.partitions():
                    if each.leader_id >= 0:
                        self.leaders[each.partition_index] = each.leader_id
            except ChannelError:
                return None
        return self.leaders.get(index)

    def close(self) -> None:
        for each in self._channels.values():
            each.close()


class Producer:
    def __init__(self, client: Client, index: int) -> None:
        self._client = client
        self._index = index
        self.sent = 0
        self.acknowledged: dict[int, bytes] = {}  # by offset

    async def run(self) -> None:
        while True:
            leader = await self._client.leader_of(self._index)
            if leader is None or not await self._send(leader):
                self._client.leaders.pop(self._index, None)
            await asyncio.sleep(SENDING_S)

    async def _send(self, leader: int) -> bool:
        self.sent += 1
        value = f"{self._client.name}-{self.sent}".encode()
        data = PartitionProduceData(self._index, bytes(batch_of(value)))
        topic = TopicProduceData(TOPIC, partition_data=[data])
        try:
            response = await self._client.ask(leader, ProduceRequest(None, ACKS_ALL, 3000, [topic]))
        except ChannelError:
            return False
        answer = response.responses[0].partition_responses[0]
        if answer.error_code:
            return False
        assert answer.base_offset not in self.acknowledged, "an offset was acknowledged twice"
        self.acknowledged[answer.base_offset] = value
        return True


class Consumer:
    def __init__(self, client: Client, index: int) -> None:
        self._client = client
        self._index = index
        self.offset = 0
        self.seen: dict[int, bytes] = {}

    async def run(self) -> None:
        while True:
            await self.poll()
            await asyncio.sleep(PAUSE_S)

    async def _broker(self) -> int | None:
        """To read from."""
        return await self._client.leader_of(self._index)

    async def poll(self) -> None:
        leader = await self._broker()
        if leader is None:
            return
        part = FetchPartition(self._index, fetch_offset=self.offset, partition_max_bytes=ROOM)
        topics = [FetchTopic(TOPIC, partitions=[part])]
        request = FetchRequest(max_wait_ms=200, min_bytes=1, max_bytes=ROOM, topics=topics)
        try:
            response = await self._client.ask(leader, request)
        except ChannelError:
            self._client.leaders.pop(self._index, None)
            return
        answer = response.responses[0].partitions[0]
        if answer.error_code:
            self._client.leaders.pop(self._index, None)
            return
        self._take(bytes(answer.records or b""))

    def _take(self, data: bytes) -> None:
        for offset, value in records_in(data):
            if offset >= self.offset:
                self.seen[offset] = value
                self.offset = offset + 1


def records_in(data: bytes) -> list[tuple[int, bytes]]:
    """Offsets and values. Every batch must be what was written."""
    for position, header in iterate_headers(data):
        is_valid = has_valid_checksum(data, position, header)
        assert is_valid, f"a damaged batch at {header.base_offset}"
    return [
        (header.base_offset + number, bytes(each.value or b""))
        for position, header in iterate_headers(data)
        for number, each in enumerate(iterate_records(data, position))
    ]
