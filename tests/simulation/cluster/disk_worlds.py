"""Worlds with worse disks: power cuts of all brokers, and damage to the files of one.

`FlushedWorld`  every record is synced before it is acknowledged (`flush.messages=1`): any number of
                brokers may lose power, all of them at once too.
`DamagedWorld`  of one broker at a time, bits rot and files are cut off while it is down, or its
                disk is full or fails while it runs. The records of the others must be enough: no
                damaged one is ever served, and in the end every replica has all records again.
"""

from __future__ import annotations

import asyncio
import errno
import os.path

from tests.simulation.cluster.client import PAUSE_S, Client, Consumer
from tests.simulation.cluster.network import SimulatedLoop
from tests.simulation.cluster.process import DATA
from tests.simulation.cluster.world import BROKERS, PARTITIONS, World

POLLS_MAX = 600  # of a reader at one replica, which may be copied as a whole meanwhile
FULL_S = 5.0
ERRORS = ("sync", "read", "write")


class FlushedWorld(World):
    SETTINGS = ("log.flush.interval.messages=1",)

    def may_fail(self, broker_id: int, *, loses_power: bool) -> bool:
        return True

    async def _make_fault(self) -> None:
        if self.rng.random() < 0.1:
            self.note("all lose power")
            self.faults["times without any power"] += 1
            for broker_id in list(self.processes):
                self._end(broker_id, loses_power=True)
        else:
            await super()._make_fault()


class DamagedWorld(World):
    # Several segments, with indexes and snapshots
    SETTINGS = ("log.index.interval.bytes=200", "log.roll.ms=5000")

    def __init__(self, seed: int, loop: SimulatedLoop) -> None:
        super().__init__(seed, loop)
        self.failing: set[int] = set()  # whose disk has failed since they started: they may end

    def start(self, broker_id: int) -> None:
        self.failing.discard(broker_id)
        super().start(broker_id)

    async def _make_fault(self) -> None:
        broker_id = self.rng.choice(BROKERS)
        if self.rng.random() < 0.3 and self._may_be_damaged(broker_id):
            faults = (*3 * [self._damage_files], self._fill, self._fail)
            await self.rng.choice(faults)(broker_id)
        else:
            await super()._make_fault()

    def _may_be_damaged(self, broker_id: int) -> bool:
        return broker_id in self.processes and self.may_fail(broker_id, loses_power=True)

    async def _damage_files(self, broker_id: int) -> None:
        self._end(broker_id, loses_power=False)
        self.lost.add(broker_id)
        disk = self.disks[broker_id]
        paths = sorted(path for path, file in disk.files() if file.data and is_of_a_log(path))
        for path in self.rng.sample(paths, min(len(paths), self.rng.randrange(1, 7))):
            size = disk.size(path)
            self.faults[f"{kind_of(path)} damaged"] += 1
            if self.rng.random() < 0.7:
                disk.flip_bit(path, self.rng.randrange(size), self.rng.randrange(8))
                self.note(f"a bit of {path} of {broker_id} rots")
            else:
                kept = self.rng.randrange(size)
                disk.open(path).truncate(kept)
                self.note(f"{path} of {broker_id} is cut from {size} to {kept} bytes")
        self.start(broker_id)

    async def _fill(self, broker_id: int) -> None:
        self.note(f"the disk of {broker_id} is full")
        self.faults["full disks"] += 1
        disk = self.disks[broker_id]
        disk.space_bytes = disk.used_bytes
        await self._let_fail(broker_id)
        disk.space_bytes = None
        self.note(f"the disk of {broker_id} has room")

    async def _fail(self, broker_id: int) -> None:
        kind = self.rng.choice(ERRORS)
        self.note(f"a {kind} of {broker_id} fails")
        self.faults[f"failed {kind}s"] += 1
        disk = self.disks[broker_id]
        disk.fail(kind, f"{DATA}/*-*/*", error=errno.EIO)
        await self._let_fail(broker_id)
        disk.heal()

    async def _let_fail(self, broker_id: int) -> None:
        self.failing.add(broker_id)
        self.failed.add(broker_id)
        self.lost.add(broker_id)
        await asyncio.sleep(FULL_S)
        self.check_processes()  # a broker that has ended is started again

    def check_processes(self) -> None:
        """A broker without a log directory ends by itself."""
        for broker_id in sorted(self.failing & self.processes.keys()):
            if self.processes[broker_id].running.done():
                self._end(broker_id, loses_power=False)
        super().check_processes()

    async def _check_the_end(self) -> None:
        await self._read_every_replica()
        await super()._check_the_end()

    async def _read_every_replica(self) -> None:
        """Damage is found when it is read, and repaired from another replica."""
        reader = self.new_client("reader of every replica")
        for index in range(PARTITIONS):
            last = max(self.producers[index].acknowledged, default=-1)
            for broker_id in BROKERS:
                consumer = ReplicaConsumer(reader, index, broker_id)
                for _ in range(POLLS_MAX):
                    await consumer.poll()
                    if consumer.offset > last:
                        break
                    await asyncio.sleep(PAUSE_S)
                assert consumer.offset > last, (
                    f"{broker_id} serves {index} up to {consumer.offset}, {last} was acknowledged"
                )
                self._check_seen(index, consumer.seen, broker_id)

    def _check_seen(self, index: int, seen: dict[int, bytes], broker_id: int) -> None:
        for offset, value in self.producers[index].acknowledged.items():
            found = seen.get(offset)
            assert found == value, (
                f"{value!r} was acknowledged at {index}:{offset}, {broker_id} has {found!r}"
            )


class ReplicaConsumer(Consumer):
    """Reads from one broker, leader or follower."""

    def __init__(self, client: Client, index: int, broker_id: int) -> None:
        super().__init__(client, index)
        self._broker_id = broker_id

    async def _broker(self) -> int | None:
        return self._broker_id


def is_of_a_log(path: str) -> bool:
    """Files of partitions, and checkpoints of all of them. A broker refuses to start with a damaged
    identity. A partition whose topic id cannot be read is offline until an operator has repaired
    it."""
    is_deep = path.count("/") > DATA.count("/") + 1
    return path.endswith("-checkpoint") or (is_deep and not path.endswith("/partition.metadata"))


def kind_of(path: str) -> str:
    name = path.rpartition("/")[2]
    return name if name.endswith("-checkpoint") else f"*{os.path.splitext(name)[1]}"
