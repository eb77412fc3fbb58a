"""The broker is killed at each named point of a write, and comes back: without Spark, so quick."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from tests.integration.spark.sink.test_driver import Sink, batch

from ottla.base.fault_points import SinkPoint
from ottla.client.admin.topics import NewTopic, create_topics
from ottla.client.cluster.cluster import Cluster
from ottla.client.settings import ClientSettings
from ottla.spark.sink import driver as driver_module
from ottla.spark.sink import task_writer as task_module
from ottla.testing.broker import RunningBroker

pytestmark = pytest.mark.ci


@pytest.fixture(scope="module")
def broker() -> Iterator[RunningBroker]:
    with RunningBroker() as broker:
        yield broker


@pytest.mark.parametrize("deadly", list(SinkPoint), ids=lambda point: point.value)
def test_a_broker_that_dies_and_comes_back_changes_nothing(
    broker: RunningBroker, deadly: SinkPoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    deaths: list[SinkPoint] = []

    def reach(point: SinkPoint) -> None:
        if point is deadly and not deaths:
            deaths.append(point)
            broker.kill()
            broker.start()

    monkeypatch.setattr(driver_module, "reach", reach)
    monkeypatch.setattr(task_module, "reach", reach)
    settings = ClientSettings(broker.bootstrap_servers, retry_backoff_ms=20)
    topic = f"survives-{deadly.value}"
    with Cluster(settings) as cluster:
        create_topics(cluster, [NewTopic(topic, 2)])
        sink = Sink(cluster, settings, topic)
        for number, values in enumerate((["a", "b"], ["c"])):
            driver = sink.driver()
            started = driver.start()
            written = [sink.write(0, values), sink.write(1, [f"{each}2" for each in values])]
            driver.commit(started, batch(number, topic), written)
        sink.driver().start()
        assert sink.committed() == ["a", "a2", "b", "b2", "c", "c2"]
        assert sink.open_ids() == []
    assert deaths == [deadly]
