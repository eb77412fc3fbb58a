"""`ottla pipeline status`: show the last batch and the lag of each pipeline, without Spark, and
how complete its table is by the audit.

Exit code 0 unless a pipeline has failed.
"""

from __future__ import annotations

import argparse
import time
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from ottla.cli.output.documents import add_format_argument, show
from ottla.cli.output.tables import Column, table
from ottla.cli.pipelines.pipeline_file import (
    add_file_argument,
    add_names_argument,
    chosen_names,
    load_file,
    pipeline_failures,
)
from ottla.config.durations import format_duration

if TYPE_CHECKING:
    from ottla.client.cluster.cluster import Cluster
    from ottla.pipelines.batch_report import BatchReport
    from ottla.pipelines.declaration.tree import Declaration, Pipeline

COLUMNS = (
    Column("PIPELINE", "pipeline"),
    Column("STATE", "state"),
    Column("LAG", "lag_records"),
    Column("BEHIND", "lag_ms", format_duration),
    Column("BATCH", "batch"),
    Column("AGE", "age_ms", format_duration),
    Column("RECORDS/S", "records_per_s"),
    Column("WRITTEN", "written"),
    Column("BAD", "bad"),
    Column("LATE", "late"),
    Column("COMPLETE", "percent"),
    Column("COMPLETE UNTIL", "complete_until"),
)
NEVER = "never ran"
ELSEWHERE = "unknown"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_file_argument(parser)
    add_names_argument(parser)
    parser.add_argument(
        "--report-topic", metavar="TOPIC", default="ottla-audit",
        help="the topic with the reports of the audit (default: ottla-audit)",
    )  # fmt: skip
    add_format_argument(parser)


def run(arguments: argparse.Namespace) -> int:
    declared = load_file(arguments.file)
    names = chosen_names(declared, arguments.names)
    with pipeline_failures():
        documents = [status_of(declared, name, arguments.report_topic) for name in names]
    show(arguments.format, documents, lambda: as_text(documents))
    return 0 if all(each["failure"] is None for each in documents) else 1


def status_of(declared: Declaration, name: str, report_topic: str) -> dict[str, Any]:
    from ottla.client.cluster.cluster import Cluster
    from ottla.pipelines.batch_report import target_text
    from ottla.pipelines.running.cluster_options import interactive_settings
    from ottla.pipelines.status.lag import lag_of
    from ottla.pipelines.status.report_topic import read_reports

    pipeline = declared.pipelines[name]
    with Cluster(interactive_settings(declared.cluster_of(pipeline.source.cluster))) as cluster:
        report = read_reports(cluster).get(name)
        if report is None:
            return unknown(name, NEVER)
        if report.to != target_text(pipeline):
            # It may be another pipeline: then its numbers would be taken for those of this one.
            return unknown(name, ELSEWHERE) | {"last_to": report.to}
        audited = audit_document(cluster, pipeline, report_topic)
        return document_of(report, lag_of(cluster, report)) | audited


def unknown(name: str, state: str) -> dict[str, Any]:
    return {key: None for _, key, _ in COLUMNS} | {
        "pipeline": name, "state": state, "failure": None,
    }  # fmt: skip


def audit_document(cluster: Cluster, pipeline: Pipeline, report_topic: str) -> dict[str, Any]:
    """What the audit says of the table; nothing of topics."""
    from ottla.cli.auditing.documents import time_text
    from ottla.pipelines.audit.report_log import read_reports
    from ottla.pipelines.declaration.tree import Lake
    from ottla.pipelines.status.completeness import completeness_of

    if not isinstance(pipeline.to, Lake):
        return {"percent": None, "share": None, "complete_until": None}
    tiers = read_reports(cluster, report_topic)
    found = completeness_of(tiers, pipeline.to.lake, time.time_ns() // 1_000_000)
    return {
        "percent": found.percent,
        "share": found.share,
        "complete_until": None if found.until_ms is None else time_text(found.until_ms),
    }


def document_of(report: BatchReport, lag: Any) -> dict[str, Any]:
    rate = report.rows_per_s
    has_batch = report.batch >= 0
    return {
        "pipeline": report.pipeline,
        "state": report.state,
        "to": report.to,
        "lag_records": None if lag is None else lag.records,
        "lag_ms": None if lag is None or lag.seconds is None else int(lag.seconds * 1000),
        "batch": report.batch if has_batch else None,
        "age_ms": max(0, time.time_ns() // 1_000_000 - report.finished_ms) if has_batch else None,
        "records_per_s": None if rate is None else int(rate),
        "limit": report.limit,
        "every_ms": report.every_ms,
        "last": asdict(report.counts),
        **{f"{name}": value for name, value in asdict(report.totals).items()},
        "newest_ms": report.newest_ms,
        "unknown_fields": dict(report.unknown_fields),
        "failure": report.failure,
    }


def as_text(documents: list[dict[str, Any]]) -> str:
    failures = [f"{each['pipeline']}: {each['failure']}" for each in documents if each["failure"]]
    others = [
        f"{each['pipeline']}: the last pipeline of this name wrote to the {each['last_to']}. Names "
        "are unique in a cluster: a run of one ends a run of the other"
        for each in documents
        if "last_to" in each
    ]
    return "\n".join([table(COLUMNS, documents), *failures, *others])
