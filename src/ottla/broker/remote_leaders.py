"""Waiting until other brokers lead the partitions of a new topic.

A topic that a Metadata request creates is in the response, and the client sends its records to the
leaders at once. They read the creation from the metadata log some milliseconds later than the
broker that responds: without waiting, the first requests of the client would be refused with
UNKNOWN_TOPIC_OR_PARTITION.

Promises  ends within WAIT_S. A broker that cannot be reached is not waited for: the client detects
          that itself, and retries.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from ottla.base.ids import NO_LEADER
from ottla.metadata.image import Image
from ottla.network.channel.channel import Channels
from ottla.network.channel.errors import ChannelError
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.messages.offset_for_leader_epoch_request import (
    OffsetForLeaderEpochRequest,
    OffsetForLeaderPartition,
    OffsetForLeaderTopic,
)

WAIT_S = 1.0
RETRY_S = 0.005
RETRY_MAX_S = 0.05
FIRST_EPOCH = 0
# The answers of a broker that has not applied the creation yet.
NOT_YET = (ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, ErrorCode.NOT_LEADER_OR_FOLLOWER)

Partitions = Mapping[str, Sequence[int]]  # indexes by topic


class RemoteLeaders:
    """The leaders of new topics, on other brokers of the cluster."""

    def __init__(
        self, broker_id: int, image: Image, channels: Channels, request_timeout_s: float
    ) -> None:
        self._broker_id = broker_id
        self._image = image
        self._channels = channels
        # Longer than WAIT_S: a request that times out closes the connection, which others use too.
        self._request_timeout_s = request_timeout_s

    async def wait_for(self, topics: Iterable[str]) -> None:
        """Wait until all partitions of these topics that other brokers lead can be used there."""
        led = self._led_by_others(topics)
        if not led:
            return
        waits = (self._wait_for(leader, partitions) for leader, partitions in led.items())
        try:
            async with asyncio.timeout(WAIT_S):
                await asyncio.gather(*waits)
        except TimeoutError:
            return

    def _led_by_others(self, topics: Iterable[str]) -> dict[int, Partitions]:
        led: defaultdict[int, defaultdict[str, list[int]]] = defaultdict(lambda: defaultdict(list))
        for name in topics:
            topic = self._image.topic(name)
            for index, partition in enumerate(() if topic is None else topic.partitions):
                if partition.leader not in (NO_LEADER, self._broker_id):
                    led[partition.leader][name].append(index)
        return dict(led)

    async def _wait_for(self, leader: int, partitions: Partitions) -> None:
        request = _question(partitions)
        pause_s = RETRY_S
        while True:
            try:
                response = await self._channels.request(leader, request, self._request_timeout_s)
            except ChannelError:
                return
            codes = {each.error_code for topic in response.topics for each in topic.partitions}
            if codes.isdisjoint(NOT_YET):
                return
            await asyncio.sleep(pause_s)
            pause_s = min(2 * pause_s, RETRY_MAX_S)


def _question(partitions: Partitions) -> OffsetForLeaderEpochRequest:
    """A request that only a leader answers without an error, and that changes nothing."""
    return OffsetForLeaderEpochRequest(
        topics=[
            OffsetForLeaderTopic(
                name,
                [OffsetForLeaderPartition(each, leader_epoch=FIRST_EPOCH) for each in indexes],
            )
            for name, indexes in partitions.items()
        ]
    )
