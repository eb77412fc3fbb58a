"""`ottla pipeline validate`: check a pipeline file against clusters and tables.

Exit code 0 if everything is right, else 1. Nothing is read or changed.
"""

from __future__ import annotations

import argparse
from dataclasses import asdict

from ottla.cli.output.documents import add_format_argument, show
from ottla.cli.output.tables import Column, table
from ottla.cli.pipelines.pipeline_file import add_file_argument, load_file, pipeline_failures

COLUMNS = (
    Column("PIPELINE", "pipeline"),
    Column("CHECK", "what"),
    Column("RESULT", "problem", lambda problem: problem),
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_file_argument(parser)
    add_format_argument(parser)


def run(arguments: argparse.Namespace) -> int:
    declared = load_file(arguments.file)
    from ottla.pipelines.running.session import add_module_path, open_session
    from ottla.pipelines.verbs.validate import validate

    add_module_path(declared)
    with pipeline_failures():
        checks = validate(declared, lambda: open_session(declared))
    documents = [asdict(check) | {"is_right": check.problem is None} for check in checks]
    rows = [each | {"problem": each["problem"] or "right"} for each in documents]
    show(arguments.format, documents, lambda: table(COLUMNS, rows))
    return 0 if all(check.problem is None for check in checks) else 1
