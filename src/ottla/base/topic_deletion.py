"""Evidence from the metadata that the records of a partition may be deleted on a broker.

Promises  each kind is created in one place: `TopicDeletion` where the deletion record is applied to
          the metadata (`metadata/topic_table.py`), `ReplicaRemoval` where an image shows that the
          topic exists and has this replica no longer (`metadata/image.py`).
          `tests/architecture/test_deletions.py` verifies this.
"""

from __future__ import annotations

from dataclasses import dataclass

from ottla.base.ids import TopicId


@dataclass(frozen=True, slots=True)
class TopicDeletion:
    """The metadata log contains a record that the topic with this id was deleted."""

    topic_id: TopicId


@dataclass(frozen=True, slots=True)
class ReplicaRemoval:
    """The metadata has this partition of this topic, with replicas on other brokers only.

    Replicas are removed at the end of a reassignment, when those that remain are in sync.
    """

    topic_id: TopicId
    partition: int


DeletionEvidence = TopicDeletion | ReplicaRemoval
