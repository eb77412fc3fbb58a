"""`ottla cluster stop`: stop members of a local cluster, as SIGTERM does."""

from __future__ import annotations

import argparse

from ottla.cli.local_cluster.arguments import add_member_arguments, carry_out


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_member_arguments(parser)


def run(arguments: argparse.Namespace) -> int:
    return carry_out("stop", arguments, "stopped {name}")
