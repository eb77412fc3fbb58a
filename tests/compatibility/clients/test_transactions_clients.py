"""Transactions of other people's clients: committed, aborted, fenced, interrupted."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest
from aiokafka.errors import KafkaError as AioKafkaError
from confluent_kafka import Consumer, KafkaError, KafkaException
from kafka.errors import KafkaError as KafkaPythonError
from tests.compatibility.clients.clients import (
    AIOKAFKA,
    EVERY_CLIENT,
    EVERY_JAVA,
    FEW_SHARDS,
    KAFKA_PYTHON,
    LIBRDKAFKA,
)
from tests.compatibility.clients.transactions_clients import (
    PATIENCE_S,
    AioKafka,
    Java,
    KafkaPython,
    Librdkafka,
    TransactionalClient,
    committed_offset,
    read_values,
)
from tests.support.java_clients import BEGIN, COMMIT, JavaClients, send
from tests.support.oracle import OracleOf, Refused
from tests.support.raw_client import RawClient

from ottla.testing.broker import RunningBroker
from ottla.testing.ports import non_ephemeral_port

OpenClient = Callable[[str], TransactionalClient]
ClientAt = Callable[[str, str], TransactionalClient]
PYTHONS: Mapping[str, ClientAt] = {
    LIBRDKAFKA: Librdkafka,
    KAFKA_PYTHON: KafkaPython,
    AIOKAFKA: AioKafka,
}


@pytest.fixture(params=EVERY_CLIENT)
def client_at(request: pytest.FixtureRequest, oracle_of: OracleOf) -> ClientAt:
    """A client of the kind that the test is about, by address and transactional id."""
    if request.param in PYTHONS:
        return PYTHONS[request.param]
    return lambda bootstrap, name: Java(JavaClients(oracle_of(request.param), bootstrap), name)


@pytest.fixture
def open_client(client_at: ClientAt, temporary_broker: RunningBroker) -> OpenClient:
    return lambda name: client_at(temporary_broker.bootstrap_servers, name)


def create_topic(broker: RunningBroker, name: str) -> None:
    with RawClient(broker.bootstrap_servers) as client:
        client.create_topic(name)


def test_committed_transactions_are_seen_and_aborted_ones_not(
    open_client: OpenClient, temporary_broker: RunningBroker, topic: str
) -> None:
    bootstrap, group = temporary_broker.bootstrap_servers, f"group-{topic}"
    create_topic(temporary_broker, topic)
    client = open_client(topic)
    try:
        client.transact(topic, [b"1", b"2"], group, 10, is_commit=True)
        client.transact(topic, [b"3", b"4"], group, 20, is_commit=False)
        client.transact(topic, [b"5"], group, 30, is_commit=True)
        client.transact(topic, [b"6"], group, 40, is_commit=False)
    finally:
        client.close()
    assert read_values(bootstrap, topic, is_committed=True) == [b"1", b"2", b"5"]
    everything = [b"%d" % number for number in range(1, 7)]
    assert read_values(bootstrap, topic, is_committed=False) == everything
    assert committed_offset(bootstrap, topic, group) == 30


def test_a_new_producer_continues_where_the_old_one_ended(
    open_client: OpenClient, temporary_broker: RunningBroker, topic: str
) -> None:
    create_topic(temporary_broker, topic)
    for value in (b"1", b"2"):
        client = open_client(f"again-{topic}")
        client.transact(topic, [value], f"group-{topic}", 1, is_commit=True)
        client.close()
    values = read_values(temporary_broker.bootstrap_servers, topic, is_committed=True)
    assert values == [b"1", b"2"]


# Fencing


def test_confluent_kafka_is_fenced_by_a_second_producer(
    temporary_broker: RunningBroker, topic: str
) -> None:
    bootstrap = temporary_broker.bootstrap_servers
    create_topic(temporary_broker, topic)
    first = Librdkafka(bootstrap, topic)
    first.begin(topic, [b"lost"], f"group-{topic}", 1)
    second = Librdkafka(bootstrap, topic)
    with pytest.raises(KafkaException) as fenced:
        first.producer.commit_transaction(PATIENCE_S)
    assert fenced.value.args[0].code() == KafkaError._FENCED
    assert fenced.value.args[0].fatal()
    second.transact(topic, [b"kept"], f"group-{topic}", 2, is_commit=True)
    assert read_values(bootstrap, topic, is_committed=True) == [b"kept"]
    assert committed_offset(bootstrap, topic, f"group-{topic}") == 2


@pytest.mark.parametrize("release", EVERY_JAVA)
def test_the_java_client_is_fenced_by_a_second_producer(
    oracle_of: OracleOf, temporary_broker: RunningBroker, topic: str, release: str
) -> None:
    create_topic(temporary_broker, topic)
    clients = JavaClients(oracle_of(release), temporary_broker.bootstrap_servers)
    configs = {"transactional.id": topic}
    clients.produce(f"{topic}-1", [BEGIN, send(topic, b"lost")], configs)
    clients.produce(f"{topic}-2", [BEGIN, send(topic, b"kept"), COMMIT], configs)
    with pytest.raises(Refused, match=r"ProducerFenced|InvalidProducerEpoch"):
        clients.produce(f"{topic}-1", [COMMIT])
    assert read_values(temporary_broker.bootstrap_servers, topic, is_committed=True) == [b"kept"]


# Interruptions


def test_a_transaction_continues_after_the_broker_was_restarted(topic: str) -> None:
    with RunningBroker(config=FEW_SHARDS, port=non_ephemeral_port()) as broker:
        create_topic(broker, topic)
        client = Librdkafka(broker.bootstrap_servers, topic)
        client.begin(topic, [b"before"], "group", 7)
        broker.restart()
        client.producer.produce(topic, b"after", partition=0)
        client.producer.commit_transaction(PATIENCE_S)
        values = read_values(broker.bootstrap_servers, topic, is_committed=True)
        assert values == [b"before", b"after"]
        assert committed_offset(broker.bootstrap_servers, topic, "group") == 7


# What clients raise when they have lost touch; the rest would be a bug of the test.
LOST: tuple[type[Exception], ...] = (
    AioKafkaError, KafkaPythonError, KafkaException, Refused, TimeoutError,
)  # fmt: skip


def test_a_transaction_is_whole_or_gone_though_the_broker_is_killed_in_it(
    client_at: ClientAt, topic: str
) -> None:
    with RunningBroker(config=FEW_SHARDS, port=non_ephemeral_port()) as broker:
        bootstrap = broker.bootstrap_servers
        create_topic(broker, topic)
        client = client_at(bootstrap, topic)
        client.transact(topic, [b"1", b"2"], "group", 2, is_commit=True)
        expected = [b"1", b"2"]
        for number, is_commit in ((3, True), (5, False), (7, True)):
            values = [b"%d" % number, b"%d" % (number + 1)]
            try:
                client.transact(
                    topic, values, "group", number + 1, is_commit=is_commit,
                    meanwhile=lambda: kill_and_start(broker),
                )  # fmt: skip
                has_ended = True
            except LOST:
                client.close()
                client = client_at(bootstrap, topic)  # which ends what the old one left
                has_ended = committed_offset(bootstrap, topic, "group") == number + 1
            if is_commit and has_ended:
                expected += values
        client.transact(topic, [b"last"], "group", 100, is_commit=True)
        client.close()
        assert read_values(bootstrap, topic, is_committed=True) == [*expected, b"last"]
        assert committed_offset(bootstrap, topic, "group") == 100
        assert "Traceback" not in broker.log


COPIED = 400
BATCH = 20
FEW_S = 5.0  # for a batch that is not full


def test_a_copy_is_exact_though_the_broker_is_killed_under_it(topic: str) -> None:
    """Read, write and commit offsets in transactions: the loop that exactly-once is made for."""
    with RunningBroker(config=FEW_SHARDS, port=non_ephemeral_port()) as broker:
        bootstrap = broker.bootstrap_servers
        for name in ("from", "to"):
            create_topic(broker, f"{name}-{topic}")
        source = Librdkafka(bootstrap, "source")
        wanted = [b"%d" % number for number in range(COPIED)]
        source.transact(f"from-{topic}", wanted, "nobody", 0, is_commit=True)
        copier = Copier(bootstrap, f"from-{topic}", f"to-{topic}")
        while copier.copied < COPIED:
            if copier.batches in (5, 12):
                copier.copy_a_batch(meanwhile=lambda: kill_and_start(broker))
            else:
                copier.copy_a_batch()
        copier.close()
        assert read_values(bootstrap, f"to-{topic}", is_committed=True) == wanted


def kill_and_start(broker: RunningBroker) -> None:
    broker.kill()
    broker.start()


class Copier:
    def __init__(self, bootstrap: str, source: str, target: str) -> None:
        self.target = target
        self.copied = self.batches = 0
        self.consumer = Consumer(
            {
                "bootstrap.servers": bootstrap,
                "group.id": "copiers",
                "auto.offset.reset": "earliest",
                "isolation.level": "read_committed",
                "enable.auto.commit": False,
                "session.timeout.ms": 45_000,
                "reconnect.backoff.max.ms": 100,
                "log_level": 0,
            }
        )
        self.consumer.subscribe([source])
        self.producer = Librdkafka(bootstrap, "copier").producer

    def copy_a_batch(self, meanwhile: Callable[[], None] = lambda: None) -> None:
        messages = self.consumer.consume(BATCH, FEW_S)
        values = [message.value() for message in messages if message.error() is None]
        self.producer.begin_transaction()
        for value in values:
            self.producer.produce(self.target, value, partition=0)
        meanwhile()
        try:
            self.commit()
        except KafkaException as error:
            if not error.args[0].txn_requires_abort():
                raise
            self.producer.abort_transaction(PATIENCE_S)
            self.rewind()
        else:
            self.copied += len(values)
        self.batches += 1

    def commit(self) -> None:
        positions = self.consumer.position(self.consumer.assignment())
        member = self.consumer.consumer_group_metadata()
        self.producer.send_offsets_to_transaction(positions, member, PATIENCE_S)
        self.producer.commit_transaction(PATIENCE_S)

    def rewind(self) -> None:
        """Read again what was not committed."""
        for place in self.consumer.committed(self.consumer.assignment(), PATIENCE_S):
            place.offset = max(place.offset, 0)
            self.consumer.seek(place)

    def close(self) -> None:
        self.consumer.close()
