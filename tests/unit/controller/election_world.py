"""Controllers of several brokers on a model of ZooKeeper, in virtual time.

Owns      brokers, clients that decide, and faults of connections, sessions and processes, all drawn
          from one seed; what must be true of every append, of every election and at the end.
Promises  a seed gives the same events in the same order each time (`World.events`).
Leaves    what ZooKeeper does to `tests/support/zookeeper_model.py`.

    python -m tests.unit.controller.election_world --seeds 2000 --first 1
    python -m tests.unit.controller.election_world --seed 17    # with its events
"""

from __future__ import annotations

import argparse
import asyncio
import json
import logging
import random
import sys
import time
from collections import Counter
from concurrent.futures import Executor, Future
from contextlib import suppress
from functools import partial
from hashlib import sha256
from random import Random
from typing import Any

from tests.support.virtual_time import run_in_virtual_time
from tests.support.zookeeper_model import Change, Ensemble, ModelService

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
from ottla.metadata.zookeeper.layout import CONTROLLER, CONTROLLER_EPOCH, LOG, broker_path
from ottla.metadata.zookeeper.membership import BrokerIdInUse, LiveBroker, announce
from ottla.metadata.zookeeper.service import (
    Create,
    Delete,
    SessionState,
    ZnodeMissing,
    retried,
)
from ottla.metadata.zookeeper.zookeeper_log import ZooKeeperMetadataLog
from ottla.protocol.errors import BrokerError
from ottla.testing.clock import ManualClock

LOADED = load_config(None, {}, ["node.id=1"])
BROKERS = 3
FAULTS_S = 8.0
SETTLED_S = 15.0  # after the last fault: a connection may be away for 5 s
EVENTS_SHOWN = 40


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


class WatchedController(Controller):
    world: World

    def activate(self, image: Image, epoch: int) -> None:
        self.world.check_activation(image, epoch)
        super().activate(image, epoch)


class Broker:
    """What a broker has of a controller: a session, the log, and its part in elections."""

    def __init__(self, world: World, broker_id: int) -> None:
        self.service = world.new_service(world.ensemble)
        rng = world.rng
        self.log = world.new_log(
            self.service, at_once, lambda: rng.randbytes(8).hex(), snapshot_batches=15
        )
        self.publisher = Publisher(Image())
        settings = ControllerSettings(
            broker_id, LOADED.config, LOADED.layers, rng, lambda: rng.randbytes(16)
        )
        threads = Threads(InlineExecutor())
        self.controller = WatchedController(self.log, self.publisher, settings, threads)
        self.controller.world = world
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
            active = world.reached_controllers()
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


def is_set(name: str, state: ControllerState) -> Decision[bool]:
    """A decision without records: a stale controller must not answer it."""
    return Decision((), name in state.image.broker_config(None))


