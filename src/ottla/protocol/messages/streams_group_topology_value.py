"""Generated from schemas/data/streams_group_topology_value.schema: StreamsGroupTopologyValue, versions 0. Do not edit."""

from __future__ import annotations

from collections.abc import Sequence
from struct import Struct as Layout

from ottla.protocol.message import Message, Struct
from ottla.protocol.primitives import (
    read_compact_count,
    read_compact_string,
    read_compact_strings,
    read_numbers,
    skip_tags,
    uvarint,
    write_compact_string,
    write_compact_strings,
    write_numbers,
)

_unpack_i = Layout(">i").unpack_from
_pack_i = Layout(">i").pack
_unpack_ih = Layout(">ih").unpack_from
_pack_ih = Layout(">ih").pack


class StreamsGroupTopologyValue(Message):
    __slots__ = ("epoch", "subtopologies",)
    RECORD_TYPE = 23
    VERSIONS = range(0, 1)
    FLEXIBLE_FROM = 0

    def __init__(
        self,
        epoch: int = 0,
        subtopologies: Sequence[Subtopology] = (),
    ) -> None:
        self.epoch = epoch
        self.subtopologies = subtopologies


class CopartitionGroup(Struct):
    __slots__ = ("source_topics", "source_topic_regex", "repartition_source_topics",)

    def __init__(
        self,
        source_topics: Sequence[int] = (),
        source_topic_regex: Sequence[int] = (),
        repartition_source_topics: Sequence[int] = (),
    ) -> None:
        self.source_topics = source_topics
        self.source_topic_regex = source_topic_regex
        self.repartition_source_topics = repartition_source_topics


class Subtopology(Struct):
    __slots__ = ("subtopology_id", "source_topics", "source_topic_regex", "state_changelog_topics", "repartition_sink_topics", "repartition_source_topics", "copartition_groups",)

    def __init__(
        self,
        subtopology_id: str = "",
        source_topics: Sequence[str] = (),
        source_topic_regex: Sequence[str] = (),
        state_changelog_topics: Sequence[TopicInfo] = (),
        repartition_sink_topics: Sequence[str] = (),
        repartition_source_topics: Sequence[TopicInfo] = (),
        copartition_groups: Sequence[CopartitionGroup] = (),
    ) -> None:
        self.subtopology_id = subtopology_id
        self.source_topics = source_topics
        self.source_topic_regex = source_topic_regex
        self.state_changelog_topics = state_changelog_topics
        self.repartition_sink_topics = repartition_sink_topics
        self.repartition_source_topics = repartition_source_topics
        self.copartition_groups = copartition_groups


class TopicConfig(Struct):
    __slots__ = ("key", "value",)

    def __init__(
        self,
        key: str = "",
        value: str = "",
    ) -> None:
        self.key = key
        self.value = value


class TopicInfo(Struct):
    __slots__ = ("name", "partitions", "replication_factor", "topic_configs",)

    def __init__(
        self,
        name: str = "",
        partitions: int = 0,
        replication_factor: int = 0,
        topic_configs: Sequence[TopicConfig] = (),
    ) -> None:
        self.name = name
        self.partitions = partitions
        self.replication_factor = replication_factor
        self.topic_configs = topic_configs


def _read_topic_configs_v0(data: memoryview, at: int, count: int) -> tuple[list[TopicConfig], int]:
    items: list[TopicConfig] = []
    for _ in range(count):
        key, at = read_compact_string(data, at)
        value, at = read_compact_string(data, at)
        at = skip_tags(data, at) if data[at] else at + 1
        items.append(TopicConfig(key, value))
    return items, at


def _read_topic_infos_v0(data: memoryview, at: int, count: int) -> tuple[list[TopicInfo], int]:
    items: list[TopicInfo] = []
    for _ in range(count):
        name, at = read_compact_string(data, at)
        partitions, replication_factor = _unpack_ih(data, at)
        at += 6
        count, at = read_compact_count(data, at, 3)
        topic_configs, at = _read_topic_configs_v0(data, at, count) if count else ([], at)
        at = skip_tags(data, at) if data[at] else at + 1
        items.append(TopicInfo(name, partitions, replication_factor, topic_configs))
    return items, at


def _read_copartition_groups_v0(data: memoryview, at: int, count: int) -> tuple[list[CopartitionGroup], int]:
    items: list[CopartitionGroup] = []
    for _ in range(count):
        count, at = read_compact_count(data, at, 2)
        source_topics, at = read_numbers(data, at, count, "h") if count else ([], at)
        count, at = read_compact_count(data, at, 2)
        source_topic_regex, at = read_numbers(data, at, count, "h") if count else ([], at)
        count, at = read_compact_count(data, at, 2)
        repartition_source_topics, at = read_numbers(data, at, count, "h") if count else ([], at)
        at = skip_tags(data, at) if data[at] else at + 1
        items.append(CopartitionGroup(source_topics, source_topic_regex, repartition_source_topics))
    return items, at


