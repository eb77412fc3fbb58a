"""`ottla audit run`: count what is in the logs and tables, and report it."""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from ottla.cli.arguments.numbers import INT64_MAX, whole_number
from ottla.cli.arguments.texts import new_file
from ottla.cli.auditing.cluster import (
    add_audit_arguments,
    duration_ms,
    lakes_of,
    opened_cluster,
)
from ottla.cli.auditing.places import LakePlace, declared_lakes
from ottla.cli.cluster.names import report_unmatched
from ottla.cli.errors import CommandFailed
from ottla.cli.interruptions import hide_interrupted_calls
from ottla.cli.output.documents import add_format_argument, show

if TYPE_CHECKING:
    from ottla.pipelines.audit.report_log import ReportWriter

PAUSE_S_MIN = 1.0
EPILOG = """\
Every pass continues where the last one ended, also after a crash. Run it as a service, or with
--once from cron. A topic has one audit: a second one takes over from the first.

  ottla audit run --once --pipelines pipelines.yaml
  ottla audit run --once --lake orders=./lake/orders
  ottla audit run --every 5m --master 'local[2]' --html audit.html --metrics audit.prom
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "topics", nargs="*", metavar="PATTERN", help="only these topics, such as 'orders*'"
    )
    parser.add_argument("--once", action="store_true", help="one pass, then exit")
    parser.add_argument(
        "--every", type=duration_ms, default=300_000, metavar="TIME", help="default: 5m"
    )
    parser.add_argument(
        "--lake",
        action="append",
        default=[],
        metavar="NAME=DIR",
        help="also count this table: Parquet, Delta or Iceberg",
    )
    parser.add_argument(
        "--pipelines",
        metavar="FILE",
        help="also count the tables that are declared here, with their topics for bad and late "
        "records",
    )
    parser.add_argument(
        "--master", default="local[2]", help="where Spark runs the job (default: local[2])"
    )
    parser.add_argument(
        "--without-spark", action="store_true", help="count in this process, for small clusters"
    )
    parser.add_argument(
        "--html", metavar="FILE", type=new_file, help="write the page of the audit here"
    )
    parser.add_argument(
        "--metrics",
        metavar="FILE",
        type=new_file,
        help="write metrics for Prometheus' node exporter here",
    )
    parser.add_argument(
        "--step",
        type=whole_number(1, INT64_MAX),
        default=20_000_000,
        metavar="OFFSETS",
        help="write a report after this many offsets (default: 20000000)",
    )
    add_format_argument(parser)
    add_audit_arguments(parser)


def run(arguments: argparse.Namespace) -> int:
    from ottla.pipelines.audit.passes import Audit
    from ottla.pipelines.audit.report_log import AuditError

    places = declared_lakes(arguments.pipelines) if arguments.pipelines else {}
    sides = {name: each.side_topics for name, each in places.items()}
    places |= {name: LakePlace(each) for name, each in lakes_of(arguments.lake).items()}
    with opened_cluster(arguments) as cluster, opened_engine(arguments, cluster) as engine:
        audit = Audit(
            cluster,
            engine,
            arguments.topics,
            {},
            sides,
            arguments.report_topic,
            arguments.reference,
            arguments.step,
        )
        writer = audit.open()
        if arguments.topics:
            names = cluster.list_topics()
            report_unmatched("ottla audit run", "topic", arguments.topics, names)

        def one_pass() -> None:
            audit.lakes, audit.unreadable = opened_lakes(places)
            books = audit.run_pass(writer)
            write_pages(arguments, books)
            report(arguments, audit, books)
            report_unreadable(audit, places, books)
            if audit.failures:
                raise AuditError("; ".join(audit.failures))

        one_pass()  # what is wrong from the beginning is not tried again
        while not arguments.once:
            time.sleep(arguments.every / 1000)
            repeat(one_pass, writer, arguments.every / 1000)
        writer.close()
        return 0


def repeat(one_pass: Callable[[], None], writer: ReportWriter, pause_s_max: float) -> None:
    """A pass, until it succeeds: brokers restart, and tables are written meanwhile. Another audit
    that has taken over ends this one."""
    from ottla.client.errors import ProducerFenced
    from ottla.pipelines.errors import reason_of

    pause_s = PAUSE_S_MIN
    while True:
        try:
            one_pass()
            return
        except ProducerFenced:
            raise
        except Exception as error:
            print(
                f"a pass failed, and is repeated: {reason_of(error)}", file=sys.stderr, flush=True
            )
        time.sleep(min(pause_s, pause_s_max))
        pause_s *= 2
        with suppress_failures():
            writer.reopen()


@contextmanager
def suppress_failures() -> Iterator[None]:
    """Suppress failures, but not the one that ends this audit."""
    from ottla.client.errors import ClientError, ProducerFenced

    try:
        yield
    except ProducerFenced:
        raise
    except (ClientError, OSError) as error:
        print(f"the report topic cannot be written yet: {error}", file=sys.stderr, flush=True)


def opened_lakes(places: Mapping[str, LakePlace]) -> tuple[dict[str, Any], dict[str, str]]:
    """The tables, and why others cannot be opened."""
    from ottla.pipelines.audit.report_log import AuditError

    found, unreadable = {}, {}
    for name, place in places.items():
        try:
            found[name] = place.open()
        except AuditError as error:
            unreadable[name] = str(error)
    return found, unreadable


def report_unreadable(audit: Any, places: Mapping[str, LakePlace], books: Iterable[Any]) -> None:
    """AuditError for a table that was never counted; but one that is declared may not be there
    yet."""
    from ottla.pipelines.audit.report_log import AuditError

    counted = {book.tier for book in books}
    for name, reason in audit.unreadable.items():
        if f"{name}.counted" in counted:
            continue  # among the failures
        if not places[name].is_declared or os.path.isdir(places[name].directory):
            raise AuditError(reason)
        print(f"{name}: {places[name].directory} does not exist yet", file=sys.stderr)


@contextmanager
def opened_engine(arguments: argparse.Namespace, cluster: Any) -> Iterator[Any]:
    from ottla.pipelines.audit.running import LocalEngine

    if arguments.without_spark:
        yield LocalEngine(cluster)
        return
    hide_interrupted_calls()
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)  # workers run this Python too
    try:
        from pyspark.sql import SparkSession

        from ottla.pipelines.audit.spark_fold import SparkEngine
        from ottla.pipelines.running.session import started_session
    except ModuleNotFoundError as error:
        raise CommandFailed(
            "this command needs the package pyspark",
            "install it with: pip install 'ottla[spark]'",
            "or count in this process: --without-spark",
        ) from error
    builder = SparkSession.builder.master(arguments.master).appName("ottla audit")
    builder = builder.config("spark.ui.enabled", "false")
    spark = started_session(builder)
    spark.sparkContext.setLogLevel("ERROR")
    try:
        yield SparkEngine(spark, cluster.settings)
    finally:
        spark.stop()


def write_pages(arguments: argparse.Namespace, books: list[Any]) -> None:
    from ottla.pipelines.audit.metrics_text import metrics_text
    from ottla.pipelines.audit.page import page_html, write_file

    now_ms = time.time_ns() // 1_000_000
    if arguments.html:
        write_file(arguments.html, page_html(books, now_ms))
    if arguments.metrics:
        write_file(arguments.metrics, metrics_text(books))


def report(arguments: argparse.Namespace, audit: Any, books: list[Any]) -> None:
    from ottla.cli.auditing.documents import book_document, report_text

    result = audit.result
    document = {
        "records": result.records,
        "aborted": result.aborted,
        "overtaken": result.overtaken,
        "books": [book_document(each) for each in books],
    }
    lines = [f"counted {result.records} records, and {result.aborted} of aborted transactions"]
    if result.overtaken:
        lines.append(f"retention deleted {result.overtaken} offsets before they were counted")
    if books:
        lines.append(report_text(document["books"]))
    show(arguments.format, document, lambda: "\n".join(lines))
    sys.stdout.flush()
