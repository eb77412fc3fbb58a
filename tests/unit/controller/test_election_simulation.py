"""Controllers of several brokers on a model of ZooKeeper: whatever happens to connections, sessions
and processes, no acknowledged decision is lost, none happens twice, and all images become equal.

A failing seed replays: `run_seed(SEED)` does the same again, down to the order of every event.
"""

from __future__ import annotations

import asyncio
import hashlib
import os
from collections import Counter
from concurrent.futures import Executor, Future
from contextlib import suppress
from functools import partial
from random import Random
from typing import Any

import pytest
from tests.support.long_run import VARIABLE
from tests.support.virtual_time import run_in_virtual_time
from tests.support.zookeeper_model import Ensemble, ModelService

from ottla.base.scheduling.threads import Threads
from ottla.config.load import load_config
from ottla.controller.controller import Controller, ControllerSettings
from ottla.controller.controller_election import ControllerElection
from ottla.controller.decision import Decision
from ottla.controller.state import ControllerState
from ottla.metadata.codec import encode_records
from ottla.metadata.continuity import KnownState, load_known
from ottla.metadata.image import Batch, Image
from ottla.metadata.publisher import Publisher
from ottla.metadata.records import ALL_BROKERS, BrokerRegistered, ConfigChanged, Endpoint
from ottla.metadata.zookeeper.batch_znode import decode_batch, decode_header
from ottla.metadata.zookeeper.layout import CONTROLLER, LOG
from ottla.metadata.zookeeper.membership import BrokerIdInUse, LiveBroker, announce
from ottla.metadata.zookeeper.service import Delete, SessionState, ZnodeMissing, retried
from ottla.metadata.zookeeper.zookeeper_log import ZooKeeperMetadataLog
from ottla.protocol.errors import BrokerError
from ottla.testing.clock import ManualClock

LOADED = load_config(None, {}, ["node.id=1"])
BROKERS = 3
FAULTS_S = 20.0
SEEDS = 3000 if os.environ.get(VARIABLE) else 40


class InlineExecutor(Executor):
    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
        future: Future[Any] = Future()
        try:
            future.set_result(fn(*args, **kwargs))
        except Exception as error:
            future.set_exception(error)
        return future


async def at_once(job: Any) -> Any:
    return job()


class Broker:
    """What a broker has of a controller: a session, the log, and its part in elections."""

    def __init__(self, world: World, broker_id: int) -> None:
        self.service = ModelService(world.ensemble)
        rng = world.rng
        self.log = ZooKeeperMetadataLog(
            self.service, at_once, lambda: rng.randbytes(8).hex(), snapshot_batches=15
        )
        self.publisher = Publisher(Image())
        settings = ControllerSettings(
            broker_id, LOADED.config, LOADED.layers, rng, lambda: rng.randbytes(16)
        )
        threads = Threads(InlineExecutor())
        self.controller = Controller(self.log, self.publisher, settings, threads)
        self.election = ControllerElection(
            self.service, self.log, self.controller, self.publisher, broker_id, ManualClock()
        )
        self.broker_id = broker_id
        self.incarnation_id = rng.randbytes(16)
        self.session_changed = asyncio.Event()
        self.tasks = [asyncio.ensure_future(self.run(world))]

    async def run(self, world: World) -> None:
        self.publisher.replace(await load_known(self.log, KnownState()))
        member = LiveBroker(self.broker_id, self.incarnation_id, (Endpoint("L", "host", 1, "P"),))
        while True:
            try:
                await announce(self.service, member, 0)
                break
            except BrokerIdInUse:
                await asyncio.sleep(0.5)  # the session of the one that crashed
        self.tasks.append(asyncio.ensure_future(self.election.run()))
        self.tasks.append(asyncio.ensure_future(self.publisher.follow(self.log)))
        self.service.subscribe(self.note_session)
        self.tasks.append(asyncio.ensure_future(self.stay_registered(world, member)))

    def note_session(self, _state: SessionState) -> None:
        self.session_changed.set()

    async def stay_registered(self, world: World, member: LiveBroker) -> None:
        """Announce again after every session, and register again whenever it was fenced."""
        while True:
            self.session_changed.clear()
            await announce(self.service, member, 0)
            registered = self.publisher.image.broker(self.broker_id)
            is_ours = registered is not None and registered.incarnation_id == self.incarnation_id
            active = [each for each in world.brokers if each.controller.is_active]
            if active and (registered is None or not is_ours or registered.is_fenced):
                with suppress(BrokerError):
                    await active[0].controller.decide(self.decide_register)
            with suppress(TimeoutError):
                await asyncio.wait_for(self.session_changed.wait(), 1.0)

    def decide_register(self, state: ControllerState) -> Decision[None]:
        epoch = state.image.offset
        endpoints = (Endpoint("L", "host", 1, "P"),)
        record = BrokerRegistered(
            self.broker_id, epoch, self.incarnation_id, endpoints, is_fenced=False
        )
        return Decision((record,), None)

    async def crash(self) -> None:
        """Its session ends only when ZooKeeper notices."""
        for each in self.tasks:
            each.cancel()
        await asyncio.wait(self.tasks)
        self.service.crash()

    def check_tasks(self) -> None:
        for each in self.tasks:
            if each.done() and not each.cancelled():
                each.result()


