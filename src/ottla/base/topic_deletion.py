"""Evidence that a topic was deleted. Its records are deleted only with this evidence.

Promises  it is created in one place: where the deletion record is applied to the metadata
          (`metadata/topic_table.py`). `tests/architecture/test_deletions.py` verifies this.
"""

from __future__ import annotations

from dataclasses import dataclass

from ottla.base.ids import TopicId


@dataclass(frozen=True, slots=True)
class TopicDeletion:
    """The metadata log contains a record that the topic with this id was deleted."""

    topic_id: TopicId
