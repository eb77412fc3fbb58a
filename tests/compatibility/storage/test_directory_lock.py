"""One log directory, one broker: Kafka and we respect each other's lock."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest
from tests.support.apache_kafka import ApacheKafka, KafkaDidNotStart

from ottla.base.clock import SystemClock
from ottla.base.files.disk import DiskFileSystem
from ottla.storage.directories.directory_ownership import Owner, WrongDirectory
from ottla.storage.directories.log_directory import LogDirectory
from ottla.testing.log_listener import IgnoringListener

pytestmark = [pytest.mark.java, pytest.mark.xdist_group("apache-kafka")]


def log_directory(path: Path) -> LogDirectory:
    return LogDirectory(
        DiskFileSystem(),
        SystemClock(),
        Random(1),
        str(path),
        IgnoringListener(),
        lambda _path: None,
    )


def test_we_do_not_touch_a_directory_that_kafka_uses(apache_kafka: ApacheKafka) -> None:
    directory = log_directory(apache_kafka.log_directory)
    with pytest.raises(WrongDirectory, match="in use"):
        directory.open(Owner(apache_kafka.cluster_id, 1))


def test_kafka_does_not_start_on_a_directory_that_we_use(tmp_path: Path) -> None:
    node = ApacheKafka(tmp_path / "kafka")
    directory = log_directory(node.log_directory)
    directory.open(Owner(node.cluster_id, 1))
    try:
        with pytest.raises(KafkaDidNotStart, match="Failed to acquire lock"):
            node.start()
    finally:
        directory.release()


def test_a_directory_of_another_cluster_or_node_is_refused(apache_kafka: ApacheKafka) -> None:
    directory = log_directory(apache_kafka.log_directory.parent / "copy")
    meta = (apache_kafka.log_directory / "meta.properties").read_bytes()
    Path(directory.path).mkdir()
    (Path(directory.path) / "meta.properties").write_bytes(meta)
    with pytest.raises(WrongDirectory, match="cluster"):
        directory.open(Owner("another", 1))
    with pytest.raises(WrongDirectory, match="node"):
        directory.open(Owner(apache_kafka.cluster_id, 2))
    directory.open(Owner(apache_kafka.cluster_id, 1))
    directory.release()
