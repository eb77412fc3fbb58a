"""Three replicas of a partition: leaders are killed, stopped and paused under a producer."""

from __future__ import annotations

import hashlib
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path

import pytest
from confluent_kafka import Consumer, KafkaError, Message, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic
from tests.integration.cluster.harness import is_led, metadata
from tests.integration.cluster.traffic import QUIET
from tests.support.waiting import wait_until

from ottla.protocol.messages.metadata_response import MetadataResponsePartition
from ottla.testing.cluster import RunningCluster

NUMBERS = count()


class Replicated:
    """A topic with one partition and several replicas, and what was acknowledged to it."""

    def __init__(
        self, cluster: RunningCluster, replicas: int = 3, topic: NewTopic | None = None
    ) -> None:
        """A new topic, or `topic`, which has one partition."""
        self.cluster = cluster
        topic = topic or NewTopic(f"replicated-{next(NUMBERS)}", 1, replicas)
        self.name = topic.topic
        admin = AdminClient({**QUIET, "bootstrap.servers": cluster.bootstrap_servers})
        admin.create_topics([topic])[self.name].result()
        for each in cluster.ids:
            wait_until(lambda each=each: is_led(cluster, each, self.name), "created")  # type: ignore[misc]
        self.outdated: int | None = None  # a broker that may not know the latest metadata
        self.sent = 0
        self.acknowledged: list[bytes] = []
        self.failures: list[str] = []

    def partition(self) -> MetadataResponsePartition:
        asked = next(
            each
            for each, broker in self.cluster.brokers.items()
            if broker.is_running and each != self.outdated
        )
        (topic,) = metadata(self.cluster, asked, self.name).topics
        found: MetadataResponsePartition = topic.partitions[0]
        return found

    @property
    def leader(self) -> int:
        wait_until(lambda: self.partition().leader_id >= 0, "there is a leader")
        leader: int = self.partition().leader_id
        return leader

    @property
    def followers(self) -> list[int]:
        leader = self.leader
        return [each for each in self.cluster.brokers if each != leader]

    def wait_until_in_sync(self, *brokers: int) -> None:
        wanted = set(brokers or self.cluster.brokers)
        wait_until(lambda: set(self.partition().isr_nodes) == wanted, f"{wanted} are in sync")

    @contextmanager
    def producing(self) -> Iterator[None]:
        ending = threading.Event()
        thread = threading.Thread(target=self._produce, args=(ending,))
        thread.start()
        try:
            yield
        finally:
            ending.set()
            thread.join()

    def _produce(self, ending: threading.Event) -> None:
        producer = Producer(
            {
                **QUIET,
                "bootstrap.servers": self.cluster.bootstrap_servers,
                "enable.idempotence": True,
                "linger.ms": 0,
                "socket.timeout.ms": 5000,  # a paused leader does not answer
            }
        )

        def note(error: KafkaError | None, message: Message) -> None:
            if error is None:
                self.acknowledged.append(message.value() or b"")
            else:
                self.failures.append(str(error))

        while not ending.is_set():
            producer.produce(self.name, b"%d" % self.sent, partition=0, on_delivery=note)
            self.sent += 1
            producer.poll(0.002)
        assert producer.flush(60) == 0

    def wait_for_more(self, count: int = 50) -> None:
        wanted = len(self.acknowledged) + count
        wait_until(lambda: len(self.acknowledged) >= wanted, "more was acknowledged")

    def values(self) -> list[bytes]:
        servers = self.cluster.bootstrap_servers
        consumer = Consumer({**QUIET, "bootstrap.servers": servers, "group.id": "unused"})
        at = TopicPartition(self.name, 0, 0)
        _, end = consumer.get_watermark_offsets(at, timeout=30)
        consumer.assign([at])
        found: list[bytes] = []
        position = 0
        while position < end:
            message = consumer.poll(30)
            assert message is not None, f"nothing at offset {position} of {end}"
            assert message.error() is None
            position = (message.offset() or 0) + 1
            found.append(message.value() or b"")
        consumer.close()
        return found

    def check(self) -> None:
        """Everything was acknowledged, and is there once and in order."""
        assert not self.failures
        assert self.acknowledged == [b"%d" % number for number in range(self.sent)]
        assert self.values() == self.acknowledged

    def logs(self) -> dict[int, bytes]:
        """The records of every replica, as they are on disk."""
        return {
            each: b"".join(
                path.read_bytes() for path in sorted(Path(broker.data).glob(f"{self.name}-0/*.log"))
            )
            for each, broker in self.cluster.brokers.items()
        }

    def wait_until_equal(self, *brokers: int) -> None:
        """The logs of all brokers, or of these."""

        def digests() -> set[str]:
            found = self.logs()
            return {hashlib.sha256(found[each]).hexdigest() for each in brokers or found}

        wait_until(lambda: len(digests()) == 1, "all replicas have the same bytes")


