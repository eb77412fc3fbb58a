"""Bad records once more, after the declaration was changed so that they can be decoded.

Owns      reading the topic of bad records, and one commit with the rows that are good now.
Promises  a row has the topic, partition, offset and timestamp of the record it comes from, and is
          added once: records that the table has are skipped, so that a replay may be repeated.
          Records that are still bad stay where they are; those of a topic that was deleted, and
          has the name of one of the table, too.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from ottla.base.uuids import uuid_to_text
from ottla.client.admin.list_offsets import earliest_offsets, latest_offsets
from ottla.client.cluster.cluster import Cluster
from ottla.client.settings import READ_COMMITTED
from ottla.pipelines.declaration.tree import Declaration, Lake, Pipeline
from ottla.pipelines.errors import PipelineError
from ottla.pipelines.lake.columns import HEADERS, TIME
from ottla.pipelines.lake.committing import commit_repair, count_repairs
from ottla.pipelines.lake.manifest import REPLAY, LakeFile, Manifest
from ottla.pipelines.lake.opening import open_table
from ottla.pipelines.lake.table import LakeTable, chain
from ottla.pipelines.running.checkpoint import BatchOffsets
from ottla.pipelines.running.cluster_options import client_settings
from ottla.pipelines.running.lake_plans import columns_of, lake_plan
from ottla.pipelines.running.side_records import PREFIX, origin_of
from ottla.pipelines.running.tasks import LakeTask
from ottla.pipelines.running.transforms import has_transform
from ottla.pipelines.sums.record_sums import (
    Book,
    HashSums,
    Sums,
    decode_book,
    encode_book,
    merge_books,
)
from ottla.pipelines.verbs.backfill import present_offsets
from ottla.pipelines.verbs.local_reading import records_of
from ottla.pipelines.verbs.missing import Range, TablePartition, covered, size
from ottla.pipelines.verbs.progress import Progress
from ottla.spark.records.schema import full_schema

MASK = 2**64 - 1
NEEDED = {"topic", "partition", "offset", "timestamp"}
TOPIC_ID = "topic-id"  # records of older releases have none


@dataclass(frozen=True)
class Replayed:
    """`present` were in the table already, by an earlier replay."""

    read: int = 0
    added: int = 0
    still_bad: int = 0
    present: int = 0


def replay_bad(
    declared: Declaration, pipeline: Pipeline, progress: Progress | None = None
) -> Replayed:
    progress = progress or Progress()
    lake, bad = pipeline.to, pipeline.bad
    if not isinstance(lake, Lake) or bad is None or has_transform(pipeline):
        raise PipelineError(
            f"{pipeline.location}: {pipeline.name}: only a lake with `bad`, and without sql or "
            "Python, can take bad records again. For others, produce them to the topic once more"
        )
    table = open_table(lake, pipeline.name)
    table.prepare(columns_of(pipeline, full_schema(with_headers=True)))
    commits = list(chain(table))
    if not commits:
        raise PipelineError(f"{pipeline.name} has written nothing yet: run it first")
    repairs = count_repairs(table)
    topics = {name: each for one in commits for name, each in one.topics.items()}
    settings = client_settings(declared.cluster_of(pipeline.source.cluster))
    with Cluster(settings) as cluster:
        records = _all_records(cluster, bad.topic, progress)
        batches = [restored(each, pipeline.name, topics) for each in records]
    read = sum(each.num_rows for each in batches)
    progress.begin("reading the offsets of the table")
    new = list(_without_present(batches, table, topics, covered(commits)))
    query = f"replay-{uuid.uuid4().hex[:12]}"
    wanted = BatchOffsets(query, 0, topics, {}, {})
    plan = lake_plan(pipeline, table, wanted, None, None, full_schema(with_headers=True))
    progress.begin("writing records", sum(each.num_rows for each in new))
    report = LakeTask(plan).run(progress.counting(new))
    counts = report.counts
    if report.files:
        manifest = Manifest(
            pipeline.name,
            query,
            0,
            kind=REPLAY,
            topics=topics,
            counts=counts,
            excluded=encode_book(returned(report.files)),
            files=report.files,
        )
        commit_repair(table, manifest, repairs)
    return Replayed(read, counts.written, counts.bad, read - sum(each.num_rows for each in new))


def _all_records(cluster: Cluster, topic: str, progress: Progress) -> Iterator[pa.RecordBatch]:
    found = cluster.describe_topics([topic])
    if topic not in found:
        return
    topic_id = uuid_to_text(found[topic].topic_id)
    partitions = found[topic].topic_partitions
    starts = earliest_offsets(cluster, partitions)
    ends = latest_offsets(cluster, partitions, READ_COMMITTED)
    ranges = {
        TablePartition(topic_id, at.partition): [(starts[at], ends[at])]
        for at in partitions
        if starts[at] < ends[at]
    }
    progress.begin(f"reading offsets of {topic}", size(ranges))
    yield from progress.counting(records_of(cluster, ranges, {topic_id: topic}))


def restored(batch: pa.RecordBatch, pipeline: str, topic_ids: Mapping[str, str]) -> pa.RecordBatch:
    """The records as they were read first, of this pipeline and its topics alone."""
    rows = []
    for row in batch.to_pylist():
        origin = origin_of(row["headers"])
        if origin.get("pipeline") != pipeline or not set(origin) >= NEEDED:
            continue
        if origin.get(TOPIC_ID, topic_ids.get(origin["topic"])) != topic_ids.get(origin["topic"]):
            continue
        original = [each for each in row["headers"] if not str(each["key"]).startswith(PREFIX)]
        rows.append((
            row["key"], row["value"], original or None, origin["topic"], int(origin["partition"]),
            int(origin["offset"]), int(origin["timestamp"]) * 1000,
        ))  # fmt: skip
    columns = list(zip(*rows, strict=True)) or [()] * 7
    kinds = [pa.binary(), pa.binary(), HEADERS, pa.string(), pa.int32(), pa.int64(), pa.int64()]
    arrays = [pa.array(column, kind) for column, kind in zip(columns, kinds, strict=True)]
    arrays[-1] = arrays[-1].cast(TIME)
    names = ["key", "value", "headers", "topic", "partition", "offset", "timestamp"]
    return pa.RecordBatch.from_arrays(arrays, names)


def _without_present(
    batches: list[pa.RecordBatch],
    table: LakeTable,
    topics: Mapping[str, str],
    read: Mapping[TablePartition, Sequence[Range]],
) -> Iterator[pa.RecordBatch]:
    """Without records that the table has, or that are in the topic of bad ones twice, or that no
    committed batch has read: their batch is repeated, and may write them itself."""
    ends = {at: ranges[-1][1] for at, ranges in read.items()}
    seen = {at: set(map(int, offsets)) for at, offsets in present_offsets(table).items()}
    for batch in batches:
        keep = np.zeros(batch.num_rows, bool)
        names = batch.column("topic").to_pylist()
        positions = zip(batch.column("partition").to_pylist(), batch.column("offset").to_pylist(),
                     strict=True)  # fmt: skip
        for row, (name, (partition, offset)) in enumerate(zip(names, positions, strict=True)):
            table_partition = TablePartition(topics.get(name, ""), partition)
            known = seen.setdefault(table_partition, set())
            keep[row] = offset < ends.get(table_partition, 0) and offset not in known
            known.add(offset)
        chosen = batch.filter(pa.array(keep))
        if chosen.num_rows:
            yield chosen


def returned(files: tuple[LakeFile, ...]) -> Book:
    """The book that takes these records out of the excluded ones: counts and sums with the other
    sign, so that both add up to nothing."""
    book = merge_books(decode_book(file.sums) for file in files)
    return {key: _negative(sums) for key, sums in book.items()}


def _negative(sums: Sums) -> Sums:
    return Sums(
        -sums.count,
        _opposite(sums.place),
        sums.min_timestamp,
        sums.max_timestamp,
        sums.first_offset,
        sums.last_offset,
        None if sums.bytes is None else -sums.bytes,
        None if sums.content is None else _opposite(sums.content),
    )


def _opposite(hashes: HashSums) -> HashSums:
    return HashSums(-hashes.sum & MASK, hashes.xor)
