"""`ottla status`: show brokers, topics, groups and health of the cluster.

Exit code 0 if every partition has a leader and all its replicas are in sync, else 1.
"""

from __future__ import annotations

import argparse
import time
from typing import Any

from ottla.cli.arguments.numbers import seconds
from ottla.cli.cluster.connection import Connection, add_connection_arguments
from ottla.cli.cluster.groups import all_groups
from ottla.cli.cluster.topics import INTERNAL
from ottla.cli.errors import USAGE, CommandFailed
from ottla.cli.output.documents import add_format_argument, show
from ottla.cli.output.tables import Column, count_text, fields_text, table
from ottla.config.addresses import Address

RETRY_S = 0.1
WAIT_S_MAX = 86_400


BROKER_COLUMNS = (Column("BROKER", "id"), Column("ADDRESS", "address"), Column("RACK", "rack"))


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--wait", type=seconds(0, WAIT_S_MAX), default=0.0, metavar="SECONDS",
        help="wait until the cluster responds and is healthy, at most this long",
    )  # fmt: skip
    add_format_argument(parser)
    add_connection_arguments(parser)


def run(arguments: argparse.Namespace) -> int:
    deadline_s = time.monotonic() + arguments.wait
    while True:
        try:
            document = status_document(Connection.of(arguments))
        except CommandFailed as error:
            if error.code == USAGE or time.monotonic() >= deadline_s:
                raise
        else:
            if document["is_healthy"] or time.monotonic() >= deadline_s:
                break
        time.sleep(RETRY_S)
    show(arguments.format, document, lambda: as_text(document))
    return 0 if document["is_healthy"] else 1


def status_document(connection: Connection) -> dict[str, Any]:
    admin = connection.admin()
    described = admin.describe_cluster(request_timeout=connection.timeout_s)
    metadata = connection.metadata(admin)
    cluster = connection.wait(described)
    groups = all_groups(connection, admin)
    topics = metadata.topics.values()
    partitions = [each for topic in topics for each in topic.partitions.values()]
    leaderless = sum(each.leader < 0 for each in partitions)
    behind = sum(len(each.isrs) < len(each.replicas) for each in partitions)
    return {
        "cluster_id": cluster.cluster_id,
        "controller": None if cluster.controller is None else cluster.controller.id,
        "brokers": [broker_document(node) for node in sorted(cluster.nodes, key=lambda n: n.id)],
        "topics": sum(topic.topic not in INTERNAL for topic in topics),
        "internal_topics": sum(topic.topic in INTERNAL for topic in topics),
        "partitions": len(partitions),
        "groups": len(groups),
        "partitions_without_leader": leaderless,
        "partitions_behind": behind,
        "is_healthy": not leaderless and not behind,
    }


def broker_document(node: Any) -> dict[str, Any]:
    return {"id": node.id, "address": str(Address(node.host, node.port)), "rack": node.rack}


def as_text(status: dict[str, Any]) -> str:
    internal = status["internal_topics"]
    topics = count_text(status["topics"], "topic") + (
        f" and {internal} internal" if internal else ""
    )
    return "\n".join(
        [
            fields_text(
                [
                    ("cluster", status["cluster_id"]),
                    ("controller", str(status["controller"])),
                    ("topics", f"{topics}, {count_text(status['partitions'], 'partition')}"),
                    ("groups", str(status["groups"])),
                    ("health", health(status)),
                ]
            ),
            table(BROKER_COLUMNS, status["brokers"]),
        ]
    )


def health(status: dict[str, Any]) -> str:
    problems = []
    if status["partitions_without_leader"]:
        problems.append(
            f"{count_text(status['partitions_without_leader'], 'partition')} without leader"
        )
    if status["partitions_behind"]:
        problems.append(
            f"{count_text(status['partitions_behind'], 'partition')} with replicas behind"
        )
    return ", ".join(problems) or "good"