class World:
    def __init__(
        self,
        seed: int,
        new_service: type[ModelService] = ModelService,
        new_log: type[ZooKeeperMetadataLog] = ZooKeeperMetadataLog,
    ) -> None:
        self.rng = Random(seed)
        self.new_service, self.new_log = new_service, new_log
        self.events: list[str] = []
        self.batches: list[Batch] = []  # all that were created, in order
        self.broken: list[str] = []  # what was found wrong on the way
        self.acknowledged: list[str] = []
        self.refused: list[str] = []
        self.questions: list[asyncio.Future[None]] = []
        self.ensemble = Ensemble(self.rng)
        self.ensemble.listeners.append(self.note_transaction)
        self.loop = asyncio.get_running_loop()
        self.is_calm = is_calm(seed)
        self.pause_max_s = 0.5 if self.is_calm else 0.05  # of clients
        self.brokers = [Broker(self, broker_id) for broker_id in range(BROKERS)]

    async def story(self) -> None:
        clients = [asyncio.ensure_future(self.client(number)) for number in range(3)]
        await self.make_faults()
        for each in clients:
            each.cancel()
        await asyncio.wait(clients)
        await asyncio.sleep(SETTLED_S)
        for broker in self.brokers:
            broker.check_tasks()
        unanswered = [each for each in self.questions if not each.done()]
        assert not unanswered, f"{len(unanswered)} questions were never answered"
        assert not self.broken, self.broken
        self.check_the_end()
        for broker in self.brokers:
            for task in broker.tasks:
                task.cancel()
            await asyncio.wait(broker.tasks)
            await broker.service.close()

    def note(self, event: str) -> None:
        self.events.append(f"{self.loop.time():.6f} {event}")

    # What happens on the way.

    def note_transaction(self) -> None:
        changes = self.ensemble.transactions[-1]
        self.note(" ".join(map(shown_change, changes)))
        for change in changes:
            if change.znode is not None and change.path.startswith(LOG + "/"):
                self.note_batch(decode_batch(*decode_header(change.znode.data)))

    def note_batch(self, batch: Batch) -> None:
        """Only the broker that was elected last appends, and where the log ends."""
        if batch.controller_epoch != self.controller_epoch:
            self.broken.append(
                f"{batch.base_offset} was appended in epoch {batch.controller_epoch} although "
                f"epoch {self.controller_epoch} had begun"
            )
        self.batches.append(batch)

    def check_activation(self, image: Image, epoch: int) -> None:
        """The broker that was elected last begins with everything that was appended."""
        self.note(f"activated epoch {epoch} at {image.offset}")
        end_offset = self.batches[-1].end_offset if self.batches else 0
        if epoch == self.controller_epoch and image.offset != end_offset:
            self.broken.append(
                f"the controller of epoch {epoch} begins at {image.offset} of {end_offset}"
            )

    @property
    def controller_epoch(self) -> int:
        return int(self.ensemble.tree[CONTROLLER_EPOCH].data)

    async def client(self, number: int) -> None:
        """Decide settings with unique names, on any broker that claims to lead."""
        count = 0
        while True:
            await asyncio.sleep(self.rng.uniform(0, self.pause_max_s))
            active = self.reached_controllers()
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
                self.note(f"refused {name}")
            else:
                self.acknowledged.append(name)
                self.note(f"acknowledged {name}")
                self.questions += [
                    asyncio.ensure_future(self.ask(each, name))
                    for each in self.brokers
                    if each.controller.is_active
                ]

    def reached_controllers(self) -> list[Broker]:
        """Those that are asked to decide. One without a connection waits for it then, and answers
        nothing else. In a calm world it is left alone: it may answer a question after it was
        replaced."""
        return [
            each
            for each in self.brokers
            if each.controller.is_active and (each.service.is_connected or not self.is_calm)
        ]

    async def ask(self, broker: Broker, name: str) -> None:
        """A broker that claims to lead has all that was acknowledged before the request."""
        try:
            found = await broker.controller.decide(partial(is_set, name), is_confirmed=True)
        except BrokerError:
            return
        if not found:
            self.broken.append(f"{broker.broker_id} does not know {name}, which was acknowledged")

    async def make_faults(self) -> None:
        while self.loop.time() < FAULTS_S:
            await asyncio.sleep(self.rng.expovariate(2.0))
            number, fault = self.rng.choice(self.victims()), self.rng.randrange(8)
            self.note(f"fault {fault} of {number}")
            service = self.brokers[number].service
            match fault:
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
                case 5:
                    data = json.dumps({"brokerid": self.rng.randrange(BROKERS + 1), "epoch": 1})
                    await self.create_by_hand(service, CONTROLLER, data.encode())
                case 6:
                    await self.create_by_hand(service, broker_path(number), b"")
                case 7:
                    self.ensemble.denied.add(LOG)
                    await asyncio.sleep(self.rng.uniform(0, 2))
                    self.ensemble.denied.clear()

    async def create_by_hand(self, service: ModelService, path: str, data: bytes) -> None:
        """In the place of an ephemeral znode, which ends with its session."""
        with suppress(ZnodeMissing):
            await retried(service, service.multi, [Delete(path), Create(path, data)])

    def victims(self) -> list[int]:
        """Brokers to which something happens. In a calm world it is the controller, if there is
        one: it is replaced more often."""
        active = [each.broker_id for each in self.brokers if each.controller.is_active]
        return active if active and self.is_calm else list(range(BROKERS))

    # What is true at the end.

    def check_the_end(self) -> None:
        images = [each.publisher.image for each in self.brokers]
        active = [each.broker_id for each in self.brokers if each.controller.is_active]
        assert len(active) == 1, f"controllers at the end: {active}"
        contents = {encode_records(tuple(each.to_records())) for each in images}
        assert len(contents) == 1, "images differ"
        assert len({each.offset for each in images}) == 1, "offsets differ"
        for broker in self.brokers:
            self.check_registration(broker, images[0])
        self.check_decisions(set(images[0].broker_config(None)))
        self.note(sha256(contents.pop()).hexdigest())

    def check_registration(self, broker: Broker, image: Image) -> None:
        registered = image.broker(broker.broker_id)
        assert registered is not None, f"{broker.broker_id} is not registered"
        is_its_own = registered.incarnation_id == broker.incarnation_id
        assert is_its_own, f"{broker.broker_id} was registered by another process"
        assert not registered.is_fenced, f"{broker.broker_id} is fenced"

    def check_decisions(self, found: set[str]) -> None:
        decided = Counter(
            each.name
            for batch in self.batches
            for each in batch.records
            if isinstance(each, ConfigChanged)
        )
        # There may be none: all were refused.
        assert set(decided.values()) <= {1}, "a decision was appended twice"
        assert decided.keys() == found, "the image is not what was decided"
        assert set(self.acknowledged) <= found, "an acknowledged decision is lost"
        known = {*self.acknowledged, *self.refused, *self.unanswered(found)}
        assert found <= known, "decisions that were never requested"
        epochs = [each.controller_epoch for each in self.batches]
        assert epochs == sorted(epochs), "a controller that was replaced has appended"

    def unanswered(self, names: set[str]) -> set[str]:
        """At most one of each client, which was cancelled while it waited."""
        left = names.difference(self.acknowledged, self.refused)
        assert max(Counter(name.split("-")[0] for name in left).values(), default=0) <= 1
        return left


