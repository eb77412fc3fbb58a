"""Idempotent producers of other people's clients: every record once and in order, come what may."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator

import pytest
from confluent_kafka import OFFSET_BEGINNING, Consumer, Producer, TopicPartition
from tests.support.raw_client import RawClient

from ottla.testing.broker import RunningBroker
from ottla.testing.ports import non_ephemeral_port

RECORDS = 500


@pytest.fixture(scope="module")
def broker() -> Iterator[RunningBroker]:
    with RunningBroker() as running:
        yield running


def create_topic(broker: RunningBroker, name: str) -> str:
    with RawClient(broker.bootstrap_servers) as client:
        client.create_topic(name)
    return name


def read_all(broker: RunningBroker, topic: str, count: int) -> list[bytes]:
    """The first `count` values of a topic, and one more if there is one."""
    consumer = Consumer(
        {
            "bootstrap.servers": broker.bootstrap_servers,
            "group.id": "nobody",
            "enable.auto.commit": False,
            "enable.partition.eof": True,
        }
    )
    try:
        consumer.assign([TopicPartition(topic, 0, OFFSET_BEGINNING)])
        values: list[bytes] = []
        while len(values) <= count:
            message = consumer.poll(120)
            assert message is not None, f"only {len(values)} records came"
            if message.error() is not None:
                break  # the end of the partition
            values.append(message.value())
        return values
    finally:
        consumer.close()


def expected() -> list[bytes]:
    return [b"%d" % at for at in range(RECORDS)]


def test_confluent_kafka(broker: RunningBroker) -> None:
    topic = create_topic(broker, "confluent")
    producer = Producer({"bootstrap.servers": broker.bootstrap_servers, "enable.idempotence": True})
    for value in expected():
        producer.produce(topic, value)
    assert producer.flush(120) == 0
    assert read_all(broker, topic, RECORDS) == expected()


@pytest.mark.filterwarnings("ignore:open_text is deprecated")
def test_kafka_python(broker: RunningBroker) -> None:
    from kafka import KafkaProducer

    topic = create_topic(broker, "kafka-python")
    producer = KafkaProducer(
        bootstrap_servers=broker.bootstrap_servers, enable_idempotence=True, acks="all"
    )
    try:
        for value in expected():
            producer.send(topic, value, partition=0)
        producer.flush(120)
    finally:
        producer.close()
    assert read_all(broker, topic, RECORDS) == expected()


def test_aiokafka(broker: RunningBroker) -> None:
    from aiokafka import AIOKafkaProducer

    topic = create_topic(broker, "aiokafka")

    async def send() -> None:
        producer = AIOKafkaProducer(
            bootstrap_servers=broker.bootstrap_servers, enable_idempotence=True
        )
        await producer.start()
        try:
            sent = [await producer.send(topic, value, partition=0) for value in expected()]
            await asyncio.gather(*sent)
        finally:
            await producer.stop()

    asyncio.run(send())
    assert read_all(broker, topic, RECORDS) == expected()


def test_every_record_is_there_once_though_the_broker_is_killed_under_the_producer() -> None:
    """The producer has batches in flight whose answers it never gets; it sends them again."""
    # The port is one that no outgoing connection is given while the broker is dead.
    with RunningBroker(port=non_ephemeral_port()) as broker:
        topic = create_topic(broker, "t")
        producer = Producer(
            {
                "bootstrap.servers": broker.bootstrap_servers,
                "enable.idempotence": True,
                "linger.ms": 0,
                "reconnect.backoff.ms": 20,
                "reconnect.backoff.max.ms": 100,
                "retry.backoff.ms": 20,
                "log_level": 2,
            }
        )
        delivered = threading.Event()
        values = [b"%d" % at for at in range(6 * RECORDS)]
        for at, value in enumerate(values):
            producer.produce(topic, value, callback=lambda _error, _message: delivered.set())
            producer.poll(0)
            if at in (len(values) // 3, 2 * len(values) // 3):
                while not delivered.is_set():
                    producer.poll(0.1)
                broker.kill()
                broker.start()
                delivered.clear()
        assert producer.flush(120) == 0
        assert read_all(broker, topic, len(values)) == values
