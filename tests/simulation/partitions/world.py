"""Three replicas of one partition and the controller's decisions, without an event loop.

Owns      brokers and their disks, messages under way, and every step that can happen next, all
          drawn from one seed. Messages are delayed, overtaken by those of other connections, and
          lost; metadata reaches each broker late, and in order. Brokers are killed, lose power,
          stop in order, start again, and lose their sessions while they run.
Promises  a seed gives the same events each time. Faults stay within what replication promises to
          survive: see `may_crash`.
Leaves    what is right to `judge.py`, what a broker does to `replica.py`. Elections of controllers
          are simulated by `tests/unit/controller/election_world.py`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from random import Random

from tests.simulation.partitions.judge import Judge, batch_numbered
from tests.simulation.partitions.replica import NAME, Asked, Disk, Replica, Violation
from tests.unit.controller.clusters import Cluster

from ottla.base.scheduling.steps import run_blocking
from ottla.config.topic_options import TopicConfig
from ottla.controller.alter_partition import decide_alter_partition
from ottla.controller.broker_sessions import decide_fence_incarnation
from ottla.controller.brokers import (
    decide_controlled_shutdown,
    decide_register_broker,
    decide_unfence_broker,
)
from ottla.controller.elect_leaders import decide_balance_leaders
from ottla.metadata.entities import BrokerRegistration, PartitionRegistration
from ottla.metadata.image import Batch
from ottla.metadata.records import Record
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.errors import BrokerError
from ottla.protocol.messages.alter_partition_request import AlterPartitionRequest
from ottla.protocol.messages.alter_partition_response import AlterPartitionResponse
from ottla.protocol.messages.fetch_response import PartitionData
from ottla.storage.log.flushing import flushing
from ottla.storage.log.recovery import Checkpoint
from ottla.testing.clock import ManualClock

BROKERS = (1, 2, 3)
ALTER_PARTITION_VERSION = 3
ROUNDS_MAX = 300  # until everything is as it should be after the last fault
SEGMENT_BYTES = 600  # several batches
FREQUENCIES = (0.2, 1, 1, 4)  # of a step in a seed, compared with others


class Controller(Cluster):
    """Decisions take effect at once; brokers are notified of them later."""

    def __init__(self, seed: int) -> None:
        self.batches: list[Batch] = []
        super().__init__(seed, b"default.replication.factor=3\n")

    def apply(self, records: tuple[Record, ...]) -> None:  # type: ignore[override]
        batch = Batch(self.image.offset, 1, tuple(records))
        if batch.records:
            self.image.apply(batch)
            self.batches.append(batch)


@dataclass
class Broker:
    id: int
    disk: Disk
    process: Replica | None = None
    registered: BrokerRegistration | None = None  # by a process whose session has not ended
    clean_epoch: int = -1  # in the marker of an orderly stop
    checkpoint: Checkpoint = Checkpoint()  # noqa: RUF009
    high_watermark: int = 0  # in its checkpoint
    applied: int = 0  # batches
    has_failed: bool = False  # killed or without power, and not in sync since
    has_lost: bool = False  # power, and not in sync since
    starts: int = 0


@dataclass(eq=False)
class FetchExchange:
    asked: Asked
    caller: Replica
    leader: Replica
    answer: PartitionData | None = None
    is_abandoned: bool = False


@dataclass(eq=False)
class AlterExchange:
    request: AlterPartitionRequest
    caller: Replica
    answer: AlterPartitionResponse | None = None
    is_abandoned: bool = False


Exchange = FetchExchange | AlterExchange


class World:
    def __init__(
        self, seed: int, *, flush_messages: int | None = None, min_in_sync: int = 2
    ) -> None:
        self.rng = Random(seed)
        self.clock = ManualClock()
        self.judge = Judge()
        self.events: list[str] = []
        self.exchanges: list[Exchange] = []
        self.produced = 0
        self.survives_power_loss = flush_messages == 1
        self.min_in_sync = min_in_sync
        topic = TopicConfig(
            segment_bytes=SEGMENT_BYTES, index_interval_bytes=100, min_insync_replicas=min_in_sync
        )
        if flush_messages is not None:
            topic = TopicConfig(
                segment_bytes=SEGMENT_BYTES,
                index_interval_bytes=100,
                min_insync_replicas=min_in_sync,
                flush_messages=flush_messages,
            )
        self.controller = Controller(seed)
        self.brokers = {each: Broker(each, Disk.new(topic)) for each in BROKERS}
        for broker in self.brokers.values():
            self.start(broker)
            self.register(broker)
        for broker in self.brokers.values():
            assert broker.process is not None
            self.decide_unfence(broker.process)
        settings = {"min.insync.replicas": str(min_in_sync)}
        self.controller.add_topic(NAME.topic, BROKERS, configs=settings)
        for broker in self.brokers.values():
            self.deliver_metadata(broker, count=1000)

    # The world

    @property
    def decided(self) -> PartitionRegistration:
        return self.controller.partition()

    @property
    def running(self) -> list[Replica]:
        return [each.process for each in self.brokers.values() if each.process is not None]

    @property
    def serving(self) -> list[Replica]:
        return [each for each in self.running if each.is_serving]

    def process(self, broker_id: int) -> Replica:
        found = self.brokers[broker_id].process
        assert found is not None, f"{broker_id} is not running"
        return found

    def note(self, event: str) -> None:
        self.events.append(event)

    def check(self) -> None:
        if NAME.topic in self.controller.image.topics:
            self.judge.check(self.serving, self.decided)
        for broker in self.brokers.values():
            if broker.has_failed and self._is_recovered(broker):
                broker.has_failed = broker.has_lost = False

    def _is_recovered(self, broker: Broker) -> bool:
        registered = self.controller.image.brokers[broker.id]
        is_its_own = broker.process is not None and broker.process.epoch == registered.epoch
        return is_its_own and broker.id in self.decided.in_sync_replicas

    # Clients

    def produce(self, replica: Replica) -> None:
        number = self.produced = self.produced + 1
        offsets: list[int] = []

        def done(error: Exception | None) -> None:
            if error is None:
                self.judge.acknowledge(offsets[0], number)
                self.note(f"{replica.broker_id} acknowledges {number}")

        def done_later(error: Exception | None) -> None:
            if offsets:
                done(error)
            else:  # at once, before its offset was returned
                at_once.append(error)

        at_once: list[Exception | None] = []
        try:
            offsets.append(replica.produce(batch_numbered(number), done_later))
        except BrokerError as error:
            self.note(f"{replica.broker_id} refuses {number}: {error.code.name}")
            return
        self.note(f"{replica.broker_id} appends {number} at {offsets[0]}")
        for each in at_once:
            done(each)

    # Messages

    def fetch(self, replica: Replica) -> FetchExchange | None:
        leader_id = replica.follows
        leader = None if leader_id is None else self.brokers[leader_id].process
        if leader is None or not leader.is_serving:
            return None
        asked = replica.ask()
        if asked is None:
            return None
        position = asked.request.topics[0].partitions[0]
        exchange = FetchExchange(asked, replica, leader)
        self.exchanges.append(exchange)
        self.note(
            f"{replica.broker_id} fetches from {leader_id} in epoch {asked.leader_epoch}: offset "
            f"{position.fetch_offset} after epoch {position.last_fetched_epoch}"
        )
        return exchange

    def alter(self, replica: Replica) -> AlterExchange | None:
        replica.look()
        request = replica.alter()
        if request is None:
            return None
        wanted = request.topics[0].partitions[0]
        in_sync = [(each.broker_id, each.broker_epoch) for each in wanted.new_isr_with_epochs]
        self.note(f"{replica.broker_id} requests {in_sync} after {wanted.partition_epoch}")
        exchange = AlterExchange(request, replica)
        self.exchanges.append(exchange)
        return exchange

    def deliver(self, exchange: Exchange) -> None:
        """The request, or else the response."""
        if exchange.answer is not None:
            self.exchanges.remove(exchange)
            self._receive(exchange)
            return
        if isinstance(exchange, FetchExchange):
            self._serve_fetch(exchange)
        else:
            self._serve_alter(exchange)
        if exchange.is_abandoned or exchange.answer is None:
            self.exchanges.remove(exchange)

    def _serve_fetch(self, exchange: FetchExchange) -> None:
        leader = exchange.leader
        answer = exchange.answer = leader.answer(exchange.asked.request)
        self.note(
            f"{leader.broker_id} answers {exchange.caller.broker_id}: "
            f"{ErrorCode(answer.error_code).name} {len(answer.records or b'')} "
            f"{answer.high_watermark} {answer.diverging_epoch}"
        )

    def _serve_alter(self, exchange: AlterExchange) -> None:
        caller = exchange.caller.broker_id
        try:
            decision = decide_alter_partition(
                self.controller.state, exchange.request, ALTER_PARTITION_VERSION
            )
        except BrokerError as error:
            self.note(f"the controller refuses {caller}: {error.code.name}")
            if not exchange.is_abandoned:
                exchange.caller.altered(None)
            return
        answer = exchange.answer = self.controller.carry_out(decision)
        code = ErrorCode(answer.topics[0].partitions[0].error_code)
        self.note(f"the controller answers {caller}: {code.name} {self._shown()}")

    def _receive(self, exchange: Exchange) -> None:
        if isinstance(exchange, AlterExchange):
            assert exchange.answer is not None
            exchange.caller.altered(exchange.answer)
        else:
            assert exchange.answer is not None
            what = exchange.caller.take(exchange.asked, exchange.answer)
            self.note(f"{exchange.caller.broker_id} takes it: {what}")

    def lose(self, exchange: Exchange) -> None:
        """The connection. What was sent may still arrive; the caller does not know."""
        caller = exchange.caller
        exchange.is_abandoned = True
        self.note(f"{caller.broker_id} loses a connection")
        if isinstance(exchange, AlterExchange):
            caller.altered(None)
        elif caller.asked is exchange.asked:
            caller.asked = None
        if exchange.answer is not None or self.rng.random() < 0.5:
            self.exchanges.remove(exchange)

    # Metadata

    def deliver_metadata(self, broker: Broker, count: int = 1) -> None:
        process = broker.process
        if process is None:
            return
        batches = self.controller.batches[broker.applied : broker.applied + count]
        for batch in batches:
            broker.applied += 1
            process.apply(batch)
            self.check()  # a leader may show a high watermark only until the next batch
        if batches:
            self.note(f"{broker.id} has metadata up to {process.image.offset}")

    def _shown(self) -> str:
        found = self.decided
        return (
            f"leader {found.leader} epoch {found.leader_epoch}.{found.partition_epoch} "
            f"in sync {found.in_sync_replicas} eligible {found.eligible_replicas}"
        )

    # Brokers

    def start(self, broker: Broker) -> None:
        log = broker.disk.open(self.clock, broker.checkpoint)
        log.update_high_watermark(broker.high_watermark)
        broker.starts += 1
        broker.applied = 0
        broker.checkpoint = Checkpoint(0)
        process = Replica(broker.id, broker.starts, broker.disk, self.clock, log)
        broker.process = process
        count = self.rng.randint(0, len(self.controller.batches))
        self.note(f"{broker.id} starts with {log}")
        self.deliver_metadata(broker, count)

    def register(self, broker: Broker) -> None:
        process = broker.process
        assert process is not None
        request = self.controller.registration(broker.id, previous_epoch=broker.clean_epoch)
        decision = decide_register_broker(self.controller.state, request, has_session=False)
        process.epoch = self.controller.carry_out(decision)
        broker.registered = self.controller.image.brokers[broker.id]
        broker.clean_epoch = -1
        self.note(f"{broker.id} registers with epoch {process.epoch}")

    def decide_unfence(self, process: Replica) -> None:
        try:
            decision = decide_unfence_broker(
                self.controller.state, process.broker_id, process.epoch
            )
        except BrokerError as error:
            self.note(f"{process.broker_id} stays fenced: {error.code.name}")
            return
        self.controller.carry_out(decision)
        self.note(f"{process.broker_id} is unfenced")

    def end_session(self, broker: Broker) -> None:
        registered = broker.registered
        if registered is None:
            return
        if broker.process is None or broker.process.epoch != registered.epoch:
            broker.registered = None  # of an earlier process
        decision = decide_fence_incarnation(registered, self.controller.state)
        self.controller.carry_out(decision)
        self.note(f"the session of {broker.id} ends: {self._shown()}")

    def elect_preferred(self) -> None:
        self.controller.carry_out(decide_balance_leaders(self.controller.state))
        self.note(f"preferred leader: {self._shown()}")

    def may_crash(self, broker: Broker, *, loses_power: bool) -> bool:
        """Whether the records of the partition must survive it.

        The controller does not distinguish a broker that was killed from one that has lost power
        (`docs/decisions/0014`): both lose their standing. If one has lost records, fewer replicas
        may fail at a time than must be in sync. As long as no replica loses records, all may
        be killed: then the last leader leads again.
        """
        others = [each for each in self.brokers.values() if each is not broker]
        has_loss = loses_power or broker.has_lost or any(each.has_lost for each in others)
        failed = 1 + sum(each.has_failed for each in others)
        return self.survives_power_loss or not has_loss or failed < self.min_in_sync

    def crash(self, broker: Broker, *, loses_power: bool) -> None:
        process = broker.process
        assert process is not None
        broker.high_watermark = self.rng.randint(0, process.log.high_watermark)
        broker.clean_epoch = -1
        if loses_power:
            broker.disk.files.crash(self.rng)
        else:
            broker.disk.files.kill()
        broker.has_lost |= loses_power
        broker.has_failed = True
        self._end(broker)
        self.note(f"{broker.id} {'loses power' if loses_power else 'is killed'}")

    def ask_to_stop(self, process: Replica) -> bool:
        """A controlled shutdown; whether the broker leads nothing any more."""
        try:
            decision = decide_controlled_shutdown(
                self.controller.state, process.broker_id, process.epoch
            )
        except BrokerError as error:
            self.note(f"{process.broker_id} may not stop: {error.code.name}")
            return False
        is_done = self.controller.carry_out(decision)
        self.note(f"{process.broker_id} asks to stop, {is_done}: {self._shown()}")
        return is_done

    def stop(self, broker: Broker) -> None:
        """An orderly stop: all that it has is synced, and marked with its epoch."""
        process = broker.process
        assert process is not None
        if process.partition is not None:
            process.partition.close()
        process.log.close()
        end, start = process.log.log_end_offset, process.log.log_start_offset
        broker.checkpoint = Checkpoint(end, start, is_clean=True)
        broker.high_watermark = process.log.high_watermark
        broker.clean_epoch = process.epoch
        self._end(broker)
        self.note(f"{broker.id} stops")

    def _end(self, broker: Broker) -> None:
        process, broker.process = broker.process, None
        for exchange in list(self.exchanges):
            if exchange.caller is process:
                exchange.is_abandoned = True
                if exchange.answer is not None or self.rng.random() < 0.5:
                    self.exchanges.remove(exchange)
            elif isinstance(exchange, FetchExchange) and exchange.leader is process:
                self.exchanges.remove(exchange)
                if exchange.caller.asked is exchange.asked:
                    exchange.caller.asked = None

    def sync(self, replica: Replica) -> None:
        if replica.syncs.waiting:
            replica.syncs.run_one()
        else:
            run_blocking(flushing(replica.log))
        self.note(f"{replica.broker_id} syncs up to {replica.log.recovery_point}")

    def wait(self, milliseconds: int) -> None:
        self.clock.advance_ms(milliseconds)

    # The end

    def settle(self) -> None:
        """Without faults everything becomes as it should be."""
        self.note("no more faults")
        for number in range(ROUNDS_MAX):
            self._go_on()
            self.check()
            if self._is_settled():
                break
            if number == ROUNDS_MAX - 1:
                raise Violation(f"not settled: {self._shown()}")
        replicas = self.serving
        leader = next(each for each in replicas if each.broker_id == self.decided.leader)
        before = len(self.judge.acknowledged)
        self.produce(leader)
        for _ in range(20):
            self._go_on()
            self.check()
        if len(self.judge.acknowledged) != before + 1:
            raise Violation("the last record is not acknowledged")
        self.judge.check_the_end(replicas, self.decided)

    def _is_settled(self) -> bool:
        replicas = self.serving
        ends = {(each.log.log_end_offset, each.log.high_watermark) for each in replicas}
        is_applied = all(
            each.applied == len(self.controller.batches) for each in self.brokers.values()
        )
        everything = len(ends) == 1 and len(set(ends.pop())) == 1
        return (
            len(replicas) == len(BROKERS)
            and self.decided.has_leader
            and set(self.decided.in_sync_replicas) == set(BROKERS)
            and is_applied
            and everything
        )

    def _go_on(self) -> None:
        for broker in self.brokers.values():
            if broker.process is None:
                self.start(broker)
            assert broker.process is not None
            if broker.process.epoch < 0:
                self.end_session(broker)
                self.register(broker)
            self.deliver_metadata(broker, count=1000)
            registered = self.controller.image.brokers[broker.id]
            if registered.is_shutting_down:
                self.stop(broker)
                continue
            if registered.is_fenced:
                self.decide_unfence(broker.process)
        for replica in self.serving:
            while replica.syncs.waiting:
                self.sync(replica)
            self.fetch(replica)
            self.alter(replica)
        while self.exchanges:
            self.deliver(self.exchanges[0])
        self.wait(50)


Step = Callable[[], None]


class RandomSteps:
    """Draws what happens next. In half of the seeds, how often each step happens is drawn as well:
    some faults are found only where sessions end often, or messages take long."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._rng = world.rng
        self._weights: dict[Callable[[], Step | None], int] = {
            self._deliver: 80,
            self._metadata: 50,
            self._fetch: 60,
            self._produce: 30,
            self._alter: 25,
            self._unfence: 10,
            self._start: 10,
            self._register: 10,
            self._sync: 25,
            self._wait: 5,
            self._lose: 4,
            self._end_of_crashed: 8,
            self._expire: 1,
            self._crash: 2,
            self._stop: 2,
            self._elect: 2,
        }

    def run(self, count: int) -> None:
        kinds, frequencies = list(self._weights), FREQUENCIES if self._rng.random() < 0.5 else (1,)
        weights = [each * self._rng.choice(frequencies) for each in self._weights.values()]
        while count:
            step = self._rng.choices(kinds, weights)[0]()
            if step is not None:  # it can happen
                step()
                self._world.check()
                count -= 1

    def _pick(self, found: list[Replica]) -> Replica | None:
        return self._rng.choice(found) if found else None

    def _broker(self) -> Broker:
        return self._world.brokers[self._rng.choice(BROKERS)]

    def _deliver(self) -> Step | None:
        found = self._world.exchanges
        return partial(self._world.deliver, self._rng.choice(found)) if found else None

    def _lose(self) -> Step | None:
        found = [each for each in self._world.exchanges if not each.is_abandoned]
        return partial(self._world.lose, self._rng.choice(found)) if found else None

    def _metadata(self) -> Step | None:
        broker = self._broker()
        is_behind = broker.applied < len(self._world.controller.batches)
        is_running = broker.process is not None
        if not is_behind or not is_running:
            return None
        return partial(self._world.deliver_metadata, broker, self._rng.choice((1, 1, 2, 20)))

    def _fetch(self) -> Step | None:
        found = self._pick([each for each in self._world.serving if each.follows is not None])
        return None if found is None else lambda: (self._world.fetch(found), None)[1]

    def _alter(self) -> Step | None:
        found = self._pick([each for each in self._world.serving if each.is_leader])
        return None if found is None else lambda: (self._world.alter(found), None)[1]

    def _produce(self) -> Step | None:
        found = self._pick([each for each in self._world.serving if each.is_leader])
        return None if found is None else partial(self._world.produce, found)

    def _unfence(self) -> Step | None:
        def is_fenced(each: Replica) -> bool:
            registered = each.image.broker(each.broker_id)
            return registered is not None and registered.is_fenced

        found = self._pick([each for each in self._world.serving if is_fenced(each)])
        return None if found is None else partial(self._world.decide_unfence, found)

    def _start(self) -> Step | None:
        broker = self._broker()
        return None if broker.process is not None else partial(self._world.start, broker)

    def _register(self) -> Step | None:
        broker = self._broker()
        if broker.process is None or broker.process.epoch >= 0:
            return None
        return partial(self._world.register, broker)

    def _sync(self) -> Step | None:
        owing = [each for each in self._world.serving if each.syncs.waiting]
        is_other = self._rng.random() < 0.1
        found = self._pick(self._world.serving if is_other else owing)
        return None if found is None else partial(self._world.sync, found)

    def _wait(self) -> Step:
        return partial(self._world.wait, self._rng.choice((10, 100, 300, 1200)))

    def _expire(self) -> Step | None:
        broker = self._broker()
        return None if broker.process is None else partial(self._world.end_session, broker)

    def _end_of_crashed(self) -> Step | None:
        broker = self._broker()
        is_over = broker.process is None or broker.process.epoch < 0
        return partial(self._world.end_session, broker) if is_over else None

    def _crash(self) -> Step | None:
        broker, loses_power = self._broker(), self._rng.random() < 0.5
        is_running = broker.process is not None
        if not is_running or not self._world.may_crash(broker, loses_power=loses_power):
            return None
        return partial(self._world.crash, broker, loses_power=loses_power)

    def _stop(self) -> Step | None:
        """Asks first; a broker that may not stop yet does so anyway, some time later."""
        broker = self._broker()
        process = broker.process
        if process is None or not process.is_serving:
            return None
        registered = self._world.controller.image.brokers[broker.id]
        if registered.is_shutting_down and registered.epoch == process.epoch:
            return partial(self._world.stop, broker)
        return lambda: (self._world.ask_to_stop(process), None)[1]

    def _elect(self) -> Step | None:
        is_possible = not self._world.decided.has_preferred_leader
        return self._world.elect_preferred if is_possible else None
