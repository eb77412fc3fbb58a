"""What the tests of the client share: topics with names of their own, values in and out."""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterable, Iterator, Sequence

from confluent_kafka import Consumer, KafkaError
from confluent_kafka import TopicPartition as ForeignPartition
from tests.support.raw_client import batch_of
from tests.support.waiting import wait_until

from ottla.base.ids import TopicPartition
from ottla.client.admin.list_offsets import latest_offsets
from ottla.client.admin.topics import NewTopic, create_topics
from ottla.client.admin.transactions import ProducerIdentity, init_producer_id
from ottla.client.cluster.cluster import Cluster
from ottla.client.fetching.fetched_records import FetchedRecords
from ottla.client.fetching.fetcher import fetch_range
from ottla.client.producing.producer import BatchProducer
from ottla.protocol.records.batch import iterate_headers
from ottla.protocol.records.reading import iterate_records

PATIENCE_STEPS = 600
_numbers = itertools.count()


def new_topic(cluster: Cluster, partitions: int = 1, **configs: str) -> str:
    """Create a topic with a unique name, and return the name."""
    name = f"client-{os.getpid()}-{next(_numbers)}"
    settings = {key.replace("_", "."): value for key, value in configs.items()}
    create_topics(cluster, [NewTopic(name, partitions, 1, settings)])
    return name


def produce(
    cluster: Cluster,
    partition: TopicPartition,
    batches: Iterable[Sequence[bytes]],
    identity: ProducerIdentity | None = None,
) -> None:
    with BatchProducer(cluster, identity or init_producer_id(cluster)) as producer:
        for values in batches:
            producer.send(partition, batch_of(*values))
        producer.flush()


def values_of(fetched: FetchedRecords) -> Iterator[tuple[int, bytes | None]]:
    """(offset, value) of the records that a reader should see."""
    for position, header in iterate_headers(fetched.data):
        if fetched.is_wanted(header):
            for record in iterate_records(fetched.data, position):
                if fetched.start_offset <= record.offset < fetched.end_offset:
                    yield record.offset, record.value


def read_values(
    cluster: Cluster,
    partition: TopicPartition,
    start_offset: int = 0,
    end_offset: int | None = None,
    isolation_level: str = "read_uncommitted",
) -> list[tuple[int, bytes | None]]:
    if end_offset is None:
        end_offset = latest_offsets(cluster, [partition], isolation_level)[partition]
    return [
        each
        for fetched in fetch_range(
            cluster, partition, start_offset, end_offset, isolation_level=isolation_level
        )
        for each in values_of(fetched)
    ]


def wait_until_committed(cluster: Cluster, partitions: list[TopicPartition]) -> None:
    """Until readers of committed records see it all: brokers answer EndTxn a little earlier."""

    def is_stable() -> bool:
        ends = latest_offsets(cluster, partitions, "read_committed")
        return ends == latest_offsets(cluster, partitions)

    wait_until(is_stable, f"no open transaction in {partitions}")


def read_with_librdkafka(
    address: str, partition: TopicPartition, isolation_level: str = "read_uncommitted"
) -> list[tuple[int, bytes | None]]:
    """What confluent-kafka makes of the same partition, up to its end."""
    settings = {
        "bootstrap.servers": address,
        "group.id": "checker",
        "enable.auto.commit": False,
        "enable.partition.eof": True,
        "isolation.level": isolation_level,
        "log_level": 0,
    }
    found: list[tuple[int, bytes | None]] = []
    consumer = Consumer(settings)
    try:
        consumer.assign([ForeignPartition(partition.topic, partition.partition, 0)])
        for _ in range(PATIENCE_STEPS):
            for message in consumer.consume(10_000, 0.2):
                if message.error() is None:
                    found.append((message.offset(), message.value()))
                elif message.error().code() == KafkaError._PARTITION_EOF:
                    return found
        raise TimeoutError(f"{partition}: the end was not reached")
    finally:
        consumer.close()
