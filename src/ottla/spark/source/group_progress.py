"""A stream's progress, committed to a consumer group, so that lag tools show the query.

Owns      the name of the group, and the offsets last committed to it.
Promises  offsets never move back, unless the log did; a commit that fails is a warning and is
          tried again later, and never stops the query. Committed offsets do not decide where a
          query continues.
"""

from __future__ import annotations

import logging
import time
import uuid
from collections.abc import Iterable, Mapping
from dataclasses import replace

from ottla.base.ids import TopicPartition
from ottla.client.admin.group_offsets import commit_offsets, committed_offsets
from ottla.client.cluster.cluster import Cluster
from ottla.client.errors import ClientError
from ottla.spark.options.source_options import SourceOptions
from ottla.spark.source.query import Query
from ottla.spark.source.topics import selection_text

log = logging.getLogger("ottla.spark")

DEFAULT_PREFIX = "spark-ottla"
NAME_CHARACTERS_MAX = 200  # without the id of the query
QUERY_CHARACTERS = 12  # 48 bits: enough to distinguish queries on the same topics
COMMIT_TIMEOUT_MS = 5_000  # a query must not wait longer than this for a commit
PAUSE_S = 30.0  # after a failure


def group_name(group_id: str | None, options: SourceOptions, query: str) -> str:
    """kafka.group.id, or a name with the topics and the id of the query, which is stored in the
    checkpoint. Empty if neither is known."""
    if group_id is not None:
        return group_id
    if not query:
        return ""
    prefix = DEFAULT_PREFIX if options.group_id_prefix is None else options.group_id_prefix
    _, _, topics = selection_text(options).partition("=")
    return f"{prefix}-{topics}"[:NAME_CHARACTERS_MAX] + f"-{query}"


def new_query_id() -> str:
    return uuid.uuid4().hex[:QUERY_CHARACTERS]


def moved_forward(
    reached: Mapping[TopicPartition, int], committed: Mapping[TopicPartition, int]
) -> dict[TopicPartition, int]:
    """The offsets to commit."""
    return {partition: at for partition, at in reached.items() if at > committed.get(partition, -1)}


class GroupProgress:
    def __init__(self, query: Query, group: str) -> None:
        settings = query.kafka.settings
        timeout_ms = min(settings.default_api_timeout_ms, COMMIT_TIMEOUT_MS)
        self.group = group
        self._is_on = query.options.commit_offsets
        self._cluster = Cluster(replace(settings, default_api_timeout_ms=timeout_ms))
        self._committed: dict[TopicPartition, int] = {}
        self._asked: set[TopicPartition] = set()
        self._not_before_s = 0.0

    def report(self, reached: Mapping[TopicPartition, int]) -> None:
        """Commit these offsets: everything before them has been processed."""
        if not self._is_on or time.monotonic() < self._not_before_s:
            return
        try:
            self._ask(reached)
            if forward := moved_forward(reached, self._committed):
                commit_offsets(self._cluster, self.group, forward)
                self._committed |= forward
        except ClientError as error:
            self._not_before_s = time.monotonic() + PAUSE_S
            log.warning("progress was not committed to group %s: %s", self.group, error)

    def _ask(self, reached: Mapping[TopicPartition, int]) -> None:
        """Look up what the group has from an earlier run, once for each partition."""
        if unknown := [partition for partition in reached if partition not in self._asked]:
            found = committed_offsets(self._cluster, self.group, unknown)
            self._committed |= {partition: each.offset for partition, each in found.items()}
            self._asked.update(unknown)

    def forget(self, partitions: Iterable[TopicPartition]) -> None:
        """For topics that were created again, whose offsets begin at 0."""
        for partition in partitions:
            self._committed.pop(partition, None)
            self._asked.discard(partition)

    def allow_back(self, partitions: Iterable[TopicPartition]) -> None:
        """For logs that lack what was read: the next commit may be before the last one."""
        self._committed |= dict.fromkeys(partitions, -1)
        self._asked.update(partitions)

    def close(self) -> None:
        self._cluster.close()
