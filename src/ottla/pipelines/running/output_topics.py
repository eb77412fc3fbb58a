"""The topics of a pipeline: those it reads must exist, those it writes are created."""

from __future__ import annotations

from ottla.client.admin.topics import NewTopic, create_topics
from ottla.client.cluster.cluster import Cluster
from ottla.pipelines.declaration.tree import Declaration, Pipeline, ToTopic
from ottla.pipelines.errors import PipelineError
from ottla.pipelines.running.cluster_options import client_settings


def ensure_topics(declared: Declaration, pipeline: Pipeline) -> None:
    """PipelineError if a topic to read does not exist. A feed gets as many partitions as its
    largest source; bad and late records one."""
    with Cluster(client_settings(declared.cluster_of(pipeline.source.cluster))) as cluster:
        partitions = check_sources(cluster, pipeline)
        side = [each.topic for each in (pipeline.bad, pipeline.late) if each is not None]
        _create(cluster, dict.fromkeys(side, 1))
    if isinstance(pipeline.to, ToTopic):
        name = pipeline.to.cluster or pipeline.source.cluster
        with Cluster(client_settings(declared.cluster_of(name))) as cluster:
            _create(cluster, {pipeline.to.topic: partitions})


def check_sources(cluster: Cluster, pipeline: Pipeline) -> int:
    """The largest number of partitions."""
    found = cluster.describe_topics(pipeline.source.topics)
    missing = [name for name in pipeline.source.topics if name not in found]
    if missing:
        raise PipelineError(
            f"{pipeline.location}: {pipeline.name}: the topic {missing[0]} does not exist: create "
            f"it (ottla topics create {missing[0]}), or change `from`"
        )
    return max(len(each.partitions) for each in found.values())


def _create(cluster: Cluster, wanted: dict[str, int]) -> None:
    known = cluster.describe_topics(list(wanted))
    new = [NewTopic(name, count) for name, count in wanted.items() if name not in known]
    if new:
        create_topics(cluster, new, may_exist=True)
