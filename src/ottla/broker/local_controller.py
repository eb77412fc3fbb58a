"""The controller in this process, as the broker uses it.

Owns      the task of the controller, and the epoch with which this broker is registered.
Promises  every request to the controller has the current broker epoch.
Leaves    decisions to `controller/`. A broker with a remote controller needs the same methods.
"""

from __future__ import annotations

import asyncio

from ottla.base.scheduling.tasks import OwnedTasks
from ottla.broker.producer_ids import Block
from ottla.controller.assign_directories import decide_assign_directories
from ottla.controller.brokers import decide_register_broker
from ottla.controller.controller import Controller
from ottla.controller.producer_ids import decide_allocate_producer_ids
from ottla.controller.sole_controller import run_alone
from ottla.metadata.image import Image
from ottla.metadata.log import MetadataLog
from ottla.metadata.publisher import Publisher
from ottla.protocol.messages.allocate_producer_ids_request import AllocateProducerIdsRequest
from ottla.protocol.messages.assign_replicas_to_dirs_request import (
    AssignReplicasToDirsRequest,
    DirectoryData,
)
from ottla.protocol.messages.broker_registration_request import BrokerRegistrationRequest


class LocalController:
    def __init__(
        self,
        controller: Controller,
        log: MetadataLog,
        publisher: Publisher,
        broker_id: int,
        tasks: OwnedTasks,
    ) -> None:
        self._controller = controller
        self._log = log
        self._publisher = publisher
        self._broker_id = broker_id
        self._tasks = tasks
        self._running: asyncio.Task[None] | None = None
        self.broker_epoch = -1

    def start(self, image: Image) -> None:
        """Become the controller, with the next controller epoch."""
        self._controller.activate(image.copy(), image.controller_epoch + 1)
        self._running = asyncio.create_task(
            run_alone(self._controller, self._log, self._publisher), name="controller"
        )
        self._tasks.own(self._running)  # `wait` reports its failure

    async def wait(self) -> None:
        """Wait until the controller ends. The broker cannot run without it."""
        assert self._running is not None
        await self._running

    async def register(self, request: BrokerRegistrationRequest) -> None:
        """Register this broker; it becomes leader of its partitions."""
        self.broker_epoch = await self._controller.decide(
            lambda state: decide_register_broker(state, request, has_session=False, is_ready=True)
        )

    async def allocate_producer_ids(self) -> Block:
        request = AllocateProducerIdsRequest(self._broker_id, self.broker_epoch)
        answer = await self._controller.decide(
            lambda state: decide_allocate_producer_ids(state, request)
        )
        start = answer.producer_id_start
        return Block(start, start + answer.producer_id_len)

    async def assign_directories(self, directories: list[DirectoryData]) -> None:
        request = AssignReplicasToDirsRequest(self._broker_id, self.broker_epoch, directories)
        await self._controller.decide(lambda state: decide_assign_directories(state, request))
