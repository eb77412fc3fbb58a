"""`ottla cluster start`: start members of a local cluster that do not run."""

from __future__ import annotations

import argparse

from ottla.cli.local_cluster.arguments import add_member_arguments, run_verb


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_member_arguments(parser)


def run(arguments: argparse.Namespace) -> int:
    return run_verb("start", arguments, "started {name} on {address}, as process {pid}")
