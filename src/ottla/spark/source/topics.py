"""The partitions that a query reads, as they currently exist in the cluster.

Owns      the three ways to select topics: a list, a pattern, single partitions.
Promises  a topic that is listed and does not exist is reported to the caller, never skipped; a
          pattern may match a part of the name, as with Spark's `kafka` format, and never matches
          internal topics.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ottla.base.ids import TopicPartition
from ottla.client.cluster.cluster import Cluster
from ottla.client.cluster.topology import TopicDescription
from ottla.spark.errors import SourceError
from ottla.spark.options.source_checks import compile_pattern
from ottla.spark.options.source_options import SourceOptions


@dataclass(frozen=True)
class FoundTopics:
    partitions: tuple[TopicPartition, ...]
    topic_ids: Mapping[str, bytes]  # only topics with an id
    missing: tuple[str, ...] = ()  # topics or partitions of the query that do not exist

    def demand_all(self) -> None:
        if self.missing:
            raise SourceError(
                f"Topics or partitions that do not exist: {', '.join(self.missing)}. Create them, "
                "or correct the option subscribe or assign; only subscribePattern accepts topics "
                "that are created later."
            )


def find_topics(cluster: Cluster, options: SourceOptions) -> FoundTopics:
    if options.assign is not None:
        return _find_assigned(cluster, options.assign)
    if options.subscribe is not None:
        topics = cluster.describe_topics(options.subscribe)
        missing = [name for name in options.subscribe if name not in topics]
        return _found(topics, _all_of(topics), missing)
    topics = _find_matching(cluster, options.subscribe_pattern or "")
    return _found(topics, _all_of(topics), [])


def is_selected(options: SourceOptions, partition: TopicPartition) -> bool:
    """Whether the options select this partition, existing or not."""
    if options.assign is not None:
        return partition in options.assign
    if options.subscribe is not None:
        return partition.topic in options.subscribe
    return compile_pattern(options.subscribe_pattern or "").search(partition.topic) is not None


def selection_text(options: SourceOptions) -> str:
    """The option that selects topics and its value, for error messages and names of groups."""
    if options.assign is not None:
        return f"assign={','.join(sorted(map(str, options.assign)))}"
    if options.subscribe is not None:
        return f"subscribe={','.join(sorted(options.subscribe))}"
    return f"subscribePattern={options.subscribe_pattern or ''}"


def _find_matching(cluster: Cluster, pattern: str) -> dict[str, TopicDescription]:
    expression = compile_pattern(pattern)
    names = [name for name in cluster.list_topics() if expression.search(name)]
    found = cluster.describe_topics(names) if names else {}
    return {name: topic for name, topic in found.items() if not topic.is_internal}


def _find_assigned(cluster: Cluster, assigned: Sequence[TopicPartition]) -> FoundTopics:
    topics = cluster.describe_topics(sorted({partition.topic for partition in assigned}))
    there = set(_all_of(topics))
    missing = [str(partition) for partition in assigned if partition not in there]
    return _found(topics, [partition for partition in assigned if partition in there], missing)


def _all_of(topics: Mapping[str, TopicDescription]) -> list[TopicPartition]:
    return [partition for name in sorted(topics) for partition in topics[name].topic_partitions]


def _found(
    topics: Mapping[str, TopicDescription],
    partitions: Sequence[TopicPartition],
    missing: Sequence[str],
) -> FoundTopics:
    ids = {name: topic.topic_id for name, topic in topics.items() if any(topic.topic_id)}
    return FoundTopics(tuple(partitions), ids, tuple(missing))
