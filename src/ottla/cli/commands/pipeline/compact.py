"""`ottla pipeline compact`: small files of closed hours into large ones. Needs no Spark."""

from __future__ import annotations

import argparse
from dataclasses import asdict

from ottla.cli.output.documents import add_format_argument, show
from ottla.cli.output.tables import Column, table
from ottla.cli.pipelines.pipeline_file import (
    add_file_argument,
    add_names_argument,
    chosen_names,
    load_file,
    pipeline_failures,
    shown_progress,
)

COLUMNS = (
    Column("PIPELINE", "pipeline"),
    Column("HOURS", "hours"),
    Column("FILES BEFORE", "files_before"),
    Column("FILES AFTER", "files_after"),
    Column("ROWS", "rows"),
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_file_argument(parser)
    add_names_argument(parser)
    add_format_argument(parser)


def run(arguments: argparse.Namespace) -> int:
    declared = load_file(arguments.file)
    names = chosen_names(declared, arguments.names)
    from ottla.pipelines.declaration.tree import Lake
    from ottla.pipelines.verbs.compact import compact

    if not arguments.names:
        names = [name for name in names if isinstance(declared.pipelines[name].to, Lake)]
    with pipeline_failures(), shown_progress() as progress:
        documents = [
            {"pipeline": name, **asdict(compact(declared.pipelines[name], progress))}
            for name in names
        ]
    show(arguments.format, documents, lambda: table(COLUMNS, documents))
    return 0
