"""The wall clock of one broker of three jumps by an hour, forward and back, under a producer."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from confluent_kafka import Consumer, TopicPartition
from confluent_kafka.admin import (
    AdminClient,
    AlterConfigOpType,
    ConfigEntry,
    ConfigResource,
    ResourceType,
)
from tests.integration.cluster.harness import metadata
from tests.integration.cluster.test_replication import Replicated
from tests.support.waiting import wait_until

from ottla.testing.cluster import RunningCluster

pytestmark = pytest.mark.ci

HOUR_S = 3600
JUMPING = 2
# Imported by Python before anything else. What is monotonic is left alone, as by a real jump.
SHIFTED = """
import os, time

def shift_s(path=os.environ["SHIFTED_CLOCK"]):
    with open(path) as file:
        return int(file.read() or 0)

real_s, real_ns = time.time, time.time_ns
time.time = lambda: real_s() + shift_s()
time.time_ns = lambda: real_ns() + shift_s() * 1_000_000_000
"""


@pytest.fixture
def clock(tmp_path: Path) -> Path:
    """The file with the seconds that the clock of the broker is ahead."""
    (tmp_path / "sitecustomize.py").write_text(SHIFTED)
    path = tmp_path / "shift"
    path.write_text("0")
    return path


@pytest.fixture
def cluster(clock: Path) -> Iterator[RunningCluster]:
    config = {
        "zookeeper.session.timeout.ms": 4000,
        "auto.create.topics.enable": False,
        "auto.leader.rebalance.enable": False,  # a new epoch shows an unwanted election
        "log.retention.check.interval.ms": 200,
        "log.segment.bytes": 1 << 20,
        "replica.lag.time.max.ms": 5000,
    }
    running = RunningCluster(config=config)
    with running:
        running.stop(JUMPING)
        broker = running.brokers[JUMPING]
        broker.environment = {"PYTHONPATH": str(clock.parent), "SHIFTED_CLOCK": str(clock)}
        running.start(JUMPING)
        yield running


def jump(clock: Path, seconds: int) -> None:
    new = clock.with_suffix(".new")
    new.write_text(str(seconds))
    new.replace(clock)


def epochs(topics: list[Replicated]) -> list[int]:
    return [each.partition().leader_epoch for each in topics]


def topics_led_by_all(cluster: RunningCluster) -> list[Replicated]:
    """One for each broker, which leads it."""
    found: dict[int, Replicated] = {}
    while len(found) < len(cluster.ids):
        topic = Replicated(cluster)
        found.setdefault(topic.leader, topic)
    return list(found.values())


def set_retention(cluster: RunningCluster, topic: Replicated, retention_ms: int) -> None:
    admin = AdminClient({"bootstrap.servers": cluster.bootstrap_servers, "log_level": 0})
    entry = ConfigEntry(
        "retention.ms", str(retention_ms), incremental_operation=AlterConfigOpType.SET
    )
    resource = ConfigResource(ResourceType.TOPIC, topic.name, incremental_configs=[entry])
    admin.incremental_alter_configs([resource])[resource].result()


def test_nothing_is_lost_and_no_leader_is_elected(cluster: RunningCluster, clock: Path) -> None:
    """Retention of two hours: a clock that is an hour ahead deletes nothing."""
    topics = topics_led_by_all(cluster)
    for each in topics:
        set_retention(cluster, each, 2 * HOUR_S * 1000)
        each.wait_until_in_sync()
    before = epochs(topics)
    with topics[0].producing(), topics[1].producing(), topics[2].producing():
        for seconds in (HOUR_S, 0, -HOUR_S, 0):
            jump(clock, seconds)
            for each in topics:
                each.wait_for_more()
    assert epochs(topics) == before
    for each in topics:
        each.wait_until_in_sync()
        each.check()
        each.wait_until_equal()
    assert metadata(cluster, 1).controller_id >= 0


def is_empty(topic: Replicated) -> bool:
    servers = {"bootstrap.servers": topic.cluster.bootstrap_servers, "log_level": 0}
    consumer = Consumer({**servers, "group.id": "unused"})
    start, end = consumer.get_watermark_offsets(TopicPartition(topic.name, 0), timeout=60)
    consumer.close()
    return bool(start == end)


def test_retention_follows_the_clock_of_the_leader_as_in_kafka(
    cluster: RunningCluster, clock: Path
) -> None:
    """With a retention of half an hour, a leader whose clock is an hour ahead deletes records that
    are older by it; one whose clock is right keeps them."""
    topics = topics_led_by_all(cluster)
    for each in topics:
        with each.producing():
            each.wait_for_more(20)
        each.wait_until_equal()
    jump(clock, HOUR_S)
    for each in topics:
        set_retention(cluster, each, HOUR_S * 1000 // 2)
    (ahead,) = [each for each in topics if each.leader == JUMPING]
    wait_until(lambda: is_empty(ahead), "the leader's clock says that they are too old")
    for each in topics:
        if each is not ahead:
            each.check()
        with each.producing():
            each.wait_for_more(20)  # written and acknowledged by all, whatever was deleted
        each.wait_until_in_sync()
