"""Partitions whose leader changes while they are read and written, on a real cluster of two."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from confluent_kafka import ElectionType
from confluent_kafka import TopicPartition as ForeignPartition
from confluent_kafka.admin import AdminClient
from tests.integration.client.helpers import read_with_librdkafka, values_of
from tests.integration.client.kafka_cluster import SecondBroker, two_brokers
from tests.support.apache_kafka import ApacheKafka
from tests.support.raw_client import batch_of
from tests.support.waiting import wait_until

from ottla.base.ids import TopicPartition
from ottla.client.admin.topics import NewTopic, create_topics
from ottla.client.admin.transactions import init_producer_id
from ottla.client.cluster.cluster import Cluster
from ottla.client.cluster.topology import PartitionDescription
from ottla.client.fetching.fetcher import PartitionRange, fetch_ranges
from ottla.client.producing.producer import BatchProducer
from ottla.client.settings import ClientSettings

pytestmark = [pytest.mark.java, pytest.mark.slow]

PARTITIONS = 4
BATCHES = 200


@pytest.fixture(scope="module")
def brokers(
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[tuple[ApacheKafka, SecondBroker]]:
    with two_brokers(tmp_path_factory.mktemp("two")) as brokers:
        yield brokers


@pytest.fixture
def cluster(brokers: tuple[ApacheKafka, SecondBroker]) -> Iterator[Cluster]:
    settings = ClientSettings(
        ",".join(node.bootstrap for node in brokers),
        default_api_timeout_ms=300_000,  # a busy machine starts brokers slowly
        delivery_timeout_ms=300_000,
        retry_backoff_ms=20,
        max_request_bytes=5_000,
        fetch_max_bytes=20_000,
    )
    with Cluster(settings) as cluster:
        wait_until(lambda: cluster.broker_ids() == [1, 2], "both brokers are registered")
        yield cluster


def numbered(number: int) -> bytes:
    return b"%06d" % number + bytes(200)


def described(cluster: Cluster, topic: str) -> list[PartitionDescription]:
    """As one of the brokers sees it now, which may not be the other's view."""
    with Cluster(cluster.settings) as other:
        found = other.describe_topics([topic])
        return list(found[topic].partitions) if topic in found else []


def wait_led_by(cluster: Cluster, topic: str, brokers: set[int]) -> None:
    wait_until(
        lambda: {each.leader for each in described(cluster, topic)} == brokers,
        f"{topic} is led by {brokers}",
    )


def wait_in_sync(cluster: Cluster, topic: str) -> None:
    """Until either broker may die."""

    def is_in_sync() -> bool:
        found = described(cluster, topic)
        return bool(found) and all(len(each.in_sync_replicas) == 2 for each in found)

    wait_until(is_in_sync, "both brokers have all records")


def prefer_first_replicas(cluster: Cluster, topic: str) -> None:
    """Give partitions back to the brokers they belong to."""
    admin = AdminClient({"bootstrap.servers": cluster.settings.bootstrap_servers, "log_level": 0})
    wanted = [ForeignPartition(topic, number) for number in range(PARTITIONS)]

    def is_done() -> bool:
        admin.elect_leaders(ElectionType.PREFERRED, wanted).result(120)
        return {each.leader for each in described(cluster, topic)} == {1, 2}

    wait_until(is_done, "both brokers lead partitions again")


def test_reading_and_writing_follow_the_leaders(
    cluster: Cluster, brokers: tuple[ApacheKafka, SecondBroker], tmp_path: Path
) -> None:
    """A broker is killed, comes back, and is made leader again, in mid-stream."""
    topic = "follow"
    create_topics(cluster, [NewTopic(topic, PARTITIONS, 2)])
    partitions = [TopicPartition(topic, number) for number in range(PARTITIONS)]
    second = brokers[1]
    wait_led_by(cluster, topic, {1, 2})
    with BatchProducer(cluster, init_producer_id(cluster)) as producer:
        for number in range(BATCHES):
            if number == 50:
                wait_in_sync(cluster, topic)
                second.kill()
            if number == 100:
                wait_led_by(cluster, topic, {1})
                second.start()
                wait_in_sync(cluster, topic)
            if number in (110, 120):
                prefer_first_replicas(cluster, topic)
            for partition in partitions:
                values = [numbered(5 * number + at) for at in range(5)]
                producer.send(partition, batch_of(*values))
        producer.flush()
    expected = [(number, numbered(number)) for number in range(5 * BATCHES)]
    for partition in partitions:
        stored = read_with_librdkafka(cluster.settings.bootstrap_servers, partition)
        assert stored == expected
    wait_led_by(cluster, topic, {1, 2})
    wait_in_sync(cluster, topic)
    found: dict[TopicPartition, list[object]] = {each: [] for each in partitions}
    ranges = [PartitionRange(each, 0, len(expected)) for each in partitions]
    for count, fetched in enumerate(fetch_ranges(cluster, ranges)):
        found[fetched.partition] += values_of(fetched)
        if count == 5:
            second.kill()
        if count == 15:
            second.start()
            wait_in_sync(cluster, topic)
            prefer_first_replicas(cluster, topic)
    assert all(found[each] == expected for each in partitions)
