"""All listeners of a broker, and what they share.

    network = Network(settings, server, response_memory)
    await network.open()      # the ports are taken, and known
    await network.run()       # accepts connections until it is cancelled
    await network.drain(5.0)  # before that: lets answers finish, for so many seconds at most

Owns      listeners, connections, their tasks, the threads that read cold files, the one timer.
          Where there are more connections than there may be (the limit was lowered, or brokers
          came), those that were quiet for longest are closed.
Promises  when `run` returns or is cancelled, all of these have ended.
"""

from __future__ import annotations

import asyncio
import logging
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from heapq import nsmallest

from ottla.network.connection import Connection
from ottla.network.deadlines import DeadlineWheel
from ottla.network.fair_turns import FairTurns
from ottla.network.home import Shared
from ottla.network.limits import ConnectionGate
from ottla.network.listener import Listener
from ottla.network.memory_pressure import MemoryPressure
from ottla.network.request_memory import RequestMemory
from ottla.network.response_memory import ResponseMemory
from ottla.network.served import RequestServer
from ottla.network.settings import NetworkSettings

log = logging.getLogger(__name__)

READING_THREADS = 4
RESPONSE_BYTES_MAX = 256 * 1024 * 1024  # where nobody shares the memory with the network


class Network:
    def __init__(
        self,
        settings: NetworkSettings,
        server: RequestServer,
        response_memory: ResponseMemory | None = None,
    ) -> None:
        self._settings = settings
        self._server = server
        self._executor = ThreadPoolExecutor(READING_THREADS, thread_name_prefix="cold-read")
        self.gate = ConnectionGate(settings.limits)
        self.memory = RequestMemory(settings.request_bytes_max, settings.eviction)
        self.response_memory = response_memory or ResponseMemory(RESPONSE_BYTES_MAX)
        self.response_memory.rules = settings.eviction
        self.listeners: dict[str, Listener] = {}
        self._shared: Shared | None = None
        self._pressure = MemoryPressure(self.memory, self.response_memory, settings.tick_ms / 1000)

    @property
    def connections(self) -> list[Connection]:
        return [each for listener in self.listeners.values() for each in listener.connections]

    async def open(self) -> None:
        """Take the ports; OSError if one cannot be had, and then none is kept."""
        tick_s = self._settings.tick_ms / 1000
        loop = asyncio.get_running_loop()
        self._shared = Shared(
            loop,
            self.memory,
            self.response_memory,
            DeadlineWheel(tick_s),
            FairTurns(loop),
            self._executor,
        )
        self._pressure.watch(self._shared.loop)
        try:
            for settings in self._settings.listeners:
                listener = Listener(settings, self._server, self._shared, self.gate)
                await listener.open()
                self.listeners[settings.name] = listener
        except BaseException:
            self.stop_accepting()
            raise

    async def run(self) -> None:
        assert self._shared is not None, "open comes first"
        try:
            for listener in self.listeners.values():
                listener.start()
            while True:
                await asyncio.sleep(self._settings.tick_ms / 1000)
                self._look_at_deadlines(self._shared)
                self._close_excess()
                self._pressure.tick(self._shared.loop.time())
        finally:
            await self._close(self._shared)

    async def drain(self, seconds: float) -> None:
        """Accept and begin nothing more; return when all is answered and sent, or time is up."""
        self.stop_accepting()
        for connection in self.connections:
            connection.finish()
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._all_closed()

    def stop_accepting(self) -> None:
        for listener in self.listeners.values():
            listener.stop()

    def _look_at_deadlines(self, shared: Shared) -> None:
        now_s = shared.loop.time()
        for connection in shared.deadlines.take_due(now_s):
            try:
                connection.look(now_s)
            except Exception:
                log.exception("bug while looking at %r", connection)
                connection.close("a bug")

    def _close_excess(self) -> None:
        if count := self.gate.excess:
            listeners = (each for each in self.listeners.values() if not each.settings.is_exempt)
            candidates = (connection for each in listeners for connection in each.connections)
            for connection in nsmallest(count, candidates, key=lambda each: each.active_s):
                connection.close("there are too many")

    async def _close(self, shared: Shared) -> None:
        self.stop_accepting()
        for listener in self.listeners.values():
            await listener.settled()
        await shared.tasks.close()
        for connection in self.connections:
            connection.close("the broker stops")
        await self._all_closed()
        await asyncio.to_thread(self._executor.shutdown, cancel_futures=True)

    async def _all_closed(self) -> None:
        for listener in self.listeners.values():
            await listener.emptied()
