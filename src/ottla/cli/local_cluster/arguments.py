"""What the verbs of `ottla cluster` share: their options, and how they report what was done."""

from __future__ import annotations

import argparse

from ottla.cli.local_cluster.control import request
from ottla.cli.local_cluster.directory import DEFAULT_DATA, ClusterDirectory


def add_data_argument(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--data",
        metavar="DIR",
        default=DEFAULT_DATA,
        help=f"directory of the cluster (default: ./{DEFAULT_DATA})",
    )


def add_member_arguments(
    parser: argparse.ArgumentParser, count: str = "+", without: str | None = None
) -> None:
    default = "" if without is None else f" (default: {without})"
    parser.add_argument(
        "ids",
        metavar="ID",
        nargs=count,
        help=f"id of a broker, or a name such as zookeeper-1{default}",
    )
    add_data_argument(parser)


def carry_out(verb: str, arguments: argparse.Namespace, done: str) -> int:
    """Have `ottla cluster up` do this to each member in turn. `done` may name their fields."""
    directory = ClusterDirectory(arguments.data)
    for name in arguments.ids:
        member = request(directory, verb, id=name)
        print(done.format(**member), flush=True)
    return 0
