"""Batches on their way into logs."""

from __future__ import annotations

import dataclasses

import pytest
from tests.integration.client.helpers import (
    new_topic,
    produce,
    read_values,
    read_with_librdkafka,
    values_of,
    wait_until_committed,
)
from tests.integration.client.lossy import lossy
from tests.support.raw_client import batch_of

from ottla.base.ids import TopicPartition
from ottla.client.admin.group_offsets import commit_offsets, committed_offsets
from ottla.client.admin.transactions import end_transaction, init_producer_id
from ottla.client.cluster.cluster import Cluster
from ottla.client.errors import KafkaError, ProducerFenced
from ottla.client.fetching.fetcher import fetch_range
from ottla.client.producing.partition_window import AcknowledgedRange
from ottla.client.producing.producer import BatchProducer


def numbers(first: int, count: int) -> list[bytes]:
    return [b"%06d" % number for number in range(first, first + count)]


def test_acknowledgements_contain_partition_and_offset(cluster: Cluster) -> None:
    topic = new_topic(cluster, partitions=2)
    one, other = TopicPartition(topic, 0), TopicPartition(topic, 1)
    produce(cluster, one, [numbers(0, 4)])
    with BatchProducer(cluster, init_producer_id(cluster)) as producer:
        producer.send(one, batch_of(*numbers(4, 3)), 3)
        producer.send(one, batch_of(*numbers(7, 2)), 2)
        producer.send(other, batch_of(*numbers(0, 1)))
        written = producer.flush()
    assert (written[one].records, written[one].batches) == (5, 2)
    assert written[one].ranges == [AcknowledgedRange(4, 9)]
    assert written[other].ranges == [AcknowledgedRange(0, 1)]
    assert read_values(cluster, one) == list(enumerate(numbers(0, 9)))


def test_more_than_the_memory_allows_is_sent_along_the_way(cluster: Cluster) -> None:
    partition = TopicPartition(new_topic(cluster), 0)
    settings = dataclasses.replace(cluster.settings, buffer_memory_bytes=10_000)
    with (
        Cluster(settings) as tight,
        BatchProducer(tight, init_producer_id(tight)) as producer,
    ):
        for number in range(200):
            producer.send(partition, batch_of(*numbers(10 * number, 10)))
        producer.flush()
    assert read_values(cluster, partition) == list(enumerate(numbers(0, 2000)))


def test_a_batch_that_is_refused_ends_the_producer_and_says_why(cluster: Cluster) -> None:
    topic = new_topic(cluster, max_message_bytes="2000")
    partition = TopicPartition(topic, 0)
    with BatchProducer(cluster, init_producer_id(cluster)) as producer:
        producer.send(partition, batch_of(bytes(3000)))
        with pytest.raises(KafkaError, match=r"Produce to .*MESSAGE_TOO_LARGE") as caught:
            producer.flush()
        with pytest.raises(KafkaError) as again:
            producer.send(partition, batch_of(b"small"))
    assert again.value is caught.value


def test_a_fenced_producer_receives_the_error(cluster: Cluster) -> None:
    partition = TopicPartition(new_topic(cluster), 0)
    name = f"{partition.topic}/fenced"
    identity = init_producer_id(cluster, name)
    with BatchProducer(cluster, identity, name) as producer:
        producer.send(partition, batch_of(b"one"))
        producer.flush()
        init_producer_id(cluster, name)
        with pytest.raises(ProducerFenced):
            end_transaction(cluster, name, identity, commit=True)
        producer.send(partition, batch_of(b"two"))
        with pytest.raises(ProducerFenced):
            producer.flush()
    assert read_values(cluster, partition, isolation_level="read_committed") == []


def test_one_identity_serves_transaction_after_transaction(cluster: Cluster) -> None:
    topic = new_topic(cluster, partitions=2)
    partitions = [TopicPartition(topic, number) for number in range(2)]
    name = f"{topic}/again"
    identity = init_producer_id(cluster, name)
    with BatchProducer(cluster, identity, name) as producer:
        for number in range(6):
            for partition in partitions:
                producer.send(partition, batch_of(*numbers(number, 1)))
            producer.flush()
            end_transaction(cluster, name, identity, commit=number % 2 == 0)
            producer.begin_transaction()
    for partition in partitions:
        found = read_values(cluster, partition, isolation_level="read_committed")
        assert [value for _, value in found] == [b"000000", b"000002", b"000004"]


@pytest.mark.parametrize("seed", range(3))
def test_answers_lost_at_random_lose_and_double_nothing(
    cluster: Cluster, address: str, seed: int
) -> None:
    topic = new_topic(cluster, partitions=3)
    partitions = [TopicPartition(topic, number) for number in range(3)]
    settings = dataclasses.replace(
        cluster.settings, retry_backoff_ms=1, max_request_bytes=2_000, max_partition_fetch_bytes=999
    )
    with Cluster(settings, open_transport=lossy(seed, 0.04)) as shaky:
        with BatchProducer(shaky, init_producer_id(shaky)) as producer:
            for number in range(100):
                for partition in partitions:
                    producer.send(partition, batch_of(*numbers(5 * number, 5)))
            written = producer.flush()
        for partition in partitions:
            assert written[partition].records == 500
            stored = read_with_librdkafka(address, partition)
            assert stored == list(enumerate(numbers(0, 500)))
            found = [
                each
                for fetched in fetch_range(shaky, partition, 0, 500)
                for each in values_of(fetched)
            ]
            assert found == stored


def test_transactions_and_commits_survive_lost_answers(cluster: Cluster, address: str) -> None:
    partition = TopicPartition(new_topic(cluster), 0)
    settings = dataclasses.replace(cluster.settings, retry_backoff_ms=1)
    expected = []
    with Cluster(settings, open_transport=lossy(7, 0.05)) as shaky:
        for number in range(10):
            name = f"{partition.topic}/{number}"
            identity = init_producer_id(shaky, name)
            with BatchProducer(shaky, identity, name) as producer:
                for at in range(5):
                    producer.send(partition, batch_of(*numbers(10 * number + at, 1)))
                producer.flush()
            end_transaction(shaky, name, identity, commit=number % 3 > 0)
            expected += numbers(10 * number, 5) if number % 3 else []
            commit_offsets(shaky, partition.topic, {partition: number})
            assert committed_offsets(shaky, partition.topic)[partition].offset == number
    wait_until_committed(cluster, [partition])
    stored = read_with_librdkafka(address, partition, "read_committed")
    assert [value for _, value in stored] == expected
    assert read_values(cluster, partition, isolation_level="read_committed") == stored
