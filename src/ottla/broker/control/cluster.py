"""The control plane of a member of a cluster: metadata in ZooKeeper, one broker as controller.

Owns      this broker's part in elections, its registration, and the channels to other brokers.
Promises  nothing leads or follows before the image contains this broker's own registration. The
          loss of ZooKeeper or of the controller stops no request that needs neither.
Leaves    the ZooKeeper session to `stored_session.py`, announcing and registering to
          `membership.py`, decisions to `controller/`, the log and the election to
          `metadata/zookeeper/`.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Collection, Coroutine
from functools import partial
from typing import Any, TypeVar

from ottla.base.clock import Clock
from ottla.base.files.filesystem import FileSystem
from ottla.base.ids import NO_BROKER_EPOCH
from ottla.base.scheduling.step_scheduler import DedicatedDriver, StepScheduler
from ottla.base.scheduling.tasks import OwnedTasks
from ottla.base.uuids import random_uuid, uuid_to_text
from ottla.broker.control.connection_reports import ConnectionReports
from ottla.broker.control.control_plane import NO_CONTROLLER
from ottla.broker.control.controller_client import ControllerClient
from ottla.broker.control.embedded import METADATA_DIRECTORY, create_topics_here
from ottla.broker.control.liveness import Liveness, WatchedBroker, remove_ended
from ottla.broker.control.membership import REMINDER_S, BrokerMembership
from ottla.broker.control.stored_session import StoredSession
from ottla.broker.environment import Environment
from ottla.broker.first_start import DirectoryHistory
from ottla.broker.producer_ids import Block
from ottla.config.broker_options import BrokerConfig
from ottla.controller.broker_requests import BrokerRequests
from ottla.controller.broker_sessions import BrokerSessions
from ottla.controller.controller import Controller, ControllerSettings
from ottla.controller.controller_election import ControllerElection
from ottla.handlers.forwarding.relay import (
    BROKER,
    ForwardedAnswer,
    ForwardedRequest,
)
from ottla.handlers.serving.parts import ClusterParts, TopicCreator
from ottla.metadata.changes import Changes
from ottla.metadata.continuity import load_known
from ottla.metadata.image import Image
from ottla.metadata.publisher import Publisher
from ottla.metadata.zookeeper.layout import CONTROLLER
from ottla.metadata.zookeeper.membership import require_free_id
from ottla.metadata.zookeeper.service import SessionState, ZooKeeperService
from ottla.metadata.zookeeper.zookeeper_log import ZooKeeperMetadataLog
from ottla.network.channel.channel import Channel, Channels, ChannelSettings
from ottla.network.channel.errors import BrokerUnreachable
from ottla.protocol.api_keys import ApiKey
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.errors import BrokerError
from ottla.protocol.headers import decode_response_header, encode_request
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
from ottla.storage.directories.log_directory import LogDirectory

log = logging.getLogger(__name__)

T = TypeVar("T")
SIZE_BYTES = 4  # of a frame, before it
CREATE_TOPICS_VERSION = 7
LEAVING_S = 10.0
CONNECT_TIMEOUT_S = 3.0


class ClusterControl:
    def __init__(
        self,
        files: FileSystem,
        directory: LogDirectory,
        settings: ControllerSettings,
        scheduler: StepScheduler,
        disk: DedicatedDriver,
        tasks: OwnedTasks,
        clock: Clock,
        listener: str,
        environment: Environment,
    ) -> None:
        self._files = files
        self._directory = directory
        self._settings = settings
        self._config: BrokerConfig = settings.config
        self._scheduler = scheduler
        self._disk = disk
        self._clock = clock
        self._listener = listener  # that brokers use among themselves
        self._environment = environment
        self._session = StoredSession(files, directory, settings.config, disk, environment)
        self._broker_id = settings.node_id
        self._owned = tasks
        self._tasks: list[asyncio.Task[None]] = []  # the broker ends with the first of them
        self._membership: BrokerMembership | None = None
        self._service: ZooKeeperService | None = None
        self._reports = ConnectionReports(str(self._session.connect))
        self.channels = self.new_channels()

    @property
    def cluster_parts(self) -> ClusterParts:
        return ClusterParts(self, self._broker_requests, self._listener, lambda: self.controller_id)

    @property
    def controller_id(self) -> int:
        found = self._election.controller_id
        return NO_CONTROLLER if found is None else found

    # Starting

    async def load(self, past: DirectoryHistory) -> Image:
        path = self._directory.path
        if self._files.exists(f"{path}/{METADATA_DIRECTORY}"):
            raise WrongDirectory(
                f"{path} belongs to a broker without a cluster, and its topics are "
                "known only there: start it without zookeeper.connect"
            )
        service = self._service = await self._session.open()
        service.subscribe(self._note_session)
        metadata_log = ZooKeeperMetadataLog(
            service, self._disk.in_thread, lambda: random_uuid().hex()
        )
        metadata_log.remember(self._session.read_last_end())
        image = await load_known(metadata_log, past.known)
        self._session.follow(metadata_log)
        ended = self._session.read_last_incarnation()
        await require_free_id(service, self._broker_id, ended)  # before the directory belongs to it
        await self._session.keep(service)  # not before: it may be that of another cluster
        self.publisher = Publisher(image, self._scheduler)
        self.controller = Controller(
            metadata_log, self.publisher, self._settings, self._disk.threads
        )
        sessions = BrokerSessions(service, self.controller)
        self._election = ControllerElection(
            service,
            metadata_log,
            self.controller,
            self.publisher,
            self._broker_id,
            self._clock,
            sessions=sessions,
            new_cluster_id=lambda: past.known.cluster_id or uuid_to_text(random_uuid()),
        )
        self._broker_requests = BrokerRequests(self.controller, sessions, image)
        self._client = ControllerClient(
            self.controller,
            self._election,
            self._broker_requests,
            self.channels,
            self._config.request_timeout_ms / 1000,
        )
        self._liveness = Liveness(self._brokers_to_watch, partial(remove_ended, service))
        self._election.subscribe(self._liveness.check)
        self.publisher.subscribe(self._metadata_changed)
        self._start(self._election.run(), "controller election")
        self._start(self.publisher.follow(metadata_log), "metadata log")
        await self._unless_failed(self._wait_for_name())
        return image

    async def _wait_for_name(self) -> None:
        """The first controller of a new cluster appends it."""
        reminder = asyncio.get_running_loop().call_later(
            REMINDER_S,
            log.warning,
            "waiting for a controller that begins the cluster at %s: see the logs of the other "
            "brokers, and the znode %s",
            self._session.connect,
            CONTROLLER,
        )
        try:
            await self.publisher.wait_for(1)
        finally:
            reminder.cancel()

    def new_channels(self, receive_buffer_bytes: int | None = None) -> Channels:
        return Channels(self._address_of, self._channel_settings(receive_buffer_bytes))

    def _channel_settings(self, receive_buffer_bytes: int | None) -> ChannelSettings:
        from ottla import __version__

        return ChannelSettings(
            f"broker-{self._broker_id}",
            __version__,
            CONNECT_TIMEOUT_S,
            self._config.socket_request_max_bytes,
            receive_buffer_bytes=receive_buffer_bytes,
        )

    async def join(self, request: BrokerRegistrationRequest) -> None:
        assert self._service is not None
        self._session.announce(request.incarnation_id)
        keep = partial(self._session.keep, self._service)
        membership = self._membership = BrokerMembership(
            request, self._service, self.publisher, self._client, self._clock, keep
        )
        timeout_s = self._config.initial_broker_registration_timeout_ms / 1000
        await self._unless_failed(membership.join(timeout_s))

    @property
    def broker_epoch(self) -> int:
        return NO_BROKER_EPOCH if self._membership is None else self._membership.broker_epoch

    async def begin_serving(self) -> None:
        assert self._membership is not None
        await self._unless_failed(self._membership.begin_serving())

    # Running

    def _start(self, work: Coroutine[Any, Any, None], name: str) -> None:
        self._tasks.append(asyncio.create_task(work, name=name))

    async def _unless_failed(self, work: Coroutine[Any, Any, None]) -> None:
        """Wait for `work`, and raise the error of a task that it depends on."""
        waiting = asyncio.ensure_future(work)
        try:
            await asyncio.wait([waiting, *self._tasks], return_when=asyncio.FIRST_COMPLETED)
            for task in self._tasks:
                if task.done():
                    await task
            await waiting
        finally:
            waiting.cancel()

    async def run(self) -> None:
        assert self._service is not None
        assert self._membership is not None
        self._start(self._liveness.run(), "liveness of brokers")
        self._start(self._membership.stay(), "membership")
        self._start(self._session.run(self._service), "end of the metadata log")
        timeout_s = self._config.zookeeper_session_timeout_ms / 1000
        self._start(self._environment.watch_event_loop(timeout_s), "event loop watchdog")
        done, _ = await asyncio.wait(self._tasks, return_when=asyncio.FIRST_COMPLETED)
        for task in done:
            await task

    def _note_session(self, state: SessionState) -> None:
        self._reports.note(state)
        if self._membership is not None:
            self._membership.check()

    def _metadata_changed(self, _image: Image, changes: Changes) -> None:
        if changes.brokers:
            self._liveness.check()
            if self._membership is not None:
                self._membership.check()

    # Other brokers

    def _address_of(self, broker_id: int) -> tuple[str, int] | None:
        broker = self.publisher.image.broker(broker_id)
        if broker is None:
            return None
        endpoint = broker.endpoint(self._listener)
        if endpoint is None:
            names = ", ".join(each.listener for each in broker.endpoints)
            raise BrokerUnreachable(
                f"broker {broker_id} has no listener {self._listener}, but {names}: set "
                "inter.broker.listener.name to a listener that all brokers have"
            )
        return endpoint.host, endpoint.port

    def _brokers_to_watch(self) -> list[WatchedBroker]:
        """All others, for the controller; for others, the controller."""
        found = []
        for broker in self.publisher.image.brokers.values():
            endpoint = broker.endpoint(self._listener)
            is_watched = self.controller.is_active or broker.id == self.controller_id
            is_other = broker.id != self._broker_id
            # One that is fenced may not listen yet.
            if is_other and is_watched and not broker.is_fenced and endpoint is not None:
                found.append(
                    WatchedBroker(broker.id, broker.incarnation_id, endpoint.host, endpoint.port)
                )
        return found

    # Stopping

    async def leave(self) -> None:
        assert self._service is not None
        if self._membership is None or not self._config.controlled_shutdown_enable:
            return
        if not self._service.is_connected:
            log.warning("stopping without handing over leaderships: ZooKeeper is not connected")
            return
        try:
            async with asyncio.timeout(LEAVING_S):
                await self._membership.leave()
        except (TimeoutError, BrokerError) as error:
            reason = str(error) or f"no answer within {LEAVING_S:g} s"
            log.warning("stopping without handing over leaderships: %s", reason)

    async def check(self) -> None:
        """Nothing to do: the content of ZooKeeper is compared whenever it is loaded."""

    async def close(self) -> None:
        if self._service is not None:
            await self._session.keep_if_changed(self._service)

    async def release(self) -> None:
        for task in self._tasks:
            task.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks)
        self._reports.close()
        if self._service is not None:
            self.channels.close()
            await self._service.close()

    # Requests to the controller

    async def allocate_producer_ids(self) -> Block:
        request = AllocateProducerIdsRequest(self._broker_id, self.broker_epoch)
        answer = await self._client.ask(request)
        start = answer.producer_id_start
        return Block(start, start + answer.producer_id_len)

    async def assign_directories(self, directories: list[DirectoryData]) -> None:
        await self._client.ask(
            AssignReplicasToDirsRequest(self._broker_id, self.broker_epoch, directories)
        )

    async def alter_partitions(self, topics: list[TopicData]) -> AlterPartitionResponse:
        answer: AlterPartitionResponse = await self._client.ask(
            AlterPartitionRequest(self._broker_id, self.broker_epoch, topics)
        )
        return answer

    def directories_failed(self, directory_ids: Collection[bytes]) -> None:
        """The controller elects other leaders for the partitions there."""
        assert self._membership is not None
        report = self._membership.report_offline(list(directory_ids))
        self._owned.start(report, name="offline directories")

    async def create_topics(
        self, request: CreateTopicsRequest, creator: TopicCreator | None
    ) -> CreateTopicsResponse:
        key, version = ApiKey.CREATE_TOPICS, CREATE_TOPICS_VERSION

        async def here() -> CreateTopicsResponse:
            return await create_topics_here(self.controller, request, creator)

        async def there(channel: Channel, timeout_s: float) -> CreateTopicsResponse:
            client = BROKER if creator is None else creator.client
            segments = encode_request(key, version, 0, client.client_id, request)
            forwarded = ForwardedRequest(b"".join(segments)[SIZE_BYTES:], client, self._broker_id)
            answer = memoryview((await self._forward(forwarded, channel, timeout_s)).frame)
            _, at = decode_response_header(key, version, answer[SIZE_BYTES:])
            return CreateTopicsResponse.decode(answer[SIZE_BYTES:], version, at)

        return await self._client.repeat(here, there)

    async def forward(
        self, request: ForwardedRequest, here: Callable[[], Awaitable[T]]
    ) -> ForwardedAnswer | T:
        return await self._client.repeat(here, partial(self._forward, request))

    async def _forward(
        self, request: ForwardedRequest, channel: Channel, timeout_s: float
    ) -> ForwardedAnswer:
        response = await channel.request(request.to_envelope(), timeout_s)
        if response.error_code != ErrorCode.NONE:
            raise BrokerError(ErrorCode(response.error_code))
        answer = ForwardedAnswer.decode(response.response_data)
        async with asyncio.timeout(timeout_s):
            await self.publisher.wait_for(answer.metadata_offset)
        return answer
