"""Why the files of a partition may be deleted. There are two reasons, and no third.

Owns      the check that a reason is one for these very files.
Promises  files that a reason does not fit are not deleted: they are set aside and reported.
Leaves    renaming and removing to `directory_deletions.py`, the one place that does either.
"""

from __future__ import annotations

from typing import NamedTuple

from ottla.base.files.readers import WAIT
from ottla.base.topic_deletion import TopicDeletion
from ottla.base.uuids import uuid_to_text
from ottla.storage.errors import StorageError
from ottla.storage.log.log import Log


class CopyRemains(NamedTuple):
    """The partition has moved, or does not move after all: another log of it stays in use."""

    remaining: Log


Reason = TopicDeletion | CopyRemains


class Doomed(NamedTuple):
    """A log that is to be deleted, and why."""

    log: Log
    reason: Reason


def fault_of(doomed: Doomed) -> str | None:
    """Why the reason is none for this log; None if it is one."""
    log, reason = doomed
    try:
        topic_id = log.topic_id.load(WAIT)
    except (StorageError, OSError) as error:
        return f"nobody can tell whose records these are: {error}"
    if isinstance(reason, TopicDeletion):
        if topic_id is None:
            return "they say no topic id, so that nobody can tell whose records these are"
        if topic_id != reason.topic_id:
            return (
                f"they are of topic id {uuid_to_text(topic_id)}, "
                f"and {uuid_to_text(reason.topic_id)} was deleted"
            )
        return None
    remaining = reason.remaining
    is_copy = remaining is not log and remaining.partition == log.partition
    if not is_copy or remaining.is_closed or remaining.topic_id.load(WAIT) != topic_id:
        return f"{remaining.path} is no log of the same partition in use"
    return None
