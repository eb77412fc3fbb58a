"""The offsets of a stream, as Spark stores them in its checkpoint.

    {"orders": {"0": 120, "1": 98}, "$ottla": {"query": "5f0c...", "topicIds": {"orders": "dG..."}}}

Owns      that JSON: the form of Spark's `kafka` format, and one more name, which no topic can have.
          It holds the ids of the topics, so that a topic that was deleted and created again is
          detected, and an id of the query, because Spark does not pass its own to Python. The end
          of the first batch also holds where that batch began: Spark asks for the start again when
          it repeats that batch, and `latest` would then be another offset. Leader epochs show later
          whether a log still has the records before these offsets; where it does not, the end of
          the next batch holds where that batch resumes.
Promises  checkpoints of Spark's `kafka` format are read; equal offsets are equal JSON.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ottla.base.ids import TopicPartition
from ottla.spark.errors import SourceError
from ottla.spark.options.positions import parse_object_numbers

RESERVED = "$ottla"
TOPIC_IDS = "topicIds"
BEGAN_AT = "beganAt"
LEADER_EPOCHS = "leaderEpochs"
RESUMED_AT = "resumedAt"
QUERY = "query"
UNDECIDED = "undecided"


@dataclass(frozen=True)
class StreamOffsets:
    """The next offset of every partition."""

    offsets: Mapping[TopicPartition, int]
    topic_ids: Mapping[str, str] = field(default_factory=dict)  # text form; unknown ids are absent
    began_at: Mapping[TopicPartition, int] | None = None
    query: str = ""  # chosen in the first batch
    leader_epochs: Mapping[TopicPartition, int] = field(default_factory=dict)  # of known leaders
    resumed_at: Mapping[TopicPartition, int] = field(default_factory=dict)  # in truncated logs
    is_undecided: bool = False  # a start that could not be looked up, and may not be needed

    def to_json(self) -> dict[str, Any]:
        """Always in the same order: Spark compares the texts."""
        written: dict[str, Any] = _nested(self.offsets)
        extra: dict[str, Any] = {}
        if self.topic_ids:
            extra[TOPIC_IDS] = dict(sorted(self.topic_ids.items()))
        if self.began_at is not None:
            extra[BEGAN_AT] = _nested(self.began_at)
        if self.leader_epochs:
            extra[LEADER_EPOCHS] = _nested(self.leader_epochs)
        if self.resumed_at:
            extra[RESUMED_AT] = _nested(self.resumed_at)
        if self.query:
            extra[QUERY] = self.query
        if self.is_undecided:
            extra[UNDECIDED] = True
        if extra:
            written[RESERVED] = extra
        return written

    def is_same_position(self, other: StreamOffsets) -> bool:
        """Whether a batch from the other one to this one would be empty."""
        is_same = self.offsets == other.offsets and self.topic_ids == other.topic_ids
        return is_same and not self.resumed_at


def offsets_from_json(value: Any) -> StreamOffsets:
    if not isinstance(value, dict):
        raise SourceError(f"the checkpoint holds no offsets of topics: {value!r}")
    extra = value.get(RESERVED, {})
    plain = {topic: numbers for topic, numbers in value.items() if topic != RESERVED}
    try:
        began = extra.get(BEGAN_AT)
        return StreamOffsets(
            parse_object_numbers(plain, minimum=0),
            {str(topic): str(text) for topic, text in extra.get(TOPIC_IDS, {}).items()},
            None if began is None else parse_object_numbers(began, minimum=0),
            str(extra.get(QUERY, "")),
            parse_object_numbers(extra.get(LEADER_EPOCHS, {}), minimum=0),
            parse_object_numbers(extra.get(RESUMED_AT, {}), minimum=0),
            bool(extra.get(UNDECIDED, False)),
        )
    except (ValueError, AttributeError) as error:
        raise SourceError(f"the offsets in the checkpoint cannot be read: {error}") from None


def _nested(offsets: Mapping[TopicPartition, int]) -> dict[str, Any]:
    written: dict[str, dict[str, int]] = {}
    for partition in sorted(offsets):
        written.setdefault(partition.topic, {})[str(partition.partition)] = offsets[partition]
    return written
