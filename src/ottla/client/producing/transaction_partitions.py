"""The transaction of a producer, and the ids of the topics that it writes to.

Owns      which partitions were added to the transaction; the topic ids.
Promises  a partition is added to the transaction before its first batch is sent; a topic that is
          deleted and created again while it is written to is detected.
"""

from __future__ import annotations

from collections.abc import Iterable

from ottla.base.ids import TopicPartition
from ottla.client.admin.transactions import ProducerIdentity, add_partitions
from ottla.client.cluster.cluster import Cluster


class TransactionPartitions:
    """Does nothing without a transactional id."""

    def __init__(
        self, cluster: Cluster, transactional_id: str | None, identity: ProducerIdentity | None
    ) -> None:
        self.transactional_id = transactional_id
        self._cluster = cluster
        self._identity = identity
        self._enlisted: set[TopicPartition] = set()

    @property
    def is_open(self) -> bool:
        return bool(self._enlisted)

    def begin(self) -> None:
        """The next transaction of the same producer."""
        self._enlisted.clear()

    def add(self, partitions: Iterable[TopicPartition]) -> None:
        if self.transactional_id is None or self._identity is None:
            return
        if new := set(partitions) - self._enlisted:
            add_partitions(self._cluster, self.transactional_id, self._identity, sorted(new))
            self._enlisted |= new


class WrittenTopics:
    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._ids: dict[str, bytes] = {}
        self._written: set[str] = set()

    def note(self, topic: str) -> None:
        """Before it is written to. TopicRecreated if it is not the one that was written to."""
        if topic in self._written:
            self._cluster.check_topic_id(topic, self._ids[topic])
        known = self._cluster.topology.topics.get(topic)
        if known is not None:
            self._ids[topic] = known.topic_id

    def note_written(self, topic: str) -> None:
        self._written.add(topic)

    def ids_of(self, topics: Iterable[str]) -> dict[str, bytes]:
        return {topic: self._ids[topic] for topic in topics}
