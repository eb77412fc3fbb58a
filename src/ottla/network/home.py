"""What the connections of one listener share."""

from __future__ import annotations

import asyncio
import logging
from concurrent.futures import Executor
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ottla.base.sparse_log import SparseLog
from ottla.base.tasks import OwnedTasks
from ottla.network.counters import NetworkCounters
from ottla.network.deadlines import DeadlineWheel
from ottla.network.fair_turns import FairTurns
from ottla.network.limits import WayIn
from ottla.network.request_memory import RequestMemory
from ottla.network.response_memory import ResponseMemory
from ottla.network.served import RequestServer
from ottla.network.settings import ConnectionSettings
from ottla.protocol.framing import Scratch

if TYPE_CHECKING:
    from ottla.network.connection import Connection


log = logging.getLogger(__name__)


@dataclass(slots=True)
class Shared:
    """Of all listeners of a broker; they run in one event loop."""

    loop: asyncio.AbstractEventLoop
    memory: RequestMemory
    response_memory: ResponseMemory
    deadlines: DeadlineWheel[Connection]
    turns: FairTurns
    executor: Executor | None = None  # reads what is not in the page cache
    scratch: Scratch = field(default_factory=Scratch)
    tasks: OwnedTasks = field(default_factory=OwnedTasks)


@dataclass(slots=True)
class Home:
    """Of one listener."""

    listener_name: str
    settings: ConnectionSettings
    server: RequestServer
    shared: Shared
    way_in: WayIn  # where each of its connections is counted
    counters: NetworkCounters = field(default_factory=NetworkCounters)
    malformed: SparseLog = field(default_factory=lambda: SparseLog(log, logging.INFO))
    evicted: SparseLog = field(default_factory=lambda: SparseLog(log, logging.WARNING))
    connections: set[Connection] = field(default_factory=set)
    is_ending: bool = False  # whoever still comes is sent away
    emptied: asyncio.Event = field(default_factory=asyncio.Event)  # the last one has gone

    def joined(self, connection: Connection) -> None:
        self.connections.add(connection)
        self.counters.connections_accepted += 1
        self.emptied.clear()

    def left(self, connection: Connection) -> None:
        self.connections.discard(connection)
        self.counters.connections_closed += 1
        self.release(connection)
        if not self.connections:
            self.emptied.set()

    def release(self, connection: Connection) -> None:
        self.way_in.release(connection.peer_host)
