"""What a broker needs of its control plane, with or without a cluster.

A broker that starts calls, in this order: `load` (before it opens its logs), `join` (when it
listens), `begin_serving` (when its partitions are in place), `run`. One that stops calls `leave`
while it still serves, then `check`, `close` and `release`.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Protocol

from ottla.broker.first_start import DirectoryHistory
from ottla.broker.producer_ids import Block
from ottla.controller.controller import Controller
from ottla.handlers.serving.parts import ClusterParts, TopicCreator
from ottla.metadata.image import Image
from ottla.metadata.publisher import Publisher
from ottla.network.channel.channel import Channels
from ottla.protocol.messages.alter_partition_request import TopicData
from ottla.protocol.messages.alter_partition_response import AlterPartitionResponse
from ottla.protocol.messages.assign_replicas_to_dirs_request import DirectoryData
from ottla.protocol.messages.broker_registration_request import BrokerRegistrationRequest
from ottla.protocol.messages.create_topics_request import CreateTopicsRequest
from ottla.protocol.messages.create_topics_response import CreateTopicsResponse

NO_CONTROLLER = -1


class ControlPlane(Protocol):
    publisher: Publisher
    controller: Controller  # active only in the broker that is the controller

    @property
    def channels(self) -> Channels | None:
        """To other brokers; None for a broker without a cluster."""

    @property
    def cluster_parts(self) -> ClusterParts | None:
        """None for a broker without a cluster."""

    @property
    def broker_epoch(self) -> int: ...

    @property
    def controller_id(self) -> int: ...

    async def load(self, past: DirectoryHistory) -> Image:
        """The metadata of the cluster, which is named if it is a new one."""

    async def join(self, request: BrokerRegistrationRequest) -> None:
        """Register. The image contains the registration afterwards."""

    async def begin_serving(self) -> None:
        """All partitions are in place: become leader of those without one."""

    async def run(self) -> None:
        """Run until cancelled. Raises the error of a part that the broker cannot run without."""

    async def leave(self) -> None:
        """Hand over leaderships, before the broker stops."""

    async def check(self) -> None:
        """MetadataLost if what was stored is not there any more."""

    async def close(self) -> None:
        """Store what the next start needs. Only with intact metadata."""

    async def release(self) -> None:
        """End all connections, whatever happened before."""

    async def allocate_producer_ids(self) -> Block: ...

    async def assign_directories(self, directories: list[DirectoryData]) -> None: ...

    async def alter_partitions(self, topics: list[TopicData]) -> AlterPartitionResponse:
        """Change the in-sync replicas of partitions that this broker leads."""

    def new_channels(self, receive_buffer_bytes: int | None = None) -> Channels:
        """Connections to other brokers that are used for one purpose. Only in a cluster. Without a
        size, the system chooses that of their receive buffers."""

    def directories_failed(self, directory_ids: Collection[bytes]) -> None:
        """Log directories went offline while the broker runs."""

    async def create_topics(
        self, request: CreateTopicsRequest, creator: TopicCreator | None
    ) -> CreateTopicsResponse: ...