def is_calm(seed: int) -> bool:
    """Whether clients of this world decide little, and faults are those of the controller."""
    return seed % 3 == 2


def shown_change(change: Change) -> str:
    if change.znode is None:
        return f"-{change.path}"
    return f"+{change.path}#{sha256(change.znode.data).hexdigest()[:8]}"


class SeedFailed(AssertionError):
    """What was wrong, with the seed and the events before it."""

    def __init__(self, seed: int, events: list[str], error: BaseException) -> None:
        shown = "\n".join(events[-EVENTS_SHOWN:])
        super().__init__(
            f"seed {seed}: {error!r}, after {len(events)} events #{digest(events)}:\n{shown}"
        )
        self.seed, self.events, self.error = seed, events, error


def digest(events: list[str]) -> str:
    return sha256("\n".join(events).encode()).hexdigest()[:16]


def run_seed(
    seed: int,
    new_service: type[ModelService] = ModelService,
    new_log: type[ZooKeeperMetadataLog] = ZooKeeperMetadataLog,
) -> list[str]:
    """All events; SeedFailed if something was wrong."""

    async def whole() -> list[str]:
        world = World(seed, new_service, new_log)
        try:
            await world.story()
        except Exception as error:
            raise SeedFailed(seed, world.events, error) from error
        return world.events

    return run_in_virtual_time(whole())


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.unit.controller.election_world")
    parser.add_argument("--seeds", type=int, default=2000, help="how many")
    parser.add_argument("--first", type=int, default=random.randrange(10**9))
    parser.add_argument("--seed", type=int, help="this one alone, with its events")
    given = parser.parse_args()
    logging.disable(logging.CRITICAL)  # brokers report each fault
    try:
        if given.seed is not None:
            print(*run_seed(given.seed), sep="\n")
        else:
            run_many(given.first, given.seeds)
    except SeedFailed as failed:
        print(failed, file=sys.stderr)
        return 1
    return 0


def run_many(first: int, count: int) -> None:
    print(f"seeds {first} to {first + count - 1}", flush=True)
    began_s, cpu_s = time.perf_counter(), time.process_time()
    events = acknowledged = 0
    for seed in range(first, first + count):
        found = run_seed(seed)
        events, acknowledged = events + len(found), acknowledged + decisions(found)
    took_s, cpu_s = time.perf_counter() - began_s, time.process_time() - cpu_s
    print(f"{count} seeds, {events} events, {acknowledged} acknowledged decisions")
    print(f"{took_s:.0f} s, {cpu_s:.0f} s of CPU time")


def decisions(events: list[str]) -> int:
    """How many were acknowledged."""
    return sum(" acknowledged " in each for each in events)


if __name__ == "__main__":
    sys.exit(main())
