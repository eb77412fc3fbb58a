"""A task on an executor: fetches ranges of offsets, decodes them, gives Arrow batches to Spark.

Owns      reading the ranges, and what happens when records no longer exist.
Promises  memory is bounded: a few Fetch responses of each broker, one decompressed record batch,
          one Arrow batch. Records of a partition stay in order. Gaps (markers, aborted and
          compacted records) are no loss; records that were deleted, or that a new leader does not
          have, and a topic that was created again, are. Every error names topic, partition and
          offset.
Leaves    fetching to `client/fetching/`, decoding to `records/decoding.py`, files to
          `parquet_files.py`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import pyarrow as pa
from pyspark.sql.datasource import InputPartition

from ottla.base.ids import NO_LEADER_EPOCH, TopicPartition
from ottla.base.uuids import ZERO_UUID
from ottla.client.admin.list_offsets import latest_offsets
from ottla.client.cluster.cluster import Cluster
from ottla.client.errors import LogTruncated, OffsetOutOfRange, TopicRecreated, UnknownTopic
from ottla.client.fetching.fetched_records import FetchedRecords
from ottla.client.fetching.fetcher import PartitionRange, fetch_ranges
from ottla.client.settings import ClientSettings
from ottla.config.options import MIB
from ottla.spark.planning.range_splitting import TaskRange
from ottla.spark.planning.read_tasks import ReadPlan, TaskRanges
from ottla.spark.process_model import freeze_imported_modules
from ottla.spark.records.decoding import Decoder, join_small, offset_text
from ottla.spark.source.parquet_files import write_file

BROKERS_MAX = 8  # brokers that respond at the same time, each with a share of fetch.max.bytes


def read_task(plan: ReadPlan, partition: InputPartition) -> Iterator[pa.RecordBatch]:
    """For a read without ranges, Spark makes a partition of its own: nothing is read for it."""
    if isinstance(partition, TaskRanges):
        freeze_imported_modules()
        with Cluster(settings_for(plan.settings, len(partition.ranges))) as cluster:
            partition.leaders.apply_to(cluster.topology)
            yield from join_small(_read(plan, cluster, partition.ranges))


def settings_for(settings: ClientSettings, ranges: int) -> ClientSettings:
    """Several brokers may respond at once: together they send no more than one would."""
    shares = max(1, min(ranges, BROKERS_MAX))
    fetch_bytes = max(min(MIB, settings.fetch_max_bytes), settings.fetch_max_bytes // shares)
    return replace(settings, fetch_max_bytes=fetch_bytes)


def _read(
    plan: ReadPlan, cluster: Cluster, ranges: Sequence[TaskRange]
) -> Iterator[pa.RecordBatch]:
    if plan.files_to is None:
        yield from TaskReader(plan, cluster, ranges).read()
        return
    for each in ranges:  # a file has the records of one range; files are written one by one
        yield from write_file(TaskReader(plan, cluster, [each]).read(), plan.files_to, each)


class TaskReader:
    """Ranges of different partitions."""

    def __init__(self, plan: ReadPlan, cluster: Cluster, ranges: Sequence[TaskRange]) -> None:
        self._plan = plan
        self._cluster = cluster
        self._decoder = Decoder(plan)
        self._left = {each.partition: each for each in ranges if each.size}
        self._starts = {each.partition: each.start for each in ranges}

    def read(self) -> Iterator[pa.RecordBatch]:
        while self._left:
            try:
                for fetched in self._fetch():
                    yield from self._decoder.decode(fetched, self._left[fetched.partition])
                    self._move(fetched.partition, fetched.end_offset)
                    del fetched  # so that its buffer is free for a later response
                return
            except OffsetOutOfRange as error:
                self._after_loss(error)
            except LogTruncated as error:
                self._after_truncation(error)
            except (TopicRecreated, UnknownTopic) as error:
                self._lose_topic(error)

    def _fetch(self) -> Iterator[FetchedRecords]:
        wanted = [
            PartitionRange(
                each.partition, each.start, each.end, each.topic_id or ZERO_UUID, each.end_epoch
            )
            for each in self._left.values()
        ]
        return fetch_ranges(self._cluster, wanted)

    def _move(self, partition: TopicPartition, offset: int) -> None:
        """Everything before the offset has been read."""
        left = self._left[partition]
        if offset >= left.end:
            del self._left[partition]
        else:
            self._left[partition] = replace(left, start=max(left.start, offset))

    # Losses

    def _after_loss(self, error: OffsetOutOfRange) -> None:
        """Continue with what can still be read; DataLoss if the policy is strict."""
        partition = TopicPartition(error.topic, error.partition)
        left = self._left[partition]
        self._plan.loss_policy.report(
            f"{offset_text(partition, left.start)}: the records are gone, the log now has offsets "
            f"{error.log_start} up to {error.end}; the query was to read up to {left.end}."
        )
        is_beyond = error.log_start <= left.start  # the log ends before the range
        self._move(partition, left.end if is_beyond else error.log_start)

    def _after_truncation(self, error: LogTruncated) -> None:
        """A stream's next batch begins where the log differs (`log_ends.py`), so that this one ends
        there: with the same epoch, because the log may be truncated further. Otherwise the records
        that the log has now are read instead, from there on."""
        partition = TopicPartition(error.topic, error.partition)
        left = self._left[partition]
        self._plan.loss_policy.report(f"{offset_text(partition, left.start)}: {error}.")
        if self._plan.loss_policy.is_stream and left.end_epoch != NO_LEADER_EPOCH:
            changed = replace(left, end=min(left.end, error.replaced_from))
        else:
            end = min(left.end, latest_offsets(self._cluster, [partition])[partition])
            start = max(self._starts[partition], min(left.start, error.replaced_from))
            changed = replace(left, start=start, end=end, end_epoch=NO_LEADER_EPOCH)
        self._left[partition] = changed
        if not changed.size:
            del self._left[partition]

    def _lose_topic(self, error: TopicRecreated | UnknownTopic) -> None:
        for partition, left in list(self._left.items()):
            if partition.topic == error.topic and _is_meant(partition, error):
                self._plan.loss_policy.report(f"{offset_text(partition, left.start)}: {error}.")
                del self._left[partition]


def _is_meant(partition: TopicPartition, error: TopicRecreated | UnknownTopic) -> bool:
    return not isinstance(error, UnknownTopic) or error.partition in (None, partition.partition)
