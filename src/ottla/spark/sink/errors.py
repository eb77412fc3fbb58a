"""What stops a write, in words that name the row, the topic and partition, and what to do.

Promises  every one survives pickling: it has its message and nothing else.
"""

from __future__ import annotations


class SinkError(Exception):
    """A write cannot go on, or cannot begin."""


class InvalidRows(SinkError):
    """Rows, or columns, that cannot become records."""


class StaleBatch(SinkError):
    """The query has decided a later batch already: its checkpoint went back."""


class SinkTakenOver(SinkError):
    """Another driver writes under the same sink name now."""


class LostTransactions(SinkError):
    """Transactions of this batch were aborted before anything was decided: nothing was written."""


class TornBatch(SinkError):
    """Decided transactions that can no longer be committed: a part of a batch is missing."""
