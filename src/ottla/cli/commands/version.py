"""`ottla version`: show the installed version."""

from __future__ import annotations

import argparse
import platform

from ottla import __version__
from ottla.cli.output.documents import add_format_argument, show


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_format_argument(parser)


def run(arguments: argparse.Namespace) -> int:
    facts = version_facts()
    lines = (f"{name + ':':<16} {value}" for name, value in facts.items())
    show(arguments.format, facts, lambda: "\n".join(lines))
    return 0


def version_facts() -> dict[str, str]:
    from ottla.protocol.records.native import IMPLEMENTATION

    return {
        "ottla": __version__,
        "python": platform.python_version(),
        "record decoder": IMPLEMENTATION,
    }
