"""A simulated cluster that a scenario script acts on: whole brokers, in virtual time.

Owns      the processes and their disks, and one client that acts for the script.
Promises  brokers start in the order that the script lists, the controller first, so that a script
          knows it. Latest offsets that a client receives never go back.
Leaves    reading and judging the script to `language.py` and `play.py`.
"""

from __future__ import annotations

import asyncio
import errno
import json
from collections.abc import Callable, Mapping
from random import Random

from tests.scenarios.language import numbers_of
from tests.scenarios.requests import Client
from tests.simulation.cluster.client import records_in
from tests.simulation.cluster.network import Network, SimulatedLoop
from tests.simulation.cluster.process import DATA, BrokerProcess, host_of
from tests.simulation.cluster.trace import Trace
from tests.support.zookeeper_model import Ensemble

from ottla.metadata.entities import PartitionRegistration
from ottla.metadata.image import Image
from ottla.metadata.zookeeper.layout import CONTROLLER
from ottla.testing.disk_faults import CHANGES, READS, SYNCS
from ottla.testing.filesystem import MemoryDisk

READY_S = 60.0
SETTLED_S = 120.0
LOOK_S = 0.01
FAR_S = 1e9


class Stage:
    def __init__(self, loop: SimulatedLoop, cluster: Mapping[str, str], seed: int) -> None:
        self.rng = Random(seed)
        self.loop = loop
        self.trace = Trace(loop.time)
        self.network = Network(loop, self.rng, self.trace)
        self.ensemble = Ensemble(self.rng)
        self.brokers = numbers_of(cluster["brokers"])
        self.topic = cluster["topic"]
        self._partitions = int(cluster.get("partitions", 1))
        self._replicas = int(cluster.get("replicas", min(3, len(self.brokers))))
        self._min_in_sync = cluster.get("min_in_sync", "1")
        self._first = int(cluster.get("controller", self.brokers[0]))
        count = int(cluster.get("directories", 1))
        self._directories = [f"{DATA}/{number}" for number in range(count)]
        self._disks = {each: self._new_disk() for each in self.brokers}
        self.processes: dict[int, BrokerProcess] = {}
        self._without_zookeeper: set[int] = set()
        self.client = Client(self)

    def _new_disk(self) -> MemoryDisk:
        disk = MemoryDisk()
        for path in (DATA, *self._directories):
            disk.make_directory(path)
            disk.sync_directory(path.rpartition("/")[0] or "/")
        return disk

    async def open(self) -> None:
        """The topic's replicas of partition n begin with the broker at place n."""
        for broker_id in sorted(self.brokers, key=lambda each: each != self._first):
            self.start(broker_id)
            await self.until(lambda: self.controller is not None, READY_S)
        await self.until(lambda: all(p.is_ready for p in self.processes.values()), READY_S)
        around = self.brokers * 2
        assignment = {
            number: around[number % len(self.brokers) :][: self._replicas]
            for number in range(self._partitions)
        }
        await self.client.create_topic(self.topic, assignment, self._min_in_sync)
        await self.until(lambda: self.is_settled, READY_S)

    async def close(self) -> None:
        self.client.close()
        for process in self.processes.values():
            process.kill()
        await asyncio.sleep(1)

    async def until(self, condition: Callable[[], bool], seconds: float) -> bool:
        deadline_s = self.loop.time() + seconds
        while not condition():
            if self.loop.time() >= deadline_s:
                return False
            await asyncio.sleep(LOOK_S)
        return True

    # What the cluster knows

    @property
    def controller(self) -> int | None:
        znode = self.ensemble.tree.get(CONTROLLER)
        return None if znode is None else int(json.loads(znode.data)["brokerid"])

    @property
    def image(self) -> Image | None:
        process = self.processes.get(-1 if self.controller is None else self.controller)
        return None if process is None or not process.is_ready else process.broker.publisher.image

    def partition(self, name: str) -> PartitionRegistration | None:
        """According to the controller."""
        topic, _, index = name.rpartition("-")
        known = None if self.image is None else self.image.topic(topic)
        if known is None or int(index) >= len(known.partitions):
            return None
        return known.partitions[int(index)]

    @property
    def is_settled(self) -> bool:
        """All brokers that run are ready, know the same, and their replicas are in sync."""
        image = self.image
        if image is None:
            return False
        for process in self.processes.values():
            if not process.is_ready or process.broker.publisher.image.offset != image.offset:
                return False
        return all(self._is_in_sync(index) for index in range(self._partitions))

    def _is_in_sync(self, index: int) -> bool:
        found = self.partition(f"{self.topic}-{index}")
        if found is None or found.adding_replicas:
            return False
        return set(found.in_sync_replicas) == {*found.replicas} & self.processes.keys()

    # Processes

    def start(self, broker_id: int) -> None:
        assert broker_id not in self.processes, f"{broker_id} is running"
        self.trace.note(f"{broker_id} starts")
        settings = (
            f"log.dirs={','.join(self._directories)}",
            f"default.replication.factor={self._replicas}",
            "min.insync.replicas=1",
        )
        self.processes[broker_id] = BrokerProcess(
            broker_id, self._disks[broker_id], self.network, self.ensemble, self.rng, settings
        )

    async def stop(self, broker_id: int) -> None:
        process = self.processes[broker_id]
        await process.stop()
        del self.processes[broker_id]

    def kill(self, broker_id: int) -> None:
        self.processes.pop(broker_id).kill()

    def lose_power(self, broker_id: int) -> None:
        self.processes.pop(broker_id).lose_power(self.rng)

    async def settle(self) -> bool:
        return await self.until(lambda: self.is_settled, SETTLED_S)

    # The network

    def cut(self, broker_id: int, peer: str) -> None:
        if peer in ("zookeeper", "all"):
            self._without_zookeeper.add(broker_id)
            service = self.processes[broker_id].service
            assert service is not None
            service.lose_connection(FAR_S)
        if peer == "all":
            for other in self.brokers:
                if other != broker_id:
                    self.network.cut(host_of(broker_id), host_of(other))
        elif peer != "zookeeper":
            self.network.cut(host_of(broker_id), host_of(int(peer)))

    def heal(self) -> None:
        self.network.heal()
        for broker_id in sorted(self._without_zookeeper):
            process = self.processes.get(broker_id)
            if process is not None and process.service is not None:
                process.service._connect_again()
        self._without_zookeeper.clear()

    # Disks

    def directory_of(self, broker_id: int, partition: str) -> str:
        disk = self._disks[broker_id]
        return next(each for each in self._directories if disk.exists(f"{each}/{partition}"))

    def lose_directory(self, broker_id: int, partition: str) -> None:
        """The one that has this partition: whatever is done there fails."""
        path = self.directory_of(broker_id, partition)
        kinds = READS | CHANGES | SYNCS
        self._disks[broker_id].fail(kinds, f"{path}*", error=errno.EIO, times=None)

    def replace_directory(self, broker_id: int) -> None:
        """Each that was lost is empty now; the broker does not run."""
        disk = self._disks[broker_id]
        lost = [each for each in self._directories if self._is_lost(disk, each)]
        disk.heal()
        for path in lost:
            _remove_all(disk, path)
            disk.make_directory(path)
            disk.sync_directory(DATA)

    @staticmethod
    def _is_lost(disk: MemoryDisk, path: str) -> bool:
        try:
            disk.list_directory(path)
        except OSError:
            return True
        return False

    def log_of(self, broker_id: int, partition: str) -> list[tuple[int, bytes]]:
        """All records, as they are on the disk of a broker."""
        disk, path = self._disks[broker_id], self.directory_of(broker_id, partition)
        found: list[tuple[int, bytes]] = []
        for name in sorted(disk.list_directory(f"{path}/{partition}")):
            if name.endswith(".log"):
                file = disk.open(f"{path}/{partition}/{name}")
                found += records_in(bytes(file.read_at(0, file.size())))
        return found


def _remove_all(disk: MemoryDisk, path: str) -> None:
    for name in disk.list_directory(path):
        inside = f"{path}/{name}"
        if disk.is_directory(inside):
            _remove_all(disk, inside)
        else:
            disk.remove(inside)
    disk.remove_directory(path)
