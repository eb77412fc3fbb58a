"""kill -9 between and during administration: what was acknowledged holds, and clients continue."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping

import aiokafka.admin
import pytest
from confluent_kafka.admin import NewTopic
from tests.compatibility.clients.clients import (
    AIOKAFKA,
    EVERY_CLIENT,
    JAVA,
    JAVA_3_9,
    KAFKA_PYTHON,
    LIBRDKAFKA,
)
from tests.compatibility.clients.cluster import PATIENCE_S, Cluster
from tests.compatibility.clients.topics import admin_of
from tests.support.oracle import OracleOf
from tests.support.waiting import wait_until

from ottla.testing.broker import RunningBroker
from ottla.testing.ports import non_ephemeral_port

pytestmark = pytest.mark.ci

Create = Callable[[Cluster, str], object]


def create_by_kafka_python(on: Cluster, topic: str) -> None:
    with on.kafka_python_admin() as admin:
        admin.create_topics({topic: {"num_partitions": 2, "replication_factor": 1}})


def create_by_aiokafka(on: Cluster, topic: str) -> None:
    wanted = [aiokafka.admin.NewTopic(topic, 2, 1)]
    answer = on.ask_aiokafka(lambda admin: admin.create_topics(wanted))
    assert answer.topic_errors[0][1] == 0, answer


def create_by_librdkafka(on: Cluster, topic: str) -> None:
    on.ask_librdkafka(lambda admin: admin.create_topics([NewTopic(topic, 2, 1)]))


def create_by_java(on: Cluster, topic: str) -> None:
    on.java_clients.create_topic(topic, partitions=2)


CREATE: Mapping[str, Create] = {
    LIBRDKAFKA: create_by_librdkafka,
    KAFKA_PYTHON: create_by_kafka_python,
    AIOKAFKA: create_by_aiokafka,
    JAVA: create_by_java,
    JAVA_3_9: create_by_java,
}


class Creator(threading.Thread):
    """Creates topic after topic until it is stopped."""

    def __init__(self, on: Cluster, topic: str, create: Create) -> None:
        super().__init__(daemon=True)
        self.created: list[str] = []
        self.is_stopping = False
        self._on, self._topic, self._create = on, topic, create
        self.start()

    def run(self) -> None:
        number = 0
        while not self.is_stopping:
            number += 1
            name = f"{self._topic}-{number}"
            try:
                self._create(self._on, name)
            except Exception:  # the broker was down: the topic may exist or not
                continue
            self.created.append(name)


@pytest.mark.parametrize("name", EVERY_CLIENT)
def test_topics_that_were_acknowledged_are_there_after_a_kill(
    oracle_of: OracleOf, topic: str, name: str
) -> None:
    with RunningBroker(port=non_ephemeral_port()) as broker:
        oracle = oracle_of(name) if name in (JAVA, JAVA_3_9) else None
        creator = Creator(Cluster(broker.bootstrap_servers, oracle), topic[:50], CREATE[name])
        for _ in range(2):
            before = len(creator.created)
            wait_until(lambda: len(creator.created) >= before + 3, "topics are created")  # noqa: B023
            broker.kill()
            broker.start()
        before = len(creator.created)
        wait_until(lambda: len(creator.created) > before, "it continues")
        creator.is_stopping = True
        creator.join(PATIENCE_S)
        listed = admin_of(broker.bootstrap_servers).list_topics(timeout=PATIENCE_S).topics
        assert set(creator.created) <= set(listed)
        assert {len(listed[each].partitions) for each in creator.created} == {2}
        assert "Traceback" not in broker.log
