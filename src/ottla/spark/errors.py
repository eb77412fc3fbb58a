"""What goes wrong in a query, in words that name the option, or topic, partition and offset.

Spark shows the last line of a Python error to the user: each message says what to do as well.
"""

from __future__ import annotations

from ottla.base.ids import TopicPartition


class SourceError(Exception):
    """A query cannot go on, or cannot begin."""


class DataLoss(SourceError):
    """Records that the query was to read are no longer there."""


class UnreadableRecords(SourceError):
    """A batch of records that is damaged, or larger than the reader may unpack."""


def named(partitions: list[TopicPartition], shown_max: int = 20) -> str:
    """Partitions in an error message, not more of them than anybody reads."""
    shown = ", ".join(str(each) for each in sorted(partitions)[:shown_max])
    return shown + (f" and {len(partitions) - shown_max} more" * (len(partitions) > shown_max))
