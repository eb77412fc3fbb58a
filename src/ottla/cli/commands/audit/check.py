"""`ottla audit check`: for cron and alerts; the exit code is 1 if something needs attention."""

from __future__ import annotations

import argparse
import time

from ottla.cli.auditing.cluster import (
    add_audit_arguments,
    add_tier_argument,
    chosen_books,
    duration_ms,
    number_between,
    tiers_text,
)
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
    add_tier_argument(parser)
    add_format_argument(parser)
    add_audit_arguments(parser)


def run(arguments: argparse.Namespace) -> int:
    from ottla.pipelines.audit.verifying import check_books

    chosen = chosen_books(arguments, time.time_ns() // 1_000_000)
    problems = check_books(chosen, arguments.min, arguments.max_lag)
    document = {"ok": not problems, "problems": problems}
    show(arguments.format, document, lambda: "\n".join(problems) or f"{tiers_text(chosen)}: ok")
    return 1 if problems else 0
