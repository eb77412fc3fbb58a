"""The average size of a topic's records, from the size of its logs (DescribeLogDirs).

Owns      asking for the sizes, and caching them: averages change slowly.
Promises  never fails: if the size of a topic cannot be read (that needs Describe on the cluster), a
          default is used. Compressed records count with their compressed size.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

from ottla.base.ids import TopicPartition
from ottla.client.cluster.cluster import Cluster
from ottla.client.cluster.topology import by_leader, by_topic
from ottla.client.errors import ClientError
from ottla.protocol.messages.describe_log_dirs_request import (
    DescribableLogDirTopic,
    DescribeLogDirsRequest,
)
from ottla.protocol.messages.describe_log_dirs_response import DescribeLogDirsResponse
from ottla.spark.source.position_lookup import Logs, Offsets

GUESS_BYTES = 1024
KEPT_S = 600.0


class RecordSizes:
    def __init__(self) -> None:
        self._found: dict[str, int] = {}
        self._until_s = 0.0

    def of(self, cluster: Cluster, partitions: Iterable[TopicPartition]) -> Mapping[str, int]:
        """Bytes per offset of each topic."""
        if time.monotonic() >= self._until_s:
            self._found, self._until_s = {}, time.monotonic() + KEPT_S
        unknown = [partition for partition in partitions if partition.topic not in self._found]
        if unknown:
            self._found |= dict.fromkeys((partition.topic for partition in unknown), GUESS_BYTES)
            self._found |= ask_sizes(cluster, unknown)
        return self._found


def ask_sizes(cluster: Cluster, partitions: Sequence[TopicPartition]) -> dict[str, int]:
    """Empty if brokers do not respond."""
    try:
        if any(cluster.leader_of(partition) is None for partition in partitions):
            cluster.describe_topics(sorted({partition.topic for partition in partitions}))
        sizes = _ask_log_sizes(cluster, partitions)
        logs, sized = Logs(cluster), list(sizes)
        return average_sizes(sizes, logs.earliest(sized), logs.high_watermarks(sized))
    except ClientError:
        return {}


def average_sizes(
    log_bytes: Mapping[TopicPartition, int], starts: Offsets, ends: Offsets
) -> dict[str, int]:
    """Bytes per offset of each topic that has any."""
    sizes, offsets = Counter[str](), Counter[str]()
    for partition, size in log_bytes.items():
        sizes[partition.topic] += size
        offsets[partition.topic] += max(0, ends[partition] - starts[partition])
    return {topic: sizes[topic] // count for topic, count in offsets.items() if count}


def _ask_log_sizes(
    cluster: Cluster, partitions: Sequence[TopicPartition]
) -> dict[TopicPartition, int]:
    shares, _ = by_leader(dict.fromkeys(partitions), cluster.topology.leaders)
    found: dict[TopicPartition, int] = {}
    for broker_id, share in shares.items():
        topics = [DescribableLogDirTopic(*each) for each in by_topic(share).items()]
        answer = cluster.ask_broker(broker_id, DescribeLogDirsRequest(topics))
        found |= dict(log_sizes(answer))
    return found


def log_sizes(answer: DescribeLogDirsResponse) -> Iterator[tuple[TopicPartition, int]]:
    """Without the copies of replicas that are being moved between log directories."""
    for directory in answer.results:
        for topic in directory.topics:
            for part in topic.partitions:
                if not part.is_future_key:
                    yield TopicPartition(topic.name, part.partition_index), part.partition_size
