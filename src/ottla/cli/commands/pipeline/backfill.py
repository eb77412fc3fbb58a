"""`ottla pipeline backfill`: add to a table the records that it lacks.

Without --offsets everything is compared: the offsets that the table should have, and those it has.
"""

from __future__ import annotations

import argparse
import time
from dataclasses import asdict

from ottla.cli.arguments.timestamps import parse_timestamp
from ottla.cli.errors import USAGE, CommandFailed
from ottla.cli.output.documents import add_format_argument, show
from ottla.cli.output.tables import fields_text
from ottla.cli.pipelines.pipeline_file import (
    add_file_argument,
    chosen_names,
    load_file,
    pipeline_failures,
)

EPILOG = """\
examples:
  ottla pipeline backfill orders.yaml orders_lake
  ottla pipeline backfill orders.yaml orders_lake --offsets orders:0:100-199,300 orders:2:7
  ottla pipeline backfill orders.yaml orders_lake --from 2026-03-01T10:00:00Z --to -1h
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
    from ottla.pipelines.running.session import open_session
    from ottla.pipelines.verbs.backfill import backfill
    from ottla.pipelines.verbs.times import Times

    with pipeline_failures():
        done = backfill(
            declared,
            declared.pipelines[names[0]],
            arguments.offsets,
            lambda: open_session(declared),
            Times(time_ms("--from", arguments.from_time), time_ms("--to", arguments.to_time)),
        )
    document = asdict(done)
    show(arguments.format, document, lambda: as_text(document))
    return 0


def as_text(document: dict[str, object]) -> str:
    if not document["missing"] and not document["dropped_files"]:
        return "nothing is missing"
    names = {
        "missing": "offsets that were missing", "added": "rows that were added",
        "bad": "bad, as before", "late": "late, as before", "files": "new files",
        "dropped_files": "files that were gone",
    }  # fmt: skip
    return fields_text([(text, document[name]) for name, text in names.items()])
