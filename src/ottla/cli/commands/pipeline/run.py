"""`ottla pipeline run`: run pipelines until Ctrl-C, or once with what there is.

A line for each batch on standard error, a table at the end. Exit code 0 if no pipeline failed.
"""

from __future__ import annotations

import argparse
import logging
import os
import sys
import threading
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
from ottla.cli.process import wait_for_end_of_input

if TYPE_CHECKING:
    from ottla.pipelines.batch_report import BatchReport
    from ottla.pipelines.running.service import PipelineService, Running

STOP_S = 60.0

COLUMNS = (
    Column("PIPELINE", "pipeline"),
    Column("BATCHES", "batches"),
    Column("READ", "read"),
    Column("WRITTEN", "written"),
    Column("FILTERED", "filtered"),
    Column("BAD", "bad"),
    Column("LATE", "late"),
    Column("RESULT", "failure", lambda failure: failure.strip().partition("\n")[0]),
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_file_argument(parser)
    add_names_argument(parser)
    parser.add_argument("--once", action="store_true", help="process what there is now, and end")
    parser.add_argument(
        "--stop-with-stdin",
        action="store_true",
        help="stop when standard input is closed, such as when the parent process ends",
    )
    add_format_argument(parser)


def run(arguments: argparse.Namespace) -> int:
    declared = load_file(arguments.file)
    names = chosen_names(declared, arguments.names)
    from ottla.pipelines.running.service import PipelineService
    from ottla.pipelines.running.session import open_session

    logging.basicConfig(format="%(message)s", level=logging.WARNING, stream=sys.stderr)
    logging.getLogger("ottla.pipelines").setLevel(logging.INFO)
    with pipeline_failures():
        spark = open_session(declared)
        service = PipelineService(spark, declared, names, once=arguments.once, on_report=on_report)
        if arguments.stop_with_stdin:
            stop_with_stdin(service)
        is_right = run_service(service)
        spark.stop()
    document = [document_of(each) for each in service.running.values()]
    rows = [each | {"failure": each["failure"] or "right"} for each in document]
    show(arguments.format, document, lambda: table(COLUMNS, rows))
    return 0 if is_right else 1


def run_service(service: PipelineService) -> bool:
    """Ctrl-C ends a run that has no end of its own: running batches are stopped."""
    try:
        return service.run()
    except KeyboardInterrupt:
        service.stop()
        return service.run()


def stop_with_stdin(service: PipelineService) -> None:
    """The process ends with its parent, also if Spark no longer answers."""

    def wait() -> None:
        wait_for_end_of_input()
        service.stop()
        time.sleep(STOP_S)
        os._exit(1)  # the JVM ends too: its standard input is closed

    threading.Thread(target=wait, daemon=True, name="stdin").start()


def on_report(report: BatchReport) -> None:
    counts = report.counts
    rate = report.rows_per_s
    print(
        f"{time.strftime('%H:%M:%S')} {report.pipeline} batch {report.batch}: "
        f"read {counts.read:,}, written {counts.written:,}, "
        f"filtered {counts.filtered:,}, bad {counts.bad:,}, "
        f"late {counts.late:,}" + (f", {rate:,.0f} records/s" if rate else ""),
        file=sys.stderr,
        flush=True,
    )


def document_of(each: Running) -> dict[str, Any]:
    totals = each.query.runner.totals if each.query is not None else None
    counts = (
        asdict(totals)
        if totals is not None
        else dict.fromkeys(("read", "written", "filtered", "bad", "late"), 0)
    )
    counts["late"] += each.dropped
    batches = each.query.runner.batches if each.query is not None else 0
    return {"pipeline": each.pipeline.name, "batches": batches, **counts, "failure": each.failure}
