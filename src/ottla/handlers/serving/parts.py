"""The parts of a broker that handlers use. `broker/broker.py` builds and connects them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple, Protocol

from ottla.base.clock import Clock
from ottla.base.scheduling.callback_queue import TASKS_MAX, CallbackQueue
from ottla.base.scheduling.loop_timers import LoopTimers
from ottla.base.scheduling.step_scheduler import StepScheduler
from ottla.controller.controller import Controller
from ottla.controller.decision import Charge
from ottla.coordinators.groups.service import GroupService
from ottla.coordinators.transactions.coordinator import TransactionCoordinator
from ottla.coordinators.transactions.marker_writing import MarkerWriter
from ottla.coordinators.transactions.producer_id_source import ProducerIdSource
from ottla.coordinators.transactions.verifying import Verifier
from ottla.handlers.forwarding.relay import ForwardedClient, Relay
from ottla.handlers.partitions.topic_answers import TopicAnswers
from ottla.handlers.producing.refused_batches import RefusedBatches
from ottla.handlers.quotas.client_quotas import ClientQuotas
from ottla.handlers.serving.disposal import Disposal
from ottla.handlers.serving.large_responses import LargeResponses
from ottla.handlers.telemetry.client_telemetry import ClientTelemetry
from ottla.metadata.current_config import CurrentConfig
from ottla.metadata.image import Image
from ottla.network.response_memory import ResponseMemory
from ottla.protocol.error_codes import ErrorCode
from ottla.replication.directory_moves import DirectoryMoves
from ottla.replication.fetch_waiters import ParkedFetches
from ottla.replication.low_watermarks import LowWatermarks
from ottla.replication.replica_manager import ReplicaManager
from ottla.replication.replication_quota import ReplicationQuota
from ottla.replication.session_cache import FetchSessions

if TYPE_CHECKING:  # it is loaded by members of a cluster only
    from ottla.controller.broker_requests import BrokerRequests

TIME_SEARCHES_MAX = 2


class TopicCreator(NamedTuple):
    """The client whose request creates a topic automatically."""

    charge: Charge
    client: ForwardedClient


class TopicMaker(Protocol):
    """Creates topics automatically."""

    async def create(
        self, names: Iterable[str], creator: TopicCreator | None = None
    ) -> dict[str, ErrorCode]: ...


@dataclass(frozen=True, slots=True)
class ClusterParts:
    """What only a member of a cluster has."""

    relay: Relay
    broker_requests: BrokerRequests
    listener: str  # that brokers use among themselves
    controller_id: Callable[[], int]  # -1 if there is none


@dataclass(slots=True)
class Parts:
    clock: Clock
    scheduler: StepScheduler
    config: CurrentConfig
    broker_id: int
    metadata: Image
    replicas: ReplicaManager
    fetch_sessions: FetchSessions
    topic_answers: TopicAnswers
    controller: Controller
    automatic_topics: TopicMaker
    producer_ids: ProducerIdSource
    groups: GroupService
    transactions: TransactionCoordinator
    verifier: Verifier
    markers: MarkerWriter
    quotas: ClientQuotas
    directory_moves: DirectoryMoves
    telemetry: ClientTelemetry
    response_memory: ResponseMemory
    large_responses: LargeResponses
    parked_fetches: ParkedFetches
    low_watermarks: LowWatermarks
    leader_quota: ReplicationQuota  # of what followers are sent
    cluster: ClusterParts | None = None
    disposal: Disposal = field(default_factory=Disposal)
    timers: LoopTimers = field(default_factory=LoopTimers)  # deadlines of requests that wait
    wake_ups: CallbackQueue = field(init=False)  # of requests that wait without a task
    task_wake_ups: CallbackQueue = field(init=False)
    refused_batches: RefusedBatches = field(init=False)
    # They open batches in threads: more at a time would delay other work in threads, such as
    # the controller's.
    time_searches: asyncio.Semaphore = field(
        default_factory=lambda: asyncio.Semaphore(TIME_SEARCHES_MAX)
    )

    def __post_init__(self) -> None:
        self.wake_ups = CallbackQueue(now_s=self.clock.monotonic_s)
        self.task_wake_ups = CallbackQueue(TASKS_MAX, self.clock.monotonic_s)
        self.refused_batches = RefusedBatches(self.clock)

    @property
    def controller_id(self) -> int:
        """The broker that clients send changes to; every broker forwards them."""
        return self.broker_id if self.cluster is None else self.cluster.controller_id()
