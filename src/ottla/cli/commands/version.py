"""`ottla version`: show the installed version."""

from __future__ import annotations

import argparse
import json
import platform

from ottla import __version__


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--format", choices=["text", "json"], default="text")


def run(arguments: argparse.Namespace) -> int:
    facts = version_facts()
    if arguments.format == "json":
        print(json.dumps(facts))
    else:
        print("\n".join(f"{name + ':':<16} {value}" for name, value in facts.items()))
    return 0


def version_facts() -> dict[str, str]:
    from ottla.protocol.records.native import IMPLEMENTATION

    return {
        "ottla": __version__,
        "python": platform.python_version(),
        "record decoder": IMPLEMENTATION,
    }
