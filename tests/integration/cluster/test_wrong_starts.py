"""Brokers that are started with settings, or with data, that do not belong together: each says what
is wrong and what to do, ends with code 1, and changes nothing."""

from __future__ import annotations

import shutil
import socket
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from tests.integration.cli.ottla_command import ottla
from tests.integration.cluster.harness import ask, kazoo_client, metadata

from ottla.protocol.messages.create_topics_request import CreatableTopic, CreateTopicsRequest
from ottla.testing.broker import BrokerFailed, RunningBroker
from ottla.testing.cluster import RunningCluster
from ottla.testing.zookeeper import ZooKeeperServer

pytestmark = [pytest.mark.ci, pytest.mark.xdist_group("cluster-wrong-starts")]


@pytest.fixture(scope="module")
def zookeeper(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ZooKeeperServer]:
    server = ZooKeeperServer(tmp_path_factory.mktemp("zookeeper")).start()
    yield server
    server.kill()


@pytest.fixture(scope="module")
def member(zookeeper: ZooKeeperServer) -> Iterator[RunningCluster]:
    """A cluster of one broker, with a topic."""
    with RunningCluster(1, zookeeper=zookeeper.address) as cluster:
        request = CreateTopicsRequest([CreatableTopic("kept", 1, 1)], timeout_ms=30_000)
        assert ask(cluster, 1, request).topics[0].error_code == 0
        yield cluster


def refused(data: Path, config: Mapping[str, Any]) -> str:
    """What a broker says that does not start."""
    broker = RunningBroker(config=config, data=data)
    before = len(broker.log)
    with pytest.raises(BrokerFailed) as caught:
        broker.start()
    assert broker.exit_code == 1, str(caught.value)
    assert "Traceback" not in str(caught.value)
    return broker.log[before:]


def serves(cluster: RunningCluster) -> bool:
    (topic,) = metadata(cluster, 1, "kept").topics
    return bool(topic.error_code == 0 and topic.partitions[0].leader_id == 1)


def test_an_id_that_another_broker_has(member: RunningCluster, tmp_path: Path) -> None:
    config = {"node.id": 1, "zookeeper.connect": member.zookeeper_connect}
    said = refused(tmp_path, config)
    assert "/brokers/ids/1" in said
    assert member.brokers[1].bootstrap_servers in said
    assert "node.id" in said
    assert serves(member)


def test_after_an_id_that_another_broker_has_the_directory_takes_another_id(
    member: RunningCluster, tmp_path: Path
) -> None:
    connect = member.zookeeper_connect
    assert "node.id" in refused(tmp_path, {"node.id": 1, "zookeeper.connect": connect})
    other = RunningBroker(config={"node.id": 4, "zookeeper.connect": connect}, data=tmp_path)
    other.start().close()
    assert serves(member)


def test_a_copy_of_the_directory_of_a_broker_that_runs(
    member: RunningCluster, tmp_path: Path
) -> None:
    """The broker that runs keeps its session."""
    copy = tmp_path / "copy"
    shutil.copytree(member.brokers[1].data, copy)
    said = refused(copy, {"node.id": 1, "zookeeper.connect": member.zookeeper_connect})
    assert "/brokers/ids/1" in said
    assert member.brokers[1].bootstrap_servers in said
    assert member.brokers[1].is_running
    assert serves(member)


def test_another_listener_between_brokers(member: RunningCluster, tmp_path: Path) -> None:
    config = {
        "node.id": 6,
        "zookeeper.connect": member.zookeeper_connect,
        "listeners": "INSIDE://localhost:0",
        "listener.security.protocol.map": "INSIDE:PLAINTEXT",
        "inter.broker.listener.name": "INSIDE",
        "request.timeout.ms": 1000,
        "initial.broker.registration.timeout.ms": 3000,
    }
    said = refused(tmp_path, config)
    assert "broker 1 has no listener INSIDE" in said
    assert "PLAINTEXT" in said
    assert "inter.broker.listener.name" in said
    assert serves(member)


def test_an_address_that_another_broker_has(member: RunningCluster, tmp_path: Path) -> None:
    address = member.brokers[1].bootstrap_servers
    config = {
        "node.id": 7,
        "zookeeper.connect": member.zookeeper_connect,
        "advertised.listeners": f"PLAINTEXT://{address}",
    }
    said = refused(tmp_path, config)
    assert address in said
    assert "/brokers/ids/1" in said
    assert "advertised.listeners" in said
    assert serves(member)


def test_another_chroot(member: RunningCluster, zookeeper: ZooKeeperServer) -> None:
    member.stop(1)
    other = f"{zookeeper.address}/other"
    said = refused(member.brokers[1].data, {"node.id": 1, "zookeeper.connect": other})
    assert f"{other}/metadata/log" in said
    assert "zookeeper.connect" in said
    with kazoo_client(zookeeper.address) as client:
        assert client.get_children("/other") == []
    member.start(1)
    assert serves(member)


