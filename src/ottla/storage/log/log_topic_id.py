"""The topic id of a log, in memory and in the file `partition.metadata`.

The id distinguishes a topic from a later one of the same name.
"""

from __future__ import annotations

import logging

from ottla.base.files.filesystem import FileSystem
from ottla.base.files.readers import Reader
from ottla.base.ids import TopicId
from ottla.storage.errors import CorruptLogError
from ottla.storage.files.file_names import PARTITION_METADATA_NAME
from ottla.storage.files.partition_metadata import (
    read_topic_id,
    write_topic_id,
    write_unsynced_topic_id,
)
from ottla.storage.log.log_offsets import LogOffsets

logger = logging.getLogger(__name__)


class LogTopicId:
    __slots__ = ("_directory", "_files", "_offsets", "_topic_id")

    def __init__(self, files: FileSystem, directory: str, offsets: LogOffsets) -> None:
        self._files = files
        self._directory = directory
        self._offsets = offsets
        self._topic_id: TopicId | None = None

    def load(self, reader: Reader) -> TopicId | None:
        """From the file unless it is in memory; None if there is no file yet.

        The first sync of a log includes its id. A damaged file of a log that was never synced is
        the result of a power failure, and counts as no file.
        """
        if self._topic_id is None:
            try:
                self._topic_id = read_topic_id(reader, self._files, self._path)
            except CorruptLogError as error:
                if self._offsets.checkpointed_point:
                    raise
                logger.warning("a log that was never synced has no topic id: %s", error)
        return self._topic_id

    def set_known(self, topic_id: TopicId | None) -> None:
        """The file was read already, and contains this id."""
        self._topic_id = topic_id

    def write_unsynced(self, topic_id: TopicId) -> None:
        """For a log that was created just now, and is synced as a whole later."""
        write_unsynced_topic_id(self._files, self._path, topic_id)
        self._topic_id = topic_id

    def write(self, topic_id: TopicId) -> None:
        """Durably, before the first record."""
        write_topic_id(self._files, self._path, topic_id)
        self._topic_id = topic_id

    def moved(self, directory: str) -> None:
        self._directory = directory

    @property
    def _path(self) -> str:
        return f"{self._directory}/{PARTITION_METADATA_NAME}"
