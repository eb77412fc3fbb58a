"""What the verbs of `ottla cluster` share: their options, and how they report what was done."""

from __future__ import annotations

import argparse
from functools import partial

from ottla.cli.errors import CommandFailed
from ottla.cli.local_cluster.control import request
from ottla.cli.local_cluster.directory import DEFAULT_DATA, ClusterDirectory
from ottla.cli.local_cluster.reminders import reminders
from ottla.cli.process import print_error

REMINDER_S = 5.0
ZOOKEEPER = "zookeeper-"


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


def run_verb(verb: str, arguments: argparse.Namespace, done: str, *, continues: bool = True) -> int:
    """Have `ottla cluster up` do this to each member in turn. `done` may name their fields.

    Each failure is reported; without `continues` the first one ends it. Brokers need ZooKeeper
    while they start, and while they stop.
    """
    directory = ClusterDirectory(arguments.data)
    names = list(dict.fromkeys(arguments.ids))
    if verb in ("start", "stop"):
        names.sort(key=lambda each: each.startswith(ZOOKEEPER), reverse=verb == "start")
    report = partial(remind, verb)
    failures: dict[str, None] = {}
    for position, name in enumerate(names, 1):
        try:
            with reminders(REMINDER_S, partial(progress, directory, name), report):
                member = request(directory, verb, id=name)
        except CommandFailed as error:
            failures[str(error)] = None
            rest = names[position:]
            if rest and not continues:
                failures[f"  not tried: {', '.join(rest)}"] = None
                break
        else:
            print(done.format(**member), flush=True)
    if failures:
        raise CommandFailed("\n".join(failures))
    return 0


def remind(verb: str, text: str) -> None:
    print_error(f"ottla cluster {verb}: {text}")


def progress(directory: ClusterDirectory, name: str) -> list[str]:
    try:
        return [request(directory, "progress", id=name)]
    except CommandFailed:  # it ends
        return []