def test_a_new_broker_with_a_misspelled_chroot_says_that_it_has_made_a_cluster(
    member: RunningCluster, zookeeper: ZooKeeperServer, tmp_path: Path
) -> None:
    connect = f"{zookeeper.address}/misspelled"
    broker = RunningBroker(config={"node.id": 9, "zookeeper.connect": connect}, data=tmp_path)
    broker.start().stop()
    assert broker.log.count(f"created a new cluster at {connect}") == 1
    assert "zookeeper.connect" in broker.log
    broker.start().close()
    assert broker.log.count("created a new cluster") == 1
    assert serves(member)

    other = f"{zookeeper.address}/{member.zookeeper_connect.rpartition('/')[2]}"
    (warning,) = [line for line in broker.log.splitlines() if "there is no cluster at" in line]
    assert f"there is no cluster at {connect}, but there is at " in warning
    assert other in warning


@pytest.mark.parametrize("path", ["/metadata", "/brokers/ids", "/cluster/mine"])
def test_a_chroot_inside_of_another_cluster(
    member: RunningCluster, zookeeper: ZooKeeperServer, tmp_path: Path, path: str
) -> None:
    with kazoo_client(member.zookeeper_connect) as client:
        before = client.get_children(path.rpartition("/")[0] or "/")
        said = refused(
            tmp_path, {"node.id": 9, "zookeeper.connect": f"{member.zookeeper_connect}{path}"}
        )
        assert client.get_children(path.rpartition("/")[0] or "/") == before
    assert f"{member.zookeeper_connect}{path}, belongs to the cluster at" in said
    assert f"the cluster at {member.zookeeper_connect}," in said
    assert serves(member)


def test_the_directory_of_another_cluster(
    member: RunningCluster, zookeeper: ZooKeeperServer
) -> None:
    assert serves(member)
    with RunningCluster(1, zookeeper=zookeeper.address) as other:
        other.stop(1)
        config = {"node.id": 1, "zookeeper.connect": member.zookeeper_connect}
        said = refused(other.brokers[1].data, config)
        ids = [metadata(member, 1).cluster_id]
        other.start(1)
        ids.append(metadata(other, 1).cluster_id)
    assert all(each in said for each in ids)
    assert "zookeeper.connect" in said
    assert serves(member)


def test_the_directory_of_a_broker_without_a_cluster(
    member: RunningCluster, tmp_path: Path
) -> None:
    alone = RunningBroker(config={"node.id": 2}, data=tmp_path).start()
    alone.stop()
    said = refused(tmp_path, {"node.id": 2, "zookeeper.connect": member.zookeeper_connect})
    assert str(tmp_path) in said
    assert "zookeeper.connect" in said
    alone.start().close()


def test_the_directory_of_a_member_without_its_cluster(member: RunningCluster) -> None:
    member.stop(1)
    said = refused(member.brokers[1].data, {"node.id": 1})
    assert member.zookeeper_connect in said
    assert "zookeeper.connect" in said
    member.start(1)
    assert serves(member)


def test_the_directory_of_another_member(member: RunningCluster) -> None:
    member.stop(1)
    config = {"node.id": 5, "zookeeper.connect": member.zookeeper_connect}
    said = refused(member.brokers[1].data, config)
    assert "node.id" in said
    member.start(1)
    assert serves(member)


def test_an_empty_directory_in_the_place_of_the_only_replica(
    member: RunningCluster, tmp_path: Path
) -> None:
    data, aside = member.brokers[1].data, tmp_path / "aside"
    member.stop(1)
    data.rename(aside)
    data.mkdir()
    settings = ("node.id=1", f"zookeeper.connect={member.zookeeper_connect}")
    words = [word for each in settings for word in ("--set", each)]
    try:
        done = ottla("up", "--listen", "127.0.0.1:0", "--data", str(data), *words)
    finally:
        shutil.rmtree(data)
        aside.rename(data)
    said = done.stderr
    assert done.returncode == 1
    assert f"log directory {data} goes offline" in said
    assert "mount or restore what was there" in said
    assert (
        f"ottla up: no log directory is left\n  the messages above say why; mend it in {data}"
        in said
    )
    member.start(1)
    assert serves(member)


def test_no_zookeeper(tmp_path: Path) -> None:
    with socket.create_server(("localhost", 0)) as unresponsive:
        address = f"localhost:{unresponsive.getsockname()[1]}"
    config = {
        "node.id": 1,
        "zookeeper.connect": address,
        "zookeeper.connection.timeout.ms": 500,
    }
    said = refused(tmp_path, config)
    assert address in said
    assert "zookeeper.connect" in said
