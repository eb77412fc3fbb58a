"""Random lives of transactional producers in a whole broker that is killed again and again.

Nothing is lost on the way here, so the model knows exactly what must be seen: the values of every
transaction that was committed, in the order of the log, and the offsets of the last one.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random
from typing import Any

import pytest
from tests.compatibility.clients import transactions_harness
from tests.compatibility.clients.transactions_harness import Begun, Producer
from tests.support.raw_client import RawClient
from tests.unit.handlers.world import World

from ottla.base.files.readers import BLOCKING
from ottla.broker.broker import Broker
from ottla.coordinators.transactions.finishing import Finisher
from ottla.coordinators.transactions.marker_writing import MarkerWriter
from ottla.handlers.serving.dispatch import Dispatcher
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.message import Message
from ottla.protocol.messages.fetch_request import FetchPartition, FetchRequest, FetchTopic
from ottla.protocol.records.batch import iterate_headers
from ottla.protocol.records.control import read_end_marker
from ottla.protocol.records.reading import iterate_records

STEPS = 120
IDS = ("a", "b", "c")
PARTITIONS = (0, 1)
TOPIC = "t"
TIMEOUT_MS = 60_000
NONE = ErrorCode.NONE
SETTINGS = {"transaction.state.log.num.partitions": "2", "offsets.topic.num.partitions": "2"}


class Killed(BaseException):
    """The process ends here."""


class MortalWorld(World):
    def kill(self) -> None:
        """End the broker as SIGKILL would, and start it again on what it had written."""

        async def end() -> None:
            self.broker.network.stop_accepting()
            others = asyncio.all_tasks() - {asyncio.current_task()}
            for task in others:
                task.cancel()
            await asyncio.gather(*others, return_exceptions=True)

        self.loop.run_until_complete(end())  # without a task around it, which would end too
        self.disk.kill()
        dead = self.broker
        self.broker = Broker(dead.settings, files=self.disk, clock=self.clock, rng=Random(7))
        self.run(self.broker.open())
        self.dispatcher = Dispatcher(self.broker.parts)
        self.settle()

    def settle(self) -> None:
        """Run all tasks that are ready, or wait only for a thread that reads a log."""
        runtimes = (self.broker.transactions.runtime, self.broker.groups._runtime)

        async def run_pending() -> None:
            while True:
                for _ in range(30):
                    await asyncio.sleep(0)
                if not any(each.is_loading for each in runtimes):
                    return

        self.run(run_pending())


class Client(RawClient):
    """Speaks to a broker in this process."""

    def __init__(self, world: MortalWorld) -> None:
        self._world = world

    def ask(self, request: Message, version: int) -> Any:
        answer = self._world.ask(request, version)
        self._world.settle()
        return answer


@dataclass(eq=False)
class Transaction:
    is_classic: bool
    offset: int | None = None
    is_committed: bool = False


@dataclass
class Program:
    """One user of a transactional id."""

    world: transactions_harness.TransactionsHarness
    producer: Producer | None = None
    open: Transaction | None = None
    offset: int = -1  # committed
    zombies: list[Producer] = field(default_factory=list)

    def replace(self, producer: Producer | None) -> None:
        if self.producer is not None:
            self.zombies.append(self.producer)
        self.producer = producer
        self.open = None


class Life:
    def __init__(self, world: MortalWorld, random: Random) -> None:
        self.world = world
        self.random = random
        self.client = Client(world)
        self.client.create_topic(TOPIC, len(PARTITIONS))
        self.written: dict[int, list[tuple[bytes, Transaction]]] = {at: [] for at in PARTITIONS}
        self.count = 0
        self.programs = []
        for name in IDS:
            names = transactions_harness.TransactionsHarness(
                self.client,
                TOPIC,
                name,
                f"group-{name}",
                timeout_ms=TIMEOUT_MS,
                now_ms=world.clock.now_ms,
            )
            names.find_coordinator(name, 1)
            names.find_coordinator(names.group, 0)
            self.programs.append(Program(names))

    def step(self) -> None:
        program = self.random.choice(self.programs)
        acts: list[tuple[int, Callable[[Program], None]]] = [
            (2, self.init),
            (2, self.go_on),
            (14, self.write),
            (6, self.commit_offset),
            (8, self.end),
            (2, self.end_and_die),
            (2, self.come_back_from_the_dead),
            (1, self.let_time_pass),
            (1, lambda _program: self.world.kill()),
        ]
        weights = [weight for weight, _ in acts]
        (chosen,) = self.random.choices([act for _, act in acts], weights)
        chosen(program)

    # Producers

    def init(self, program: Program, expected: Begun | None = None) -> None:
        begun = program.world.init_settled(expected)
        assert begun.code is NONE, begun
        program.replace(Producer(program.world, begun.producer_id, begun.epoch))

    def go_on(self, program: Program) -> None:
        if program.producer is not None:
            producer = program.producer
            self.init(program, Begun(NONE, producer.producer_id, producer.epoch))

    def transaction(self, program: Program) -> tuple[Producer, Transaction]:
        if program.producer is None:
            self.init(program)
        assert program.producer is not None
        if program.open is None:
            program.open = Transaction(is_classic=self.random.random() < 0.5)
        return program.producer, program.open

    def write(self, program: Program) -> None:
        producer, current = self.transaction(program)
        partition = self.random.choice(PARTITIONS)
        if current.is_classic:
            assert producer.add([partition]) == [NONE]
        self.count += 1
        value = b"%d" % self.count
        version = 9 if current.is_classic else 12
        assert producer.produce(value, partition=partition, version=version) is NONE
        self.written[partition].append((value, current))

    def commit_offset(self, program: Program) -> None:
        producer, current = self.transaction(program)
        if current.is_classic:
            assert producer.add_offsets() is NONE
        self.count += 1
        current.offset = self.count
        code = producer.commit_offset(self.count, version=3 if current.is_classic else 5)
        assert code is NONE

    def end(self, program: Program) -> None:
        if program.open is None or program.producer is None:
            return
        current, producer = program.open, program.producer
        is_commit = self.random.random() < 0.6
        ended = producer.end(is_commit, version=3 if current.is_classic else 5)
        if ended.code is not NONE:  # nothing was begun after all
            assert ended.code is ErrorCode.INVALID_TXN_STATE
            return
        current.is_committed = is_commit
        if is_commit and current.offset is not None:
            program.offset = current.offset
        if current.is_classic:
            program.open = None
        else:
            program.replace(Producer(program.world, ended.producer_id, ended.epoch))

    def end_and_die(self, program: Program) -> None:
        """The broker is killed on the way from the decision to the last marker."""
        with pytest.MonkeyPatch.context() as patch:
            self.random.choice([die_before_markers, die_after_a_marker, die_before_the_end])(patch)
            self.end(program)
        self.world.kill()

    def come_back_from_the_dead(self, program: Program) -> None:
        """Requests of fenced producers have no effect, whatever the response."""
        if not program.zombies:
            return
        zombie = self.random.choice(program.zombies)
        assert zombie.add([0]) != [NONE]
        assert zombie.produce(b"undead", version=self.random.choice([9, 11, 12])) is not NONE
        assert zombie.commit_offset(-7, version=self.random.choice([3, 4, 5])) is not NONE
        is_owner_idle = program.open is None
        if is_owner_idle:  # a repeated EndTxn succeeds
            zombie.end(self.random.random() < 0.5, version=5)

    def let_time_pass(self, _program: Program) -> None:
        self.world.clock.advance_ms(TIMEOUT_MS + 1)
        self.world.run(self.world.broker.transactions.expiration.abort_timed_out())
        self.world.settle()
        for program in self.programs:
            if program.open is not None:
                program.replace(None)

    # What must hold

    def check(self) -> None:
        for program in self.programs:
            self.init(program)
        for partition in PARTITIONS:
            expected = [value for value, each in self.written[partition] if each.is_committed]
            assert read_committed(self.client, partition) == expected
            log = self.world.broker.replicas.partition(TOPIC, partition).log
            assert log.last_stable_offset(BLOCKING) == log.high_watermark == log.log_end_offset
        for program in self.programs:
            found = program.world.committed_offset(require_stable=True)
            assert found == (NONE, program.offset)


def die_before_markers(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Finisher, "begin", lambda *_: None)


def die_after_a_marker(patch: pytest.MonkeyPatch) -> None:
    append = MarkerWriter._append_to
    done: list[object] = []

    def append_once(self: MarkerWriter, *arguments: Any) -> Any:
        if done:
            raise Killed
        done.append(append(self, *arguments))
        return done[0]

    patch.setattr(MarkerWriter, "_append_to", append_once)


def die_before_the_end(patch: pytest.MonkeyPatch) -> None:
    async def die(*_: object) -> None:
        raise Killed

    patch.setattr(Finisher, "_write_complete", die)


def read_committed(client: RawClient, partition: int) -> list[bytes]:
    """What a consumer makes of a fetch: it leaves out what the list of aborted ones says."""
    wanted = FetchTopic(TOPIC, partitions=[FetchPartition(partition, partition_max_bytes=1 << 24)])
    request = FetchRequest(max_wait_ms=0, min_bytes=0, isolation_level=1, topics=[wanted])
    data = client.ask(request, 11).responses[0].partitions[0]
    begins: dict[int, list[int]] = {}
    for each in data.aborted_transactions or ():
        begins.setdefault(each.producer_id, []).append(each.first_offset)
    aborted: set[int] = set()
    values: list[bytes] = []
    for position, header in iterate_headers(data.records):
        first_offsets = begins.get(header.producer_id, [])
        while first_offsets and first_offsets[0] <= header.base_offset:
            first_offsets.pop(0)
            aborted.add(header.producer_id)
        if header.is_control:
            marker = read_end_marker(data.records, position)
            assert marker is not None
            if not marker.is_commit:
                aborted.discard(header.producer_id)
        elif header.producer_id not in aborted:
            values += [record.value or b"" for record in iterate_records(data.records, position)]
    return values


@pytest.mark.parametrize("seed", range(12))
def test_exactly_the_committed_transactions_are_seen(
    seed: int, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.CRITICAL)  # tasks that are killed say so
    with MortalWorld(SETTINGS) as world:
        life = Life(world, Random(seed))
        for _ in range(STEPS):
            life.step()
        life.check()
