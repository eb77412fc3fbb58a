"""Whole brokers, a model of ZooKeeper and clients in one process, in virtual time.

Owns      the processes and their disks, the clients, and faults of processes, disks, connections,
          networks and sessions, all drawn from one seed.
Promises  a seed gives the same trace each time, in every process. At the end, without faults, all
          replicas are in sync and have the same files; they contain what was acknowledged, and what
          consumers have seen.
"""

from __future__ import annotations

import asyncio
import os
from collections import Counter
from contextlib import ExitStack
from hashlib import sha256
from random import Random
from typing import Any
from unittest.mock import patch

from tests.simulation.cluster import transactions
from tests.simulation.cluster.client import TOPIC, Client, Consumer, Producer, records_in
from tests.simulation.cluster.group_members import GroupMember, Progress
from tests.simulation.cluster.metadata_judge import MetadataJudge
from tests.simulation.cluster.network import Network, SimulatedLoop
from tests.simulation.cluster.process import DATA, BrokerProcess, host_of, track_tasks
from tests.simulation.cluster.repeating_producer import RepeatingProducer
from tests.simulation.cluster.trace import Trace
from tests.simulation.cluster.transactions import TransactionalWriter
from tests.support.zookeeper_model import Ensemble

from ottla.metadata.image import Image
from ottla.protocol.messages.create_topics_request import CreatableTopic, CreateTopicsRequest
from ottla.testing.filesystem import MemoryDisk

BROKERS = [1, 2, 3]
PARTITIONS = 2
MIN_IN_SYNC = 2
MEMBERS = 2  # of the group
FAULTS_S = 40.0
FAULT_INTERVAL_S = 1.2
SETTLED_S = 90.0
EVENTS_SHOWN = 60


