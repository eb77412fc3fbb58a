"""Errors that stop a write. Messages name the row, topic and partition, and what to do.

Promises  can be pickled: each has a message and nothing else.
"""

from __future__ import annotations


class SinkError(Exception):
    """A write cannot continue, or cannot begin."""


class InvalidRows(SinkError):
    """Rows, or columns, that cannot become records."""


class StaleBatch(SinkError):
    """The query has written a later batch already: its checkpoint is an older one."""


class VersionTaken(SinkError):
    """A txnVersion was written before, by a write other than an earlier attempt of this one."""


class SinkTakenOver(SinkError):
    """Another driver writes under the same sink name now."""


class LostTransactions(SinkError):
    """Transactions were aborted before the batch was decided: nothing was written."""


class TornBatch(SinkError):
    """Some transactions of a decision cannot be committed any more: rows are missing."""
