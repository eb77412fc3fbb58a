"""How large records may be: what is refused, what still passes, and what a reader's limits mean."""

from __future__ import annotations

import os
from typing import Any

import aiokafka.errors
import confluent_kafka
import kafka.errors
import pytest
from tests.compatibility.clients.clients import (
    AIOKAFKA,
    EVERY_CLIENT,
    JAVAS,
    KAFKA_PYTHON,
    LIBRDKAFKA,
    RING,
)
from tests.compatibility.clients.conftest import ClientOf
from tests.compatibility.clients.foreign import kafka_python, librdkafka
from tests.compatibility.clients.foreign.client import How, Record
from tests.compatibility.clients.topics import create_topic
from tests.support.oracle import Refused

from ottla.testing.broker import RunningBroker

MIB = 1024 * 1024
# So that the client itself does not refuse what the broker is to refuse.
UNBOUNDED: dict[str, dict[str, Any]] = {
    LIBRDKAFKA: {"message.max.bytes": 100 * MIB},
    KAFKA_PYTHON: {"max_request_size": 100 * MIB},
    AIOKAFKA: {"max_request_size": 100 * MIB},
    **{
        each: {"max.request.size": str(100 * MIB), "buffer.memory": str(100 * MIB)}
        for each in JAVAS
    },
}


TOO_LARGE: dict[str, Any] = {
    LIBRDKAFKA: confluent_kafka.KafkaException,
    KAFKA_PYTHON: kafka.errors.MessageSizeTooLargeError,
    AIOKAFKA: aiokafka.errors.MessageSizeTooLargeError,
    **dict.fromkeys(JAVAS, Refused),
}


@pytest.mark.parametrize(("writer", "reader"), RING)
def test_a_message_just_under_the_limit_passes(
    broker: RunningBroker, client_of: ClientOf, topic: str, writer: str, reader: str
) -> None:
    """The limit counts the whole batch: header, record and its lengths."""
    sent = Record(os.urandom(MIB - 200), b"k", (), 1_700_000_000_000)
    how = How(extra=UNBOUNDED[writer])
    client_of(writer, broker.bootstrap_servers).produce(topic, [sent], how)
    (stored,) = client_of(reader, broker.bootstrap_servers).consume(topic, 1)
    assert stored.record == sent


@pytest.mark.parametrize("name", EVERY_CLIENT)
def test_a_message_over_the_limit_is_refused_and_the_next_one_stored(
    broker: RunningBroker, client_of: ClientOf, topic: str, name: str
) -> None:
    client = client_of(name, broker.bootstrap_servers)
    with pytest.raises(TOO_LARGE[name], match=r"(?i)too.?large|size"):
        client.produce(topic, [Record(os.urandom(MIB + 100))], How(extra=UNBOUNDED[name]))
    assert client.produce(topic, [Record(b"small")]) == [0]


@pytest.mark.parametrize(("writer", "reader"), RING)
def test_a_topics_own_limit_holds(
    broker: RunningBroker, client_of: ClientOf, topic: str, writer: str, reader: str
) -> None:
    create_topic(broker.bootstrap_servers, topic, config={"max.message.bytes": str(10 * MIB)})
    sent = Record(os.urandom(9 * MIB), None, (), 1_700_000_000_000)
    how = How(extra=UNBOUNDED[writer])
    client = client_of(writer, broker.bootstrap_servers)
    assert client.produce(topic, [sent], how) == [0]
    with pytest.raises(TOO_LARGE[writer]):
        client.produce(topic, [Record(os.urandom(11 * MIB))], how)
    # Its reader asks for a megabyte at most, and is given the first batch nevertheless.
    (stored,) = client_of(reader, broker.bootstrap_servers).consume(topic, 1)
    assert stored.record == sent


def test_compression_counts(broker: RunningBroker, client_of: ClientOf, topic: str) -> None:
    """What is bounded is the batch as it is stored."""
    client = client_of(LIBRDKAFKA, broker.bootstrap_servers)
    sent = Record(b"0123456789" * MIB, None, (), 1_700_000_000_000)
    client.produce(topic, [sent], How("zstd", extra=UNBOUNDED[LIBRDKAFKA]))
    (stored,) = client_of(KAFKA_PYTHON, broker.bootstrap_servers).consume(topic, 1)
    assert stored.record == sent


def test_small_fetches_get_through_large_batches(
    broker: RunningBroker, client_of: ClientOf, topic: str
) -> None:
    client = client_of(LIBRDKAFKA, broker.bootstrap_servers)
    for _ in range(5):
        client.produce(topic, [Record(b"x" * 50_000), Record(b"y" * 50_000)])
    settings = {"fetch.message.max.bytes": 1, "fetch.max.bytes": MIB, "message.max.bytes": 1000}
    with librdkafka.consumer(broker.bootstrap_servers, **settings) as reader:
        reader.assign([confluent_kafka.TopicPartition(topic, 0, 0)])
        assert [each.offset() for each in librdkafka.read(reader, 10)] == list(range(10))
    limits = {"max_partition_fetch_bytes": 10, "fetch_max_bytes": 10}
    with kafka_python.consumer(broker.bootstrap_servers, **limits) as reader:
        where = kafka.TopicPartition(topic, 0)
        reader.assign([where])
        reader.seek(where, 0)
        assert [each.offset for each in kafka_python.read(reader, 10)] == list(range(10))
