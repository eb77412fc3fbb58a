"""Offsets of groups, and transactions that are begun here and ended there."""

from __future__ import annotations

import pytest
from confluent_kafka import Consumer
from confluent_kafka import TopicPartition as ForeignPartition
from tests.integration.client.helpers import new_topic, produce, read_values
from tests.support.raw_client import batch_of
from tests.support.waiting import wait_until

from ottla.base.ids import TopicPartition
from ottla.client.admin.group_offsets import GroupOffset, commit_offsets, committed_offsets
from ottla.client.admin.list_offsets import latest_offsets
from ottla.client.admin.topics import NewTopic, create_topics, delete_topics, topic_configs
from ottla.client.admin.transactions import (
    ListedTransaction,
    add_partitions,
    describe_transactions,
    end_transaction,
    init_producer_id,
    list_transactions,
)
from ottla.client.cluster.cluster import Cluster
from ottla.client.errors import InvalidTransactionState, KafkaError, ProducerFenced
from ottla.client.producing.producer import BatchProducer


def test_committed_offsets_are_seen_by_others_and_theirs_by_us(
    cluster: Cluster, address: str
) -> None:
    topic = new_topic(cluster, partitions=2)
    one, other = TopicPartition(topic, 0), TopicPartition(topic, 1)
    commit_offsets(cluster, topic, {one: 5, other: GroupOffset(7, 0, "a note")})
    settings = {"bootstrap.servers": address, "group.id": topic, "log_level": 0}
    consumer = Consumer(settings)
    here = [ForeignPartition(topic, number) for number in range(2)]
    assert [each.offset for each in consumer.committed(here, 60)] == [5, 7]
    consumer.commit(offsets=[ForeignPartition(topic, 0, 6)], asynchronous=False)
    consumer.close()
    assert committed_offsets(cluster, topic) == {
        one: GroupOffset(6, -1, ""),
        other: GroupOffset(7, 0, "a note"),
    }
    assert committed_offsets(cluster, topic, [one]).keys() == {one}
    assert committed_offsets(cluster, "nobody-has-committed") == {}


def test_an_offset_that_is_refused_says_for_which_group_and_partition(cluster: Cluster) -> None:
    partition = TopicPartition(new_topic(cluster), 0)
    with pytest.raises(KafkaError, match=rf"{partition} for group 'g'.*METADATA_TOO_LARGE"):
        commit_offsets(cluster, "g", {partition: GroupOffset(1, -1, "x" * 10_000)})


def test_a_transaction_is_ended_from_another_connection_and_again(cluster: Cluster) -> None:
    partition = TopicPartition(new_topic(cluster), 0)
    name = f"{partition.topic}/0"
    identity = init_producer_id(cluster, name, 60_000)
    with Cluster(cluster.settings) as task, BatchProducer(task, identity, name) as producer:
        producer.send(partition, batch_of(b"a", b"b"))
        producer.flush()
    assert latest_offsets(cluster, [partition], "read_committed") == {partition: 0}
    with Cluster(cluster.settings) as driver:
        end_transaction(driver, name, identity, commit=True)
    end_transaction(cluster, name, identity, commit=True)
    with pytest.raises(InvalidTransactionState):
        end_transaction(cluster, name, identity, commit=False)
    init_producer_id(cluster, name)  # waits until the markers are written
    with pytest.raises(ProducerFenced):
        end_transaction(cluster, name, identity, commit=True)
    found = read_values(cluster, partition, isolation_level="read_committed")
    assert found == [(0, b"a"), (1, b"b")]


def test_open_transactions_are_listed_and_described(cluster: Cluster) -> None:
    partition = TopicPartition(new_topic(cluster), 0)
    names = [f"{partition.topic}/{number}" for number in range(3)]
    identities = {name: init_producer_id(cluster, name, 60_000) for name in names}
    for name in names[:2]:
        add_partitions(cluster, name, identities[name], [partition])
    listed = list_transactions(cluster, id_prefix=f"{partition.topic}/", states=["Ongoing"])
    assert listed == [
        ListedTransaction(name, identities[name].producer_id, "Ongoing") for name in names[:2]
    ]
    described = describe_transactions(cluster, [*names, "nobody"])
    assert described.keys() == set(names)
    assert described[names[0]].partitions == (partition,)
    assert described[names[0]].identity == identities[names[0]]
    assert [described[name].state for name in names] == ["Ongoing", "Ongoing", "Empty"]


def test_initialising_an_id_again_aborts_what_it_left_open(cluster: Cluster) -> None:
    partition = TopicPartition(new_topic(cluster), 0)
    name = f"{partition.topic}/left-open"
    identity = init_producer_id(cluster, name)
    with BatchProducer(cluster, identity, name) as producer:
        producer.send(partition, batch_of(b"lost"))
        producer.flush()
    produce(cluster, partition, [[b"kept"]])
    assert read_values(cluster, partition, isolation_level="read_committed") == []
    assert init_producer_id(cluster, name).epoch > identity.epoch
    found = read_values(cluster, partition, isolation_level="read_committed")
    assert found == [(1, b"kept")]


def test_topics_are_created_described_and_deleted(cluster: Cluster) -> None:
    topic = new_topic(cluster, partitions=3, cleanup_policy="compact")
    assert topic_configs(cluster, [topic])[topic]["cleanup.policy"] == "compact"
    with pytest.raises(KafkaError, match="TOPIC_ALREADY_EXISTS"):
        create_topics(cluster, [NewTopic(topic)])
    create_topics(cluster, [NewTopic(topic)], may_exist=True)
    with pytest.raises(KafkaError, match="INVALID_CONFIG"):
        create_topics(cluster, [NewTopic("bad", configs={"no.such.setting": "1"})])
    delete_topics(cluster, [topic])
    wait_until(lambda: topic not in cluster.list_topics(), "the topic is gone")
    with pytest.raises(KafkaError, match="UNKNOWN_TOPIC_OR_PARTITION"):
        delete_topics(cluster, [topic])
    delete_topics(cluster, [topic], may_be_missing=True)
