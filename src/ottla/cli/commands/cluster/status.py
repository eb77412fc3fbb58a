"""`ottla cluster status`: show the processes of a local cluster.

Exit code 0 if all of them run, else 1.
"""

from __future__ import annotations

import argparse
from typing import Any

from ottla.cli.local_cluster.arguments import add_data_argument
from ottla.cli.local_cluster.control import request
from ottla.cli.local_cluster.directory import ClusterDirectory
from ottla.cli.local_cluster.member import ProcessState
from ottla.cli.output.documents import add_format_argument, show
from ottla.cli.output.tables import Column, fields_text, table

COLUMNS = (
    Column("NAME", "name"),
    Column("STATE", "state"),
    Column("PROCESS", "pid"),
    Column("ADDRESS", "address"),
    Column("LOG", "log"),
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_format_argument(parser)
    add_data_argument(parser)


def run(arguments: argparse.Namespace) -> int:
    document = request(ClusterDirectory(arguments.data), "status")
    show(arguments.format, document, lambda: as_text(document))
    return 0 if all(each["state"] == ProcessState.RUNNING for each in document["members"]) else 1


def as_text(document: dict[str, Any]) -> str:
    fields = [
        ("bootstrap servers", document["bootstrap_servers"]),
        ("zookeeper.connect", document["zookeeper_connect"]),
        ("process of the cluster", document["pid"]),
    ]
    return "\n".join([fields_text(fields), table(COLUMNS, document["members"])])
