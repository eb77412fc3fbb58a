"""A broker as a process that can be killed: all of `ottla.broker`, in a simulated environment.

Owns      the tasks of the process, its files as long as it lives, its ZooKeeper session.
Promises  after `kill` nothing of it changes its disk, the network or ZooKeeper, whatever its tasks
          do when they are cancelled.
"""

from __future__ import annotations

import asyncio
import contextvars
import errno
from collections.abc import Sequence
from contextvars import ContextVar
from random import Random
from typing import Any, cast

from tests.simulation.cluster.network import HOST, Network, SimulatedLoop
from tests.support.zookeeper_model import Ensemble, ModelService

from ottla.base.files.filesystem import FileSystem
from ottla.broker.broker import Broker
from ottla.broker.environment import Environment
from ottla.config.load import LoadedConfig, load_config
from ottla.metadata.zookeeper.service import ZooKeeperService, ZooKeeperSession
from ottla.testing.filesystem import MemoryDisk

DATA = "/data"
PORT = 9092
START_MS = 1_700_000_000_000
PROCESS: ContextVar[BrokerProcess | None] = ContextVar("the process of a task", default=None)


def host_of(broker_id: int) -> str:
    return f"10.0.0.{broker_id}"


def settings_of(broker_id: int, others: Sequence[str] = ()) -> LoadedConfig:
    host = host_of(broker_id)
    return load_config(
        settings=[
            f"node.id={broker_id}",
            "zookeeper.connect=model:2181",
            "zookeeper.session.timeout.ms=2000",
            f"listeners=PLAINTEXT://{host}:{PORT}",
            f"log.dirs={DATA}",
            "log.cleaner.enable=false",  # it would start a process
            "replica.lag.time.max.ms=3000",
            "default.replication.factor=3",
            "min.insync.replicas=2",
            "request.timeout.ms=5000",
            "offsets.topic.num.partitions=1",
            "transaction.state.log.num.partitions=1",
            "group.min.session.timeout.ms=1000",
            "group.initial.rebalance.delay.ms=0",
            *others,
        ]
    )


class LoopClock:
    """The virtual time of the event loop."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.monotonic_s = self.cpu_s = loop.time

    def now_ms(self) -> int:
        return START_MS + int(self.monotonic_s() * 1000)


class ProcessFiles:
    """The files of a process, until it has ended."""

    def __init__(self, disk: MemoryDisk) -> None:
        self._disk = disk
        self.is_alive = True

    def __getattr__(self, name: str) -> Any:
        if not self.is_alive:
            raise OSError(errno.EIO, "the process has ended")
        return getattr(self._disk, name)


async def never(_timeout_s: float) -> None:
    """Instead of a thread that watches the event loop."""
    await asyncio.Event().wait()


class BrokerProcess:
    def __init__(
        self,
        broker_id: int,
        disk: MemoryDisk,
        network: Network,
        ensemble: Ensemble,
        rng: Random,
        settings: Sequence[str] = (),
    ) -> None:
        """`settings` are besides those of `settings_of`, and instead of them."""
        self.broker_id = broker_id
        self.host = host_of(broker_id)
        self._disk = disk
        self._network = network
        self._ensemble = ensemble
        self._files = ProcessFiles(disk)
        self._services: list[ModelService] = []
        self.tasks: dict[asyncio.Task[Any], None] = {}
        self.is_ready = False
        self.is_stopping = False
        self.error: BaseException | None = None
        self.broker = Broker(
            settings_of(broker_id, settings),
            files=cast(FileSystem, self._files),
            clock=LoopClock(network.loop),
            rng=Random(rng.random()),
            environment=Environment(network.bind(self.host), self._open_zookeeper, never),
        )
        context = contextvars.copy_context()
        context.run(HOST.set, self.host)
        context.run(PROCESS.set, self)
        self._context = context
        self.running = network.loop.create_task(self._run(), context=context)

    @property
    def service(self) -> ModelService | None:
        return self._services[-1] if self._services else None

    async def _open_zookeeper(self, session: ZooKeeperSession | None) -> ZooKeeperService:
        known = None if session is None else session.id
        service = ModelService(self._ensemble, session=known)
        self._services.append(service)
        return service

    async def _run(self) -> None:
        try:
            await self.broker.open()
            running = asyncio.ensure_future(self.broker.run())
            await asyncio.wait(
                [running, asyncio.ensure_future(self.broker.ready())],
                return_when=asyncio.FIRST_COMPLETED,
            )
            self.is_ready = not running.done()
            await running
        except Exception as error:
            self.error = error
            raise

    async def stop(self) -> None:
        """In order, as after SIGTERM."""
        self.is_stopping = True
        draining = self._network.loop.create_task(self.broker.drain(), context=self._context)
        await asyncio.wait([draining, self.running], return_when=asyncio.FIRST_COMPLETED)
        self.running.cancel()
        await asyncio.wait([self.running])
        self.kill()  # what it has left: nothing

    def kill(self) -> None:
        self.end(self._disk.kill)

    def lose_power(self, rng: Random) -> None:
        self.end(lambda: self._disk.crash(rng))

    def end(self, at_disk: Any) -> None:
        self._files.is_alive = False
        at_disk()
        for service in self._services:
            if not service._is_closed:
                service.crash()
        self._network.end(self.host)
        for task in list(self.tasks):
            task.cancel()


def track_tasks(loop: SimulatedLoop) -> None:
    """So that a process can be ended with all its tasks."""

    def new_task(loop: Any, coro: Any, context: Any = None, **options: Any) -> asyncio.Task[Any]:
        task: asyncio.Task[Any] = loop.new_task(coro, context=context, **options)
        process = PROCESS.get() if context is None else context.run(PROCESS.get)
        if process is not None:
            process.tasks[task] = None
            task.add_done_callback(lambda done: process.tasks.pop(done, None))
        return task

    loop.set_task_factory(new_task)
