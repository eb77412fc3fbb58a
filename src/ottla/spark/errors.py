"""Errors of a query that reads. Messages name the option, or the topic, partition and offset.

Spark shows the last line of a Python error to the user, so each message also says what to do.
"""

from __future__ import annotations

from ottla.base.ids import TopicPartition


class SourceError(Exception):
    """A query cannot begin, or cannot continue."""


class DataLoss(SourceError):
    """Records that the query was to read no longer exist."""


class UnreadableRecords(SourceError):
    """A record batch that is damaged, or larger than maxDecompressedBatchBytes."""


def named(partitions: list[TopicPartition], shown_max: int = 20) -> str:
    """Partitions for an error message, at most `shown_max` of them."""
    shown = ", ".join(str(each) for each in sorted(partitions)[:shown_max])
    return shown + (f" and {len(partitions) - shown_max} more" * (len(partitions) > shown_max))
