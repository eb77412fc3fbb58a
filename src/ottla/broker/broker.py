"""One broker: builds its parts, connects them, runs them, ends them.

    broker = Broker(settings)
    await broker.open()     # data loaded, ports taken
    await broker.run()      # until cancelled

Owns      every part; this is the one place where concrete classes are chosen.
Promises  when `run` returns or is cancelled, everything is on disk and everything has ended.
"""

from __future__ import annotations

import asyncio
import logging
import socket
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from random import Random

from ottla.base.clock import Clock, SystemClock
from ottla.base.disk import DiskFileSystem
from ottla.base.filesystem import FileSystem
from ottla.base.ids import TopicPartition
from ottla.base.rates import Windows
from ottla.base.tasks import OwnedTasks
from ottla.base.uuids import random_uuid
from ottla.broker.automatic_topics import AutomaticTopics
from ottla.broker.first_start import name_cluster
from ottla.broker.group_settings import GroupSettings
from ottla.broker.housekeeping import Housekeeping
from ottla.broker.moved_logs import MovedLogs
from ottla.broker.network_settings import limits, network_settings
from ottla.broker.producer_ids import Block, ProducerIds
from ottla.broker.topic_settings import TopicSettings
from ottla.broker.verification_setting import VerificationSetting
from ottla.config.listeners import Listener
from ottla.config.load import LoadedConfig
from ottla.controller.brokers import decide_register_broker
from ottla.controller.controller import Controller, Settings
from ottla.controller.producer_ids import decide_allocate_producer_ids
from ottla.controller.registration import PROTOCOLS
from ottla.coordinators.groups.service import GroupCoordinator
from ottla.coordinators.transactions.marker_writing import MarkerWriter
from ottla.coordinators.transactions.markers import MarkerSender
from ottla.coordinators.transactions.service import TransactionCoordinator
from ottla.coordinators.transactions.verifying import Verifier
from ottla.handlers.dispatch import Dispatcher
from ottla.handlers.parts import Parts
from ottla.handlers.quotas.client_quotas import ClientQuotas
from ottla.handlers.telemetry.client_telemetry import ClientTelemetry
from ottla.handlers.topic_answers import TopicAnswers
from ottla.metadata.changes import Changes
from ottla.metadata.features import SUPPORTED
from ottla.metadata.file_log import FileMetadataLog
from ottla.metadata.image import Image
from ottla.metadata.publisher import Publisher
from ottla.network.network import Network
from ottla.protocol.messages.allocate_producer_ids_request import AllocateProducerIdsRequest
from ottla.protocol.messages.broker_registration_request import (
    BrokerRegistrationRequest,
    Feature,
)
from ottla.protocol.messages.broker_registration_request import Listener as RegisteredListener
from ottla.replication.directory_moves import DirectoryMoves
from ottla.replication.fetch_sessions import FetchSessions
from ottla.replication.replica_manager import ReplicaManager
from ottla.storage.directories.log_directory import Owner
from ottla.storage.directories.log_manager import LogManager
from ottla.storage.log.flushing import Done
from ottla.storage.log.steps import Work

log = logging.getLogger(__name__)

METADATA_DIRECTORY = ".metadata"  # in the first log directory
DRAIN_S = 5.0
CLOSING_THREADS = 16


