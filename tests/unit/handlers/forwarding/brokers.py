"""Whole brokers of a cluster in this process, in virtual time, for requests between brokers.

async def story(brokers: Brokers) -> None:
    response = await brokers.ask(brokers.controller_id, BrokerHeartbeatRequest(...))

run(story)
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import replace
from random import Random
from typing import Any
from unittest.mock import patch

from tests.simulation.cluster.network import Network, SimulatedLoop
from tests.simulation.cluster.process import DATA, PORT, BrokerProcess, host_of, track_tasks
from tests.support.zookeeper_model import Ensemble

from ottla.metadata.entities import PartitionRegistration, Topic
from ottla.metadata.image import Image
from ottla.network.channel.channel import Channel, ChannelSettings
from ottla.protocol.message import Message
from ottla.protocol.messages.create_topics_request import (
    CreatableReplicaAssignment,
    CreatableTopic,
    CreateTopicsRequest,
)
from ottla.testing.filesystem import MemoryDisk

REQUEST_S = 30.0
READY_S = 60.0
RESPONSE_BYTES_MAX = 1 << 20
COUNT = 2


class Brokers:
    def __init__(self, loop: SimulatedLoop) -> None:
        rng = Random(1)
        network, ensemble = Network(loop, rng), Ensemble(rng)
        self.processes: dict[int, BrokerProcess] = {}
        for broker_id in range(1, COUNT + 1):
            disk = MemoryDisk()
            disk.make_directory(DATA)
            disk.sync_directory("/")
            self.processes[broker_id] = BrokerProcess(broker_id, disk, network, ensemble, rng)
        self._settings = ChannelSettings("test", "1", 1.0, RESPONSE_BYTES_MAX)

    async def until(self, condition: Callable[[], bool], what: str) -> None:
        loop = asyncio.get_running_loop()
        deadline_s = loop.time() + READY_S
        while not condition():
            assert loop.time() < deadline_s, f"not {what} within {READY_S:g} s"
            await asyncio.sleep(0.01)

    async def ready(self) -> None:
        await self.until(
            lambda: all(each.is_ready for each in self.processes.values()), "all ready"
        )
        await self.until(lambda: {p.broker.control.controller_id for p in self.processes.values()}
                         in ({1}, {2}), "one controller")  # fmt: skip

    @property
    def controller_id(self) -> int:
        return self.processes[1].broker.control.controller_id

    @property
    def other_id(self) -> int:
        return 3 - self.controller_id

    def image(self, broker_id: int) -> Image:
        return self.processes[broker_id].broker.publisher.image

    def epoch(self, broker_id: int) -> int:
        """Of its registration."""
        return self.image(self.controller_id).brokers[broker_id].epoch

    def channel(self, broker_id: int, client_id: str) -> Channel:
        settings = replace(self._settings, client_id=client_id)
        return Channel(host_of(broker_id), PORT, settings)

    async def ask(
        self,
        broker_id: int,
        request: Message,
        version: int | None = None,
        *,
        client_id: str = "test",
    ) -> Any:
        channel = self.channel(broker_id, client_id)
        try:
            return await channel.request(request, REQUEST_S, at_most=version)
        finally:
            channel.close()

    async def create_topic(self, name: str, assignment: Mapping[int, list[int]]) -> Topic:
        """At a broker that is not the controller; as that one knows it after the answer."""
        replicas = [CreatableReplicaAssignment(*item) for item in assignment.items()]
        request = CreateTopicsRequest([CreatableTopic(name, -1, -1, replicas)], timeout_ms=5000)
        (answer,) = (await self.ask(self.other_id, request)).topics
        assert answer.error_code == 0, answer.error_message
        topic = self.image(self.other_id).topic(name)
        assert topic is not None, "the image of the broker that was asked does not have it"
        return topic

    def partition(self, name: str, index: int = 0) -> PartitionRegistration:
        """As the controller knows it."""
        topic = self.image(self.controller_id).topic(name)
        assert topic is not None
        return topic.partitions[index]

    async def close(self) -> None:
        for each in self.processes.values():
            each.kill()
        await asyncio.sleep(1)


def run(story: Callable[[Brokers], Coroutine[Any, Any, None]]) -> None:
    async def whole() -> None:
        loop = asyncio.get_running_loop()
        assert isinstance(loop, SimulatedLoop)
        track_tasks(loop)
        loop.set_exception_handler(lambda _loop, _context: None)  # of processes that have ended
        brokers = Brokers(loop)
        try:
            await brokers.ready()
            await story(brokers)
        finally:
            await brokers.close()

    ids = Random(1)
    with (
        patch.object(os, "urandom", ids.randbytes),
        asyncio.Runner(loop_factory=SimulatedLoop) as runner,
    ):
        runner.run(whole())
