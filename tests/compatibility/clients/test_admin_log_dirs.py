"""A partition moves from disk to disk under the clients that use it, and through a kill."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Message, Producer
from tests.compatibility.clients.clients import KEEPING
from tests.compatibility.clients.cluster import Cluster
from tests.compatibility.clients.foreign import librdkafka
from tests.compatibility.clients.foreign.client import PATIENCE_S, Record
from tests.compatibility.clients.topics import create_topic
from tests.support.waiting import wait_until

from ottla.testing.broker import RunningBroker

pytestmark = pytest.mark.xdist_group("log-dirs")
SLOW = {"replica.alter.log.dirs.io.max.bytes.per.second": "50000"}


@pytest.fixture
def disks(tmp_path: Path) -> list[str]:
    return [str(tmp_path / name) for name in ("a", "b")]


@pytest.fixture
def start(disks: list[str]) -> Iterator[Callable[..., RunningBroker]]:
    running: list[RunningBroker] = []

    def start_with(settings: dict[str, str]) -> RunningBroker:
        broker = RunningBroker(config={"log.dirs": ",".join(disks), **KEEPING, **settings})
        running.append(broker)
        broker.start()
        return broker

    yield start_with
    for broker in running:
        log = broker.log
        broker.close()
        assert "Traceback" not in log, log[-20_000:]


def places(on: Cluster, topic: str) -> dict[str, bool]:
    """The directories in which partition 0 has a log, and whether that is a future one."""
    with on.kafka_python_admin() as admin:
        (broker,) = admin.describe_log_dirs({topic: [0]})
    return {
        directory["log_dir"]: partition["is_future_key"]
        for directory in broker["log_dirs"]
        for found in directory["topics"]
        for partition in found["partitions"]
    }


def move(on: Cluster, topic: str, path: str) -> None:
    with on.kafka_python_admin() as admin:
        (error,) = admin.alter_replica_log_dirs({(topic, 0, 1): path}).values()
        assert error.errno == 0, error


def test_a_partition_moves_while_it_is_written_and_read(
    start: Callable[..., RunningBroker], disks: list[str]
) -> None:
    on = Cluster(start({}).bootstrap_servers)
    create_topic(on.bootstrap, "busy")
    stored: list[int] = []

    def delivered(error: Any, message: Message) -> None:
        assert error is None
        stored.append(message.offset())

    producer = Producer({"bootstrap.servers": on.bootstrap, "linger.ms": 1, **librdkafka.QUIET})
    (here,) = places(on, "busy")
    for _ in range(4):
        here = next(each for each in disks if each != here)
        move(on, "busy", here)

        def has_moved(target: str = here) -> bool:
            for _ in range(50):
                producer.produce("busy", b"x" * 2000, on_delivery=delivered)
            producer.poll(0)
            return places(on, "busy") == {target: False}

        wait_until(has_moved, "it is in the other directory")
    producer.flush(PATIENCE_S)
    assert stored == list(range(len(stored)))
    found = on.kafka_python.consume("busy", len(stored))
    assert [each.offset for each in found] == stored


def test_a_move_continues_after_a_kill(
    start: Callable[..., RunningBroker], disks: list[str]
) -> None:
    """It is slow, so that it is in the middle when the broker is killed; then it is let go."""
    broker = start(SLOW)
    on = Cluster(broker.bootstrap_servers)
    sent = [Record(b"%d" % each + b"x" * 5000, timestamp_ms=1) for each in range(1000)]
    on.librdkafka.produce("slow", sent)
    (here,) = places(on, "slow")
    target = next(each for each in disks if each != here)
    move(on, "slow", target)
    assert places(on, "slow") == {here: False, target: True}
    broker.kill()
    broker.start()
    assert places(on, "slow") == {here: False, target: True}
    with on.kafka_python_admin() as admin:
        from kafka.admin import ConfigResource

        quick = {"replica.alter.log.dirs.io.max.bytes.per.second": "1000000000"}
        admin.alter_configs([ConfigResource("BROKER", "1", quick)])
    wait_until(lambda: places(on, "slow") == {target: False}, "it has moved")
    assert [each.record for each in on.librdkafka.consume("slow", 1000)] == sent
