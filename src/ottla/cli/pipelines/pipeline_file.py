"""What the commands of `ottla pipeline` share: the file, and the pipelines in it."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from typing import TYPE_CHECKING

from ottla.cli.arguments.texts import path_name
from ottla.cli.errors import USAGE, CommandFailed, suggestions
from ottla.cli.interruptions import hide_interrupted_calls

if TYPE_CHECKING:
    from ottla.pipelines.declaration.tree import Declaration
    from ottla.pipelines.verbs.progress import Progress

NEEDED = ("yaml", "pyspark", "pyarrow")


def add_file_argument(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "file", metavar="FILE", type=path_name, help="a pipeline file: .yaml, or .py"
    )


def add_names_argument(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "names", metavar="NAME", nargs="*", help="pipelines of the file (default: all)"
    )


def require_libraries() -> None:
    if missing := [name for name in NEEDED if find_spec(name) is None]:
        raise CommandFailed(
            f"pipelines need {', '.join(missing)}", "pip install 'ottla[pipelines]'", code=USAGE
        )


@contextmanager
def pipeline_failures() -> Iterator[None]:
    """Failures of pipelines and clusters as those of the command."""
    from ottla.client.errors import ClientError
    from ottla.pipelines.errors import DeclarationError, PipelineError

    try:
        yield
    except DeclarationError as error:
        raise CommandFailed(str(error), code=USAGE) from None
    except (PipelineError, ClientError) as error:
        raise CommandFailed(str(error)) from None


def shown_progress() -> Progress:
    """Lines on standard error, if a command takes longer than some seconds."""
    from ottla.pipelines.verbs.progress import Progress

    return Progress(lambda text: print(text, file=sys.stderr, flush=True))


def load_file(path: str) -> Declaration:
    require_libraries()
    hide_interrupted_calls()
    from ottla.pipelines.declaration.loading import load

    with pipeline_failures():
        return load(path)


def chosen_names(declared: Declaration, names: list[str]) -> list[str]:
    for name in names:
        if name not in declared.pipelines:
            raise CommandFailed(
                f"{declared.file} has no pipeline {name}",
                *suggestions(name, declared.pipelines),
                code=USAGE,
            )
    return names or list(declared.pipelines)
