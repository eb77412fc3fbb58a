"""The broker is killed at every step of a transaction, under clients that know nothing of it.

Whatever the step: transactions are whole or not there at all, what was acknowledged holds, readers
and offsets agree, and nothing stays open.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest
from confluent_kafka import Consumer, KafkaException, Producer, TopicPartition
from tests.compatibility.clients.clients import JAVA, JAVA_3_9
from tests.compatibility.clients.transactions_crashes import (
    GROUP,
    ID,
    PARTITIONS,
    PATIENCE_S,
    PLAN,
    TOPIC,
    MortalBroker,
    Outcome,
    Planned,
    check,
)
from tests.compatibility.clients.transactions_harness import TransactionsHarness
from tests.support.java_clients import (
    ABORT,
    BEGIN,
    CLOSE,
    COMMIT,
    FLUSH,
    JavaClients,
    Step,
    offsets_in_transaction,
    send,
)
from tests.support.oracle import OracleOf, Refused
from tests.support.raw_client import RawClient

from ottla.base.fault_points import FaultPoint

pytestmark = pytest.mark.ci

# With version 2 no client enlists groups.
IMPLICIT = [point for point in FaultPoint if point is not FaultPoint.GROUP_ENLISTED]
TRIES = 4
QUICK = {"reconnect.backoff.ms": "10", "reconnect.backoff.max.ms": "50", "retry.backoff.ms": "10"}


class ClassicClient:
    """confluent-kafka: enlists partitions and the group itself."""

    def __init__(self, bootstrap: str) -> None:
        self.bootstrap = bootstrap
        group = {"bootstrap.servers": bootstrap, "group.id": GROUP, "log_level": 0}
        self.consumer = Consumer(group)
        self.producer = self.new_producer()

    def new_producer(self) -> Producer:
        producer = Producer(
            {
                "bootstrap.servers": self.bootstrap,
                "transactional.id": ID,
                "transaction.timeout.ms": 30_000,
                "log_level": 0,
                # After a rebootstrap librdkafka 2.16 waits forever for the group coordinator of a
                # cluster with one broker, Apache Kafka's too.
                "metadata.recovery.strategy": "none",
                **QUICK,
            }
        )
        until_done(lambda: producer.init_transactions(PATIENCE_S))
        return producer

    def run(self, planned: Planned) -> Outcome:
        try:
            return self.take_part(planned)
        except KafkaException as error:
            if not error.args[0].txn_requires_abort():
                self.producer = self.new_producer()  # it is fenced; the old one cannot continue
                return Outcome.UNKNOWN
        until_done(lambda: self.producer.abort_transaction(PATIENCE_S))
        return Outcome.ABORTED

    def take_part(self, planned: Planned) -> Outcome:
        producer = self.producer
        producer.begin_transaction()
        for partition in PARTITIONS:
            for value in planned.values(partition):
                producer.produce(TOPIC, value, partition=partition)
        assert producer.flush(PATIENCE_S) == 0
        offsets = [TopicPartition(TOPIC, 0, planned.offset)]
        member = self.consumer.consumer_group_metadata()
        until_done(lambda: producer.send_offsets_to_transaction(offsets, member, PATIENCE_S))
        if planned.is_commit:
            until_done(lambda: producer.commit_transaction(PATIENCE_S))
            return Outcome.COMMITTED
        until_done(lambda: producer.abort_transaction(PATIENCE_S))
        return Outcome.ABORTED

    def close(self) -> None:
        self.consumer.close()


def until_done(act: Callable[[], None]) -> None:
    """What can be tried again is tried again, but not forever."""
    for _ in range(TRIES):
        try:
            return act()
        except KafkaException as error:
            if not error.args[0].retriable():
                raise
            last = error
    raise AssertionError(f"still {last}")


@pytest.mark.parametrize("point", list(FaultPoint), ids=lambda point: point.value)
def test_a_classic_producer_survives_the_brokers_death(point: FaultPoint) -> None:
    with MortalBroker(point) as mortal:
        client = ClassicClient(mortal.bootstrap)
        try:
            outcomes = {planned: client.run(planned) for planned in PLAN}
            mortal.wait_revived()
        finally:
            client.close()
        check(mortal.bootstrap, outcomes)


class JavaClient:
    """Kafka's Java client. For the newest one leaders and the group enlist, and every transaction
    has an epoch; the older one enlists partitions and the group itself."""

    def __init__(self, clients: JavaClients, name: str) -> None:
        self.clients = clients
        self.name = name
        self.count = 0

    def run(self, planned: Planned) -> Outcome:
        steps: list[Step] = [BEGIN]
        for partition in PARTITIONS:
            steps += [
                send(TOPIC, value, partition=partition) for value in planned.values(partition)
            ]
        steps += [FLUSH, offsets_in_transaction(GROUP, TOPIC, planned.offset)]
        steps += [COMMIT if planned.is_commit else ABORT]
        configs = {"transactional.id": ID, "transaction.timeout.ms": "30000", **QUICK}
        try:
            self.clients.produce(f"{self.name}-{self.count}", steps, configs)
        except Refused:
            self.close()
            self.count += 1
            return Outcome.UNKNOWN
        return Outcome.COMMITTED if planned.is_commit else Outcome.ABORTED

    def close(self) -> None:
        self.clients.produce(f"{self.name}-{self.count}", [CLOSE])


# The producer dies with the broker


DECIDED = (
    FaultPoint.PREPARE_LOGGED,
    FaultPoint.FIRST_MARKER_WRITTEN,
    FaultPoint.ALL_MARKERS_WRITTEN,
    FaultPoint.OFFSETS_VISIBLE,
    FaultPoint.COMPLETE_LOGGED,
)


LONG_MS = 600_000
SHORT_MS = 1_500  # long enough to come to every step, and soon over


def take_part_and_die(harness: TransactionsHarness, planned: Planned, is_classic: bool) -> None:
    """All requests of one transaction, until the broker is gone in the middle of one."""
    producer = harness.producer()
    if is_classic:
        producer.add(PARTITIONS)
    for partition in PARTITIONS:
        values = planned.values(partition)
        producer.produce(*values, partition=partition, version=9 if is_classic else 12)
    if is_classic:
        producer.add_offsets()
    producer.commit_offset(planned.offset, version=3 if is_classic else 5)
    producer.end(True, version=3 if is_classic else 5)
    while True:
        harness.fetch()  # it exits at the fault point


DIFFERENT_IN_VERSION_2 = (
    FaultPoint.PARTITIONS_ENLISTED,
    FaultPoint.DATA_APPENDED,
    FaultPoint.OFFSETS_APPENDED,
    FaultPoint.PREPARE_LOGGED,
    FaultPoint.FIRST_MARKER_WRITTEN,
)
CASES = [(point, True) for point in FaultPoint]
CASES += [(point, False) for point in DIFFERENT_IN_VERSION_2]


@pytest.mark.parametrize(
    ("point", "is_classic"),
    CASES,
    ids=[f"{'classic' if is_classic else 'v2'}-{point.value}" for point, is_classic in CASES],
)
def test_what_a_dead_producer_left_is_finished_without_it(
    point: FaultPoint, is_classic: bool
) -> None:
    """What was decided is carried out; all else is aborted when its time is over."""
    planned = PLAN[0]
    timeout_ms = LONG_MS if point in DECIDED else SHORT_MS
    with MortalBroker(point, passes=1) as mortal:
        with RawClient(mortal.bootstrap) as client:
            harness = TransactionsHarness(client, TOPIC, ID, GROUP, timeout_ms=timeout_ms)
            with pytest.raises(ConnectionError):
                take_part_and_die(harness, planned, is_classic)
        mortal.wait_revived()
        outcome = Outcome.COMMITTED if point in DECIDED else Outcome.ABORTED
        check(mortal.bootstrap, {planned: outcome})


JAVA_CASES: list[tuple[str, FaultPoint]] = [(JAVA, point) for point in IMPLICIT]
# The older one does what confluent-kafka does, which dies at every point.
JAVA_CASES += [
    (JAVA_3_9, FaultPoint.PARTITIONS_ENLISTED),
    (JAVA_3_9, FaultPoint.GROUP_ENLISTED),
    (JAVA_3_9, FaultPoint.OFFSETS_APPENDED),
    (JAVA_3_9, FaultPoint.PREPARE_LOGGED),
]


@pytest.mark.java
@pytest.mark.parametrize(
    ("release", "point"),
    JAVA_CASES,
    ids=[f"{release}-{point.value}" for release, point in JAVA_CASES],
)
def test_kafkas_own_producer_survives_the_brokers_death(
    release: str, point: FaultPoint, oracle_of: OracleOf
) -> None:
    with MortalBroker(point) as mortal:
        clients = JavaClients(oracle_of(release), mortal.bootstrap)
        client = JavaClient(clients, f"crash-{point.value}")
        outcomes = {planned: client.run(planned) for planned in PLAN}
        mortal.wait_revived()
        client.close()
        check(mortal.bootstrap, outcomes)
