"""Apache Kafka started on partitions that we wrote: its consumers get every record we wrote.

One node goes through three lives: topics are made; it comes back with our partitions, closed in
order (a second set without their indexes, a third for its cleaner); it is killed, and comes back
with partitions that we left in the middle of a write.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from tests.compatibility.storage.kafka_workload import PLAIN, Written, wait_for_the_cleaner
from tests.compatibility.storage.our_logs import consume, newest_values, open_directory
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

COMPACTED_PLANS = [name for name in OUR_PLANS if name.startswith("compacted")]
# What a kind adds does not depend on the codec, so one stands for all.
ONE_CODEC = [name for name in OUR_PLANS if not name.startswith("codec-") or name == "codec-zstd"]
KINDS = {
    "closed": list(OUR_PLANS),
    "unindexed": ["plain", "codec-zstd", "transactions", "compacted-transactions", "trimmed"],
    "torn": ONE_CODEC,
}
CASES = [f"{kind}-{name}" for kind, plans in KINDS.items() for name in plans]


@dataclass(frozen=True, slots=True)
class Served:
    ours: dict[str, Written]
    kafkas: dict[str, Written]
    log_directory: Path  # after the last, orderly stop
    appended: dict[str, Written]  # some topics once more, after Java producers continued


class Story:
    """The three lives of one node."""

    def __init__(self, root: Path, node: ApacheKafka, clients: JavaClients) -> None:
        self.root = root
        self.node = node
        self.clients = clients
        self.planted = {kind: self._write(kind, list(OUR_PLANS), dirty_ratio="1") for kind in KINDS}
        self.planted["cleaned"] = self._write("cleaned", COMPACTED_PLANS, dirty_ratio="0.01")
        self.kafkas: dict[str, Written] = {}

    def _write(self, kind: str, plans: list[str], dirty_ratio: str) -> list[Planted]:
        ids = create_topics(self.clients, kind, plans, dirty_ratio)
        return write_ours(self.root / kind, kind, ids, is_closed=kind != "torn")

    def second_life(self) -> None:
        log_directory = self.node.log_directory
        self.node.stop()
        for kind in ("closed", "unindexed", "cleaned"):
            plant(self.root / kind, log_directory, self.planted[kind])
        remove_indexes(log_directory, self.planted["unindexed"])
        self.node.start()
        for each in self.planted["cleaned"]:
            wait_for_the_cleaner(log_directory, each.ours.topic)
        self._consume("closed", "unindexed", "cleaned")

    def third_life(self) -> None:
        log_directory = self.node.log_directory
        self.node.kill()
        plant(self.root / "torn", log_directory, self.planted["torn"])
        tear_ends(log_directory, self.planted["torn"])
        self.node.start()
        self._consume("torn")

    def _consume(self, *kinds: str) -> None:
        for kind in kinds:
            self.kafkas |= as_kafka_sees(self.clients, self.planted[kind])


@pytest.fixture(scope="module")
def served(oracle: Oracle, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    root = tmp_path_factory.mktemp("served")
    with ApacheKafka(root / "node") as node:
        story = Story(root, node, JavaClients(oracle, node.bootstrap))
        story.second_life()
        story.third_life()
        appended = append_to(story.clients, story.planted["torn"])
        node.stop()
        ours = {each.ours.topic: each.ours for kind in story.planted.values() for each in kind}
        yield Served(ours, story.kafkas, node.log_directory, appended)
    shutil.rmtree(root)


def append_to(clients: JavaClients, planted: list[Planted]) -> dict[str, Written]:
    """Java producers continue where we ended."""
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


@pytest.mark.parametrize("plan", COMPACTED_PLANS)
def test_kafkas_cleaner_compacts_what_we_wrote(served: Served, plan: str) -> None:
    ours, kafkas = served.ours[f"cleaned-{plan}"], served.kafkas[f"cleaned-{plan}"]
    assert newest_values(kafkas.committed) == newest_values(ours.committed)
    assert len(kafkas.uncommitted) < len(ours.uncommitted)
    assert (kafkas.end_offset, kafkas.stable_offset) == (ours.end_offset, ours.stable_offset)


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
