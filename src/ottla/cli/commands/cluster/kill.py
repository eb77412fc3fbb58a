"""`ottla cluster kill`: end members of a local cluster as a crash would (SIGKILL)."""

from __future__ import annotations

import argparse

from ottla.cli.local_cluster.arguments import add_member_arguments, run_verb


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_member_arguments(parser)


def run(arguments: argparse.Namespace) -> int:
    return run_verb("kill", arguments, "killed {name}")
