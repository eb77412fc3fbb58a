"""Reasons to delete logs, as a record of the metadata gives them."""

from __future__ import annotations

from ottla.base.files.readers import BLOCKING
from ottla.base.ids import TopicId, TopicPartition
from ottla.base.topic_deletion import TopicDeletion
from ottla.storage.directories.deletion_reasons import LogDeletion
from ottla.storage.directories.log_manager import LogManager
from ottla.storage.log.log import Log

SOME_ID = TopicId(b"some topic's id.")


def deletion_of(log: Log) -> LogDeletion:
    """A log of a topic that was deleted; it is given a topic id if it has none."""
    topic_id = log.topic_id.load(BLOCKING)
    if topic_id is None:
        log.topic_id.write_unsynced(SOME_ID)
    return LogDeletion(log, TopicDeletion(topic_id or SOME_ID))


def deletions_of(
    manager: LogManager, *partitions: TopicPartition
) -> dict[TopicPartition, TopicDeletion]:
    deletions = {}
    for partition in partitions:
        log = manager.get(partition)
        assert log is not None
        reason = deletion_of(log).reason
        assert isinstance(reason, TopicDeletion)
        deletions[partition] = reason
    return deletions
