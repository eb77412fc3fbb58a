"""Files that Apache Kafka wrote, made once for all tests of this folder."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from tests.compatibility.storage.kafka_workload import Written, write_topics
from tests.support.apache_kafka import ApacheKafka
from tests.support.dump_log_segments import DumpLogSegments
from tests.support.java_clients import JavaClients
from tests.support.kafka_small_files import KafkaSmallFiles
from tests.support.oracle import Oracle


@dataclass(frozen=True, slots=True)
class KafkaFiles:
    """The same topics twice: as kill -9 left them, and after a restart and an orderly stop.

    Tests read them where they are; what changes files works on a copy.
    """

    killed: Path
    stopped: Path
    topics: dict[str, Written]

    def log_directory(self, ending: str) -> Path:
        return {"killed": self.killed, "stopped": self.stopped}[ending]


@pytest.fixture(scope="session")
def kafka_files(oracle: Oracle, tmp_path_factory: pytest.TempPathFactory) -> Iterator[KafkaFiles]:
    root = tmp_path_factory.mktemp("kafka-files")
    with ApacheKafka(root / "node") as node:
        topics = write_topics(JavaClients(oracle, node.bootstrap), node.log_directory)
        node.kill()
        shutil.copytree(node.log_directory, root / "killed")
        node.start()
        node.stop()
        shutil.copytree(node.log_directory, root / "stopped")
    yield KafkaFiles(root / "killed", root / "stopped", topics)
    shutil.rmtree(root)


@pytest.fixture(scope="session")
def dump(oracle: Oracle) -> DumpLogSegments:
    return DumpLogSegments(oracle)


@pytest.fixture(scope="session")
def small_files(oracle: Oracle) -> KafkaSmallFiles:
    return KafkaSmallFiles(oracle)
