"""Checkpoints of a log directory: one offset for each of its partitions.

Owns      the format of `recovery-point-offset-checkpoint`, `log-start-offset-checkpoint`,
          `replication-offset-checkpoint` (high watermarks) and `cleaner-offset-checkpoint`:
          lines of topic, partition and offset.
Leaves    what an offset means, and when to write, to the owner of the checkpoint.
Threads   `write` may run in another thread, one at a time.
"""

from __future__ import annotations

from collections.abc import Mapping

from ottla.base.files.filesystem import FileSystem
from ottla.base.files.readers import BLOCKING
from ottla.base.ids import TopicPartition
from ottla.storage.files.checkpoint_file import Line, read_checkpoint, write_checkpoint
from ottla.storage.files.file_names import OFFSET_MAX, PARTITION_MAX, is_topic_name


class OffsetCheckpoint:
    def __init__(self, files: FileSystem, path: str) -> None:
        self._files = files
        self._path = path

    @property
    def path(self) -> str:
        return self._path

    def read(self) -> dict[TopicPartition, int]:
        """All offsets; none if there is no file yet. CorruptLogError if it is damaged."""
        try:
            lines = read_checkpoint(BLOCKING, self._files, self._path)
        except FileNotFoundError:
            return {}
        return dict(map(_parse, lines))

    def write(self, offsets: Mapping[TopicPartition, int]) -> None:
        """Replace all offsets, durably."""
        write_checkpoint(
            self._files,
            self._path,
            [f"{topic} {partition} {offset}" for (topic, partition), offset in offsets.items()],
        )


def _parse(line: Line) -> tuple[TopicPartition, int]:
    topic, partition_field, offset_field = line.fields(3)
    partition = line.integer(partition_field, PARTITION_MAX)
    if not is_topic_name(topic) or partition < 0:
        raise line.error(f"{topic[:40]!r} {partition} is no partition")
    return TopicPartition(topic, partition), line.integer(offset_field, OFFSET_MAX)
