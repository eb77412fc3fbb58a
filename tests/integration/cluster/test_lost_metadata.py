"""A cluster whose metadata in ZooKeeper is deleted, or replaced by an older copy, while it runs:
its brokers end with an error that names the znode and what to do, none goes back, and none creates
a second cluster."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest
from tests.integration.cluster.harness import (
    ask,
    controller_of,
    create_topic,
    kazoo_client,
    others,
    running,
)
from tests.support.waiting import wait_until

from ottla.metadata.zookeeper.layout import LOG, broker_path
from ottla.protocol.messages.create_topics_request import CreatableTopic, CreateTopicsRequest
from ottla.testing.broker import BrokerFailed, RunningBroker
from ottla.testing.cluster import RunningCluster

pytestmark = [pytest.mark.ci, pytest.mark.xdist_group("cluster-lost-metadata")]
CONFIG: dict[str, Any] = {"zookeeper.session.timeout.ms": 4000, "request.timeout.ms": 3000}


def ask_for_topic(cluster: RunningCluster, broker_id: int, name: str) -> None:
    """Its answer is not awaited: the broker may end first."""
    request = CreateTopicsRequest([CreatableTopic(name, 1, 1)], timeout_ms=1000)
    try:
        ask(cluster, broker_id, request)
    except OSError:
        pass


def ended(broker: RunningBroker) -> str:
    """The error of a broker that ends by itself."""
    assert broker.wait_for_end() == 1
    assert "Traceback" not in broker.log
    return broker.log


def refused(broker: RunningBroker) -> str:
    before = len(broker.log)
    with pytest.raises(BrokerFailed):
        broker.start()
    assert broker.exit_code == 1
    return broker.log[before:]


@pytest.mark.parametrize("path", ["/metadata", LOG])
def test_deleted_metadata_ends_all_brokers_and_is_no_new_cluster(path: str, tmp_path: Path) -> None:
    with RunningCluster(2, config=CONFIG) as cluster:
        create_topic(cluster, "kept", [1, 2])
        with kazoo_client(cluster.zookeeper_connect) as client:
            client.delete(path, recursive=True)
            ask_for_topic(cluster, controller_of(cluster), "next")
            for broker in cluster.brokers.values():
                said = ended(broker)
                assert f"the znode {LOG} is missing" in said
                assert "restore ZooKeeper from a backup" in said
                assert f"the znode {LOG} is missing" in refused(broker)
            config = {**CONFIG, "node.id": 9, "zookeeper.connect": cluster.zookeeper_connect}
            newcomer = RunningBroker(config=config, data=tmp_path)
            assert f"the znode {LOG} is missing" in refused(newcomer)
            assert client.exists(LOG) is None


def test_a_follower_ends_where_a_batch_was_deleted_and_the_others_go_on() -> None:
    with RunningCluster(3, config=CONFIG) as cluster:
        create_topic(cluster, "kept", [1, 2, 3])
        controller, follower = controller_of(cluster), others(cluster)[0]
        with kazoo_client(cluster.zookeeper_connect) as client:
            before = set(client.get_children(LOG))
            cluster.pause(follower)
            for name in ("first", "second"):
                ask_for_topic(cluster, controller, name)
            path = f"{LOG}/{min(set(client.get_children(LOG)) - before)}"
            client.delete(path)
            cluster.resume(follower)
        said = ended(cluster.brokers[follower])
        assert f"the znode {path} is missing, although later ones exist" in said
        create_topic(cluster, "third", [controller], via=controller)


def test_an_older_copy_of_zookeeper_is_refused_by_brokers_that_have_seen_more(
    tmp_path: Path,
) -> None:
    with RunningCluster(2, config=CONFIG, data=tmp_path) as cluster:
        create_topic(cluster, "before", [1, 2])
        data = tmp_path / "zookeeper"
        cluster.zookeeper.kill()
        shutil.copytree(data, tmp_path / "copy")
        cluster.zookeeper.start()
        create_topic(cluster, "since", [1, 2])
        cluster.zookeeper.kill()
        shutil.rmtree(data)
        shutil.copytree(tmp_path / "copy", data)
        cluster.zookeeper.start()
        with kazoo_client(cluster.zookeeper_connect) as client:
            names = client.get_children(LOG)
            # ZooKeeper refuses clients that have seen more changes than it has.
            for number in range(300):
                client.create(f"/later-{number}")
            for broker in cluster.brokers.values():
                said = ended(broker)
                assert f"the znode {LOG}/" in said
                assert "which this broker has seen" in said
                assert "this is an older copy" in refused(broker)
            assert client.get_children(LOG) == names


def test_an_older_copy_that_a_broker_has_continued_is_refused_by_those_that_have_seen_more(
    tmp_path: Path,
) -> None:
    """The one that was paused cannot know what is missing."""
    with RunningCluster(3, config=CONFIG, data=tmp_path) as cluster:
        create_topic(cluster, "before", [1, 2, 3])
        data = tmp_path / "zookeeper"
        cluster.zookeeper.kill()
        shutil.copytree(data, tmp_path / "copy")
        cluster.zookeeper.start()
        paused = others(cluster)[0]
        cluster.pause(paused)
        with kazoo_client(cluster.zookeeper_connect) as client:
            wait_until(lambda: client.exists(broker_path(paused)) is None, "it is fenced")
        create_topic(cluster, "since", [controller_of(cluster)], via=controller_of(cluster))
        for broker_id in running(cluster):
            cluster.stop(broker_id)
        cluster.zookeeper.kill()
        shutil.rmtree(data)
        shutil.copytree(tmp_path / "copy", data)
        cluster.zookeeper.start()
        cluster.resume(paused)
        for number in range(20):  # more than is missing
            create_topic(cluster, f"other-{number}", [paused], via=paused)
        for broker_id in set(cluster.ids) - {paused}:
            said = refused(cluster.brokers[broker_id])
            assert f"the znode {LOG}/" in said  # another batch, or none begins at its offset
            assert "this broker has seen" in said
