"""`ottla pipeline replay-bad`: add to a table the bad records that can be decoded now.

Needs no Spark. Records that are still bad stay in their topic, and may be replayed again.
"""

from __future__ import annotations

import argparse
from dataclasses import asdict

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


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_file_argument(parser)
    parser.add_argument(
        "name", metavar="NAME", nargs="?", help="the pipeline, if there are several"
    )
    add_format_argument(parser)


def run(arguments: argparse.Namespace) -> int:
    declared = load_file(arguments.file)
    names = chosen_names(declared, [arguments.name] if arguments.name else [])
    if len(names) > 1:
        raise CommandFailed("name one of the pipelines", ", ".join(names), code=USAGE)
    from ottla.pipelines.verbs.replay_bad import replay_bad

    with pipeline_failures(), shown_progress() as progress:
        done = replay_bad(declared, declared.pipelines[names[0]], progress)
    document = asdict(done)
    show(arguments.format, document, lambda: as_text(document))
    return 0


def as_text(document: dict[str, int]) -> str:
    names = {
        "read": "bad records", "added": "rows that were added", "still_bad": "still bad",
        "present": "added before",
    }  # fmt: skip
    return fields_text([(text, str(document[name])) for name, text in names.items()])
