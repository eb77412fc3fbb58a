"""The reasons for which the files of a partition may be deleted.

Owns      the check that a reason fits these files.
Promises  files that a reason does not fit are not deleted: they are set aside and reported.
Leaves    renaming and removing to `directory_deletions.py`, the one place that does either.
"""

from __future__ import annotations

from typing import NamedTuple

from ottla.base.files.readers import BLOCKING
from ottla.base.ids import TopicId
from ottla.base.topic_deletion import DeletionEvidence, ReplicaRemoval
from ottla.base.uuids import uuid_to_text
from ottla.storage.errors import StorageError
from ottla.storage.log.log import Log


class CopyRemains(NamedTuple):
    """The partition was moved, or its move was cancelled: another log of it stays in use."""

    remaining: Log


Reason = DeletionEvidence | CopyRemains


class LogDeletion(NamedTuple):
    """A log that is to be deleted, and why."""

    log: Log
    reason: Reason


def fault_of(deletion: LogDeletion) -> str | None:
    """Why the reason does not fit this log; None if it does."""
    log, reason = deletion
    try:
        topic_id = log.topic_id.load(BLOCKING)
    except (StorageError, OSError) as error:
        return f"its topic id cannot be read: {error}"
    if not isinstance(reason, CopyRemains):
        return _fault_of_evidence(log, reason, topic_id)
    remaining = reason.remaining
    is_copy = remaining is not log and remaining.partition == log.partition
    if not is_copy or remaining.is_closed or remaining.topic_id.load(BLOCKING) != topic_id:
        return f"{remaining.path} is no log of the same partition in use"
    return None


def _fault_of_evidence(log: Log, reason: DeletionEvidence, topic_id: TopicId | None) -> str | None:
    if topic_id is None:
        return "it has no topic id"
    if topic_id != reason.topic_id:
        return (
            f"it is of topic id {uuid_to_text(topic_id)}, "
            f"and {uuid_to_text(reason.topic_id)} was deleted or moved"
        )
    if isinstance(reason, ReplicaRemoval) and reason.partition != log.partition.partition:
        return f"partition {reason.partition} was moved"
    return None
