"""Making segments: new ones, and those found on disk."""

from __future__ import annotations

from random import Random

from ottla.base.files.filesystem import FileSystem
from ottla.config.topic_options import TopicConfig
from ottla.storage.files.file_names import LOG_SUFFIX, segment_file_name
from ottla.storage.indexes.segment_indexes import SegmentIndexes, index_paths
from ottla.storage.segments.segment import Segment


def create_segment(
    files: FileSystem,
    directory: str,
    base_offset: int,
    config: TopicConfig,
    *,
    now_ms: int,
    random: Random,
    state: str = "",
) -> Segment:
    """An empty segment. Files that a crash left under these names are overwritten."""
    transactions = index_paths(directory, base_offset, state)[2]
    if files.exists(transactions):
        files.remove(transactions)
    indexes = SegmentIndexes(
        files, directory, base_offset, config.segment_index_bytes, create=True, state=state
    )
    name = segment_file_name(base_offset, LOG_SUFFIX + state)
    file = files.open(f"{directory}/{name}", create=True)
    if file.size():
        file.truncate(0)
    if config.preallocate:
        file.extend(config.segment_bytes)
    return Segment(
        files,
        directory,
        base_offset,
        0,
        indexes,
        index_interval_bytes=config.index_interval_bytes,
        created_ms=now_ms,
        roll_jitter_ms=draw_jitter_ms(config, random),
        file=file,
        state=state,
    )


def open_segment(
    files: FileSystem,
    directory: str,
    base_offset: int,
    config: TopicConfig,
    *,
    now_ms: int,
    random: Random,
    state: str = "",
    create_index: bool = False,
) -> Segment:
    """A segment whose record file exists, and its indexes, unless `create_index` makes empty ones.
    Only its length is read."""
    name = segment_file_name(base_offset, LOG_SUFFIX + state)
    return Segment(
        files,
        directory,
        base_offset,
        files.size(f"{directory}/{name}"),
        SegmentIndexes(
            files,
            directory,
            base_offset,
            config.segment_index_bytes,
            create=create_index,
            state=state,
        ),
        index_interval_bytes=config.index_interval_bytes,
        created_ms=now_ms,
        roll_jitter_ms=draw_jitter_ms(config, random),
        state=state,
    )


def draw_jitter_ms(config: TopicConfig, random: Random) -> int:
    """So that segments of many partitions, created together, are not all closed together."""
    jitter_ms = min(config.segment_jitter_ms, config.segment_ms)
    return random.randrange(jitter_ms) if jitter_ms else 0
