"""`ottla audit check`: for cron and alerts; the exit code is 1 if something needs attention."""

from __future__ import annotations

import argparse
import time

from ottla.cli.auditing.cluster import (
    add_audit_arguments,
    duration_ms,
    number_between,
    read_books,
)
from ottla.cli.cluster.names import matches_any
from ottla.cli.errors import CommandFailed
from ottla.cli.output.documents import add_format_argument, show


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("patterns", nargs="*", metavar="TOPIC", help="only these topics")
    parser.add_argument(
        "--min",
        type=number_between(0, 100),
        default=99.9,
        metavar="PERCENT",
        help="the least share of records that must be there (default: 99.9)",
    )
    parser.add_argument(
        "--max-lag",
        type=duration_ms,
        default=15 * 60_000,
        metavar="TIME",
        help="the longest time since the last complete bucket (default: 15m)",
    )
    parser.add_argument("--tier", help="only this tier, such as orders.counted; or a pattern")
    add_format_argument(parser)
    add_audit_arguments(parser)


def run(arguments: argparse.Namespace) -> int:
    from ottla.pipelines.audit.verifying import check_books

    books, _ = read_books(arguments, time.time_ns() // 1_000_000)
    tiers = [arguments.tier] if arguments.tier else []
    chosen = [
        each
        for each in books
        if matches_any(each.topic, arguments.patterns) and matches_any(each.tier, tiers)
    ]
    if not chosen:
        raise CommandFailed("no tier has reported such a topic: nothing was audited")
    problems = check_books(chosen, arguments.min, arguments.max_lag)
    document = {"ok": not problems, "problems": problems}
    show(arguments.format, document, lambda: "\n".join(problems) or f"{len(chosen)} books: ok")
    return 1 if problems else 0
