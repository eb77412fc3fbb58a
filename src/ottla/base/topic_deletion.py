"""The evidence that a topic was deleted, without which no record of it is.

Promises  it is made in one place: where the record of the deletion is applied to the metadata
          (`metadata/topic_table.py`). `tests/architecture/test_deletions.py` holds everybody to it.
"""

from __future__ import annotations

from dataclasses import dataclass

from ottla.base.ids import TopicId


@dataclass(frozen=True, slots=True)
class TopicDeletion:
    """A record of the metadata log says that the topic with this id was deleted."""

    topic_id: TopicId
