"""`ottla audit report`: how complete each topic is in each tier."""

from __future__ import annotations

import argparse
import time

from ottla.cli.arguments.texts import new_file
from ottla.cli.auditing.cluster import add_audit_arguments, read_books
from ottla.cli.cluster.names import matches_any, report_unmatched
from ottla.cli.output.documents import add_format_argument, show


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "patterns", nargs="*", metavar="PATTERN", help="only these topics, such as 'orders*'"
    )
    parser.add_argument(
        "--html", metavar="FILE", type=new_file, help="also write the page of the audit here"
    )
    add_format_argument(parser)
    add_audit_arguments(parser)


def run(arguments: argparse.Namespace) -> int:
    from ottla.cli.auditing.documents import (
        book_document,
        fault_document,
        faults_text,
        pipeline_documents,
        pipelines_text,
        report_text,
    )
    from ottla.pipelines.audit.page import page_html, write_file
    from ottla.pipelines.audit.verifying import open_transactions

    now_ms = time.time_ns() // 1_000_000
    books, tiers = read_books(arguments, now_ms)
    chosen = [each for each in books if matches_any(each.topic, arguments.patterns)]
    documents = [book_document(each) for each in chosen]
    faults = [fault_document(book, *each) for book in chosen for each in book.faults.items()]
    pipelines = pipeline_documents(tiers)
    if arguments.html:
        write_file(arguments.html, page_html(chosen, now_ms))

    def as_text() -> str:
        parts = [report_text(documents)]
        hidden = sorted({line for each in chosen for line in open_transactions(each)})
        failed = [f"{each.topic}, {each.tier}: {each.failure}" for each in chosen if each.failure]
        if hidden or failed:
            parts.append("\n".join([*failed, *hidden]))
        if faults:
            parts.append(faults_text(faults))
        if pipelines:
            parts.append(pipelines_text(pipelines))
        return "\n\n".join(parts)

    document = {"books": documents, "faults": faults, "pipelines": pipelines}
    show(arguments.format, document, as_text)
    report_unmatched(
        "ottla audit report", "topic", arguments.patterns, [each.topic for each in books]
    )
    return 0
