"""What happens to partition directories that a start has found and no log can use as they are.

Decided once the metadata is known, before new logs are created: several logs of one partition, and
directories that were not opened (`-delete`, `-stray`, not placed here).

Promises  a directory is deleted only if its topic, by id, was; or if its deletion had begun and
          another log of the partition is in use, or it has no records. Everything else is kept.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Container, Iterable

from ottla.base.files.readers import BLOCKING
from ottla.base.ids import TopicId, TopicPartition
from ottla.base.topic_deletion import DeletionEvidence
from ottla.storage.directories.deletion_reasons import LogDeletion
from ottla.storage.directories.log_directory import LogDirectory
from ottla.storage.directories.log_manager import LogManager
from ottla.storage.directories.set_aside import SetAside
from ottla.storage.errors import StorageError
from ottla.storage.files.directory_health import StorageUnavailable
from ottla.storage.files.file_names import DirectoryMark
from ottla.storage.log.log import Log

logger = logging.getLogger(__name__)

DeletionOf = Callable[[TopicId, int], DeletionEvidence | None]
IsPlacedHere = Callable[[TopicId, int], bool]
TopicAndPartition = tuple[TopicId | None, int]


def settle_duplicates(logs: LogManager, deletion_of: DeletionOf) -> None:
    """Of several logs of a partition, delete those of deleted topics. StorageError if several are
    left.

    A directory that was offline while its topic was deleted comes back with the log; another
    directory may have a new log of that name, which may be moving to this one.
    """
    contested = logs.locations.duplicates | logs.locations.future.keys()
    if not contested:
        return
    for directory in logs.online:
        _delete_obsolete(directory, contested, deletion_of)
    logs.locations.find(logs.online)
    if logs.locations.duplicates:
        partition = min(logs.locations.duplicates)
        paths = [each.path for each in logs.online if each.table.of([partition])]
        raise StorageError(f"{partition} is both in {' and in '.join(paths)}")


def _delete_obsolete(
    directory: LogDirectory, partitions: Iterable[TopicPartition], deletion_of: DeletionOf
) -> None:
    deletions = [
        LogDeletion(log, reason)
        for log in directory.table.of(partitions)
        if (reason := deletion_of_log(log, deletion_of)) is not None
    ]
    for log, _ in deletions:
        logger.info("%s is of a topic that was deleted, and is deleted now", log.path)
    try:
        if deletions:
            directory.deletions.delete(deletions)
    except StorageUnavailable as error:
        logger.error("deleted topics are still on disk: %s", error)


def settle_found(logs: LogManager, deletion_of: DeletionOf, is_placed: IsPlacedHere) -> None:
    """Delete or set aside the directories that were not opened.

    A `-delete` one of a partition that `is_placed` here and has no log stays: `take_back` finds it.
    So does a future log, which is useless without its current one.
    """
    served: set[TopicAndPartition] | None = None
    for directory in logs.online:
        kept: list[SetAside] = []
        for each in directory.strays.table:
            if each.mark is DirectoryMark.STRAY:
                continue
            served = served or {(known_topic_id(log), log.partition.partition) for log in logs.logs}
            try:
                if not _delete_found(directory, each, deletion_of, served) and (
                    each.mark is not DirectoryMark.FUTURE and not _is_taken_back(each, is_placed)
                ):
                    kept.append(each)
            except (StorageUnavailable, OSError) as error:
                logger.error("%s is left as it is: %s", each.path, error)
        _keep(directory, kept)


def _delete_found(
    directory: LogDirectory,
    found: SetAside,
    deletion_of: DeletionOf,
    served: Container[TopicAndPartition],
) -> bool:
    """Whether a reason to delete it was found, and its deletion has begun."""
    is_begun = found.mark is DirectoryMark.DELETE
    deletion = None
    if found.topic_id is not None:
        deletion = deletion_of(found.topic_id, found.partition.partition)
    if deletion is not None and not is_begun:
        directory.strays.delete_found(found, deletion)
        return True
    key = (found.topic_id, found.partition.partition)
    if found.topic_id is None:
        is_deleted = is_begun and not directory.strays.has_records(found)
    else:
        is_deleted = is_begun and (deletion is not None or key in served)
    if is_deleted:
        directory.strays.resume_deletion(found)
    return is_deleted


def _keep(directory: LogDirectory, kept: list[SetAside]) -> None:
    try:
        if kept:
            directory.strays.keep(kept)
    except StorageUnavailable as error:
        logger.error("directories that are out of use were not renamed: %s", error)


def _is_taken_back(found: SetAside, is_placed: IsPlacedHere) -> bool:
    """Whether it has the log of a partition, and was not opened because it was renamed."""
    return found.topic_id is not None and is_placed(found.topic_id, found.partition.partition)


def known_topic_id(log: Log) -> TopicId | None:
    """The topic id; None also if the file is damaged."""
    try:
        return log.topic_id.load(BLOCKING)
    except StorageError:
        return None


def deletion_of_log(log: Log, deletion_of: DeletionOf) -> DeletionEvidence | None:
    topic_id = known_topic_id(log)
    return None if topic_id is None else deletion_of(topic_id, log.partition.partition)
