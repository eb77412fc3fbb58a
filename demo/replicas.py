"""Leaders, in-sync replicas and high watermarks of a topic, asked for several times a second.

Threads   one of its own, so that a broker that does not answer delays nothing else.
"""

from __future__ import annotations

import threading
from collections.abc import Callable

from confluent_kafka import KafkaException, TopicPartition
from confluent_kafka.admin import AdminClient, OffsetSpec

from demo.recording import ReplicaSample

INTERVAL_S = 0.25
TIMEOUT_S = 1.0


class ReplicaMonitor:
    def __init__(self, bootstrap_servers: str, topic: str, now_s: Callable[[], float]) -> None:
        # A broker that was killed is left out of the next refresh at once.
        settings = {
            "bootstrap.servers": bootstrap_servers,
            "log_level": 0,
            "reconnect.backoff.max.ms": 200,
        }
        self._admin = AdminClient(settings)
        self._topic = topic
        self._now_s = now_s
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name="replicas", daemon=True)
        self.samples: list[ReplicaSample] = []

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._stopping.set()
        self._thread.join()

    @property
    def latest(self) -> ReplicaSample | None:
        return self.samples[-1] if self.samples else None

    def _run(self) -> None:
        while not self._stopping.wait(INTERVAL_S):
            try:
                self.samples.append(self._look())
            except KafkaException:
                pass  # no answer in time: the next sample comes soon

    def _look(self) -> ReplicaSample:
        known = self._admin.list_topics(self._topic, timeout=TIMEOUT_S).topics[self._topic]
        leaders = {index: each.leader for index, each in known.partitions.items()}
        in_sync = {index: list(each.isrs) for index, each in known.partitions.items()}
        return ReplicaSample(self._now_s(), leaders, in_sync, self._high_watermarks(leaders))

    def _high_watermarks(self, leaders: dict[int, int]) -> dict[int, int]:
        """Of the partitions that have a leader that answers."""
        asked = {
            TopicPartition(self._topic, index): OffsetSpec.latest()
            for index, leader in leaders.items()
            if leader >= 0
        }
        if not asked:
            return {}
        found = {}
        answers = self._admin.list_offsets(asked, request_timeout=TIMEOUT_S)
        for partition, answer in answers.items():
            try:
                found[partition.partition] = answer.result().offset
            except KafkaException:
                pass
        return found


def leader_of_busiest(sample: ReplicaSample) -> tuple[int, int]:
    """(partition, leader) of the partition with the most events that has a leader."""
    led = [index for index, leader in sample.leaders.items() if leader >= 0]
    busiest = max(led, key=lambda index: sample.high_watermarks.get(index, 0))
    return busiest, sample.leaders[busiest]