def decide(record: ConfigChanged, _state: ControllerState) -> Decision[None]:
    return Decision((record,), None)


class World:
    def __init__(self, seed: int) -> None:
        self.rng = Random(seed)
        self.ensemble = Ensemble(self.rng)
        self.brokers = [Broker(self, broker_id) for broker_id in range(BROKERS)]
        self.acknowledged: list[str] = []
        self.refused: list[str] = []
        self.trace = hashlib.sha256()

    async def story(self) -> None:
        clients = [asyncio.ensure_future(self.client(number)) for number in range(3)]
        await self.make_faults()
        for each in clients:
            each.cancel()
        await asyncio.wait(clients)
        await asyncio.sleep(30)
        for broker in self.brokers:
            broker.check_tasks()
        await self.check_the_log()
        for broker in self.brokers:
            for task in broker.tasks:
                task.cancel()
            await asyncio.wait(broker.tasks)
            await broker.service.close()

    async def client(self, number: int) -> None:
        """Decide settings with names that nobody else uses, on any broker that claims to lead."""
        count = 0
        while True:
            await asyncio.sleep(self.rng.uniform(0, 0.05))
            active = [each for each in self.brokers if each.controller.is_active]
            if not active:
                continue
            name = f"{number}-{count}"
            count += 1
            record = ConfigChanged(ALL_BROKERS, name, "1")
            try:
                chosen = self.rng.choice(active).controller
                await chosen.decide(partial(decide, record))
            except BrokerError:
                self.refused.append(name)
            else:
                self.acknowledged.append(name)
                self.trace.update(name.encode())

    async def make_faults(self) -> None:
        loop = asyncio.get_running_loop()
        while loop.time() < FAULTS_S:
            await asyncio.sleep(self.rng.expovariate(2.0))
            number = self.rng.randrange(BROKERS)
            service = self.brokers[number].service
            match self.rng.randrange(5):
                case 0 | 1:
                    service.lose_connection(self.rng.uniform(0, 0.5))
                case 2:
                    service.lose_connection(self.rng.uniform(1, 5))
                case 3:
                    with suppress(ZnodeMissing):
                        await retried(service, service.multi, [Delete(CONTROLLER)])
                case 4:
                    await self.brokers[number].crash()
                    self.brokers[number] = Broker(self, number)

    async def check_the_log(self) -> None:
        images = [each.publisher.image for each in self.brokers]
        assert sum(each.controller.is_active for each in self.brokers) == 1
        contents = {encode_records(tuple(each.to_records())) for each in images}
        assert len(contents) == 1
        assert len({each.offset for each in images}) == 1
        for broker in self.brokers:
            registered = images[0].broker(broker.broker_id)
            assert registered is not None
            assert registered.incarnation_id == broker.incarnation_id
            assert not registered.is_fenced
        batches = self.batches()
        decided = Counter(
            each.name
            for batch in batches
            for each in batch.records
            if isinstance(each, ConfigChanged)
        )
        assert set(decided.values()) == {1}, "a decision was appended twice"
        names = set(decided)
        assert names == set(images[0].broker_config(None))
        assert set(self.acknowledged) <= names
        assert names <= {*self.acknowledged, *self.refused, *self.unanswered(names)}
        epochs = [each.controller_epoch for each in batches]
        assert epochs == sorted(epochs), "a controller that was replaced has appended"
        self.trace.update(contents.pop())

    def batches(self) -> list[Batch]:
        """All that were ever created, in the order in which they were."""
        changes = [each for transaction in self.ensemble.transactions for each in transaction]
        return [
            decode_batch(*decode_header(each.znode.data))
            for each in changes
            if each.znode is not None and each.path.startswith(LOG + "/")
        ]

    def unanswered(self, names: set[str]) -> set[str]:
        """At most one of each client, which was cancelled while it waited."""
        left = names.difference(self.acknowledged, self.refused)
        assert max(Counter(name.split("-")[0] for name in left).values(), default=0) <= 1
        return left


def run_seed(seed: int) -> str:
    async def whole() -> str:
        world = World(seed)
        await world.story()
        assert len(world.acknowledged) > 20
        return world.trace.hexdigest()

    return run_in_virtual_time(whole())


@pytest.mark.parametrize("part", range(10))
def test_no_decision_is_lost_or_made_twice(part: int) -> None:
    for seed in range(part, SEEDS, 10):
        try:
            run_seed(seed)
        except BaseException as error:
            error.add_note(f"seed {seed}")
            raise


def test_a_seed_replays() -> None:
    assert run_seed(1) == run_seed(1) != run_seed(2)
