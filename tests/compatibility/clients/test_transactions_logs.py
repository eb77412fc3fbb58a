"""Apache Kafka loads the log of transactions that we wrote, and we load the one that it wrote.

Transactional ids in every state are made on one side; then its `__transaction_state` is put in the
place of the other's, which must describe them equally and continue with them.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.compatibility.clients.transactions_harness import (
    Begun,
    Producer,
    TransactionsHarness,
    settled,
)
from tests.support.apache_kafka import ApacheKafka
from tests.support.dump_log_segments import DumpLogSegments, segment_files
from tests.support.oracle import Oracle
from tests.support.raw_client import RawClient
from tests.support.waiting import wait_until

from ottla.base.fault_points import VARIABLE, FaultPoint
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.messages.describe_transactions_request import DescribeTransactionsRequest
from ottla.testing.broker import RunningBroker

pytestmark = [pytest.mark.java, pytest.mark.xdist_group("apache-kafka")]

STATE = "__transaction_state-0"
SETTINGS = {
    "transaction.state.log.num.partitions": "1",
    "offsets.topic.num.partitions": "1",
    "auto.create.topics.enable": "false",
}
NONE = ErrorCode.NONE


def make_ongoing(producer: Producer) -> None:
    assert producer.add([0, 1]) == [NONE, NONE]
    assert producer.produce() == NONE


def make_ongoing_of_version_2(producer: Producer) -> None:
    assert producer.produce(version=12) == NONE


def make_ended(producer: Producer, is_commit: bool, version: int) -> None:
    if version < 5:
        make_ongoing(producer)
    else:
        make_ongoing_of_version_2(producer)
    assert producer.end_settled(is_commit, version=version).code == NONE
    assert producer.end_settled(is_commit, version=version).code == NONE, "until it is over"


def make_next_of_version_2(producer: Producer) -> None:
    make_ongoing_of_version_2(producer)
    assert producer.next().produce_settled(version=12) == NONE


def make_fenced(producer: Producer) -> None:
    make_ongoing(producer)
    assert producer.harness.init_settled().code == NONE


IDS: dict[str, Callable[[Producer], object]] = {
    "empty": lambda _producer: None,
    "ongoing": make_ongoing,
    "ongoing-v2": make_ongoing_of_version_2,
    "committed": lambda producer: make_ended(producer, True, 3),
    "aborted": lambda producer: make_ended(producer, False, 3),
    "committed-v2": lambda producer: make_ended(producer, True, 5),
    "aborted-v2": lambda producer: make_ended(producer, False, 5),
    "next-v2": make_next_of_version_2,
    "fenced": make_fenced,
}


def make_ids(bootstrap: str) -> None:
    with RawClient(bootstrap) as client:
        harness = TransactionsHarness.new(client)
        for harness.transactional_id, make in IDS.items():
            make(harness.producer())


def what_is_known(bootstrap: str, *names: str) -> dict[str, Any]:
    """All that tools receive about the ids, once the coordinator has loaded them."""
    with RawClient(bootstrap) as client:
        TransactionsHarness(client, "", "empty", "").find_coordinator("empty", 1)
        return {name: settled_state(client, name) for name in names or IDS}


def settled_state(client: RawClient, name: str) -> Any:
    request = DescribeTransactionsRequest([name])
    (state,) = settled(
        lambda: client.ask(request, 0).transaction_states,
        lambda found: ErrorCode(found[0].error_code),
    )
    state.topics = sorted((each.topic, sorted(each.partitions)) for each in state.topics)
    return state


@contextmanager
def kafka(directory: Path) -> Iterator[ApacheKafka]:
    with ApacheKafka(directory) as node:
        yield node


def begin_topic(bootstrap: str) -> None:
    """Have the topic of transactions created."""
    with RawClient(bootstrap) as client:
        TransactionsHarness.new(client)


def replace_log(target: Path, source: Path) -> None:
    """Put one log in the place of another; whose topic it is stays with the place."""
    for path in target.iterdir():
        if path.name != "partition.metadata":
            path.unlink()
    for path in segment_files(source, ".log"):
        shutil.copy(path, target / path.name)


def go_on(bootstrap: str) -> dict[str, Begun]:
    """What new producers of the ids get: those that were open are aborted first."""
    with RawClient(bootstrap) as client:
        found = {}
        for name in IDS:
            found[name] = TransactionsHarness(client, "", name, "").init_settled()
        return found


EPOCHS_AFTERWARDS = {
    "empty": 1,
    "ongoing": 2,
    "ongoing-v2": 2,
    "committed": 1,
    "aborted": 1,
    "committed-v2": 2,
    "aborted-v2": 2,
    "next-v2": 3,
    "fenced": 3,
}


def check_continues(bootstrap: str, known: dict[str, Any]) -> None:
    for name, begun in go_on(bootstrap).items():
        assert begun == Begun(NONE, known[name].producer_id, EPOCHS_AFTERWARDS[name]), name


def test_transactions_that_kafka_wrote_are_known_here(tmp_path: Path) -> None:
    with kafka(tmp_path / "kafka") as node:
        make_ids(node.bootstrap)
        expected = what_is_known(node.bootstrap)
        node.stop()
        with RunningBroker(config=SETTINGS) as broker:
            begin_topic(broker.bootstrap_servers)
            broker.kill()
            replace_log(broker.data / STATE, node.log_directory / STATE)
            broker.start()
            assert what_is_known(broker.bootstrap_servers) == expected
            check_continues(broker.bootstrap_servers, expected)
            assert "Traceback" not in broker.log


def test_transactions_that_we_wrote_are_known_to_kafka(tmp_path: Path) -> None:
    """One of them was decided, and its broker killed before any marker: Kafka carries it out."""
    with RunningBroker(config=SETTINGS) as broker:
        make_ids(broker.bootstrap_servers)
        expected = what_is_known(broker.bootstrap_servers)
        broker.stop()
        broker.environment[VARIABLE] = FaultPoint.PREPARE_LOGGED.value
        broker.start()
        with RawClient(broker.bootstrap_servers) as client:
            harness = TransactionsHarness.new(client)
            harness.transactional_id = "decided"
            producer = harness.producer()
            make_ongoing_of_version_2(producer)
            with pytest.raises(ConnectionError):
                producer.end(True, version=5)
        with kafka(tmp_path / "kafka") as node:
            begin_topic(node.bootstrap)
            node.kill()
            replace_log(node.log_directory / STATE, broker.data / STATE)
            node.start()
            assert what_is_known(node.bootstrap) == expected
            check_continues(node.bootstrap, expected)

            def is_carried_out() -> bool:
                decided = what_is_known(node.bootstrap, "decided")["decided"]
                assert decided.producer_epoch == 1
                return str(decided.transaction_state) == "CompleteCommit"

            wait_until(is_carried_out, "the decision is carried out")


def test_kafkas_dump_tool_reads_our_log(oracle: Oracle) -> None:
    with RunningBroker(config=SETTINGS) as broker:
        make_ids(broker.bootstrap_servers)
        broker.stop()
        dump = DumpLogSegments(oracle)
        for path in segment_files(broker.data / STATE, ".log"):
            shown = dump.dump(path, "--transaction-log-decoder", "--print-data-log")
            for name in IDS:
                assert f'"transactionalId":"{name}"' in shown, shown[-2000:]
            for status in range(6):
                assert f'"transactionStatus":{status}' in shown
