"""`ottla cluster down`: stop a local cluster, brokers first. Its data is kept."""

from __future__ import annotations

import argparse

from ottla.cli.errors import CommandFailed
from ottla.cli.local_cluster.arguments import add_data_argument
from ottla.cli.local_cluster.control import request
from ottla.cli.local_cluster.directory import ClusterDirectory
from ottla.cli.local_cluster.lock import wait_until_unlocked

END_S = 30.0


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_data_argument(parser)


def run(arguments: argparse.Namespace) -> int:
    directory = ClusterDirectory(arguments.data)
    request(directory, "down")
    # Its processes have ended, and it ends itself: then `up` may follow.
    if not wait_until_unlocked(directory.lock_path, END_S):
        raise CommandFailed("ottla cluster up has stopped its processes, but does not end itself")
    print(f"stopped the cluster in {directory.name}")
    return 0
