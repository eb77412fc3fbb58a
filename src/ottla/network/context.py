"""State that the connections of a listener share, and that all listeners of a broker share."""

from __future__ import annotations

import asyncio
import logging
from concurrent.futures import Executor
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ottla.base.clock import Clock
from ottla.base.log_messages.sparse_log import SparseLog
from ottla.base.scheduling.callback_queue import TASKS_MAX, CallbackQueue
from ottla.base.scheduling.tasks import OwnedTasks
from ottla.base.scheduling.timers import Timers
from ottla.network.counters import NetworkCounters
from ottla.network.limits import AdmissionControl
from ottla.network.read_budget import ReadBudget
from ottla.network.request_memory import RequestMemory
from ottla.network.request_scheduler import RequestScheduler
from ottla.network.request_server import RequestServer
from ottla.network.response_memory import ResponseMemory
from ottla.network.settings import ConnectionSettings
from ottla.protocol.framing import Scratch

if TYPE_CHECKING:
    from ottla.network.connection import Connection


log = logging.getLogger(__name__)


@dataclass(slots=True)
class NetworkContext:
    """Shared by all listeners of a broker; they run in one event loop."""

    loop: asyncio.AbstractEventLoop
    request_memory: RequestMemory
    response_memory: ResponseMemory
    timers: Timers[Connection]  # the next deadline check of each connection
    scheduler: RequestScheduler
    clock: Clock
    executor: Executor | None = None  # reads what is not in the page cache
    scratch: Scratch = field(default_factory=Scratch)
    reads: ReadBudget = field(init=False)
    tasks: OwnedTasks = field(default_factory=OwnedTasks)
    # of requests whose connection is closed
    cancellations: CallbackQueue = field(init=False)

    def __post_init__(self) -> None:
        self.reads = ReadBudget(self.loop)
        self.cancellations = CallbackQueue(2 * TASKS_MAX, self.clock.monotonic_s)


@dataclass(slots=True)
class ListenerContext:
    """Shared by the connections of one listener."""

    listener_name: str
    settings: ConnectionSettings
    server: RequestServer
    network: NetworkContext
    admission: AdmissionControl  # counts each of its connections
    counters: NetworkCounters = field(default_factory=NetworkCounters)
    malformed_log: SparseLog = field(default_factory=lambda: SparseLog(log, logging.INFO))
    eviction_log: SparseLog = field(default_factory=lambda: SparseLog(log, logging.WARNING))
    connections: dict[Connection, None] = field(default_factory=dict)  # the oldest first
    is_closing: bool = False  # connections that are still being accepted are closed
    emptied: asyncio.Event = field(default_factory=asyncio.Event)  # no connection is open

    def add(self, connection: Connection) -> None:
        self.connections[connection] = None
        self.counters.connections_accepted += 1
        self.emptied.clear()

    def remove(self, connection: Connection) -> None:
        self.connections.pop(connection, None)
        self.counters.connections_closed += 1
        self.release(connection)
        if not self.connections:
            self.emptied.set()

    def release(self, connection: Connection) -> None:
        """Stop counting a connection against the limits."""
        self.admission.release(connection.peer_host)
