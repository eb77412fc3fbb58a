"""Where clients find records: by partition, by offset, by time, after deletion."""

from __future__ import annotations

import pytest
from confluent_kafka import OFFSET_BEGINNING, OFFSET_END, KafkaError, Producer, TopicPartition
from kafka import TopicPartition as KafkaPythonPartition
from tests.compatibility.clients.clients import EVERY_CLIENT, LIBRDKAFKA, RING
from tests.compatibility.clients.conftest import ClientOf
from tests.compatibility.clients.foreign import kafka_python, librdkafka
from tests.compatibility.clients.foreign.client import PATIENCE_S, How, Record
from tests.compatibility.clients.topics import create_topic, delete_records

from ottla.testing.broker import RunningBroker

START_MS = 1_700_000_000_000


def numbered(count: int, first: int = 0) -> list[Record]:
    return [
        Record(b"%d" % each, None, (), START_MS + 1000 * each)
        for each in range(first, first + count)
    ]


@pytest.mark.parametrize(("writer", "reader"), RING)
def test_reading_begins_in_the_middle_of_a_batch(
    broker: RunningBroker, client_of: ClientOf, topic: str, writer: str, reader: str
) -> None:
    """The broker sends whole batches; the client leaves out what it did not ask for."""
    sent = numbered(100)
    client_of(writer, broker.bootstrap_servers).produce(topic, sent, How("lz4"))
    client = client_of(reader, broker.bootstrap_servers)
    for start in (0, 1, 57, 99):
        stored = client.consume(topic, 100 - start, start=start)
        assert [each.offset for each in stored] == list(range(start, 100))
        assert [each.record for each in stored] == sent[start:]


@pytest.mark.parametrize("name", EVERY_CLIENT)
def test_offsets_are_found_by_time(
    broker: RunningBroker, client_of: ClientOf, topic: str, name: str
) -> None:
    client = client_of(name, broker.bootstrap_servers)
    for first in range(0, 50, 10):  # five batches of ten seconds each
        client.produce(topic, numbered(10, first), How("gzip" if first % 20 else "none"))
    assert client.bounds(topic) == (0, 50)
    for at_ms, offset in (
        (0, 0),
        (START_MS, 0),
        (START_MS + 1, 1),
        (START_MS + 25_000, 25),
        (START_MS + 25_001, 26),
        (START_MS + 49_000, 49),
        (START_MS + 49_001, None),
    ):
        assert client.offset_for_time(topic, at_ms) == offset, at_ms - START_MS


@pytest.mark.parametrize("name", EVERY_CLIENT)
def test_deleted_records_are_gone_and_offsets_stay(
    broker: RunningBroker, client_of: ClientOf, topic: str, name: str
) -> None:
    client = client_of(name, broker.bootstrap_servers)
    client.produce(topic, numbered(20))
    assert delete_records(broker.bootstrap_servers, topic, before=15) == 15
    assert client.bounds(topic) == (15, 20)
    assert client.offset_for_time(topic, START_MS) == 15
    assert [each.offset for each in client.consume(topic, 5, start=15)] == [15, 16, 17, 18, 19]


@pytest.mark.parametrize(("writer", "reader"), RING)
def test_many_partitions_are_kept_apart(
    broker: RunningBroker, client_of: ClientOf, topic: str, writer: str, reader: str
) -> None:
    create_topic(broker.bootstrap_servers, topic, partitions=8)
    writing = client_of(writer, broker.bootstrap_servers)
    reading = client_of(reader, broker.bootstrap_servers)
    for partition in range(8):
        writing.produce(topic, numbered(partition + 1, 10 * partition), How(partition=partition))
    for partition in (0, 3, 7):
        assert reading.bounds(topic, partition) == (0, partition + 1)
        stored = reading.consume(topic, partition + 1, partition)
        assert [each.record for each in stored] == numbered(partition + 1, 10 * partition)


def test_one_consumer_reads_a_hundred_partitions(broker: RunningBroker, topic: str) -> None:
    """Incremental fetch sessions, over versions by topic id (librdkafka) and by name."""
    create_topic(broker.bootstrap_servers, topic, partitions=100)
    producer = Producer({"bootstrap.servers": broker.bootstrap_servers})
    for at in range(300):
        producer.produce(topic, b"%d" % at, partition=at % 100)
    assert producer.flush(PATIENCE_S) == 0
    expected = {(each, offset) for each in range(100) for offset in range(3)}
    with librdkafka.consumer(broker.bootstrap_servers) as reader:
        reader.assign([TopicPartition(topic, each, 0) for each in range(100)])
        found = librdkafka.read(reader, 300)
        assert {(each.partition(), each.offset()) for each in found} == expected
    with kafka_python.consumer(broker.bootstrap_servers) as reader:
        partitions = [KafkaPythonPartition(topic, each) for each in range(100)]
        reader.assign(partitions)
        reader.seek_to_beginning(*partitions)
        found = kafka_python.read(reader, 300)
        assert {(each.partition, each.offset) for each in found} == expected
        # What comes later finds its way through the session that is open.
        producer.produce(topic, b"late", partition=42)
        (late,) = kafka_python.read(reader, 1)
        assert (late.partition, late.offset) == (42, 3)


@pytest.mark.parametrize("name", EVERY_CLIENT)
def test_a_reader_goes_back_and_forth(
    broker: RunningBroker, client_of: ClientOf, topic: str, name: str
) -> None:
    client = client_of(name, broker.bootstrap_servers)
    for first in range(0, 30, 10):
        client.produce(topic, numbered(10, first))
    offsets = [7, 0, 29, 11, 10, 9]
    assert client.read_at(topic, offsets) == offsets


@pytest.mark.parametrize("name", EVERY_CLIENT)
def test_a_reader_that_is_out_of_range_continues_at_either_end(
    broker: RunningBroker, client_of: ClientOf, topic: str, name: str
) -> None:
    client = client_of(name, broker.bootstrap_servers)
    client.produce(topic, numbered(10))
    assert delete_records(broker.bootstrap_servers, topic, before=3) == 3
    assert client.position_after_reset(topic, "earliest") == 3
    assert client.position_after_reset(topic, "latest") == 10


def test_librdkafka_goes_to_the_ends_by_name(
    broker: RunningBroker, client_of: ClientOf, topic: str
) -> None:
    client_of(LIBRDKAFKA, broker.bootstrap_servers).produce(topic, numbered(10))
    with librdkafka.consumer(broker.bootstrap_servers, **{"enable.partition.eof": True}) as reader:
        reader.assign([TopicPartition(topic, 0, OFFSET_BEGINNING)])
        assert librdkafka.read(reader, 1)[0].offset() == 0
        reader.seek(TopicPartition(topic, 0, OFFSET_END))
        end = reader.poll(PATIENCE_S)
        assert end is not None
        assert (end.error().code(), end.offset()) == (KafkaError._PARTITION_EOF, 10)
