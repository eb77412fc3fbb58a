"""Which offsets of a range the log still has.

Promises  a topic that was deleted, or created again, is an error: its offsets mean other records.
"""

from __future__ import annotations

from collections.abc import Mapping

from ottla.base.ids import TopicPartition
from ottla.base.uuids import uuid_to_text
from ottla.client.admin.list_offsets import earliest_offsets
from ottla.client.admin.topics import topic_configs
from ottla.client.cluster.cluster import Cluster
from ottla.pipelines.errors import PipelineError
from ottla.pipelines.verbs.missing import Range, Ranges, TablePartition

SHOWN = 5


def split_at_log_starts(
    cluster: Cluster, ranges: Ranges, topics: Mapping[str, str]
) -> tuple[Ranges, Ranges]:
    """Ranges that the log has, and ranges that retention has deleted; `topics` are ids by name."""
    names = {topic_id: name for name, topic_id in topics.items()}
    check_topics(
        cluster,
        {names[table_partition.topic_id]: table_partition.topic_id for table_partition in ranges},
    )
    table_partitions = {
        TopicPartition(names[table_partition.topic_id], table_partition.partition): table_partition
        for table_partition in ranges
    }
    starts = earliest_offsets(cluster, table_partitions) if table_partitions else {}
    kept: dict[TablePartition, list[Range]] = {}
    deleted: dict[TablePartition, list[Range]] = {}
    for at, table_partition in table_partitions.items():
        start = starts[at]
        for low, high in ranges[table_partition]:
            if low < start:
                deleted.setdefault(table_partition, []).append((low, min(high, start)))
            if high > start:
                kept.setdefault(table_partition, []).append((max(low, start), high))
    return kept, deleted


def check_topics(cluster: Cluster, topics: Mapping[str, str]) -> None:
    found = cluster.describe_topics(list(topics)) if topics else {}
    for name, topic_id in topics.items():
        if name not in found:
            raise PipelineError(f"the topic {name} does not exist any more: nothing can be read")
        if uuid_to_text(found[name].topic_id) != topic_id:
            raise PipelineError(
                f"the topic {name} was deleted and created again since the table was written: its "
                "records are not those of the table"
            )


def compacted_topics(cluster: Cluster, names: list[str]) -> list[str]:
    """The topics whose logs may lack records that a table has."""
    configs = topic_configs(cluster, names) if names else {}
    return [name for name in names if "compact" in (configs[name].get("cleanup.policy") or "")]


def ranges_text(ranges: Ranges, topics: Mapping[str, str]) -> str:
    """`orders:0:100-199`, as `--offsets` takes them."""
    names = {topic_id: name for name, topic_id in topics.items()}
    found = [
        f"{names.get(topic_id, topic_id)}:{partition}:{low}-{high - 1}"
        for (topic_id, partition), spans in sorted(ranges.items())
        for low, high in spans
    ]
    more = len(found) - SHOWN
    return ", ".join(found[:SHOWN]) + (f" and {more} more" if more > 0 else "")
