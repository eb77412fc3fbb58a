"""The control planes of several brokers on models of ZooKeeper and of the network between them.

Everything is as in a broker, from elections to registrations, except that ZooKeeper is
`PausedService` and that requests between brokers are calls, which may be lost in both directions.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import Executor, Future
from random import Random
from types import SimpleNamespace
from typing import Any, cast

from tests.support.paused_service import PausedService
from tests.support.zookeeper_model import Ensemble

from ottla.base.scheduling.threads import Threads
from ottla.broker.control.controller_client import ControllerClient
from ottla.broker.control.membership import BrokerMembership
from ottla.config.load import load_config
from ottla.controller.broker_requests import BrokerRequests
from ottla.controller.broker_sessions import BrokerSessions
from ottla.controller.controller import Controller, ControllerSettings
from ottla.controller.controller_election import ControllerElection
from ottla.metadata.changes import Changes
from ottla.metadata.continuity import KnownState
from ottla.metadata.features import SUPPORTED
from ottla.metadata.image import Image
from ottla.metadata.publisher import Publisher
from ottla.metadata.zookeeper.layout import broker_path
from ottla.metadata.zookeeper.membership import decode_member
from ottla.metadata.zookeeper.service import SessionState
from ottla.metadata.zookeeper.zookeeper_log import ZooKeeperMetadataLog
from ottla.network.channel.channel import Channels
from ottla.network.channel.errors import BrokerUnreachable, ResponseLost
from ottla.protocol.api_keys import APIS, ApiKey
from ottla.protocol.errors import BrokerError
from ottla.protocol.message import Message
from ottla.protocol.messages.broker_registration_request import (
    BrokerRegistrationRequest,
    Feature,
    Listener,
)
from ottla.testing.clock import ManualClock

LOADED = load_config(None, {}, ["node.id=1"])
REQUEST_S = 5.0
JOIN_S = 60.0
CLUSTER_ID = "cluster"


class InlineExecutor(Executor):
    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
        future: Future[Any] = Future()
        try:
            future.set_result(fn(*args, **kwargs))
        except Exception as error:
            future.set_exception(error)
        return future


async def at_once(job: Callable[[], Any]) -> Any:
    return job()


class Network:
    """Requests between brokers; those of one of them may be lost."""

    def __init__(self, rng: Random) -> None:
        self.rng = rng
        self.planes: dict[int, ControlPlane] = {}
        self.lost_share = 0.0
        self.hanging: set[int] = set()  # brokers that answer nothing

    def to(self, broker_id: int) -> Route:
        return Route(self, broker_id)


class Route:
    """The channel to one broker."""

    def __init__(self, network: Network, broker_id: int) -> None:
        self._network = network
        self._broker_id = broker_id

    async def request(self, request: Message, timeout_s: float) -> Any:
        network = self._network
        await asyncio.sleep(network.rng.uniform(0, 0.01))
        plane = network.planes.get(self._broker_id)
        if plane is None or network.rng.random() < network.lost_share:
            raise BrokerUnreachable("lost on its way")
        key = ApiKey(request.API_KEY)  # type: ignore[attr-defined]  # all requests have one
        try:
            async with asyncio.timeout(timeout_s):
                if self._broker_id in network.hanging:
                    await asyncio.Event().wait()
                answer: Any = await plane.requests.answer(request, APIS[key].versions[-1])
        except BrokerError as error:
            answer = SimpleNamespace(error_code=error.code)
        except TimeoutError as error:
            raise ResponseLost("no response in time") from error
        await asyncio.sleep(network.rng.uniform(0, 0.01))
        if network.rng.random() < network.lost_share:
            raise ResponseLost("lost on its way back")
        return answer


class ControlPlane:
    """What a broker has of it. `start` and `join` in this order, as in a broker."""

    def __init__(self, ensemble: Ensemble, network: Network, broker_id: int) -> None:
        rng = ensemble.rng
        self.broker_id = broker_id
        self.ensemble = ensemble
        self.service = PausedService(ensemble)
        self.log = ZooKeeperMetadataLog(
            self.service, at_once, lambda: rng.randbytes(8).hex(), snapshot_batches=20
        )
        self.publisher = Publisher(Image())
        settings = ControllerSettings(
            broker_id, LOADED.config, LOADED.layers, rng, lambda: rng.randbytes(16)
        )
        self.controller = Controller(self.log, self.publisher, settings, Threads(InlineExecutor()))
        self.sessions = BrokerSessions(self.service, self.controller)
        self.election = ControllerElection(
            self.service, self.log, self.controller, self.publisher, broker_id, ManualClock(),
            sessions=self.sessions, new_cluster_id=lambda: CLUSTER_ID,
        )  # fmt: skip
        self.requests = BrokerRequests(self.controller, self.sessions, self.publisher.image)
        self.client = ControllerClient(
            self.controller, self.election, self.requests, cast(Channels, network), REQUEST_S
        )
        self.request = registration(broker_id, rng.randbytes(16))
        self.membership = BrokerMembership(
            self.request, self.service, self.publisher, self.client, ManualClock(),
            self._keep_session,
        )  # fmt: skip
        self.is_kept = False  # what the next process needs
        self.tasks: list[asyncio.Task[None]] = []
        self.network = network
        network.planes[broker_id] = self

    @property
    def image(self) -> Image:
        return self.publisher.image

    async def start(self) -> None:
        self.publisher.replace(await self.log.load(KnownState()))
        self.service.subscribe(self._note_session)
        self.publisher.subscribe(self._note_metadata)
        self._run(self.election.run())
        self._run(self.publisher.follow(self.log))
        await self.publisher.wait_for(1)

    async def join(self) -> None:
        """Register, be unfenced, and stay so."""
        await self.membership.join(JOIN_S)
        await self.membership.begin_serving()
        self._run(self.membership.stay())

    async def _keep_session(self) -> None:
        self.is_kept = True

    def _run(self, work: Any) -> None:
        self.tasks.append(asyncio.ensure_future(work))

    def _note_session(self, _state: SessionState) -> None:
        self.membership.check()

    def _note_metadata(self, _image: Image, changes: Changes) -> None:
        if changes.brokers:
            self.membership.check()

    def has_own_znode(self) -> bool:
        """Whether ZooKeeper has the znode of this process, in its current session."""
        znode = self.ensemble.tree.get(broker_path(self.broker_id))
        if znode is None or znode.owner != self.service.session.id:
            return False
        member = decode_member(self.broker_id, znode.data)
        return member is not None and member.incarnation_id == self.request.incarnation_id

    def is_serving(self) -> bool:
        """As the image of this broker has it."""
        broker = self.image.broker(self.broker_id)
        is_own = broker is not None and broker.incarnation_id == self.request.incarnation_id
        return is_own and broker is not None and not broker.is_fenced

    def check_tasks(self) -> None:
        for each in self.tasks:
            if each.done():
                each.result()

    async def stop(self, *, is_killed: bool = False) -> None:
        """Its session ends at once, or when ZooKeeper notices that it was killed."""
        for each in self.tasks:
            each.cancel()
        if self.tasks:
            await asyncio.wait(self.tasks)
        if is_killed:
            self.service.crash()
        else:
            await self.service.close()


def registration(broker_id: int, incarnation_id: bytes) -> BrokerRegistrationRequest:
    return BrokerRegistrationRequest(
        broker_id,
        CLUSTER_ID,
        incarnation_id,
        [Listener("PLAINTEXT", f"host{broker_id}", 9092, 0)],
        [Feature(name, low, high) for name, (low, high) in SUPPORTED.items()],
        None,
        log_dirs=[bytes([255, broker_id]) + bytes(14)],
    )