@pytest.fixture
def replicated(cluster: RunningCluster) -> Iterator[Replicated]:
    topic = Replicated(cluster)
    yield topic
    for each, broker in cluster.brokers.items():
        if not broker.is_running:
            cluster.start(each)
    topic.wait_until_in_sync()


def test_all_replicas_have_the_same_bytes(replicated: Replicated) -> None:
    with replicated.producing():
        replicated.wait_for_more(200)
    replicated.check()
    replicated.wait_until_in_sync()
    replicated.wait_until_equal()
    assert len(replicated.logs()[1]) > 0


def test_a_killed_leader_loses_nothing_and_comes_back_in_sync(replicated: Replicated) -> None:
    cluster = replicated.cluster
    with replicated.producing():
        for _ in range(2):
            replicated.wait_for_more()
            killed = replicated.leader
            cluster.kill(killed)
            replicated.wait_for_more()
            assert replicated.leader != killed
            cluster.start(killed)
            replicated.wait_until_in_sync()
    replicated.check()
    replicated.wait_until_equal()


def test_a_leader_that_stops_hands_over_without_an_error(replicated: Replicated) -> None:
    cluster = replicated.cluster
    with replicated.producing():
        for _ in range(2):
            replicated.wait_for_more()
            stopped = replicated.leader
            cluster.stop(stopped)
            assert replicated.leader != stopped
            replicated.wait_for_more()
            cluster.start(stopped)
            replicated.wait_until_in_sync()
    replicated.check()
    replicated.wait_until_equal()


def test_a_paused_leader_is_replaced_and_follows_afterwards(replicated: Replicated) -> None:
    cluster = replicated.cluster
    with replicated.producing():
        replicated.wait_for_more()
        paused = replicated.outdated = replicated.leader
        cluster.pause(paused)
        replicated.wait_for_more()
        cluster.resume(paused)
        replicated.wait_until_in_sync()
    replicated.check()
    replicated.wait_until_equal()


def test_too_few_replicas_refuse_and_go_on_when_one_is_back(replicated: Replicated) -> None:
    cluster = replicated.cluster
    leader, (first, second) = replicated.leader, replicated.followers
    with replicated.producing():
        replicated.wait_for_more()
        cluster.kill(first)
        replicated.wait_until_in_sync(leader, second)
        replicated.wait_for_more()
        cluster.kill(second)
        replicated.wait_until_in_sync(leader)
        time.sleep(0.3)  # what was on its way before is refused or acknowledged by now
        before = len(replicated.acknowledged)
        time.sleep(0.5)
        assert len(replicated.acknowledged) == before, "only one replica has the records"
        cluster.start(first)
        replicated.wait_for_more()
    cluster.start(second)
    replicated.wait_until_in_sync()
    replicated.check()
    replicated.wait_until_equal()


def test_a_cluster_whose_data_is_kept_starts_again_with_its_records(tmp_path: Path) -> None:
    values = []
    for number in range(2):
        with RunningCluster(data=tmp_path / "kept") as cluster:
            producer = Producer({**QUIET, "bootstrap.servers": cluster.bootstrap_servers})
            producer.produce("kept", b"%d" % number, partition=0)
            assert producer.flush(60) == 0
            consumer = Consumer(
                {**QUIET, "bootstrap.servers": cluster.bootstrap_servers, "group.id": "unused"}
            )
            consumer.assign([TopicPartition("kept", 0, number)])
            message = consumer.poll(60)
            assert message is not None
            values.append(message.value())
            consumer.close()
    assert values == [b"0", b"1"]
