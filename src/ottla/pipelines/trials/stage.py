"""Pipelines on a separate cluster: moves the declaration there, produces records, reads rows.

Promises  nothing of the declared clusters, tables and state is touched.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from ottla.base.ids import TopicPartition
from ottla.base.uuids import uuid_to_text
from ottla.client.admin.list_offsets import latest_offsets
from ottla.client.admin.topics import NewTopic, create_topics
from ottla.client.cluster.cluster import Cluster
from ottla.client.producing.producer import BatchProducer
from ottla.client.settings import READ_COMMITTED
from ottla.pipelines.declaration.tree import (
    Bad,
    ClusterAddress,
    Declaration,
    Lake,
    Late,
    Pipeline,
)
from ottla.pipelines.lake.opening import open_table
from ottla.pipelines.running.side_records import PREFIX, origin_of
from ottla.pipelines.trials.fixtures import Fixture, FixtureRecord
from ottla.pipelines.verbs.local_reading import records_of
from ottla.pipelines.verbs.missing import TablePartition
from ottla.protocol.records.building import build_batch
from ottla.protocol.records.record import Record


def moved(declared: Declaration, servers: str, directory: Path) -> Declaration:
    """The same pipelines on this cluster, with tables and state in this directory."""
    address = ClusterAddress(servers)
    return replace(
        declared,
        clusters=dict.fromkeys(declared.clusters, address),
        state=str(directory / "state"),
        pipelines={
            name: _moved(each, directory / "lake" / name)
            for name, each in declared.pipelines.items()
        },
    )


def _moved(pipeline: Pipeline, lake: Path) -> Pipeline:
    if not isinstance(pipeline.to, Lake):
        return pipeline
    return replace(pipeline, to=replace(pipeline.to, lake=str(lake), catalog={}))


def create_inputs(cluster: Cluster, pipeline: Pipeline, fixture: Fixture) -> None:
    """Topics of the pipeline and of its records, with the partitions that records name."""
    names = {*pipeline.source.topics, *(each.topic for each in (pipeline.tables or {}).values())}
    partitions = dict.fromkeys(names, 1)
    for run in fixture.runs:
        for topic, records in run.items():
            needed = max((each.partition + 1 for each in records), default=1)
            partitions[topic] = max(partitions.get(topic, 1), needed)
    create_topics(cluster, [NewTopic(name, count) for name, count in sorted(partitions.items())])


def produce(cluster: Cluster, run: Mapping[str, Sequence[FixtureRecord]]) -> None:
    now_ms = time.time_ns() // 1_000_000
    with BatchProducer(cluster) as producer:
        for topic, records in run.items():
            for each in records:
                at = now_ms if each.timestamp_ms is None else each.timestamp_ms
                record = Record(0, at, each.key, each.value, each.headers)
                producer.send(TopicPartition(topic, each.partition), build_batch([record]), 1)
        producer.flush()


def out_rows(cluster: Cluster, pipeline: Pipeline) -> list[dict[str, Any]]:
    to = pipeline.to
    if not isinstance(to, Lake):
        return list(topic_rows(cluster, to.topic))
    table = open_table(to, pipeline.name)
    found: list[dict[str, Any]] = table.rows().to_pylist() if table.last() is not None else []
    return found


def side_rows(cluster: Cluster, side: Bad | Late | None) -> list[dict[str, Any]]:
    """Bad or late records, with where they come from and why."""
    if side is None:
        return []
    return [
        {**row, **origin_of(row["headers"]), "headers": _original_headers(row["headers"])}
        for row in topic_rows(cluster, side.topic)
    ]


def _original_headers(headers: Iterable[Mapping[str, Any]] | None) -> list[Mapping[str, Any]]:
    return [each for each in headers or () if not str(each["key"]).startswith(PREFIX)]


def topic_rows(cluster: Cluster, topic: str) -> Iterable[dict[str, Any]]:
    found = cluster.describe_topics([topic])
    if topic not in found:
        return
    topic_id = uuid_to_text(found[topic].topic_id)
    ends = latest_offsets(cluster, found[topic].topic_partitions, READ_COMMITTED)
    ranges = {TablePartition(topic_id, at.partition): [(0, end)] for at, end in ends.items() if end}
    for batch in records_of(cluster, ranges, {topic_id: topic}):
        yield from batch.to_pylist()
