"""The topics as they are now compared with a stream's checkpoint, and the ranges of a batch.

Owns      which partitions are new, deleted, or of a topic that was created again; logs that are
          shorter than what was read, or lack some of it; where a micro-batch begins.
Leaves    asking the cluster, and reporting losses (failOnDataLoss), to `source/stream_reader.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass

from ottla.base.ids import NO_LEADER_EPOCH, TopicPartition
from ottla.base.uuids import uuid_from_text, uuid_to_text
from ottla.client.fetching.read_position import KnownEnd
from ottla.spark.errors import named
from ottla.spark.planning.range_splitting import TaskRange
from ottla.spark.planning.stream_offsets import StreamOffsets

Offsets = Mapping[TopicPartition, int]


@dataclass(frozen=True)
class StreamChange:
    """What changed since the offsets in the checkpoint."""

    kept: tuple[TopicPartition, ...]  # continued at their offset
    new: tuple[TopicPartition, ...]  # read from their beginning
    recreated: tuple[TopicPartition, ...]  # of recreated topics, read from their beginning
    missing: tuple[TopicPartition, ...]


def compare(
    reached: StreamOffsets, partitions: Sequence[TopicPartition], topic_ids: Mapping[str, str]
) -> StreamChange:
    """A topic whose id is unknown on either side is assumed to be the same topic."""
    there = set(partitions)
    known = [each for each in partitions if each in reached.offsets]
    recreated = {
        each: None for each in known if is_another(each.topic, reached.topic_ids, topic_ids)
    }
    return StreamChange(
        tuple(each for each in known if each not in recreated),
        tuple(each for each in partitions if each not in reached.offsets),
        tuple(recreated),
        tuple(each for each in reached.offsets if each not in there),
    )


def is_another(topic: str, before: Mapping[str, str], now: Mapping[str, str]) -> bool:
    return topic in before and topic in now and before[topic] != now[topic]


def losses(
    change: StreamChange, is_selected: Callable[[TopicPartition], bool], selection: str
) -> list[str]:
    """The losses, one sentence each. `selection` is the option that names topics."""
    losses_found = []
    if deselected := [partition for partition in change.missing if not is_selected(partition)]:
        losses_found.append(
            f"The checkpoint holds offsets of {named(deselected)}, which this query does not read "
            f"({selection}). A checkpoint belongs to the query that wrote it: another query "
            "needs another checkpointLocation."
        )
    if deleted := [partition for partition in change.missing if is_selected(partition)]:
        losses_found.append(
            f"{named(deleted)}: deleted since the query last saw them; "
            "records not yet read are lost."
        )
    if change.recreated:
        losses_found.append(
            f"{named(list(change.recreated))}: the topic was deleted and created again (its "
            "topic id is another one); records of the old one that were not yet read are lost."
        )
    return losses_found


def moved_back(starts: Offsets, ends: Offsets) -> list[TopicPartition]:
    """Partitions whose log ends before the offset that the stream has reached."""
    return [
        partition
        for partition, end in ends.items()
        if partition in starts and end < starts[partition]
    ]


def moved_back_text(partitions: Sequence[TopicPartition], starts: Offsets, ends: Offsets) -> str:
    shown = ", ".join(f"{each} from {starts[each]} to {ends[each]}" for each in partitions[:20])
    return f"The log has become shorter than what was read: {shown}. Records were lost or replaced."


def known_ends(
    reached: StreamOffsets, kept: Sequence[TopicPartition]
) -> dict[TopicPartition, KnownEnd]:
    """What was read of partitions that the stream continues, where leader epochs are known."""
    epochs = reached.leader_epochs
    return {at: KnownEnd(reached.offsets[at], epochs[at]) for at in kept if at in epochs}


def truncated_text(known: Mapping[TopicPartition, KnownEnd], resumed_at: Offsets) -> str:
    shown = ", ".join(
        f"{partition}: the records from offset {start} up to {known[partition].offset}, of leader "
        f"epoch {known[partition].epoch} or before"
        for partition, start in list(resumed_at.items())[:20]
    )
    return (
        "Records that were read are not in the log any more, because a replica without them became "
        "the leader (unclean.leader.election.enable); others may have their offsets now. "
        f"{shown}."
    )


def ids_as_text(topic_ids: Mapping[str, bytes], topics: Set[str] | None = None) -> dict[str, str]:
    """The ids of all topics, or only of some."""
    return {
        topic: uuid_to_text(value)
        for topic, value in topic_ids.items()
        if topics is None or topic in topics
    }


@dataclass(frozen=True)
class BatchStart:
    """The start of a micro-batch in each partition; None is the start of the log, to be looked
    up."""

    offsets: Mapping[TopicPartition, int | None]
    new: tuple[TopicPartition, ...]


def batch_start(start: StreamOffsets, end: StreamOffsets) -> BatchStart:
    """Spark's start; for the first batch the one that is stored with its end."""
    is_first = end.began_at is not None and start.began_at is None
    began = end.began_at if is_first and end.began_at is not None else start.offsets
    found: dict[TopicPartition, int | None] = {}
    for partition in end.offsets:
        is_recreated = is_another(partition.topic, start.topic_ids, end.topic_ids)
        begin = None if is_recreated and not is_first else began.get(partition)
        found[partition] = end.resumed_at.get(partition, begin)
    return BatchStart(
        found, tuple(partition for partition in end.offsets if partition not in began)
    )


def ranges_of(starts: Offsets, end: StreamOffsets) -> list[TaskRange]:
    """The ranges of the batch; empty if the start is unknown or not before the end."""
    return [
        TaskRange(
            partition,
            starts[partition],
            offset,
            _raw_id(end, partition.topic),
            end.leader_epochs.get(partition, NO_LEADER_EPOCH),
        )
        for partition, offset in sorted(end.offsets.items())
        if partition in starts and starts[partition] < offset
    ]


def _raw_id(end: StreamOffsets, topic: str) -> bytes:
    text = end.topic_ids.get(topic)
    try:
        return b"" if text is None else uuid_from_text(text)
    except ValueError:
        return b""  # the checkpoint was edited: treated as unknown
