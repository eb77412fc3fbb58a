"""A stream's progress, told to a consumer group, so that every lag tool sees the query.

Owns      the name of the group and what was last committed to it.
Promises  never moves back, and never stops a query: what fails is a warning, and is tried again
          some time later. It is never read to decide where a query goes on.
"""

from __future__ import annotations

import logging
import time
import uuid
from collections.abc import Iterable, Mapping
from dataclasses import replace

from ottla.base.ids import TopicPartition
from ottla.client.cluster import Cluster
from ottla.client.errors import ClientError
from ottla.client.groups import commit_offsets, committed_offsets
from ottla.spark.options.source_options import SourceOptions
from ottla.spark.source.query import Query

log = logging.getLogger("ottla.spark")

DEFAULT_PREFIX = "spark-ottla"
NAME_CHARACTERS_MAX = 200  # without the id of the query
QUERY_CHARACTERS = 12  # 48 bits: no two queries on the same topics will have the same
PATIENCE_MS = 5_000  # a query must not wait longer than this for its own bookkeeping
PAUSE_S = 30.0  # after a failure


def group_name(group_id: str | None, options: SourceOptions, query: str) -> str:
    """kafka.group.id, or a name that says what is read and differs between queries; `query` stays
    the same at every start from the same checkpoint. Empty where neither is known."""
    if group_id is not None:
        return group_id
    if not query:
        return ""
    prefix = DEFAULT_PREFIX if options.group_id_prefix is None else options.group_id_prefix
    return f"{prefix}-{_what_is_read(options)}"[:NAME_CHARACTERS_MAX] + f"-{query}"


def new_query_id() -> str:
    return uuid.uuid4().hex[:QUERY_CHARACTERS]


def _what_is_read(options: SourceOptions) -> str:
    if options.assign is not None:
        return ",".join(sorted(map(str, options.assign)))
    if options.subscribe is not None:
        return ",".join(sorted(options.subscribe))
    return options.subscribe_pattern or ""


def moved_forward(
    reached: Mapping[TopicPartition, int], committed: Mapping[TopicPartition, int]
) -> dict[TopicPartition, int]:
    """What there is to commit."""
    return {place: at for place, at in reached.items() if at > committed.get(place, -1)}


class Progress:
    def __init__(self, query: Query, group: str) -> None:
        settings = query.kafka.settings
        patience_ms = min(settings.default_api_timeout_ms, PATIENCE_MS)
        self.group = group
        self._is_on = query.options.commit_offsets
        self._cluster = Cluster(replace(settings, default_api_timeout_ms=patience_ms))
        self._committed: dict[TopicPartition, int] = {}
        self._asked: set[TopicPartition] = set()
        self._not_before_s = 0.0

    def report(self, reached: Mapping[TopicPartition, int]) -> None:
        """Everything before these offsets is done."""
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
        """What the group has from an earlier run, once for each partition."""
        if unknown := [place for place in reached if place not in self._asked]:
            found = committed_offsets(self._cluster, self.group, unknown)
            self._committed |= {place: each.offset for place, each in found.items()}
            self._asked.update(unknown)

    def forget(self, places: Iterable[TopicPartition]) -> None:
        """Of topics that were made again: their offsets begin anew."""
        for place in places:
            self._committed.pop(place, None)
            self._asked.discard(place)

    def close(self) -> None:
        self._cluster.close()
