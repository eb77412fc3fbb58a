"""One broker: constructs its components, connects them, runs and closes them.

    broker = Broker(settings)
    await broker.open()     # loads the logs and binds the ports
    await broker.run()      # until cancelled

Owns      all components; only this module chooses concrete classes.
Promises  when `run` returns or is cancelled, all data is on disk and all tasks have ended.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from functools import partial
from random import Random

from ottla.base.clock import Clock, SystemClock
from ottla.base.files.disk import DiskFileSystem
from ottla.base.files.filesystem import FileSystem
from ottla.base.scheduling.pacing import repeat
from ottla.base.scheduling.step_scheduler import DedicatedDriver, StepScheduler
from ottla.base.scheduling.steps import Steps
from ottla.base.scheduling.tasks import OwnedTasks
from ottla.base.scheduling.threads import Threads, run_in_threads
from ottla.base.uuids import random_uuid
from ottla.broker.automatic_topics import AutomaticTopics, WaitForTopics
from ottla.broker.change_log import log_changes
from ottla.broker.cluster_marks import WRITE_INTERVAL_MS, ClusterMarks
from ottla.broker.connection_limiter import ConnectionLimiter
from ottla.broker.control.control_plane import ControlPlane
from ottla.broker.control.embedded import EmbeddedControl
from ottla.broker.environment import Environment
from ottla.broker.first_start import (
    DirectoryHistory,
    exclude_empty_directories,
    read_history,
    restore_ids,
)
from ottla.broker.housekeeping import Housekeeping
from ottla.broker.moved_logs import MovedLogs, directory_moves
from ottla.broker.network_settings import network_settings
from ottla.broker.offline_directories import OfflineDirectories
from ottla.broker.preloading import preload
from ottla.broker.producer_ids import ProducerIds
from ottla.broker.registration import host_name, registration
from ottla.broker.remote_leaders import RemoteLeaders
from ottla.broker.replication_parts import build_replication
from ottla.broker.storage_events import StorageEvents
from ottla.broker.transaction_peers import RoutedCoordinator, TransactionPeers
from ottla.config.listeners import ListenerEndpoint
from ottla.config.load import LoadedConfig
from ottla.controller.controller import ControllerSettings
from ottla.coordinators.groups.coordinator import GroupCoordinator
from ottla.coordinators.transactions.coordinator import TransactionCoordinator
from ottla.coordinators.transactions.marker_writing import MarkerWriter
from ottla.coordinators.transactions.markers import MarkerChannel, MarkerSender
from ottla.coordinators.transactions.verifying import Coordinator, Verifier
from ottla.handlers.partitions.topic_answers import TopicAnswers
from ottla.handlers.quotas.client_quotas import ClientQuotas
from ottla.handlers.serving.dispatch import Dispatcher
from ottla.handlers.serving.large_responses import LargeResponses
from ottla.handlers.serving.parts import Parts
from ottla.handlers.telemetry.client_telemetry import ClientTelemetry
from ottla.metadata.changes import Changes
from ottla.metadata.current_config import CurrentConfig
from ottla.metadata.image import Image
from ottla.metadata.log import MetadataLost
from ottla.network.network import Network
from ottla.network.request_server import RequestServer
from ottla.network.response_memory import ResponseMemory
from ottla.replication.directory_reports import DirectoryReports
from ottla.replication.fetch_waiters import ParkedFetches
from ottla.replication.replica_manager import ReplicaManager, is_placed
from ottla.replication.session_cache import FetchSessions
from ottla.storage.directories.directory_ownership import Owner
from ottla.storage.directories.log_directory import LogDirectory
from ottla.storage.directories.log_manager import LogManager
from ottla.storage.files.directory_health import StorageUnavailable
from ottla.storage.producers.producer_bound import ProducerBound

log = logging.getLogger(__name__)

ROOM_INTERVAL_MS = 5_000  # between attempts to create partitions after the disk was full
DRAIN_S = 5.0
DISK_THREADS = 8  # compaction occupies one while it runs


class Broker:
    def __init__(
        self,
        settings: LoadedConfig,
        *,
        files: FileSystem | None = None,
        clock: Clock | None = None,
        rng: Random | None = None,
        server: Callable[[Parts], RequestServer] = Dispatcher,
        environment: Environment = Environment(),  # noqa: B008
    ) -> None:
        self.settings = settings
        self._make_server = server
        self._environment = environment
        self.config = settings.config
        self.broker_id = self.config.node_id
        self.clock = clock or SystemClock()
        self.scheduler = StepScheduler(self.clock, Threads())
        # Syncs, checkpoints and the metadata log must not wait for requests.
        self.disk = DedicatedDriver(self.scheduler, Threads.named("disk", DISK_THREADS))
        self._rng = rng or Random()
        self._files = files or DiskFileSystem()
        self._is_ready = asyncio.Event()
        self._storage_lost = asyncio.Event()
        self._has_lost_metadata = False
        self._has_placed_partitions = False
        self._tasks = OwnedTasks()

    @property
    def ports(self) -> dict[str, int]:
        """Port numbers by listener, once open."""
        return {name: each.port for name, each in self.network.listeners.items()}

    async def open(self) -> None:
        """Load the logs and bind the ports."""
        directories = self.config.log_directories
        self.storage_events = StorageEvents(self._files, self._storage_lost.set)
        self.logs = LogManager(
            self._files,
            self.clock,
            self._rng,
            directories,
            self.storage_events,
            start=self.disk.start,
            producers=ProducerBound(
                self.config.ottla_partition_producer_ids_max, self.config.ottla_producer_ids_max
            ),
        )
        self.logs.take()  # before anything is read: opening the metadata log may repair it
        self.control = self._new_control(self.logs.directories[0])
        try:
            await self._join()
        except BaseException:
            await self.control.release()
            raise

    async def _join(self) -> None:
        past = read_history(self.logs.online)
        image = await self.control.load(past)
        self.publisher = self.control.publisher
        exclude_empty_directories(self.logs.online, image, self.broker_id, past)
        restore_ids(self.logs.online, image, self.broker_id, past)
        self.logs.open(Owner(image.cluster_id, self.broker_id))
        self._expect_directories(image, past)
        self._build(image)
        placed = partial(is_placed, image, self.broker_id)
        for step in self.logs.load(self.current.topic, placed):
            if step.loaded % 64 == 0:
                await asyncio.sleep(0)
        await self.marks.write()
        await self.network.open()
        request = registration(
            self.broker_id,
            image.cluster_id,
            self.config.broker_rack,
            self.advertised(),
            self.logs,
        )
        # From here on: the request has the directories that are online, and placing partitions
        # writes to them.
        self.logs.subscribe(OfflineDirectories(self.logs, self.control))
        await self.control.join(request)
        self.replicas.load(image)
        self._has_placed_partitions = True
        self.parts.directory_moves.resume()

    def _new_control(self, directory: LogDirectory) -> ControlPlane:
        settings = ControllerSettings(
            self.broker_id, self.config, self.settings.layers, self._rng, random_uuid
        )
        if not self.config.is_cluster_member:
            return EmbeddedControl(
                self._files, directory.path, settings, self.scheduler, self.disk, self._tasks
            )
        from ottla.broker.control.cluster import ClusterControl  # it needs kazoo

        listener = self.settings.listeners.inter_broker_name
        return ClusterControl(
            self._files,
            directory,
            settings,
            self.scheduler,
            self.disk,
            self._tasks,
            self.clock,
            listener,
            self._environment,
        )

    def _expect_directories(self, image: Image, past: DirectoryHistory) -> None:
        registered = image.broker(self.broker_id)
        ids = () if registered is None else registered.log_directories
        self.logs.expected.expect(past.directory_ids.union(ids))

    # Construction, in order of dependency

    def _build(self, image: Image) -> None:
        self._build_partitions(image)
        self._build_peers(image)
        self._build_coordinators(image)
        self._build_parts(image)
        self._build_network()
        self._subscribe()

    def _build_partitions(self, image: Image) -> None:
        current = self.current = CurrentConfig(self.settings, image)
        self.replication = build_replication(
            self.broker_id, self.control, image, current, self.clock, self.disk, self._tasks
        )
        reports = self.directory_reports = DirectoryReports(
            self.broker_id, self.logs, self.control.assign_directories, self._tasks
        )
        self.replicas = ReplicaManager(
            self.broker_id,
            self.logs,
            current.topic,
            self.clock,
            self.disk,
            self.replication.listener,
            self.replication.followers,
            None if self.control.channels is None else reports,
        )
        self.housekeeping = Housekeeping(
            self.logs, self.storage_events, lambda: current.broker, self.clock, self.disk
        )
        self.marks = ClusterMarks(self.logs, image, self.disk)

    def _build_coordinators(self, image: Image) -> None:
        create = self.automatic_topics.create
        self.groups = GroupCoordinator(
            image, self.config, self.current.group, self.clock, create, self.scheduler
        )
        self.producer_ids = ProducerIds(self.control.allocate_producer_ids, self._tasks)
        markers = MarkerWriter(
            self.replicas,
            self.groups.service.offsets,
            self.clock.now_ms,
            self.config.request_timeout_ms,
            self.scheduler,
        )
        self.markers = markers
        self.transactions = TransactionCoordinator(
            image,
            self.config,
            self.clock,
            self.producer_ids,
            MarkerSender(image, self._markers_to, self.scheduler.next),
            create,
            self.scheduler,
        )
        self.replicas.listeners += [self.groups, self.transactions]

    def _markers_to(self, broker_id: int) -> MarkerChannel:
        if broker_id == self.broker_id or self._peers is None:
            return self.markers
        return self._peers.markers_to(broker_id)

    def _build_peers(self, image: Image) -> None:
        channels, timeout_s = self.control.channels, self.config.request_timeout_ms / 1000
        self._peers: TransactionPeers | None = None
        waits: list[WaitForTopics] = [self.replicas.made]
        if channels is not None:
            self._peers = TransactionPeers(channels, timeout_s, self._tasks)
            remote = RemoteLeaders(self.broker_id, image, channels, timeout_s)
            waits.append(remote.wait_for)
        self.automatic_topics = AutomaticTopics(self.config, self.control, waits)

    def _build_parts(self, image: Image) -> None:
        """The components that request handlers use."""
        coordinator: Coordinator = self.transactions
        if self._peers is not None:
            coordinator = RoutedCoordinator(self.broker_id, self.transactions, self._peers)
        verifier = Verifier(coordinator, self.current, self.clock)
        moved_logs = MovedLogs(self.housekeeping, self.directory_reports)
        self.parts = Parts(
            self.clock,
            self.scheduler,
            self.current,
            self.broker_id,
            image,
            self.replicas,
            FetchSessions(
                self.config.max_incremental_fetch_session_cache_slots,
                self._rng,
                self.config.ottla_fetch_session_partitions_max,
                on_close=self.replicas.drop_session,  # so that partitions do not notify it
            ),
            TopicAnswers(image, self.replication.lost_leaders),
            self.control.controller,
            self.automatic_topics,
            self.producer_ids,
            self.groups.service,
            self.transactions,
            verifier,
            self.markers,
            ClientQuotas(image, self.config, self.clock),
            directory_moves(self.replicas, self.current, self.clock, self.disk, moved_logs),
            ClientTelemetry(image, self.config.telemetry_max_bytes, self.clock, self.scheduler),
            memory := ResponseMemory(self.config.ottla_queued_response_bytes_max),
            LargeResponses(self.scheduler, memory, self.config.ottla_response_bytes_max),
            ParkedFetches(self.config.ottla_fetch_parked_partitions_max),
            self.replication.low_watermarks,
            self.replication.leader_quota,
            self.control.cluster_parts,
        )

    def _build_network(self) -> None:
        self.network = Network(
            network_settings(self.config, self.settings.listeners, self.current.layers),
            self._make_server(self.parts),
            self.parts.response_memory,
            self._environment.bind,
            self.clock,
        )
        self._connection_limiter = ConnectionLimiter(
            self.network, self.current, self.parts.quotas, self._tasks
        )
        self._connection_limiter.apply()

    def _verify_transactions(self) -> None:
        """Let logs reject transactional records that were not verified, if that is enabled."""
        is_enabled = self.current.broker.transaction_partition_verification_enable
        self.logs.verify_transactions(is_enabled)

    def _subscribe(self) -> None:
        """Subscribe to metadata changes; components are notified in this order."""
        self._verify_transactions()
        self.current.on_broker_change(self._verify_transactions)
        self.current.on_broker_change(self._connection_limiter.apply)
        for changed in (
            self.current.changed,
            self.parts.quotas.changed,
            self.parts.telemetry.changed,
            self.parts.topic_answers.forget,
            self._metadata_changed,
            self.groups.metadata_changed,
            log_changes,
        ):
            self.publisher.subscribe(changed)

    # Running

    def _metadata_changed(self, _image: Image, changes: Changes) -> Steps[None]:
        if not self._has_placed_partitions:
            return  # while this broker registers; then they are placed as the image has them
        yield from self.replicas.applying(changes)
        if changes.brokers:
            self.replication.brokers_changed(changes.brokers)
        if not self.replicas.is_settled:
            self._tasks.start(self.replicas.settle(), name="new and deleted partitions")
        if self.parts.quotas.addresses.take_changed():
            self._connection_limiter.apply()

    async def _write_marks(self) -> None:
        await repeat(self.marks.write, lambda: WRITE_INTERVAL_MS)

    async def _watch_room(self) -> None:
        await repeat(self.replicas.retry_waiting_partitions, lambda: ROOM_INTERVAL_MS)

    async def _watch_storage(self) -> None:
        """End if no log directory is left, as Kafka does; a supervisor may restart the process."""
        await self._storage_lost.wait()
        log.error("no log directory is left, stopping the broker")
        raise StorageUnavailable("no log directory is left")

    async def run(self) -> None:
        try:
            async with asyncio.TaskGroup() as tasks:
                tasks.create_task(self.network.run(), name="network")
                tasks.create_task(self.control.run(), name="control plane")
                tasks.create_task(self._write_marks(), name="cluster marks")
                tasks.create_task(self._watch_room(), name="partitions without room")
                tasks.create_task(self._watch_storage(), name="storage")
                tasks.create_task(self.housekeeping.run(), name="housekeeping")
                tasks.create_task(self.replication.run(self.replicas), name="replication")
                tasks.create_task(self.groups.run(), name="groups")
                tasks.create_task(self.transactions.run(), name="transactions")
                tasks.create_task(preload(self.scheduler.in_thread), name="preloading")
                await asyncio.sleep(0)  # the network starts to accept connections
                await self.control.begin_serving()
                self._is_ready.set()
        except* MetadataLost:
            self._has_lost_metadata = True
            raise
        finally:
            await self.close()

    async def ready(self) -> None:
        """Wait until connections are accepted."""
        await self._is_ready.wait()

    @property
    def address(self) -> str:
        """The address of the first listener."""
        return self.settings.listeners.reached_with(self.ports).address

    def advertised(self) -> tuple[ListenerEndpoint, ...]:
        return self.settings.listeners.advertised_with(host_name(), self.ports)

    async def drain(self) -> None:
        """Before closing: hand over leaderships, reject new requests, and wait for those in
        progress."""
        await self.control.leave()
        await self.network.drain(DRAIN_S)

    async def close(self) -> None:
        await self.parts.directory_moves.close()
        self.replication.close()
        await self._tasks.close()
        try:
            if self._has_lost_metadata:
                self.marks.close()  # the next start must not accept less than was published here
            elif self.logs.online:
                await self._close_in_order()
        finally:
            await self.control.release()
            self.housekeeping.close_helper()
            self.logs.release()
            await self.scheduler.in_thread(self.disk.threads.close)

    async def _close_in_order(self) -> None:
        """Only with intact metadata: otherwise the files of partitions are left unchanged."""
        await self.control.check()
        self.replicas.close()
        self.housekeeping.close()
        await self.control.close()
        self.marks.close()
        self.logs.close(self.control.broker_epoch, run_in_threads)
