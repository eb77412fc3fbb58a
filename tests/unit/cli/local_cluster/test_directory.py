"""What a cluster in a directory may become, and what is written there."""

from __future__ import annotations

from pathlib import Path

import pytest

from ottla.cli.errors import CommandFailed
from ottla.cli.local_cluster.directory import ClusterDirectory, Description, plan
from ottla.config.load import PropertiesFile, load_config


@pytest.fixture
def directory(tmp_path: Path) -> ClusterDirectory:
    return ClusterDirectory(str(tmp_path / "a dir=#1"))


@pytest.fixture
def three(directory: ClusterDirectory) -> Description:
    description = plan(directory, None, 3, 1, 9092)
    directory.create()
    directory.write(description)
    return description


def test_a_new_cluster_has_its_own_ports(directory: ClusterDirectory) -> None:
    found = plan(directory, None, None, None, None)
    assert found.broker_ports == {1: 9092, 2: 9093, 3: 9094}
    assert [*found.zookeepers] == [1]
    free = plan(directory, None, 2, 3, 0)
    ports = [*free.broker_ports.values()]
    ports += [
        port
        for each in free.zookeepers.values()
        for port in (each.client, each.data, each.election)
    ]
    assert len(set(ports)) == 2 + 9


def test_what_is_written_is_what_a_broker_reads(
    directory: ClusterDirectory, three: Description
) -> None:
    assert directory.load() == three
    path = directory.properties(2)
    loaded = load_config(PropertiesFile(str(path), path.read_bytes()), {}, [])
    assert loaded.config.node_id == 2
    assert [(each.host, each.port) for each in loaded.listeners.bound] == [("localhost", 9093)]
    assert loaded.config.log_directories == (str(directory.path / "broker-2" / "data"),)
    assert loaded.config.zookeeper_connect == three.zookeeper_connect
    assert not loaded.notices


def test_brokers_can_be_added_and_the_files_of_others_stay(
    directory: ClusterDirectory, three: Description
) -> None:
    directory.properties(1).write_text("# mine\n")
    more = plan(directory, three, 5, None, None)
    assert more.broker_ports == {1: 9092, 2: 9093, 3: 9094, 4: 9095, 5: 9096}
    assert more.zookeepers == three.zookeepers
    directory.write(more)
    assert directory.properties(1).read_text() == "# mine\n"
    assert directory.properties(5).exists()
    assert plan(directory, more, None, None, None) == more


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ((2, None, None), "--brokers: the cluster in .* has 3\n.* use 3 or more"),
        ((None, 3, None), "--zookeepers: the cluster in .* has 1"),
        ((None, None, 9999), "--port 9999: the cluster in .* begins with port 9092"),
    ],
)
def test_what_a_cluster_cannot_become_is_refused(
    asked: tuple[int | None, int | None, int | None],
    message: str,
    directory: ClusterDirectory,
    three: Description,
) -> None:
    with pytest.raises(CommandFailed, match=message):
        plan(directory, three, *asked)
    assert plan(directory, three, 3, 1, 9092) == three


def test_a_path_that_log_dirs_would_split_is_refused(tmp_path: Path) -> None:
    with pytest.raises(CommandFailed, match=r"a comma separates paths in log\.dirs"):
        ClusterDirectory(str(tmp_path / "a,b")).create()
    assert not (tmp_path / "a,b").exists()