class Broker:
    def __init__(
        self,
        settings: LoadedConfig,
        *,
        files: FileSystem | None = None,
        clock: Clock | None = None,
        rng: Random | None = None,
    ) -> None:
        self.settings = settings
        self.config = settings.config
        self.broker_id = self.config.node_id
        self.clock = clock or SystemClock()
        self._rng = rng or Random()
        self._files = files or DiskFileSystem()
        self._is_ready = asyncio.Event()
        self._tasks = OwnedTasks()
        self.broker_epoch = -1

    @property
    def ports(self) -> dict[str, int]:
        """By listener, once open."""
        return {name: each.port for name, each in self.network.listeners.items()}

    async def open(self) -> None:
        """Load what is on disk and take the ports."""
        directories = self.config.log_directories
        self.logs = LogManager(self._files, self.clock, self._rng, directories)
        self.logs.take()  # before anything there is read: the metadata log repairs what it finds
        self.metadata_log = FileMetadataLog(
            self._files, f"{directories[0]}/{METADATA_DIRECTORY}", asyncio.to_thread
        )
        image = await self.metadata_log.load()
        layers = self.settings.layers
        await name_cluster(self.metadata_log, image, layers, self._files, directories)
        self.publisher = Publisher(image)
        self.logs.open(Owner(image.cluster_id, self.broker_id))
        self._build(image)
        for step in self.logs.load(self.topic_settings.config):
            if step.loaded % 64 == 0:
                await asyncio.sleep(0)
        self.replicas.load(image)
        await self.network.open()
        await self._register(image)

    async def _register(self, image: Image) -> None:
        """This broker is its own controller: it signs itself on, and leads what is here."""
        self.controller.activate(image.copy(), image.controller_epoch + 1)
        self._controlling = self._tasks.start(self.controller.run(), name="controller")
        request = registration(self)
        self.broker_epoch = await self.controller.decide(
            lambda state: decide_register_broker(state, request, has_session=False, is_ready=True)
        )
        self.moved_logs.broker_epoch = self.broker_epoch
        self.parts.directory_moves.resume()

    def _build(self, image: Image) -> None:
        self.topic_settings = TopicSettings(self.broker_id, self.settings.layers, image)
        self.replicas = ReplicaManager(
            self.broker_id, self.logs, self.topic_settings.config, self.clock, run_elsewhere
        )
        self.housekeeping = Housekeeping(self.logs, self.config, self.clock)
        for directory in self.logs.directories:
            directory.context.needs_sync = self.housekeeping.needs_sync
            directory.context.truncated = self.housekeeping.truncated
        self.controller = Controller(
            self.metadata_log,
            self.publisher,
            Settings(self.broker_id, self.config, self.settings.layers, self._rng, random_uuid),
        )
        automatic_topics = AutomaticTopics(self.config, self.controller, self.replicas.settle)
        group_settings = GroupSettings(self.broker_id, self.settings.layers, image)
        self.groups = GroupCoordinator(
            image, self.config, group_settings.config, self.clock, automatic_topics.create
        )
        producer_ids = ProducerIds(self._allocate_producer_ids, self._tasks)
        markers = MarkerWriter(
            self.replicas, self.groups, self.clock.now_ms, self.config.request_timeout_ms
        )
        self.transactions = TransactionCoordinator(
            image,
            self.config,
            self.clock,
            producer_ids,
            MarkerSender(image, lambda _broker_id: markers),
            automatic_topics.create,
        )
        verifier = Verifier(self.transactions, self.config, self.clock)
        verification = VerificationSetting(
            self.broker_id, self.settings.layers, self.logs, verifier
        )
        verification.load(image)
        self.publisher.subscribe(verification.changed)
        self.parts = Parts(
            self.clock,
            self.settings,
            self.broker_id,
            image,
            self.replicas,
            FetchSessions(self.config.max_incremental_fetch_session_cache_slots, self._rng),
            TopicAnswers(image),
            self.controller,
            automatic_topics,
            producer_ids,
            self.groups,
            self.transactions,
            verifier,
            markers,
            ClientQuotas(image, self.config, self.clock),
            self._build_moves(),
            ClientTelemetry(image, self.config.telemetry_max_bytes, self.clock),
        )
        self.replicas.listeners += [self.groups, self.transactions]
        self.network = Network(
            network_settings(self.config, self.settings.listeners), Dispatcher(self.parts)
        )
        self.network.gate.limits = limits(self.config, image.quotas)
        self.publisher.subscribe(self.topic_settings.changed)
        self.publisher.subscribe(self.parts.quotas.changed)
        self.publisher.subscribe(self.parts.telemetry.changed)
        self.publisher.subscribe(self.parts.topic_answers.forget)
        self.publisher.subscribe(group_settings.changed)
        self.publisher.subscribe(self._metadata_changed)
        self.publisher.subscribe(self.groups.metadata_changed)

    async def _allocate_producer_ids(self) -> Block:
        request = AllocateProducerIdsRequest(self.broker_id, self.broker_epoch)
        answer = await self.controller.decide(
            lambda state: decide_allocate_producer_ids(state, request)
        )
        start = answer.producer_id_start
        return Block(start, start + answer.producer_id_len)

    def _build_moves(self) -> DirectoryMoves:
        config = self.config
        windows = Windows(
            config.alter_log_dirs_replication_quota_window_num,
            config.alter_log_dirs_replication_quota_window_size_seconds * 1000,
        )
        self.moved_logs = MovedLogs(self.housekeeping, self.controller, self._tasks)

        def bytes_per_second() -> int:
            texts = self.topic_settings.layers.effective()
            return int(texts["replica.alter.log.dirs.io.max.bytes.per.second"])

        moved = self.moved_logs.moved
        return DirectoryMoves(self.replicas, self.clock, windows, bytes_per_second, moved)

    def _metadata_changed(self, image: Image, changes: Changes) -> None:
        self.replicas.apply(changes)
        if not self.replicas.is_settled:
            self._tasks.start(self.replicas.settle(), name="new and deleted partitions")
        for change in changes.partitions.values():
            if change.after is None:
                self.housekeeping.removed(TopicPartition(change.topic.name, change.partition))
        if changes.quotas:
            self.network.gate.limits = limits(self.config, image.quotas)

    async def _watch_controller(self) -> None:
        """Without its controller a broker cannot go on: what ends one ends the other."""
        await self._controlling

    async def run(self) -> None:
        try:
            async with asyncio.TaskGroup() as tasks:
                tasks.create_task(self.network.run(), name="network")
                tasks.create_task(self._watch_controller(), name="controller")
                tasks.create_task(self.housekeeping.run(), name="housekeeping")
                tasks.create_task(self.groups.run(), name="groups")
                tasks.create_task(self.transactions.run(), name="transactions")
                await asyncio.sleep(0)  # the network begins to accept
                self._is_ready.set()
        finally:
            await self.close()

    async def ready(self) -> None:
        """Until connections are accepted."""
        await self._is_ready.wait()

    @property
    def address(self) -> str:
        """Where the first listener can be reached."""
        first = self.advertised()[0]
        return f"{first.host}:{first.port}"

    def advertised(self) -> tuple[Listener, ...]:
        return self.settings.listeners.advertised_with(host_name(), self.ports)

    async def drain(self) -> None:
        """Before stopping: no new requests, and those that run are answered."""
        await self.network.drain(DRAIN_S)

    async def close(self) -> None:
        await self.parts.directory_moves.close()
        await self._tasks.close()
        self.replicas.close()
        self.housekeeping.close()
        await self.metadata_log.close()
        self.logs.close(self.broker_epoch, run_in_threads)


