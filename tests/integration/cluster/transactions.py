"""Transactions of confluent-kafka over all partitions of a topic, and what readers see of them."""

from __future__ import annotations

from collections import Counter

from confluent_kafka import Consumer, KafkaError, KafkaException, Producer, TopicPartition
from tests.integration.cluster.traffic import QUIET

from ottla.testing.cluster import RunningCluster

PATIENCE_S = 60.0
PARTITIONS = 3


def new_producer(cluster: RunningCluster, key: str) -> Producer:
    producer = Producer(
        {
            **QUIET,
            "bootstrap.servers": cluster.bootstrap_servers,
            "transactional.id": key,
            "linger.ms": 1,
        }
    )
    producer.init_transactions(PATIENCE_S)
    return producer


def end(producer: Producer, *, commits: bool) -> bool:
    """Whether it was committed. What can be repeated is repeated."""
    while True:
        try:
            if commits:
                producer.commit_transaction(PATIENCE_S)
            else:
                producer.abort_transaction(PATIENCE_S)
            return commits
        except KafkaException as error:
            reason = error.args[0]
            if reason.txn_requires_abort():
                commits = False
            elif not reason.retriable():
                raise


def read_committed(cluster: RunningCluster, topic: str) -> Counter[str]:
    consumer = Consumer(
        {
            **QUIET,
            "bootstrap.servers": cluster.bootstrap_servers,
            "group.id": "verifier",
            "isolation.level": "read_committed",
            "enable.partition.eof": True,
        }
    )
    consumer.assign([TopicPartition(topic, at, 0) for at in range(PARTITIONS)])
    found: Counter[str] = Counter()
    at_end = set[int | None]()
    while len(at_end) < PARTITIONS:
        message = consumer.poll(PATIENCE_S)
        assert message is not None
        if message.error() is not None:
            assert message.error().code() == KafkaError._PARTITION_EOF, message.error()
            at_end.add(message.partition())
        else:
            found[(message.value() or b"").decode()] += 1
    consumer.close()
    return found
