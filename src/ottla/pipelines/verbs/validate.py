"""Checks of a declared pipeline against clusters and tables. No record is read, nothing is changed.

Owns      what is checked besides the file: topics, tables, functions; with Spark also the sql.
Promises  every check is made; each has a result with a reason.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ottla.client.cluster.cluster import Cluster
from ottla.client.errors import ClientError
from ottla.pipelines.declaration.tree import Declaration, Lake, Pipeline, ToTopic
from ottla.pipelines.errors import PipelineError, reason_of
from ottla.pipelines.lake.opening import open_table
from ottla.pipelines.lake.parquet_table import check_empty
from ottla.pipelines.lake.table import added_columns
from ottla.pipelines.running.checkpoint import PipelineState
from ottla.pipelines.running.cluster_options import interactive_settings
from ottla.pipelines.running.lake_plans import columns_of
from ottla.pipelines.running.output_topics import check_sources
from ottla.pipelines.running.query import PipelineQuery, check_kept
from ottla.pipelines.running.transforms import has_transform, load_function
from ottla.spark.records.schema import full_schema
from ottla.spark.sink.input_columns import check_columns


@dataclass(frozen=True)
class CheckResult:
    pipeline: str
    what: str
    problem: str | None = None  # None: it is right


def validate(declared: Declaration, spark: Callable[[], Any]) -> list[CheckResult]:
    """`spark` opens a session; it is called only if there is sql or Python to check."""
    return [
        check for each in declared.pipelines.values() for check in _checks(declared, each, spark)
    ]


def _checks(
    declared: Declaration, pipeline: Pipeline, spark: Callable[[], Any]
) -> Iterator[CheckResult]:
    name = pipeline.name
    servers = declared.cluster_of(pipeline.source.cluster).servers
    sources = f"topics {', '.join(pipeline.source.topics)} on {servers}"
    yield _check(name, sources, lambda: _sources(declared, pipeline))
    if pipeline.python is not None:
        yield _check(
            name, f"python {pipeline.python}", lambda: load_function(pipeline.python or "")
        )
    rows: list[Any] = [full_schema(with_headers=True)]
    if has_transform(pipeline):

        def analyse() -> None:
            query = PipelineQuery(spark(), declared, pipeline, lambda _report: None)
            rows[0] = query.schema()

        yield (analysed := _check(name, "columns of the query", analyse))
        if analysed.problem is not None:
            return
    if isinstance(pipeline.to, Lake):
        yield _check(name, f"table {pipeline.to.lake}", lambda: _table(declared, pipeline, rows[0]))
    else:
        to = pipeline.to
        yield _check(name, f"rows for the topic {to.topic}", lambda: _feed(declared, to, rows[0]))


def _check(pipeline: str, what: str, act: Callable[[], Any]) -> CheckResult:
    try:
        act()
    except Exception as error:
        return CheckResult(pipeline, what, reason_of(error))
    return CheckResult(pipeline, what)


def _sources(declared: Declaration, pipeline: Pipeline) -> None:
    try:
        with Cluster(interactive_settings(declared.cluster_of(pipeline.source.cluster))) as cluster:
            check_sources(cluster, pipeline)
    except ClientError as error:
        raise PipelineError(f"the cluster does not respond: {error}") from error


def check_table(pipeline: Pipeline, rows: Any) -> None:
    """The table of a lake, if there is one; `rows` is the schema of what is written."""
    assert isinstance(pipeline.to, Lake)
    wanted = columns_of(pipeline, rows)
    table = open_table(pipeline.to, pipeline.name)
    table.check_claim()
    found = table.columns()
    if found is None:
        check_empty(Path(pipeline.to.lake))
    else:
        added_columns(found, wanted, pipeline.to.evolve, pipeline.to.lake)


def _table(declared: Declaration, pipeline: Pipeline, rows: Any) -> None:
    assert isinstance(pipeline.to, Lake)
    check_table(pipeline, rows)
    state = PipelineState(declared.state, pipeline.name)
    check_kept(state, open_table(pipeline.to, pipeline.name), pipeline.name)


def _feed(declared: Declaration, to: ToTopic, rows: Any) -> None:
    check_columns(rows, to.topic)
    if to.cluster is not None:
        with Cluster(interactive_settings(declared.cluster_of(to.cluster))) as cluster:
            cluster.broker_ids()
