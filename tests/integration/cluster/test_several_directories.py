"""Brokers with two log directories each: one of them is lost, and then replaced by an empty one."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.integration.cluster.harness import stored_image
from tests.integration.cluster.test_replication import Replicated
from tests.support.waiting import wait_until

from ottla.base.uuids import uuid_to_text
from ottla.metadata.entities import PartitionRegistration
from ottla.testing.cluster import RunningCluster

pytestmark = pytest.mark.ci

DIRECTORIES = ("a", "b")


@pytest.fixture(scope="module")
def disks(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("disks")


@pytest.fixture(scope="module")
def cluster(disks: Path) -> Iterator[RunningCluster]:
    config = {"zookeeper.session.timeout.ms": 4000, "auto.create.topics.enable": False}

    def directories(broker_id: int) -> dict[str, Any]:
        paths = [disks / str(broker_id) / name for name in DIRECTORIES]
        return {"log.dirs": ",".join(map(str, paths))}

    with RunningCluster(config=config, config_of=directories) as running:
        yield running


def log_path(disks: Path, topic: Replicated, broker_id: int) -> Path | None:
    found = [each for each in (disks / str(broker_id)).glob(f"*/{topic.name}-0") if each.is_dir()]
    return found[0] if found else None


def size(path: Path) -> int:
    return sum(each.stat().st_size for each in path.glob("*.log"))


def registered(topic: Replicated) -> PartitionRegistration:
    found = stored_image(topic.cluster).topic(topic.name)
    assert found is not None
    return found.partitions[0]


def test_the_directory_of_every_replica_is_known(cluster: RunningCluster, disks: Path) -> None:
    topics = [Replicated(cluster) for _ in range(3)]
    for topic in topics:
        wait_until(lambda topic=topic: all(map(any, registered(topic).directories)), "known")  # type: ignore[misc]
    image = stored_image(cluster)
    for topic in topics:
        for broker_id in cluster.ids:
            path = log_path(disks, topic, broker_id)
            assert path is not None
            text = (path.parent / "meta.properties").read_text()
            directory_id = registered(topic).directory_of(broker_id)
            broker = image.broker(broker_id)
            assert broker is not None
            assert len(broker.log_directories) == 2
            assert directory_id in broker.log_directories
            assert directory_id is not None
            assert f"directory.id={uuid_to_text(directory_id)}" in text


def test_a_lost_directory_gets_other_leaders_and_is_filled_again_once_it_is_replaced(
    cluster: RunningCluster, disks: Path
) -> None:
    topic = Replicated(cluster)
    with topic.producing():
        topic.wait_for_more()
        leader = topic.leader
        path = log_path(disks, topic, leader)
        assert path is not None
        lost = path.parent
        lost.rename(disks / f"lost-{leader}")  # as if the disk had gone
        topic.outdated = leader
        wait_until(lambda: topic.leader != leader, "another broker leads")
        assert cluster.brokers[leader].is_running
        topic.wait_for_more()
        cluster.stop(leader)
        lost.mkdir()
        cluster.start(leader)
        topic.outdated = None
        topic.wait_until_in_sync()
        topic.wait_for_more()
    topic.check()
    again = log_path(disks, topic, leader)
    assert again is not None
    survivor = next(each for each in cluster.ids if each != leader)
    other = log_path(disks, topic, survivor)
    assert other is not None
    wait_until(lambda: size(again) == size(other) > 0, "both have the same records")


@pytest.mark.parametrize("name", DIRECTORIES)
def test_a_broker_starts_without_one_of_its_directories(
    cluster: RunningCluster, disks: Path, name: str
) -> None:
    path, aside = disks / "2" / name, disks / "aside"
    cluster.stop(2)
    path.rename(aside)
    path.write_text("no directory")
    try:
        cluster.start(2)
        assert f"log directory {path} goes offline" in cluster.brokers[2].log
    finally:
        cluster.stop(2)
        path.unlink()
        aside.rename(path)
        cluster.start(2)
    Replicated(cluster).wait_until_in_sync()
