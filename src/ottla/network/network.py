"""All listeners of a broker, and what they share.

    network = Network(settings, server, response_memory)
    await network.open()      # binds the ports
    await network.run()       # accepts connections until it is cancelled
    await network.drain(5.0)  # before that: finishes responses, within this many seconds

Owns      listeners, connections, their tasks and deadlines, the threads that read cold files.
          If there are too many connections (the limit was lowered, or brokers connected), those
          idle longest are closed.
Promises  when `run` returns or is cancelled, all of these have ended.
"""

from __future__ import annotations

import asyncio
import logging
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from heapq import nsmallest
from itertools import islice

from ottla.base.clock import Clock, SystemClock
from ottla.base.scheduling.tasks import next_iteration
from ottla.base.scheduling.timers import Timers
from ottla.network.connection import Connection
from ottla.network.context import NetworkContext
from ottla.network.limits import ConnectionQuota
from ottla.network.listener import Listener
from ottla.network.listening import Bind, bind_sockets
from ottla.network.memory_pressure import MemoryPressure
from ottla.network.request_memory import RequestMemory
from ottla.network.request_scheduler import RequestScheduler
from ottla.network.request_server import RequestServer
from ottla.network.response_memory import ResponseMemory
from ottla.network.settings import NetworkSettings

log = logging.getLogger(__name__)

READING_THREADS = 4
CLOSED_PER_ITERATION = 64  # connections: closing one costs up to a tenth of a millisecond
RESPONSE_BYTES_MAX = 256 * 1024 * 1024  # without a memory that handlers share


class Network:
    def __init__(
        self,
        settings: NetworkSettings,
        server: RequestServer,
        response_memory: ResponseMemory | None = None,
        bind: Bind = bind_sockets,
        clock: Clock | None = None,
    ) -> None:
        self._settings = settings
        self._bind = bind
        self._clock = clock or SystemClock()
        self._server = server
        self._executor = ThreadPoolExecutor(READING_THREADS, thread_name_prefix="cold-read")
        self.quota = ConnectionQuota(settings.limits)
        self.request_memory = RequestMemory(settings.request_bytes_max, settings.eviction)
        self.response_memory = response_memory or ResponseMemory(RESPONSE_BYTES_MAX)
        self.response_memory.rules = settings.eviction
        self.listeners: dict[str, Listener] = {}
        self._context: NetworkContext | None = None
        self._pressure = MemoryPressure(
            self.request_memory, self.response_memory, settings.tick_ms / 1000
        )

    @property
    def connections(self) -> list[Connection]:
        return [each for listener in self.listeners.values() for each in listener.connections]

    async def open(self) -> None:
        """Bind the ports; OSError if one cannot be bound, and then none is kept."""
        loop = asyncio.get_running_loop()
        self._context = NetworkContext(
            loop,
            self.request_memory,
            self.response_memory,
            Timers(lambda: int(loop.time() * 1000)),
            RequestScheduler(loop, self._clock.cpu_s),
            self._clock,
            self._executor,
        )
        self._pressure.start(loop)
        try:
            for settings in self._settings.listeners:
                listener = Listener(settings, self._server, self._context, self.quota, self._bind)
                await listener.open()
                self.listeners[settings.name] = listener
        except BaseException:
            self.stop_accepting()
            raise

    async def run(self) -> None:
        assert self._context is not None, "open comes first"
        try:
            for listener in self.listeners.values():
                listener.start()
            while True:
                await asyncio.sleep(self._settings.tick_ms / 1000)
                await check_deadlines(self._context)
                await self._close_excess()
                self._pressure.tick(self._context.loop.time())
        finally:
            await self._close(self._context)

    async def drain(self, seconds: float) -> None:
        """Accept no connection and begin no request; return when all responses are sent, or after
        this time."""
        self.stop_accepting()
        for connection in self.connections:
            connection.finish()
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._all_closed()

    def stop_accepting(self) -> None:
        for listener in self.listeners.values():
            listener.stop()

    async def _close_excess(self) -> None:
        """The limit may have been lowered by thousands. Those that were just closed are counted
        until the next iteration of the event loop."""
        while count := min(self.quota.excess, CLOSED_PER_ITERATION):
            listeners = (each for each in self.listeners.values() if not each.settings.is_exempt)
            candidates = (connection for each in listeners for connection in each.connections)
            chosen = nsmallest(count, candidates, key=lambda each: each.active_s)
            if not chosen:
                break
            for connection in chosen:
                connection.close("too many connections")
            await next_iteration()

    async def _close(self, context: NetworkContext) -> None:
        self.stop_accepting()
        for listener in self.listeners.values():
            await listener.settled()
        await context.tasks.close()
        for connection in self.connections:
            connection.close("the broker is stopping")
        await self._all_closed()
        await asyncio.to_thread(self._executor.shutdown, cancel_futures=True)

    async def _all_closed(self) -> None:
        for listener in self.listeners.values():
            await listener.emptied()


async def check_deadlines(context: NetworkContext) -> None:
    """Close connections whose deadline has passed. Thousands may have been idle since the same
    moment."""
    while context.timers.is_due:
        now_s = context.loop.time()
        for connection in islice(iter(context.timers.take_expired, None), CLOSED_PER_ITERATION):
            try:
                connection.check_deadlines(now_s)
            except Exception:
                log.exception("bug while checking the deadlines of %r", connection)
                connection.close("a bug")
        await next_iteration()
