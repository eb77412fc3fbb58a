"""`spark.readStream`: the driver's side of a streaming query.

Owns      the offsets of a query between micro-batches, and its connection to the cluster.
Promises  calls that Spark may repeat (the initial offset, planning a batch) give the same result;
          while records are available, the next batch is not empty; an end is never before its start
          unless records were lost and failOnDataLoss is false.
Leaves    decisions to `planning/`, reading to `task_reader.py`, committing progress to
          `group_progress.py`.

Spark keeps one instance for a query, in a process of its own, and calls it from one thread. Tasks
have copies, which never open this connection.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

import pyarrow as pa
from pyspark.sql.datasource import DataSourceStreamReader, InputPartition
from pyspark.sql.streaming.datasource import ReadLimit, SupportsTriggerAvailableNow

from ottla.base.ids import TopicPartition
from ottla.client.cluster.cluster import Cluster
from ottla.config.options import InvalidOption
from ottla.spark.brief_errors import brief, brief_rows
from ottla.spark.errors import SourceError, named
from ottla.spark.options.positions import Latest
from ottla.spark.options.source_checks import starting_position
from ottla.spark.planning.admission import Admission
from ottla.spark.planning.stream_changes import (
    batch_start,
    compare,
    ids_as_text,
    known_ends,
    losses,
    ranges_of,
)
from ottla.spark.planning.stream_offsets import StreamOffsets, offsets_from_json
from ottla.spark.process_model import PickledAsQuery
from ottla.spark.source.group_progress import GroupProgress, group_name, new_query_id
from ottla.spark.source.log_ends import Known, LogEnds
from ottla.spark.source.position_lookup import Logs, Offsets, resolve_start
from ottla.spark.source.query import Query
from ottla.spark.source.record_sizes import RecordSizes
from ottla.spark.source.task_planning import plan_tasks
from ottla.spark.source.task_reader import read_task
from ottla.spark.source.topics import FoundTopics, find_topics, is_selected, selection_text

log = logging.getLogger("ottla.spark")

RETRIES, RETRY_INTERVAL_MS = 3, 1000


class StreamReader(
    DataSourceStreamReader,  # type: ignore[misc]
    SupportsTriggerAvailableNow,  # type: ignore[misc]
    PickledAsQuery,
):
    def __init__(self, query: Query) -> None:
        self.query = query
        self._cluster: Cluster | None = None
        self._progress: GroupProgress | None = None
        self._initial: StreamOffsets | None = None
        self._query_id = new_query_id()  # if the checkpoint holds none
        self._admission = Admission(query.options)
        self._log_ends = LogEnds(query.loss_policy, self._pauses)
        self._last_ends: Mapping[TopicPartition, int] = {}
        self._sizes = RecordSizes()

    # Offsets

    @brief
    def initialOffset(self) -> dict[str, Any]:  # noqa: N802
        """Spark also calls this when it repeats the first batch, whose end has its start stored.
        An error in the options, such as a new partition that they do not name, must not prevent
        that: it is raised later, if the start is needed."""
        try:
            return self._begin().to_json()
        except (InvalidOption, SourceError):
            return StreamOffsets({}, is_undecided=True).to_json()

    def _begin(self) -> StreamOffsets:
        """Looked up once: Spark asks twice, and `latest` must be the same both times."""
        if self._initial is None:
            topics = find_topics(self._connected, self.query.options)
            topics.demand_all()
            if not topics.partitions:  # only a pattern may match nothing
                log.warning("no topic matches %s yet", selection_text(self.query.options))
            position = starting_position(self.query.options, Latest())
            starts = resolve_start(self._logs, position, topics.partitions, self.query)
            self._initial = StreamOffsets(starts, ids_as_text(topics.topic_ids))
        return self._initial

    def getDefaultReadLimit(self) -> ReadLimit:  # noqa: N802
        return self._admission.default_limit

    @brief
    def prepareForTriggerAvailableNow(self) -> None:  # noqa: N802
        topics = find_topics(self._connected, self.query.options)
        self._admission.stop_at(self._logs.latest(topics.partitions))

    @brief
    def latestOffset(self, start: dict[str, Any], limit: ReadLimit) -> dict[str, Any]:  # noqa: N802
        """The end of the next batch; `start` itself if there is nothing to read. Spark calls this
        after every batch, also the last one: everything before `start` has been processed."""
        reached = offsets_from_json(start)
        if reached.is_undecided:
            reached = self._begin()
        topics = self._topics_now(reached)
        starts, known = self._starts_of(reached, topics)
        self._report_progress(reached, topics.partitions)
        found = self._log_ends.find(self._connected, starts, known)
        starts |= self._resumed(reached, found.resumed_at)
        self._last_ends = found.ends
        now_s = time.monotonic()
        ends = self._admission.decide_ends(reached.offsets, starts, found.ends, limit, now_s)
        is_first = reached.began_at is None and reached == self._initial
        end = StreamOffsets(
            ends,
            ids_as_text(topics.topic_ids, {partition.topic for partition in ends}),
            reached.offsets if is_first else None,
            reached.query or self._query_id,
            {partition: epoch for partition, epoch in found.epochs.items() if partition in ends},
            {partition: at for partition, at in found.resumed_at.items() if partition in ends},
        )
        if end.is_same_position(reached) and not is_first:
            return start
        self._admission.note_batch(now_s)
        return end.to_json()

    def reportLatestOffset(self) -> dict[str, Any] | None:  # noqa: N802
        """The ends of the logs as last seen, for the query's progress reports."""
        return StreamOffsets(self._last_ends).to_json() if self._last_ends else None

    def _topics_now(self, reached: StreamOffsets) -> FoundTopics:
        """A missing partition is looked up again: a broker that has just started may not have it
        in its metadata yet, and a partition that is assumed to be deleted would be read again
        from its start."""
        for _ in self._pauses():
            topics = find_topics(self._connected, self.query.options)
            if reached.offsets.keys() <= set(topics.partitions):
                break
        return topics

    def _pauses(self) -> Iterator[None]:
        """Yields at once, and then after each pause that the options allow."""
        options = self.query.options
        retries = RETRIES if options.fetch_offset_retries is None else options.fetch_offset_retries
        interval_ms = options.fetch_offset_retry_interval_ms
        yield
        for _ in range(retries):
            time.sleep((RETRY_INTERVAL_MS if interval_ms is None else interval_ms) / 1000)
            yield

    def _starts_of(self, reached: StreamOffsets, topics: FoundTopics) -> tuple[Offsets, Known]:
        """Where each existing partition continues, and what is known of it; losses are
        reported."""
        change = compare(reached, topics.partitions, ids_as_text(topics.topic_ids))
        for lost in losses(change, self._is_selected, selection_text(self.query.options)):
            self.query.loss_policy.report(lost)
        if change.recreated:
            if (progress := self._progress_of(reached)) is not None:
                progress.forget(change.recreated)
            self._admission.stop_at_instead(self._logs.latest(change.recreated))
        beginnings = self._logs.earliest([*change.new, *change.recreated])
        starts = {partition: reached.offsets[partition] for partition in change.kept} | beginnings
        return starts, known_ends(reached, change.kept)

    def _resumed(self, reached: StreamOffsets, resumed_at: Offsets) -> Offsets:
        if resumed_at and (progress := self._progress_of(reached)) is not None:
            progress.allow_back(resumed_at)
        return resumed_at

    def _is_selected(self, partition: TopicPartition) -> bool:
        return is_selected(self.query.options, partition)

    # Batches

    @brief
    def partitions(self, start: dict[str, Any], end: dict[str, Any]) -> Sequence[InputPartition]:
        if start == end:
            return []
        first, last = offsets_from_json(start), offsets_from_json(end)
        if first.is_undecided and last.began_at is None:  # from a checkpoint of another format
            first = self._begin()
        begin = batch_start(first, last)
        unknown = [partition for partition, offset in begin.offsets.items() if offset is None]
        beginnings = self._beginnings_of(unknown)
        self._report_late(beginnings, begin.new)
        starts = {
            partition: beginnings.get(partition) if offset is None else offset
            for partition, offset in begin.offsets.items()
        }
        return plan_tasks(
            self._connected,
            ranges_of({at: start for at, start in starts.items() if start is not None}, last),
            self.query.options,
            records_max=self.query.options.max_records_per_partition,
            sizes=self._sizes,
        )

    def _beginnings_of(self, partitions: Sequence[TopicPartition]) -> Offsets:
        """Where logs begin. A partition that was deleted before the batch is repeated is a loss."""
        if not partitions:
            return {}
        there = set(find_topics(self._connected, self.query.options).partitions)
        if deleted := [partition for partition in partitions if partition not in there]:
            what = f"{named(deleted)}: deleted before the batch could be read."
            self.query.loss_policy.report(what)
        return self._logs.earliest([partition for partition in partitions if partition in there])

    def _report_late(self, beginnings: Offsets, new: Sequence[TopicPartition]) -> None:
        for partition in new:
            if beginnings.get(partition, 0) > 0:
                self.query.loss_policy.report(
                    f"{partition} is new to the query, but its log begins at "
                    f"{beginnings[partition]}: records before that were deleted."
                )

    @brief_rows
    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        return read_task(self.query.read_plan(), partition)

    # Progress, and the end

    def commit(self, end: dict[str, Any]) -> None:
        reached = offsets_from_json(end)
        self._report_progress(reached, reached.offsets)

    def stop(self) -> None:
        if self._progress is not None:
            self._progress.close()
        if self._cluster is not None:
            self._cluster.close()
        self._progress = self._cluster = None

    def _report_progress(
        self, reached: StreamOffsets, partitions: Collection[TopicPartition]
    ) -> None:
        progress = self._progress_of(reached)
        if progress is not None:
            known = set(partitions)
            progress.report({at: n for at, n in reached.offsets.items() if at in known})

    def _progress_of(self, reached: StreamOffsets) -> GroupProgress | None:
        """None before the first batch unless kafka.group.id is given: the id of the query is not
        stored in the checkpoint yet."""
        if self._progress is None:
            group = group_name(self.query.kafka.group_id, self.query.options, reached.query)
            self._progress = GroupProgress(self.query, group) if group else None
        return self._progress

    @property
    def _connected(self) -> Cluster:
        if self._cluster is None:
            self._cluster = Cluster(self.query.kafka.settings)
        return self._cluster

    @property
    def _logs(self) -> Logs:
        return Logs(self._connected)
