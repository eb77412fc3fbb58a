"""What the next micro-batch is: decisions, given what the cluster says. Pure functions.

Owns      how a stream's place and the topics of now fit together: partitions that came, that went,
          topics made anew under an old name, logs that have become shorter.
Leaves    asking the cluster, and what to do about losses (failOnDataLoss), to `stream_reader.py`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass

from ottla.base.ids import TopicPartition
from ottla.base.uuids import uuid_from_text, uuid_to_text
from ottla.spark.errors import named
from ottla.spark.planning.range_splitting import ReadRange
from ottla.spark.planning.stream_offsets import StreamOffsets

Offsets = Mapping[TopicPartition, int]


@dataclass(frozen=True)
class Change:
    """The topics of now, seen from where the stream is."""

    kept: tuple[TopicPartition, ...]  # the stream goes on where it is
    new: tuple[TopicPartition, ...]  # read from their beginning
    anew: tuple[TopicPartition, ...]  # of topics that were made again: from their beginning, too
    gone: tuple[TopicPartition, ...]


def compare(
    place: StreamOffsets, partitions: Sequence[TopicPartition], topic_ids: Mapping[str, str]
) -> Change:
    """An id that is not known on either side says nothing."""
    there = set(partitions)
    known = [each for each in partitions if each in place.offsets]
    anew = {each: None for each in known if is_another(each.topic, place.topic_ids, topic_ids)}
    return Change(
        tuple(each for each in known if each not in anew),
        tuple(each for each in partitions if each not in place.offsets),
        tuple(anew),
        tuple(each for each in place.offsets if each not in there),
    )


def is_another(topic: str, before: Mapping[str, str], now: Mapping[str, str]) -> bool:
    return topic in before and topic in now and before[topic] != now[topic]


def losses(change: Change) -> list[str]:
    """What can no longer be read, in sentences."""
    told = []
    if change.gone:
        told.append(
            f"{named(list(change.gone))}: deleted since the query last saw them; "
            "records not yet read are lost."
        )
    if change.anew:
        told.append(
            f"{named(list(change.anew))}: the topic was deleted and created again (its topic id is "
            "another one); records of the old one that were not yet read are lost."
        )
    return told


def moved_back(starts: Offsets, ends: Offsets) -> list[TopicPartition]:
    """Partitions whose log ends before the place that was already reached."""
    return [place for place, end in ends.items() if place in starts and end < starts[place]]


def told_moved_back(places: Sequence[TopicPartition], starts: Offsets, ends: Offsets) -> str:
    shown = ", ".join(f"{each} from {starts[each]} to {ends[each]}" for each in places[:20])
    return f"The log has become shorter than what was read: {shown}. Records were lost or replaced."


def ids_as_text(topic_ids: Mapping[str, bytes], topics: Set[str] | None = None) -> dict[str, str]:
    """Of all, or only of some topics."""
    return {
        topic: uuid_to_text(value)
        for topic, value in topic_ids.items()
        if topics is None or topic in topics
    }


@dataclass(frozen=True)
class BatchStart:
    """Where a micro-batch begins in each partition; None is its beginning, to be looked up."""

    offsets: Mapping[TopicPartition, int | None]
    new: tuple[TopicPartition, ...]


def batch_start(start: StreamOffsets, end: StreamOffsets) -> BatchStart:
    """Spark's start, but for the first batch the one that was noted with its end."""
    is_first = end.began_at is not None and start.began_at is None
    began = end.began_at if is_first and end.began_at is not None else start.offsets
    found: dict[TopicPartition, int | None] = {}
    for place in end.offsets:
        is_anew = is_another(place.topic, start.topic_ids, end.topic_ids)
        found[place] = None if is_anew and not is_first else began.get(place)
    return BatchStart(found, tuple(place for place in end.offsets if place not in began))


def ranges_of(starts: Offsets, end: StreamOffsets) -> list[ReadRange]:
    """What the batch reads; where the start lies behind the end or is not known, nothing."""
    return [
        ReadRange(place, starts[place], offset, _raw_id(end, place.topic))
        for place, offset in sorted(end.offsets.items())
        if place in starts and starts[place] < offset
    ]


def _raw_id(end: StreamOffsets, topic: str) -> bytes:
    text = end.topic_ids.get(topic)
    try:
        return b"" if text is None else uuid_from_text(text)
    except ValueError:
        return b""  # from a checkpoint that was edited: as if it were not known
