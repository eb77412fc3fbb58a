"""Groups of other people's consumers, when the broker or one of them is killed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from tests.compatibility.clients.clients import AIOKAFKA, JAVA, JAVA_3_9, KAFKA_PYTHON, LIBRDKAFKA
from tests.compatibility.clients.group_readers import JavaReader, Reader, wait_shared, wait_until
from tests.compatibility.clients.reading_groups import CONSUMER, PARTITIONS, PROTOCOLS, Group, kind
from tests.support.oracle import Oracle, OracleOf

from ottla.testing.broker import RunningBroker
from ottla.testing.ports import non_ephemeral_port

pytestmark = pytest.mark.ci

COMMIT_SOON: Mapping[str, Mapping[str, Any]] = {
    KAFKA_PYTHON: {"auto_commit_interval_ms": 100},
    AIOKAFKA: {"auto_commit_interval_ms": 100},
}


@pytest.mark.parametrize(("client", "settings"), PROTOCOLS)
def test_a_group_continues_after_the_broker_was_killed(
    topic: str,
    readers: list[Reader],
    oracle_of: OracleOf,
    client: str,
    settings: dict[str, Any],
) -> None:
    with RunningBroker(port=non_ephemeral_port()) as broker:
        group = Group(broker.bootstrap_servers, topic, readers, oracle_of)
        soon = COMMIT_SOON.get(client, {"auto.commit.interval.ms": 100})
        reader = group.reader(client, **settings, **soon)
        group.send(20)
        group.wait_read([reader])
        broker.kill()
        broker.start()
        group.send(20)
        wait_until(lambda: set(reader.records) == set(group.sent), [reader])
        group.leave(reader)
        assert "Traceback" not in broker.log


# Members that crash


SESSION_MS = 3000
IMPATIENT = {
    "group.min.session.timeout.ms": "1000",
    "group.consumer.min.session.timeout.ms": "1000",
    "group.consumer.session.timeout.ms": str(SESSION_MS),
    "group.consumer.min.heartbeat.interval.ms": "100",
    "group.consumer.heartbeat.interval.ms": "300",
    "group.consumer.assignment.interval.ms": "100",
}
# They commit nothing, so that the successor of a crashed one reads everything.
FORGETFUL = {**CONSUMER, "enable.auto.commit": "false"}
SHORT = {
    "group.protocol": "classic",
    "heartbeat.interval.ms": 300,
    "session.timeout.ms": SESSION_MS,
    "enable.auto.commit": "false",
}
SHORT_IN_PYTHON = {
    "session_timeout_ms": SESSION_MS,
    "heartbeat_interval_ms": 300,
    "enable_auto_commit": False,
}


@pytest.fixture(scope="module")
def impatient_broker() -> Iterator[RunningBroker]:
    """It removes unresponsive members soon, so that no test waits for long."""
    with RunningBroker(config=IMPATIENT) as running:
        yield running
        assert "Traceback" not in running.log, running.log[-20_000:]


@pytest.mark.parametrize(
    ("client", "settings"),
    [
        kind(LIBRDKAFKA, SHORT),
        kind(LIBRDKAFKA, FORGETFUL, "-consumer"),
        kind(KAFKA_PYTHON, SHORT_IN_PYTHON),
        kind(AIOKAFKA, SHORT_IN_PYTHON),
    ],
)
def test_the_partitions_of_a_consumer_that_crashed_are_read_by_the_others(
    impatient_broker: RunningBroker,
    topic: str,
    readers: list[Reader],
    oracle_of: OracleOf,
    client: str,
    settings: dict[str, Any],
) -> None:
    group = Group(impatient_broker.bootstrap_servers, topic, readers, oracle_of)
    mortal = group.mortal_reader(client, **settings)
    wait_shared([mortal], PARTITIONS)
    other = group.reader(client, **settings)
    wait_shared([mortal, other], PARTITIONS)
    group.send(20)
    mortal.kill()
    wait_shared([other], PARTITIONS)
    wait_until(lambda: set(other.records) == set(group.sent), [other])


@pytest.mark.java
@pytest.mark.parametrize(
    ("release", "settings"),
    [kind(JAVA, SHORT), kind(JAVA, FORGETFUL, "-consumer"), kind(JAVA_3_9, SHORT)],
)
def test_the_partitions_of_a_java_consumer_that_crashed_are_read_by_the_others(
    impatient_broker: RunningBroker,
    topic: str,
    readers: list[Reader],
    oracle_of: OracleOf,
    tmp_path: Path,
    release: str,
    settings: dict[str, Any],
) -> None:
    group = Group(impatient_broker.bootstrap_servers, topic, readers, oracle_of)
    with Oracle(tmp_path / "log", oracle_of(release).version) as jvm:
        mortal = JavaReader(jvm, group.bootstrap, f"group-{topic}", topic, **settings)
        wait_shared([mortal], PARTITIONS)
        other = group.reader(release, **settings)
        wait_shared([mortal, other], PARTITIONS)
        group.send(20)
        jvm.kill()
    wait_shared([other], PARTITIONS)
    wait_until(lambda: set(other.records) == set(group.sent), [other])
