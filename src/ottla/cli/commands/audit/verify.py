"""`ottla audit verify`: exit code 0 if all records of a time are there, once and unchanged."""

from __future__ import annotations

import argparse
import time
from typing import Any

from ottla.cli.arguments.timestamps import parse_timestamp
from ottla.cli.auditing.cluster import (
    add_audit_arguments,
    add_tier_argument,
    chosen_books,
    tiers_text,
)
from ottla.cli.errors import USAGE, CommandFailed
from ottla.cli.output.documents import add_format_argument, show

EPILOG = """\
The exit code is 0 if every bucket of the time is complete, 1 if one is at fault, was not audited,
or is still open, and if there is none. Times are as `2026-03-01T10:00:00Z`, or relative as `-2h`.

  ottla audit verify orders --from -26h --to -1h --tier 'lake.counted'
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("patterns", nargs="*", metavar="TOPIC", help="only these topics")
    parser.add_argument("--from", dest="start", metavar="TIME", help="default: the first record")
    parser.add_argument("--to", dest="end", metavar="TIME", help="default: the last closed bucket")
    add_tier_argument(parser)
    add_format_argument(parser)
    add_audit_arguments(parser)


def run(arguments: argparse.Namespace) -> int:
    from ottla.cli.auditing.documents import fault_document, faults_text
    from ottla.pipelines.audit.verifying import verify_books

    now_ms = time.time_ns() // 1_000_000
    start, end = time_of(arguments.start, now_ms), time_of(arguments.end, now_ms)
    if start is not None and end is not None and start >= end:
        raise CommandFailed("--from is not before --to", code=USAGE)
    chosen = chosen_books(arguments, now_ms)
    result = verify_books(chosen, start, end)
    faults = [fault_document(*each) for each in result.faults]
    document: dict[str, Any] = {
        "complete": result.is_complete,
        "buckets": result.buckets,
        "records": result.records,
        "verified": result.is_verified,
        "not_audited": result.not_audited,
        "faults": faults,
    }

    def as_text() -> str:
        lines = [*result.not_audited, *([faults_text(faults)] if faults else [])]
        if not result.buckets:
            lines.append("nothing to verify: no tier has records of this time")
            return "\n".join(lines)
        counted = f"{result.buckets} buckets with {result.records} records"
        if len(chosen) > 1:
            counted = f"{tiers_text(chosen)}, {counted} in all"
        if result.is_complete:
            booked = [each.tier for each in chosen if not each.is_counted]
            how = f"complete; what was booked is not verified: {', '.join(sorted(set(booked)))}"
            lines.append(f"{counted}: {'verified' if result.is_verified else how}")
        else:
            lines.append(f"{counted}: NOT complete")
        return "\n".join(lines)

    show(arguments.format, document, as_text)
    return 0 if result.is_complete else 1


def time_of(text: str | None, now_ms: int) -> int | None:
    if text is None:
        return None
    found = parse_timestamp(text, now_ms)
    if found is None:
        raise CommandFailed(
            f"{text!r} is not a time", "write 2026-03-01T10:00:00Z, or -2h for two hours ago",
            code=USAGE,
        )  # fmt: skip
    return found
