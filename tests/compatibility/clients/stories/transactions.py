"""Transactions: committed, aborted, left open, ended by an administrator."""

from __future__ import annotations

from typing import Any

from confluent_kafka import Producer, TopicPartition
from tests.compatibility.clients.clients import JAVA, KAFKA_PYTHON, LIBRDKAFKA
from tests.compatibility.clients.cluster import Cluster
from tests.compatibility.clients.foreign import librdkafka
from tests.compatibility.clients.foreign.client import Record
from tests.compatibility.clients.foreign.kafka_python import (
    TopicPartition as KafkaPythonPartition,
)
from tests.compatibility.clients.stories.telling import Sight, shows
from tests.support.java_clients import BEGIN, CLOSE, COMMIT, FLUSH, send

from ottla.protocol.api_keys import ApiKey

PATIENCE_S = 120.0
LONG_MS = 600_000


def begin(on: Cluster, transactional_id: str) -> Producer:
    producer = Producer(
        {
            "bootstrap.servers": on.bootstrap, "transactional.id": transactional_id,
            "transaction.timeout.ms": LONG_MS, **librdkafka.QUIET,
        }
    )  # fmt: skip
    producer.init_transactions(PATIENCE_S)
    producer.begin_transaction()
    return producer


@shows(
    by=LIBRDKAFKA,
    does=[ApiKey.INIT_PRODUCER_ID, ApiKey.ADD_PARTITIONS_TO_TXN, ApiKey.END_TXN],
    seen_by=JAVA,
    sees=[ApiKey.FETCH],
)
def what_was_committed_is_read_and_what_was_aborted_is_not(on: Cluster) -> Sight:
    producer = begin(on, "ending")
    producer.produce("ended", b"aborted")
    producer.flush(PATIENCE_S)
    producer.abort_transaction(PATIENCE_S)
    producer.begin_transaction()
    producer.produce("ended", b"committed")
    producer.commit_transaction(PATIENCE_S)

    def is_committed() -> bool:
        found = on.java_clients.consume("ended", is_committed=True)
        return [each.value for each in found] == [b"committed"]

    return is_committed


@shows(
    by=LIBRDKAFKA,
    does=[ApiKey.ADD_OFFSETS_TO_TXN, ApiKey.TXN_OFFSET_COMMIT, ApiKey.END_TXN],
    seen_by=KAFKA_PYTHON,
    sees=[ApiKey.OFFSET_FETCH],
)
def offsets_of_a_transaction_are_committed_with_it(on: Cluster) -> Sight:
    on.librdkafka.produce("read", [Record(b"x")] * 5)
    producer = begin(on, "reading-and-writing")
    with librdkafka.consumer(on.bootstrap, **{"group.id": "reading"}) as reader:
        reader.assign([TopicPartition("read", 0, 0)])
        librdkafka.read(reader, 5)
        producer.produce("written", b"y")
        positions = reader.position([TopicPartition("read", 0)])
        producer.send_offsets_to_transaction(positions, reader.consumer_group_metadata())
        producer.commit_transaction(PATIENCE_S)

    def is_committed() -> bool:
        with on.kafka_python_admin() as admin:
            offsets = admin.list_group_offsets("reading")["reading"]
            return bool(offsets[KafkaPythonPartition("read", 0)].offset == 5)

    return is_committed


@shows(
    by=JAVA,
    does=[ApiKey.INIT_PRODUCER_ID, ApiKey.END_TXN],
    seen_by=LIBRDKAFKA,
    sees=[ApiKey.FETCH],
)
def a_transaction_of_the_second_protocol_is_read(on: Cluster) -> Sight:
    """Java enlists partitions by writing to them (KIP-890)."""
    steps = [BEGIN, send("of-java", b"1"), send("of-java", b"2"), FLUSH, COMMIT, CLOSE]
    on.librdkafka.produce("of-java", [Record(b"0")])
    on.java_clients.produce("java-transaction", steps, {"transactional.id": "of-java"})

    def is_read() -> bool:
        return [each.record.value for each in on.librdkafka.consume("of-java", 3)] == [
            b"0", b"1", b"2",
        ]  # fmt: skip

    return is_read


@shows(
    by=LIBRDKAFKA,
    does=[ApiKey.ADD_PARTITIONS_TO_TXN],
    seen_by=KAFKA_PYTHON,
    sees=[ApiKey.LIST_TRANSACTIONS, ApiKey.DESCRIBE_TRANSACTIONS, ApiKey.DESCRIBE_PRODUCERS],
)
def an_open_transaction_is_reported(on: Cluster) -> Sight:
    producer = begin(on, "open")
    producer.produce("opened", b"not yet")
    producer.flush(PATIENCE_S)

    def is_open() -> bool:
        assert producer  # it lives as long as this does
        where = KafkaPythonPartition("opened", 0)
        with on.kafka_python_admin() as admin:
            (listed,) = (
                each
                for found in admin.list_transactions().values()
                for each in found
                if each.transactional_id == "open"
            )
            described = admin.describe_transactions(["open"])["open"]
            (writing,) = admin.describe_producers([where])[where].active_producers
        assert described.producer_id == listed.producer_id == writing.producer_id
        return described.state.value == "Ongoing" and where in described.topic_partitions

    return is_open


@shows(
    by=KAFKA_PYTHON,
    does=[ApiKey.WRITE_TXN_MARKERS],
    seen_by=LIBRDKAFKA,
    sees=[ApiKey.LIST_OFFSETS, ApiKey.FETCH],
)
def a_transaction_ended_by_an_administrator_does_not_block_consumers(on: Cluster) -> Sight:
    from kafka.admin import AbortTransactionSpec

    producer = begin(on, "hanging")
    producer.produce("hung", b"never")
    producer.flush(PATIENCE_S)
    where = KafkaPythonPartition("hung", 0)
    with on.kafka_python_admin() as admin:
        (found,) = admin.describe_producers([where])[where].active_producers
        admin.abort_transaction(
            AbortTransactionSpec(where, found.producer_id, found.producer_epoch)
        )
    on.librdkafka.produce("hung", [Record(b"after")])

    def is_read() -> bool:
        settings: dict[str, Any] = {"isolation.level": "read_committed"}
        with librdkafka.consumer(on.bootstrap, **settings) as reader:
            reader.assign([TopicPartition("hung", 0, 0)])
            return [each.value() for each in librdkafka.read(reader, 1)] == [b"after"]

    return is_read
