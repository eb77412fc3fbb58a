"""Topics that come and go under the clients that use them."""

from __future__ import annotations

import pytest
from confluent_kafka import (
    Consumer,
    KafkaError,
    KafkaException,
    Message,
    Producer,
    TopicPartition,
)
from tests.compatibility.clients.clients import EVERY_CLIENT, LIBRDKAFKA, RING
from tests.compatibility.clients.conftest import ClientOf
from tests.compatibility.clients.foreign import librdkafka
from tests.compatibility.clients.foreign.client import PATIENCE_S, Record
from tests.compatibility.clients.topics import admin_of, create_topic, delete_topic
from tests.support.waiting import wait_until

from ottla.testing.broker import RunningBroker


@pytest.mark.parametrize("name", EVERY_CLIENT)
def test_a_topic_that_does_not_exist_is_created_by_writing_to_it(
    broker: RunningBroker, client_of: ClientOf, topic: str, name: str
) -> None:
    assert client_of(name, broker.bootstrap_servers).produce(topic, [Record(b"first")]) == [0]
    assert topic in admin_of(broker.bootstrap_servers).list_topics(timeout=PATIENCE_S).topics


@pytest.mark.parametrize("bad", ["..", "a/b", "no spaces", "x" * 250, "\u00fcmlaut"])
def test_a_name_that_no_topic_can_have_creates_nothing(broker: RunningBroker, bad: str) -> None:
    admin = admin_of(broker.bootstrap_servers)
    before = set(admin.list_topics(timeout=PATIENCE_S).topics)
    errors: list[KafkaError] = []
    producer = Producer({"bootstrap.servers": broker.bootstrap_servers})
    producer.produce(bad, b"x", on_delivery=lambda error, _: errors.append(error))
    producer.flush(PATIENCE_S)
    assert [each.code() for each in errors] in (
        [KafkaError.TOPIC_EXCEPTION],
        [KafkaError._UNKNOWN_TOPIC],
    )
    assert set(admin.list_topics(timeout=PATIENCE_S).topics) == before
    assert not [path for path in broker.data.parent.glob("a*") if path.name == "a"]


@pytest.mark.parametrize(("writer", "reader"), RING)
def test_a_topic_created_again_begins_at_nothing(
    broker: RunningBroker, client_of: ClientOf, topic: str, writer: str, reader: str
) -> None:
    writing = client_of(writer, broker.bootstrap_servers)
    reading = client_of(reader, broker.bootstrap_servers)
    writing.produce(topic, [Record(b"old")] * 3)
    delete_topic(broker.bootstrap_servers, topic)
    create_topic(broker.bootstrap_servers, topic)
    assert reading.bounds(topic) == (0, 0)
    assert writing.produce(topic, [Record(b"new")]) == [0]
    assert [each.record.value for each in reading.consume(topic, 1)] == [b"new"]


def test_a_reader_by_topic_id_begins_again_in_the_new_topic(
    broker: RunningBroker, topic: str
) -> None:
    """Old offsets mean nothing there, and the response contains that error."""
    settings = {"topic.metadata.refresh.interval.ms": 200, "auto.offset.reset": "earliest"}
    with librdkafka.consumer(broker.bootstrap_servers, **settings) as reader:
        recreate_under(broker.bootstrap_servers, topic, reader)
        assert [each.value() for each in librdkafka.read(reader, 1)] == [b"new"]


def recreate_under(bootstrap: str, topic: str, reader: Consumer) -> None:
    """Let a reader get to offset 5, and the producer write to the topic that took its place."""
    create_topic(bootstrap, topic)
    producer = Producer({"bootstrap.servers": bootstrap})
    for at in range(5):
        producer.produce(topic, b"old %d" % at)
    producer.flush(PATIENCE_S)
    reader.assign([TopicPartition(topic, 0, 0)])
    assert [each.offset() for each in librdkafka.read(reader, 5)] == [0, 1, 2, 3, 4]
    delete_topic(bootstrap, topic)
    create_topic(bootstrap, topic)
    stored: list[int] = []

    def delivered(error: KafkaError | None, message: Message) -> None:
        if error is None:
            stored.append(message.offset())

    def write_once_more() -> bool:
        producer.produce(topic, b"new", on_delivery=delivered)
        producer.flush(PATIENCE_S)
        return bool(stored)

    wait_until(write_once_more, "the producer writes to the new topic")
    assert stored == [0]


def test_a_partition_that_does_not_exist_is_refused(
    broker: RunningBroker, client_of: ClientOf, topic: str
) -> None:
    create_topic(broker.bootstrap_servers, topic)
    client = client_of(LIBRDKAFKA, broker.bootstrap_servers)
    with pytest.raises(KafkaException, match="Unknown partition"):
        client.bounds(topic, 7)
    assert client.bounds(topic, 0) == (0, 0)