def run_elsewhere(work: Callable[[], None], done: Done) -> None:
    """Disk work in a thread; `done` is called back in the event loop."""
    loop = asyncio.get_running_loop()
    future = loop.run_in_executor(None, work)
    future.add_done_callback(lambda finished: done(as_error(finished)))


def run_in_threads(works: Sequence[Work]) -> None:
    """At the end, when nobody is served any more: a disk takes many syncs at a time."""
    with ThreadPoolExecutor(CLOSING_THREADS, thread_name_prefix="closing") as threads:
        for _ in threads.map(lambda work: work(), works):
            pass


def as_error(finished: asyncio.Future[None]) -> Exception | None:
    error = finished.exception()
    if error is not None and not isinstance(error, Exception):
        raise error
    return error


def registration(broker: Broker) -> BrokerRegistrationRequest:
    """How the broker introduces itself to the controller."""
    shutdowns = [directory.last_shutdown for directory in broker.logs.online]
    epochs = {-1 if each is None else each.broker_epoch for each in shutdowns}
    return BrokerRegistrationRequest(
        broker.broker_id,
        broker.publisher.image.cluster_id,
        random_uuid(),
        [
            RegisteredListener(each.name, each.host, each.port, PROTOCOLS.index(each.protocol))
            for each in broker.advertised()
        ],
        [Feature(name, *versions) for name, versions in SUPPORTED.items()],
        broker.config.broker_rack,
        log_dirs=[each.directory_id or random_uuid() for each in broker.logs.online],
        # Only if all directories were closed in order, by the same run of the broker.
        previous_broker_epoch=epochs.pop() if len(epochs) == 1 else -1,
    )


def host_name() -> str:
    """What clients are told where a listener is bound to every address."""
    return socket.gethostname()
