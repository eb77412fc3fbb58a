"""`ottla pipeline backfill`: add to a table the records that it lacks, or write hours of it again.

Without --offsets everything is compared: the offsets that the table should have, and those it has.
"""

from __future__ import annotations

import argparse
import time
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from ottla.cli.arguments.timestamps import parse_timestamp
from ottla.cli.errors import USAGE, CommandFailed
from ottla.cli.output.documents import add_format_argument, show
from ottla.cli.output.tables import fields_text
from ottla.cli.pipelines.pipeline_file import (
    add_file_argument,
    chosen_names,
    load_file,
    pipeline_failures,
    shown_progress,
)

if TYPE_CHECKING:
    from ottla.pipelines.declaration.tree import Declaration, Pipeline
    from ottla.pipelines.verbs.times import Times

EPILOG = """\
examples:
  ottla pipeline backfill orders.yaml orders_lake
  ottla pipeline backfill orders.yaml orders_lake --offsets orders:0:100-199,300 orders:2:7
  ottla pipeline backfill orders.yaml orders_lake --from 2026-03-01T10:00:00Z --to -1h
  ottla pipeline backfill orders.yaml orders_lake --replace --hours 2026-03-01-10 2026-03-01-11
  ottla pipeline backfill orders.yaml orders_lake --replace --offsets orders:0:100-199

With --replace whole hours of the table (by event time) are written again from the log, in one
commit: doubled, changed and foreign rows are removed, missing ones are added.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_file_argument(parser)
    parser.add_argument(
        "name", metavar="NAME", nargs="?", help="the pipeline, if there are several"
    )
    parser.add_argument(
        "--offsets", metavar="TOPIC:PARTITION:FIRST-LAST", nargs="+", default=[],
        help="only these, if the table does not have them (`ottla audit drill` prints them)",
    )  # fmt: skip
    parser.add_argument(
        "--replace", action="store_true",
        help="write whole hours again: of --hours, of --from and --to, or with rows of --offsets",
    )  # fmt: skip
    parser.add_argument(
        "--hours", metavar="HOUR", nargs="+", default=[],
        help="with --replace: hours of the table, such as 2026-03-01-10, or none",
    )  # fmt: skip
    for name in ("from", "to"):
        parser.add_argument(
            f"--{name}", metavar="TIME", dest=f"{name}_time",
            help=f"only records {'from' if name == 'from' else 'before'} this time, such as "
            "2026-03-01T10:00:00Z or -2h",
        )  # fmt: skip
    add_format_argument(parser)


def time_ms(option: str, text: str | None) -> int | None:
    if text is None:
        return None
    found = parse_timestamp(text, time.time_ns() // 1_000_000)
    if found is None:
        raise CommandFailed(
            f"{option} {text!r} is no time, such as 2026-03-01T10:00:00Z", code=USAGE
        )
    return found


def run(arguments: argparse.Namespace) -> int:
    declared = load_file(arguments.file)
    names = chosen_names(declared, [arguments.name] if arguments.name else [])
    if len(names) > 1:
        raise CommandFailed("name one of the pipelines", ", ".join(names), code=USAGE)
    from ottla.pipelines.verbs.times import Times

    times = Times(time_ms("--from", arguments.from_time), time_ms("--to", arguments.to_time))
    pipeline = declared.pipelines[names[0]]
    if arguments.replace:
        return replace(arguments, declared, pipeline, times)
    if arguments.hours:
        raise CommandFailed("--hours is for --replace", code=USAGE)
    from ottla.pipelines.running.session import open_session
    from ottla.pipelines.verbs.backfill import backfill

    with pipeline_failures(), shown_progress() as progress:
        done = backfill(
            declared, pipeline, arguments.offsets, lambda: open_session(declared), times, progress
        )
    document = asdict(done)
    show(arguments.format, document, lambda: as_text(document))
    return 0


def replace(
    arguments: argparse.Namespace, declared: Declaration, pipeline: Pipeline, times: Times
) -> int:
    from ottla.pipelines.running.session import open_session
    from ottla.pipelines.verbs.replacing import replace_hours

    if not any((arguments.hours, arguments.offsets, arguments.from_time, arguments.to_time)):
        raise CommandFailed(
            "--replace needs the hours", "with --hours, --offsets, or --from and --to", code=USAGE
        )
    with pipeline_failures(), shown_progress() as progress:
        done = replace_hours(
            declared,
            pipeline,
            arguments.hours,
            arguments.offsets,
            lambda: open_session(declared),
            times,
            progress,
        )
    document = asdict(done)
    show(arguments.format, document, lambda: replaced_text(document))
    return 0


def replaced_text(document: dict[str, Any]) -> str:
    return fields_text(
        [
            ("hours", ", ".join(document["hours"])),
            ("rows before", document["rows_before"]),
            ("rows now", document["rows_after"]),
            ("bad, as before", document["bad"]),
            ("late, as before", document["late"]),
            ("old files", document["files_before"]),
            ("new files", document["files_after"]),
        ]
    )


def as_text(document: dict[str, object]) -> str:
    if not document["missing"] and not document["dropped_files"]:
        deleted = document["deleted"]
        more = f" of what the log has; {deleted} offsets were deleted there" if deleted else ""
        return f"nothing is missing{more}"
    names = {
        "missing": "offsets that were missing", "added": "rows that were added",
        "bad": "bad, as before", "late": "late, as before", "files": "new files",
        "dropped_files": "files that were gone", "deleted": "offsets that the log has deleted",
    }  # fmt: skip
    return fields_text([(text, document[name]) for name, text in names.items()])
