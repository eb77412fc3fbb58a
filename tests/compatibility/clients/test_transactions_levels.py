"""Clusters that agreed on an older transaction protocol: what is written, and what clients do."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.compatibility.clients.clients import JAVA, JAVA_3_9
from tests.compatibility.clients.transactions_clients import Java, Librdkafka, read_values
from tests.compatibility.clients.transactions_harness import Begun, TransactionsHarness
from tests.support.java_clients import JavaClients
from tests.support.oracle import OracleOf
from tests.support.raw_client import RawClient

from ottla.coordinators.records import decode_record
from ottla.coordinators.transactions.record_types import TRANSACTION_RECORDS
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.messages.describe_transactions_request import DescribeTransactionsRequest
from ottla.protocol.messages.update_features_request import FeatureUpdateKey, UpdateFeaturesRequest
from ottla.protocol.records.batch import iterate_headers
from ottla.protocol.records.reading import iterate_records
from ottla.testing.broker import RunningBroker

NONE = ErrorCode.NONE
DOWNGRADE, UPGRADE = 2, 1
SETTINGS = {"transaction.state.log.num.partitions": "1", "offsets.topic.num.partitions": "1"}


def agree_on(broker: RunningBroker, level: int, kind: int = DOWNGRADE) -> None:
    update = FeatureUpdateKey("transaction.version", level, upgrade_type=kind)
    with RawClient(broker.bootstrap_servers) as client:
        assert client.ask(UpdateFeaturesRequest(60_000, [update]), 1).error_code == NONE


def value_versions(data: Path) -> list[int]:
    """Of all records in the log of transactions."""
    (path,) = (data / "__transaction_state-0").glob("*.log")
    log = path.read_bytes()
    found = []
    for position, _ in iterate_headers(log):
        for record in iterate_records(log, position):
            decoded = decode_record(TRANSACTION_RECORDS, record.key, record.value)
            assert decoded is not None
            found.append(decoded.value_version)
    return found


@pytest.mark.parametrize(("level", "version"), [(0, 0), (1, 1)])
def test_an_older_level_fences_with_one_bump_and_writes_what_older_brokers_read(
    level: int, version: int
) -> None:
    with RunningBroker(config=SETTINGS) as broker:
        agree_on(broker, level)
        with RawClient(broker.bootstrap_servers) as client:
            harness = TransactionsHarness.new(client)
            producer = harness.producer()
            assert producer.add() == [NONE]
            assert producer.produce() == NONE
            assert harness.init() == Begun(ErrorCode.CONCURRENT_TRANSACTIONS)
            assert harness.init_settled() == Begun(NONE, producer.producer_id, 2)
            (marker,) = harness.wait_markers(1)
            assert marker.producer_epoch == 1
        broker.kill()
        assert set(value_versions(broker.data)) == {version}
        broker.start()
        with RawClient(broker.bootstrap_servers) as client:
            harness.client = client
            assert harness.init_settled() == Begun(NONE, producer.producer_id, 3)


def test_a_transaction_may_begin_on_one_level_and_end_on_another() -> None:
    with RunningBroker(config=SETTINGS) as broker:
        agree_on(broker, 0)
        with RawClient(broker.bootstrap_servers) as client:
            harness = TransactionsHarness.new(client)
            producer = harness.producer()
            assert producer.add() == [NONE]
            assert producer.produce() == NONE
            agree_on(broker, 2, UPGRADE)
            assert producer.end_settled(True).code == NONE
            harness.wait_stable()
            assert producer.produce_settled(version=12) == NONE
            assert producer.next().epoch == 1
        broker.kill()
        assert value_versions(broker.data)[0] == 0
        assert value_versions(broker.data)[-1] == 1


@pytest.mark.java
@pytest.mark.parametrize(
    ("release", "level", "epoch"), [(JAVA, 0, 0), (JAVA, 2, 3), (JAVA_3_9, 2, 0)]
)
def test_the_java_client_bumps_its_epoch_only_where_it_and_the_cluster_agreed_to_it(
    release: str, level: int, epoch: int, oracle_of: OracleOf
) -> None:
    with RunningBroker(config=SETTINGS) as broker:
        bootstrap = broker.bootstrap_servers
        if level == 0:
            agree_on(broker, level)
        with RawClient(bootstrap) as client:
            client.create_topic("t")
            java = Java(JavaClients(oracle_of(release), bootstrap), f"level-{level}")
            for value in (b"1", b"2", b"3"):
                java.transact("t", [value], "group", 1, is_commit=True)
            java.close()
            request = DescribeTransactionsRequest([f"level-{level}"])
            (state,) = client.ask(request, 0).transaction_states
            assert state.producer_epoch == epoch
        assert read_values(bootstrap, "t", is_committed=True) == [b"1", b"2", b"3"]


def test_confluent_kafka_works_on_the_oldest_level() -> None:
    with RunningBroker(config=SETTINGS) as broker:
        agree_on(broker, 0)
        with RawClient(broker.bootstrap_servers) as client:
            client.create_topic("t")
        producer = Librdkafka(broker.bootstrap_servers, "id")
        producer.transact("t", [b"1"], "group", 1, is_commit=True)
        producer.transact("t", [b"2"], "group", 2, is_commit=False)
        broker.kill()
        broker.start()
        producer.transact("t", [b"3"], "group", 3, is_commit=True)
        values = read_values(broker.bootstrap_servers, "t", is_committed=True)
        assert values == [b"1", b"3"]
