"""`ottla status`: show brokers, topics, groups and health of the cluster.

Exit code 0 if every partition has a leader and all its replicas are in sync, else 1.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterable, Mapping
from typing import Any

from ottla.cli.arguments.numbers import seconds
from ottla.cli.cluster.connection import (
    ClusterConnection,
    add_connection_arguments,
    confluent_kafka,
)
from ottla.cli.cluster.fenced import fenced_brokers
from ottla.cli.cluster.groups import list_groups
from ottla.cli.cluster.topics import INTERNAL
from ottla.cli.errors import USAGE, CommandFailed
from ottla.cli.output.documents import add_format_argument, show
from ottla.cli.output.tables import Column, count_text, fields_text, table
from ottla.client.admin.brokers import BrokerDescription
from ottla.config.addresses import Address

RETRY_S = 0.1
WAIT_S_MAX = 86_400


BROKER_COLUMNS = (
    Column("BROKER", "id"),
    Column("ADDRESS", "address"),
    Column("RACK", "rack"),
    Column("STATE", "is_fenced", lambda is_fenced: "fenced" if is_fenced else "serving"),
)
OFFLINE_SHOWN = 10


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
            document = status_document(ClusterConnection.of(arguments))
        except CommandFailed as error:
            if error.code == USAGE or time.monotonic() >= deadline_s:
                raise
        else:
            if document["is_healthy"] or time.monotonic() >= deadline_s:
                break
        time.sleep(RETRY_S)
    show(arguments.format, document, lambda: as_text(document))
    return 0 if document["is_healthy"] else 1


def status_document(connection: ClusterConnection) -> dict[str, Any]:
    admin = connection.admin()
    described = admin.describe_cluster(request_timeout=connection.timeout_s)
    metadata = connection.metadata(admin)
    cluster = connection.wait(described)
    fenced = fenced_brokers(connection)
    groups = count_of_groups(connection, admin)
    topics = metadata.topics.values()
    partitions = [each for topic in topics for each in topic.partitions.values()]
    offline = offline_partitions(metadata.topics)
    behind = sum(len(each.isrs) < len(each.replicas) for each in partitions)
    return {
        "cluster_id": cluster.cluster_id,
        "controller": None if cluster.controller is None else cluster.controller.id,
        "brokers": broker_documents(cluster.nodes, fenced or []),
        "fenced_brokers": None if fenced is None else [each.id for each in fenced],
        "topics": sum(topic.topic not in INTERNAL for topic in topics),
        "internal_topics": sum(topic.topic in INTERNAL for topic in topics),
        "partitions": len(partitions),
        "groups": groups,
        "partitions_without_leader": len(offline),
        "offline_partitions": offline,
        "partitions_behind": behind,
        "is_healthy": not offline and not behind and groups is not None,
    }


def count_of_groups(connection: ClusterConnection, admin: Any) -> int | None:
    """None if a broker does not list those that it coordinates: others may respond."""
    try:
        result = list_groups(connection, admin)
    except (CommandFailed, confluent_kafka().KafkaException):
        return None
    return None if result.errors else len(result.valid)


def broker_documents(
    serving: Iterable[Any], fenced: Iterable[BrokerDescription]
) -> list[dict[str, Any]]:
    """All that are registered, in order. One may have been fenced between the two responses."""
    brokers = {
        node.id: broker_document(node.id, Address(node.host, node.port), node.rack, False)
        for node in serving
    }
    for each in fenced:
        brokers[each.id] = broker_document(each.id, each.address, each.rack, True)
    return [brokers[broker_id] for broker_id in sorted(brokers)]


def broker_document(
    broker_id: int, address: Address, rack: str | None, is_fenced: bool
) -> dict[str, Any]:
    return {"id": broker_id, "address": str(address), "rack": rack, "is_fenced": is_fenced}


def offline_partitions(topics: Mapping[str, Any]) -> list[str]:
    """The partitions without a leader, as `topic-0`; internal topics last."""
    return [
        f"{name}-{number}"
        for name in sorted(topics, key=lambda name: (name in INTERNAL, name))
        for number, partition in sorted(topics[name].partitions.items())
        if partition.leader < 0
    ]


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
                    ("groups", "unknown" if status["groups"] is None else str(status["groups"])),
                    ("health", health(status)),
                    *offline_field(status["offline_partitions"]),
                ]
            ),
            table(BROKER_COLUMNS, status["brokers"]),
        ]
    )


def offline_field(partitions: list[str]) -> list[tuple[str, str]]:
    if not partitions:
        return []
    shown = ", ".join(partitions[:OFFLINE_SHOWN])
    others = len(partitions) - OFFLINE_SHOWN
    return [("offline", f"{shown} and {others} more" if others > 0 else shown)]


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
    if status["fenced_brokers"]:
        problems.append(f"{count_text(len(status['fenced_brokers']), 'broker')} fenced")
    if status["groups"] is None:
        problems.append("a broker does not list its groups")
    return ", ".join(problems) or "good"
