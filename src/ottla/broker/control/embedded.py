"""The control plane of a broker without a cluster: its own metadata log, and its own controller.

Owns      the metadata log, the task of the controller, and the epoch with which this broker is
          registered.
Promises  every request to the controller has the current broker epoch.
Leaves    decisions to `controller/`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection

from ottla.base.files.filesystem import FileSystem
from ottla.base.scheduling.step_scheduler import DedicatedDriver, StepScheduler
from ottla.base.scheduling.tasks import OwnedTasks
from ottla.broker.first_start import DirectoryHistory, name_cluster
from ottla.broker.housekeeping import WATCH_INTERVAL_MS
from ottla.broker.producer_ids import Block
from ottla.controller.alter_partition import decide_alter_partition
from ottla.controller.assign_directories import decide_assign_directories
from ottla.controller.brokers import decide_register_broker
from ottla.controller.controller import Controller, ControllerSettings
from ottla.controller.create_topics import decide_create_topics
from ottla.controller.decision import no_quota
from ottla.controller.producer_ids import decide_allocate_producer_ids
from ottla.controller.sole_controller import run_alone
from ottla.handlers.serving.parts import TopicCreator
from ottla.metadata.continuity import load_known
from ottla.metadata.file_log import FileMetadataLog
from ottla.metadata.image import Image
from ottla.metadata.publisher import Publisher
from ottla.metadata.zookeeper.session_file import session_owner
from ottla.network.channel.channel import Channels
from ottla.protocol.messages.allocate_producer_ids_request import AllocateProducerIdsRequest
from ottla.protocol.messages.alter_partition_request import AlterPartitionRequest, TopicData
from ottla.protocol.messages.alter_partition_response import AlterPartitionResponse
from ottla.protocol.messages.assign_replicas_to_dirs_request import (
    AssignReplicasToDirsRequest,
    DirectoryData,
)
from ottla.protocol.messages.broker_registration_request import BrokerRegistrationRequest
from ottla.protocol.messages.create_topics_request import CreateTopicsRequest
from ottla.protocol.messages.create_topics_response import CreateTopicsResponse
from ottla.storage.directories.directory_ownership import WrongDirectory

METADATA_DIRECTORY = ".metadata"  # in the first log directory
DECIDED_HERE_MAX = 10  # topics; larger requests are decided in a thread


class EmbeddedControl:
    cluster_parts = None
    channels = None

    def __init__(
        self,
        files: FileSystem,
        directory: str,
        settings: ControllerSettings,
        scheduler: StepScheduler,
        disk: DedicatedDriver,
        tasks: OwnedTasks,
    ) -> None:
        self._files = files
        self._directory = directory
        self._settings = settings
        self._scheduler = scheduler
        self._disk = disk
        self._tasks = tasks
        self._running: asyncio.Task[None] | None = None
        self.broker_epoch = -1
        self.metadata_log = FileMetadataLog(
            files, f"{directory}/{METADATA_DIRECTORY}", disk.in_thread
        )

    @property
    def controller_id(self) -> int:
        return self._settings.node_id

    async def load(self, past: DirectoryHistory) -> Image:
        owner = session_owner(self._files, self._directory)
        if owner is not None:
            raise WrongDirectory(
                f"{self._directory} belongs to a member of a cluster: start it with "
                f"zookeeper.connect={owner}"
            )
        image = await load_known(self.metadata_log, past.known)
        await name_cluster(self.metadata_log, image, self._settings.layers, past)
        self.publisher = Publisher(image, self._scheduler)
        self.controller = Controller(
            self.metadata_log, self.publisher, self._settings, self._disk.threads
        )
        return image

    async def join(self, request: BrokerRegistrationRequest) -> None:
        """Become the controller, with the next controller epoch, and register."""
        image = self.publisher.image
        self.controller.activate(image.copy(), image.controller_epoch + 1)
        self._running = asyncio.create_task(
            run_alone(self.controller, self.metadata_log, self.publisher), name="controller"
        )
        self._tasks.own(self._running)  # `run` reports its failure
        self.broker_epoch = await self.controller.decide(
            lambda state: decide_register_broker(state, request, has_session=False, is_ready=True)
        )

    async def begin_serving(self) -> None:
        """Nothing to do: it was registered as ready."""

    async def run(self) -> None:
        """The broker cannot run without its controller. Appends to a removed file are lost: end
        before more are acknowledged."""
        assert self._running is not None
        while True:
            done, _ = await asyncio.wait([self._running], timeout=WATCH_INTERVAL_MS / 1000)
            if done:
                await self._running
                return
            await self.check()

    async def leave(self) -> None:
        """Nothing to do: there is no other broker."""

    async def check(self) -> None:
        await self.metadata_log.check()

    async def close(self) -> None:
        await self.metadata_log.close()

    async def release(self) -> None:
        """Nothing to do: there are none."""

    async def allocate_producer_ids(self) -> Block:
        request = AllocateProducerIdsRequest(self._settings.node_id, self.broker_epoch)
        answer = await self.controller.decide(
            lambda state: decide_allocate_producer_ids(state, request)
        )
        start = answer.producer_id_start
        return Block(start, start + answer.producer_id_len)

    async def assign_directories(self, directories: list[DirectoryData]) -> None:
        request = AssignReplicasToDirsRequest(
            self._settings.node_id, self.broker_epoch, directories
        )
        await self.controller.decide(lambda state: decide_assign_directories(state, request))

    async def alter_partitions(self, topics: list[TopicData]) -> AlterPartitionResponse:
        request = AlterPartitionRequest(self._settings.node_id, self.broker_epoch, topics)
        version = AlterPartitionRequest.VERSIONS[-1]
        return await self.controller.decide(
            lambda state: decide_alter_partition(state, request, version)
        )

    def new_channels(self, receive_buffer_bytes: int | None = None) -> Channels:
        raise NotImplementedError("there are no other brokers")

    def directories_failed(self, directory_ids: Collection[bytes]) -> None:
        """Nothing to do: there is no other broker to lead the partitions there."""

    async def create_topics(
        self, request: CreateTopicsRequest, creator: TopicCreator | None
    ) -> CreateTopicsResponse:
        return await create_topics_here(self.controller, request, creator)


async def create_topics_here(
    controller: Controller, request: CreateTopicsRequest, creator: TopicCreator | None
) -> CreateTopicsResponse:
    charge = no_quota if creator is None else creator.charge
    return await controller.decide(
        lambda state: decide_create_topics(state, request, charge=charge),
        is_large=len(request.topics) > DECIDED_HERE_MAX,
        is_confirmed=True,
    )
