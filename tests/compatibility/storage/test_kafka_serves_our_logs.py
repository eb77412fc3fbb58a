"""Apache Kafka started on partitions that we wrote: its consumers get every record we wrote.

One node goes through three lives: topics are made; it comes back with our partitions, closed in
order (and a second set without their indexes); it is killed, and comes back with partitions that
we left in the middle of a write.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from tests.compatibility.storage.kafka_workload import PLAIN, Written
from tests.compatibility.storage.our_logs import consume, open_directory
from tests.compatibility.storage.our_workload import OUR_PLANS
from tests.compatibility.storage.planting import (
    Planted,
    as_kafka_sees,
    create_topics,
    plant,
    remove_indexes,
    tear_ends,
    write_ours,
)
from tests.support.apache_kafka import ApacheKafka
from tests.support.java_clients import CLOSE, FLUSH, JavaClients, send
from tests.support.oracle import Oracle

from ottla.base.ids import TopicPartition

pytestmark = [pytest.mark.java, pytest.mark.xdist_group("apache-kafka")]

KINDS = ("closed", "unindexed", "torn")
CASES = [f"{kind}-{name}" for kind in KINDS for name in OUR_PLANS]


@dataclass(frozen=True, slots=True)
class Served:
    ours: dict[str, Written]
    kafkas: dict[str, Written]
    log_directory: Path  # after the last, orderly stop
    appended: dict[str, Written]  # some topics once more, after Java producers went on


@pytest.fixture(scope="module")
def served(oracle: Oracle, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    root = tmp_path_factory.mktemp("served")
    with ApacheKafka(root / "node") as node:
        clients = JavaClients(oracle, node.bootstrap)
        ids = create_topics(clients, KINDS)
        planted = {
            kind: write_ours(root / kind, kind, ids, is_closed=kind != "torn") for kind in KINDS
        }
        kafkas = first_life(node, clients, root, planted) | second_life(
            node, clients, root, planted
        )
        appended = append_to(clients, planted["torn"])
        node.stop()
        ours = {each.ours.topic: each.ours for kind in KINDS for each in planted[kind]}
        yield Served(ours, kafkas, node.log_directory, appended)
    shutil.rmtree(root)


def first_life(
    node: ApacheKafka, clients: JavaClients, root: Path, planted: dict[str, list[Planted]]
) -> dict[str, Written]:
    node.stop()
    plant(root / "closed", node.log_directory, planted["closed"])
    plant(root / "unindexed", node.log_directory, planted["unindexed"])
    remove_indexes(node.log_directory, planted["unindexed"])
    node.start()
    return as_kafka_sees(clients, planted["closed"] + planted["unindexed"])


def second_life(
    node: ApacheKafka, clients: JavaClients, root: Path, planted: dict[str, list[Planted]]
) -> dict[str, Written]:
    node.kill()
    plant(root / "torn", node.log_directory, planted["torn"])
    tear_ends(node.log_directory, planted["torn"])
    node.start()
    return as_kafka_sees(clients, planted["torn"])


def append_to(clients: JavaClients, planted: list[Planted]) -> dict[str, Written]:
    """Java producers go on where we ended."""
    chosen = [each for each in planted if each.plan in ("plain", "idempotent", "codec-zstd")]
    for each in chosen:
        topic = each.ours.topic
        clients.produce(topic, [send(topic, b"from Java", key=b"k"), FLUSH, CLOSE], PLAIN)
    return as_kafka_sees(clients, chosen)


@pytest.mark.parametrize("topic", CASES)
def test_consumers_of_kafka_get_what_ours_get(served: Served, topic: str) -> None:
    ours, kafkas = served.ours[topic], served.kafkas[topic]
    assert kafkas.uncommitted == ours.uncommitted
    assert kafkas.committed == ours.committed
    assert ours.uncommitted


@pytest.mark.parametrize("topic", CASES)
def test_offsets_are_those_of_our_log(served: Served, topic: str) -> None:
    ours, kafkas = served.ours[topic], served.kafkas[topic]
    assert (kafkas.start_offset, kafkas.end_offset, kafkas.stable_offset) == (
        ours.start_offset,
        ours.end_offset,
        ours.stable_offset,
    )


@pytest.mark.parametrize("topic", CASES)
def test_times_lead_kafka_to_the_records_we_find(served: Served, topic: str) -> None:
    """Where Kafka finds nothing before the start of a log, or in what compaction has emptied, we
    find the first record behind."""
    ours, kafkas = served.ours[topic], served.kafkas[topic]
    has_gaps = "trimmed" in topic or "compacted" in topic
    for time, found in kafkas.times.items():
        assert found == ours.times[time] or (found is None and has_gaps)


def test_producers_of_kafka_go_on_where_we_ended(served: Served) -> None:
    assert len(served.appended) == 3
    for topic, after in served.appended.items():
        *before, last = after.uncommitted
        assert before == served.ours[topic].uncommitted
        assert (last.offset, last.value) == (served.ours[topic].end_offset, b"from Java")


def test_what_kafka_leaves_opens_here_again(served: Served, tmp_path: Path) -> None:
    copy = tmp_path / "logs"
    shutil.copytree(served.log_directory, copy)
    latest = served.kafkas | served.appended
    with open_directory(copy) as directory:
        for topic, written in latest.items():
            log = directory.logs[TopicPartition(topic, 0)]
            assert consume(log, is_committed=False) == written.uncommitted, topic
            assert consume(log, is_committed=True) == written.committed, topic