def _read_subtopologys_v0(data: memoryview, at: int, count: int) -> tuple[list[Subtopology], int]:
    items: list[Subtopology] = []
    for _ in range(count):
        subtopology_id, at = read_compact_string(data, at)
        count, at = read_compact_count(data, at, 1)
        source_topics, at = read_compact_strings(data, at, count) if count else ([], at)
        count, at = read_compact_count(data, at, 1)
        source_topic_regex, at = read_compact_strings(data, at, count) if count else ([], at)
        count, at = read_compact_count(data, at, 9)
        state_changelog_topics, at = _read_topic_infos_v0(data, at, count) if count else ([], at)
        count, at = read_compact_count(data, at, 1)
        repartition_sink_topics, at = read_compact_strings(data, at, count) if count else ([], at)
        count, at = read_compact_count(data, at, 9)
        repartition_source_topics, at = _read_topic_infos_v0(data, at, count) if count else ([], at)
        count, at = read_compact_count(data, at, 4)
        copartition_groups, at = _read_copartition_groups_v0(data, at, count) if count else ([], at)
        at = skip_tags(data, at) if data[at] else at + 1
        items.append(Subtopology(subtopology_id, source_topics, source_topic_regex, state_changelog_topics, repartition_sink_topics, repartition_source_topics, copartition_groups))
    return items, at


def _read_streams_group_topology_value_v0(data: memoryview, at: int) -> tuple[StreamsGroupTopologyValue, int]:
    (epoch,) = _unpack_i(data, at)
    at += 4
    count, at = read_compact_count(data, at, 8)
    subtopologies, at = _read_subtopologys_v0(data, at, count) if count else ([], at)
    at = skip_tags(data, at) if data[at] else at + 1
    return StreamsGroupTopologyValue(epoch, subtopologies), at


def _write_topic_configs_v0(items: Sequence[TopicConfig], out: bytearray) -> None:
    for item in items:
        write_compact_string(item.key, out)
        write_compact_string(item.value, out)
        out.append(0)


def _write_topic_infos_v0(items: Sequence[TopicInfo], out: bytearray) -> None:
    for item in items:
        write_compact_string(item.name, out)
        out += _pack_ih(item.partitions, item.replication_factor)
        if item.topic_configs:
            out += uvarint(len(item.topic_configs) + 1)
            _write_topic_configs_v0(item.topic_configs, out)
        else:
            out.append(1)
        out.append(0)


def _write_copartition_groups_v0(items: Sequence[CopartitionGroup], out: bytearray) -> None:
    for item in items:
        if item.source_topics:
            out += uvarint(len(item.source_topics) + 1)
            write_numbers(item.source_topics, "h", out)
        else:
            out.append(1)
        if item.source_topic_regex:
            out += uvarint(len(item.source_topic_regex) + 1)
            write_numbers(item.source_topic_regex, "h", out)
        else:
            out.append(1)
        if item.repartition_source_topics:
            out += uvarint(len(item.repartition_source_topics) + 1)
            write_numbers(item.repartition_source_topics, "h", out)
        else:
            out.append(1)
        out.append(0)


def _write_subtopologys_v0(items: Sequence[Subtopology], out: bytearray) -> None:
    for item in items:
        write_compact_string(item.subtopology_id, out)
        if item.source_topics:
            out += uvarint(len(item.source_topics) + 1)
            write_compact_strings(item.source_topics, out)
        else:
            out.append(1)
        if item.source_topic_regex:
            out += uvarint(len(item.source_topic_regex) + 1)
            write_compact_strings(item.source_topic_regex, out)
        else:
            out.append(1)
        if item.state_changelog_topics:
            out += uvarint(len(item.state_changelog_topics) + 1)
            _write_topic_infos_v0(item.state_changelog_topics, out)
        else:
            out.append(1)
        if item.repartition_sink_topics:
            out += uvarint(len(item.repartition_sink_topics) + 1)
            write_compact_strings(item.repartition_sink_topics, out)
        else:
            out.append(1)
        if item.repartition_source_topics:
            out += uvarint(len(item.repartition_source_topics) + 1)
            _write_topic_infos_v0(item.repartition_source_topics, out)
        else:
            out.append(1)
        if item.copartition_groups:
            out += uvarint(len(item.copartition_groups) + 1)
            _write_copartition_groups_v0(item.copartition_groups, out)
        else:
            out.append(1)
        out.append(0)


def _write_streams_group_topology_value_v0(item: StreamsGroupTopologyValue, out: bytearray) -> None:
    out += _pack_i(item.epoch)
    if item.subtopologies:
        out += uvarint(len(item.subtopologies) + 1)
        _write_subtopologys_v0(item.subtopologies, out)
    else:
        out.append(1)
    out.append(0)


StreamsGroupTopologyValue.DECODERS = {
    0: _read_streams_group_topology_value_v0,
}
StreamsGroupTopologyValue.ENCODERS = {
    0: _write_streams_group_topology_value_v0,
}
