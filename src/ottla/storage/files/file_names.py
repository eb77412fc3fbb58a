"""Names of files and directories in a log directory, as Kafka makes them.

Owns      the 20-digit segment names with their suffixes, and `<topic>-<partition>` directories
          with the marks `-delete`, `-future` and `-stray`.
Promises  what is parsed here is safe to use as a path: no separators, not only dots, a topic name
          that Kafka allows. Anything else is None: a file of another program, which is ignored.
"""

from __future__ import annotations

import re
from enum import StrEnum
from typing import NamedTuple

from ottla.base.ids import TopicPartition

LOG_SUFFIX = ".log"
OFFSET_INDEX_SUFFIX = ".index"
TIME_INDEX_SUFFIX = ".timeindex"
TRANSACTION_INDEX_SUFFIX = ".txnindex"
SNAPSHOT_SUFFIX = ".snapshot"

DELETED_SUFFIX = ".deleted"
CLEANED_SUFFIX = ".cleaned"
SWAP_SUFFIX = ".swap"

LEADER_EPOCHS_NAME = "leader-epoch-checkpoint"
PARTITION_METADATA_NAME = "partition.metadata"
SET_ASIDE_NAME = "set-aside"  # in a `-stray` directory: offsets that the checkpoints had

META_PROPERTIES_NAME = "meta.properties"
RECOVERY_POINTS_NAME = "recovery-point-offset-checkpoint"
LOG_START_OFFSETS_NAME = "log-start-offset-checkpoint"
HIGH_WATERMARKS_NAME = "replication-offset-checkpoint"
CLEANER_OFFSETS_NAME = "cleaner-offset-checkpoint"
CLEAN_SHUTDOWN_NAME = ".kafka_cleanshutdown"
LOCK_NAME = ".lock"
OTTLA_MARK_NAME = ".ottla"  # Kafka has no such file: without it, Kafka wrote the directory
CLUSTER_MARK_NAME = "ottla.properties"  # nor this one

NAME_CHARACTERS_MAX = 255  # what common file systems allow in one part of a path
OFFSET_MAX = 2**63 - 1
PARTITION_MAX = 2**31 - 1

_SEGMENT_NAME = re.compile(
    r"([0-9]{20})(\.log|\.index|\.timeindex|\.txnindex|\.snapshot)(\.deleted|\.cleaned|\.swap)?"
)
_TOPIC = r"[a-zA-Z0-9._-]{1,249}"
_TOPIC_NAME = re.compile(_TOPIC)
_DIRECTORY_NAME = re.compile(
    rf"({_TOPIC})-(0|[1-9][0-9]{{0,9}})(?:\.([0-9a-zA-Z_]{{1,255}})(-delete|-future|-stray))?"
)
_UNIQUE_ID = re.compile(r"[0-9a-f]{32}")


class SegmentFileName(NamedTuple):
    """`<20-digit offset><suffix><state>`; the state is "" for a file in use."""

    offset: int
    suffix: str
    state: str = ""

    def __str__(self) -> str:
        return segment_file_name(self.offset, self.suffix + self.state)


class DirectoryMark(StrEnum):
    """The reason why a partition directory is not in use."""

    NONE = ""
    DELETE = "-delete"  # being deleted in the background
    FUTURE = "-future"  # a copy of a log that moves from another log directory
    STRAY = "-stray"  # set aside: the metadata does not place it on this broker


class PartitionDirectoryName(NamedTuple):
    partition: TopicPartition  # with a mark, the topic may have been cut short to fit the name
    mark: DirectoryMark = DirectoryMark.NONE
    unique_id: str = ""


def segment_file_name(offset: int, suffix: str) -> str:
    """The name of a segment's file; zero-padded, so that names sort as offsets do."""
    if not 0 <= offset <= OFFSET_MAX:
        raise ValueError(f"no file name for offset {offset}")
    return f"{offset:020d}{suffix}"


def parse_segment_file_name(name: str) -> SegmentFileName | None:
    match = _SEGMENT_NAME.fullmatch(name)
    if match is None or int(match[1]) > OFFSET_MAX:
        return None
    return SegmentFileName(int(match[1]), match[2], match[3] or "")


def is_topic_name(name: str) -> bool:
    return name not in (".", "..") and _TOPIC_NAME.fullmatch(name) is not None


def partition_directory_name(partition: TopicPartition) -> str:
    if not is_topic_name(partition.topic):
        raise ValueError(f"no directory name for topic {partition.topic!r}")
    if not 0 <= partition.partition <= PARTITION_MAX:
        raise ValueError(f"no directory name for partition {partition.partition}")
    return f"{partition.topic}-{partition.partition}"


def marked_directory_name(partition: TopicPartition, mark: DirectoryMark, unique_id: str) -> str:
    """`<topic>-<partition>.<unique id><mark>`, where `unique_id` is 32 hexadecimal digits.

    The topic is cut where the name would be too long, but not for a future log: that one becomes
    the current log, and must be recognised by its name.
    """
    if mark is DirectoryMark.NONE or _UNIQUE_ID.fullmatch(unique_id) is None:
        raise ValueError(f"no directory name with mark {mark!r} and id {unique_id!r}")
    plain = partition_directory_name(partition)
    rest = f"{plain[len(partition.topic) :]}.{unique_id}{mark}"
    room = NAME_CHARACTERS_MAX - len(rest)
    if mark is DirectoryMark.FUTURE and len(partition.topic) > room:
        raise ValueError(f"{plain}: the topic's name is too long for a future directory")
    return partition.topic[:room] + rest


def parse_directory_name(name: str) -> PartitionDirectoryName | None:
    match = _DIRECTORY_NAME.fullmatch(name)
    if match is None or len(name) > NAME_CHARACTERS_MAX:
        return None
    topic, partition = match[1], int(match[2])
    if not is_topic_name(topic) or partition > PARTITION_MAX:
        return None
    mark = DirectoryMark(match[4] or "")
    return PartitionDirectoryName(TopicPartition(topic, partition), mark, match[3] or "")