class World:
    SETTINGS: tuple[str, ...] = ()  # of all brokers

    def __init__(self, seed: int, loop: SimulatedLoop) -> None:
        self.rng = Random(seed)
        self.loop = loop
        self.trace = Trace(loop.time)
        self.network = Network(loop, self.rng, self.trace)
        self.ensemble = Ensemble(self.rng)
        self.ensemble.listeners.append(lambda: self.trace.committed(self.ensemble.transactions[-1]))
        self.metadata = MetadataJudge(self.ensemble)
        self.ensemble.listeners.append(self.metadata.judge)
        self.events: list[str] = []
        self.faults: Counter[str] = Counter()  # by kind
        self.disks = {each: MemoryDisk() for each in BROKERS}
        for disk in self.disks.values():
            disk.make_directory(DATA)
            disk.sync_directory("/")
        self.processes: dict[int, BrokerProcess] = {}
        self.clients: list[Client] = []
        self.tasks: list[asyncio.Task[None]] = []  # of clients
        self.producers: list[Producer] = []
        self.repeating: list[RepeatingProducer] = []
        self.members: list[GroupMember] = []
        self.consumers: list[Consumer] = []
        # Not in sync everywhere since they have ended.
        self.failed: set[int] = set()  # killed, or without power
        self.lost: set[int] = set()  # without power

    @property
    def acknowledged(self) -> int:
        return sum(len(each.acknowledged) for each in self.producers)

    def note(self, event: str) -> None:
        self.trace.note(event)
        self.events.append(self.trace.lines[-1])

    # Brokers

    def start(self, broker_id: int) -> None:
        self.note(f"{broker_id} starts")
        self.processes[broker_id] = BrokerProcess(
            broker_id,
            self.disks[broker_id],
            self.network,
            self.ensemble,
            self.rng,
            self.SETTINGS,
        )

    def check_processes(self) -> None:
        """A broker ends only if it is asked to, and a client does not fail."""
        assert not self.metadata.violations, self.metadata.violations[0]
        for task in self.tasks:
            if task.done():
                task.result()
        for broker_id, process in self.processes.items():
            has_ended = process.running.done() and not process.is_stopping
            assert not has_ended, f"{broker_id} has ended: {process.error!r}"

    def new_client(self, name: str, topic: str = TOPIC) -> Client:
        client = Client(name, BROKERS, Random(self.rng.random()), topic)
        self.clients.append(client)
        return client

    @property
    def image(self) -> Image | None:
        """Of the controller."""
        for process in self.processes.values():
            control = getattr(process.broker, "control", None)
            controller = getattr(control, "controller", None)
            if controller is not None and controller.is_active:
                return process.broker.publisher.image
        return None

    @property
    def is_in_sync(self) -> bool:
        """Whether all replicas are, according to all brokers."""
        if len(self.processes) < len(BROKERS) or self.image is None:
            return False
        for process in self.processes.values():
            image = process.broker.publisher.image if process.is_ready else None
            topic = None if image is None else image.topic(TOPIC)
            if topic is None or len(topic.partitions) < PARTITIONS:
                return False
            if any(len(each.in_sync_replicas) < len(BROKERS) for each in topic.partitions):
                return False
        return True

    # The story

    async def story(self) -> None:
        for broker_id in BROKERS:
            self.start(broker_id)
        await self._until(lambda: all(each.is_ready for each in self.processes.values()), 60)
        await self._create_topic()
        await self._until(lambda: self.is_in_sync, 60)
        tasks = self.tasks = self._start_clients()
        await self._make_faults()
        self.note("no more faults")
        self.network.heal()
        await self._settle()
        self.check_processes()
        self.tasks = []
        for task in tasks:
            task.cancel()
        await asyncio.wait(tasks)
        for task in tasks:
            if not task.cancelled():
                task.result()
        await self._check_the_end()

    async def _until(self, condition: Any, seconds: float) -> None:
        deadline_s = self.loop.time() + seconds
        while not condition():
            assert self.loop.time() < deadline_s, f"not within {seconds} s: {self._shown()}"
            await asyncio.sleep(0.05)
            self.check_processes()

    def _shown(self) -> str:
        image = self.image
        topic = None if image is None else image.topic(TOPIC)
        ready = [each.broker_id for each in self.processes.values() if each.is_ready]
        return f"{ready} are ready, {topic and topic.partitions}"

    async def _create_topic(self) -> None:
        client = self.new_client("admin")
        topics = [
            CreatableTopic(TOPIC, PARTITIONS, 3),
            CreatableTopic(transactions.TOPIC, transactions.PARTITIONS, 3),
        ]
        request = CreateTopicsRequest(topics, timeout_ms=5000)
        response = await client.ask(self.rng.choice(BROKERS), request)
        for each in response.topics:
            assert each.error_code == 0, each.error_message

    def _start_clients(self) -> list[asyncio.Task[None]]:
        for index in range(PARTITIONS):
            self.producers.append(Producer(self.new_client(f"producer{index}"), index))
            self.consumers.append(Consumer(self.new_client(f"consumer{index}"), index))
            repeating = self.new_client(f"repeating{index}")
            self.repeating.append(RepeatingProducer(repeating, index, Random(self.rng.random())))
        progress = Progress()
        for number in range(MEMBERS):
            client = self.new_client(f"member{number}")
            self.members.append(GroupMember(client, progress, Random(self.rng.random())))
        writing = self.new_client("writer", transactions.TOPIC)
        self.writer = TransactionalWriter(writing, Random(self.rng.random()))
        clients: list[Any] = [*self.producers, *self.consumers, *self.repeating, *self.members]
        clients.append(self.writer)
        return [asyncio.ensure_future(each.run()) for each in clients]

    async def _settle(self) -> None:
        for broker_id in BROKERS:
            if broker_id not in self.processes:
                self.start(broker_id)

        await self._until(lambda: self.is_in_sync, SETTLED_S)
        self.note("in sync")

    # Faults

    async def _make_faults(self) -> None:
        end_s = self.loop.time() + FAULTS_S
        while self.loop.time() < end_s:
            await asyncio.sleep(self.rng.expovariate(1 / FAULT_INTERVAL_S))
            self.check_processes()
            self._note_recovered()
            await self._make_fault()

    def _note_recovered(self) -> None:
        recovered = {each for each in self.failed if self._is_in_sync_again(each)}
        self.failed -= recovered
        self.lost -= recovered

    def _is_in_sync_again(self, broker_id: int) -> bool:
        """One that is ready has registered: since then it is in sync only if it has caught up."""
        process, image = self.processes.get(broker_id), self.image
        topic = None if image is None else image.topic(TOPIC)
        if process is None or not process.is_ready or topic is None:
            return False
        return all(broker_id in each.in_sync_replicas for each in topic.partitions)

    def may_fail(self, broker_id: int, *, loses_power: bool) -> bool:
        """Whether records must survive it; see `may_crash` of the simulation of partitions."""
        has_loss = loses_power or bool(self.lost)
        return not has_loss or len(self.failed | {broker_id}) < MIN_IN_SYNC

    async def _make_fault(self) -> None:
        broker_id = self.rng.choice(BROKERS)
        process = self.processes.get(broker_id)
        if process is None:
            self.start(broker_id)
            return
        match self.rng.randrange(8):
            case 0 | 1:
                if self.may_fail(broker_id, loses_power=False):
                    self._end(broker_id, loses_power=False)
            case 2:
                if self.may_fail(broker_id, loses_power=True):
                    self._end(broker_id, loses_power=True)
            case 3:
                if process.is_ready:
                    self.note(f"{broker_id} stops")
                    await process.stop()
                    self.processes.pop(broker_id, None)
            case 4:
                self._lose_session(process)
            case 5:
                other = self.rng.choice([each for each in BROKERS if each != broker_id])
                self.note(f"{broker_id} and {other} cannot reach each other")
                self.network.cut(host_of(broker_id), host_of(other))
            case 6:
                self.note("the network heals")
                self.network.heal()
            case 7:
                count = self.network.reset_some(0.3)
                self.note(f"{count} connections are reset")

    def _end(self, broker_id: int, *, loses_power: bool) -> None:
        self.note(f"{broker_id} {'loses power' if loses_power else 'is killed'}")
        self.faults["brokers without power" if loses_power else "brokers killed"] += 1
        self.failed.add(broker_id)
        process = self.processes.pop(broker_id)
        if loses_power:
            self.lost.add(broker_id)
            process.lose_power(self.rng)
        else:
            process.kill()

    def _lose_session(self, process: BrokerProcess) -> None:
        if process.service is not None:
            away_s = self.rng.choice((0.3, 1.0, 4.0))
            self.note(f"{process.broker_id} loses ZooKeeper for {away_s} s")
            process.service.lose_connection(away_s)

    # The end

    async def _check_the_end(self) -> None:
        reader = self.new_client("reader")
        for index in range(PARTITIONS):
            content = await self._content(reader, index)
            self._check_partition(index, content)
        await self.writer.check_the_end()
        await self._until(self._are_files_equal, 30)
        self.note(sha256(repr(sorted(self._files(1).items())).encode()).hexdigest())

    async def _content(self, reader: Client, index: int) -> dict[int, bytes]:
        consumer = Consumer(reader, index)
        last = max(self.producers[index].acknowledged, default=-1)
        for _ in range(300):
            await consumer.poll()
            if consumer.offset > last:
                return consumer.seen
        raise AssertionError(f"{index} is read up to {consumer.offset}, {last} was acknowledged")

    def _check_partition(self, index: int, content: dict[int, bytes]) -> None:
        for offset, value in self.producers[index].acknowledged.items():
            found = content.get(offset)
            assert found == value, f"{value!r} was acknowledged at {index}:{offset}: {found!r}"
        for offset, value in self.consumers[index].seen.items():
            found = content.get(offset, value)
            assert found == value, f"{value!r} was read at {index}:{offset}: {found!r}"
        assert len(set(content.values())) == len(content), "a record is there twice"
        self.repeating[index].check([content[offset] for offset in sorted(content)])
        self.note(f"{index} has {len(content)} records")

    def _files(self, broker_id: int) -> dict[str, bytes]:
        disk = self.disks[broker_id]
        found: dict[str, bytes] = {}
        for index in range(PARTITIONS):
            path = f"{DATA}/{TOPIC}-{index}"
            logs = [each for each in disk.list_directory(path) if each.endswith(".log")]
            for name in sorted(logs):
                file = disk.open(f"{path}/{name}")
                data = bytes(file.read_at(0, file.size()))
                found[f"{index}"] = found.get(f"{index}", b"") + data
        return {name: repr(records_in(data)).encode() for name, data in found.items()}

    def _are_files_equal(self) -> bool:
        return len({repr(self._files(each)) for each in BROKERS}) == 1

    async def close(self) -> None:
        for client in self.clients:
            client.close()
        for process in self.processes.values():
            process.kill()
        await asyncio.sleep(1)


class SeedFailed(AssertionError):
    """What was wrong, with the seed and the events before it."""

    def __init__(self, seed: int, world: World, error: Exception) -> None:
        shown = "\n".join(world.events[-EVENTS_SHOWN:])
        super().__init__(
            f"seed {seed}: {error!r}, after {len(world.events)} events, trace "
            f"#{world.trace.digest}:\n{shown}"
        )
        self.seed, self.events, self.error = seed, world.events, error
        self.trace = world.trace


def run_seed(seed: int, kind: type[World] = World) -> World:
    """SeedFailed if something was wrong."""

    async def whole() -> World:
        loop = asyncio.get_running_loop()
        assert isinstance(loop, SimulatedLoop)
        track_tasks(loop)
        loop.set_exception_handler(lambda _loop, _context: None)  # of processes that have ended
        world = kind(seed, loop)
        try:
            await world.story()
        except Exception as error:
            raise SeedFailed(seed, world, error) from error
        finally:
            await world.close()
        return world

    ids = Random(seed)
    with ExitStack() as patches:
        patches.enter_context(patch.object(os, "urandom", ids.randbytes))
        with asyncio.Runner(loop_factory=SimulatedLoop) as runner:
            return runner.run(whole())
