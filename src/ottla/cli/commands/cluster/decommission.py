"""`ottla cluster decommission`: move all replicas away from a broker, and unregister it.

It works with any cluster, by its bootstrap servers. If it is interrupted, the moves continue, and
the same command again waits for them. Exit code 0 once the broker has no replicas.
"""

from __future__ import annotations

import argparse
import sys
import time
from typing import Any

from ottla.cli.arguments.numbers import whole_number
from ottla.cli.cluster.connection import ClusterConnection, add_connection_arguments
from ottla.cli.cluster.raw_client import is_usable, raw_client
from ottla.cli.decommission.cluster_state import ClusterState, check, plan, read
from ottla.cli.decommission.plan import Move, replica_counts
from ottla.cli.decommission.reassigning import cancel, move_all
from ottla.cli.errors import CommandFailed
from ottla.cli.local_cluster.control import request
from ottla.cli.local_cluster.directory import ClusterDirectory
from ottla.cli.output.documents import add_format_argument, show
from ottla.cli.output.tables import Column, count_text, table
from ottla.client.admin.reassignments import unregister_broker
from ottla.client.cluster.cluster import Cluster
from ottla.client.errors import ClientError

BROKER_ID_MAX = RATE_MAX = (1 << 31) - 1
TIMEOUT_S = 60.0  # brokers and controllers may restart meanwhile
FENCED_S = 60.0
POLL_S = 0.2
EPILOG = """\
examples:
  ottla cluster decommission 4 --dry-run           show which replicas would go where
  ottla cluster decommission 4 --throttle 50000000 move them, at most 50 MB a second for each broker
  ottla cluster decommission 4 --cancel            undo the moves that have not ended
  ottla cluster decommission 4 --data DIR          a cluster of `ottla cluster up`: stop it as well
"""
MOVES = (
    Column("TOPIC", "topic"),
    Column("PARTITION", "partition"),
    Column("REPLICAS", "before", lambda ids: ",".join(map(str, ids))),
    Column("NEW REPLICAS", "after", lambda ids: ",".join(map(str, ids))),
)
COUNTS = (
    Column("BROKER", "broker"),
    Column("RACK", "rack"),
    Column("REPLICAS", "replicas_before"),
    Column("AFTER", "replicas_after"),
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "broker", metavar="BROKER_ID", type=whole_number(0, BROKER_ID_MAX), help="who leaves"
    )
    parser.add_argument(
        "--dry-run", action="store_true", help="show what would be moved, and change nothing"
    )
    parser.add_argument(
        "--throttle",
        metavar="BYTES",
        type=whole_number(1, RATE_MAX),
        help="limit in bytes a second for each broker, until all replicas are moved",
    )
    parser.add_argument(
        "--cancel", action="store_true", help="undo the moves that have not ended yet"
    )
    parser.add_argument(
        "--data", metavar="DIR", help="directory of the local cluster whose broker is stopped"
    )
    add_format_argument(parser)
    add_connection_arguments(parser)


def run(arguments: argparse.Namespace) -> int:
    local = None if arguments.data is None else ClusterDirectory(arguments.data)
    if local is not None and arguments.bootstrap is None:
        arguments.bootstrap = request(local, "status")["bootstrap_servers"]
    connection = ClusterConnection.of(arguments)
    if not is_usable(connection):
        raise CommandFailed(
            "moving replicas is not possible over TLS or SASL: use a plain listener",
            "or Kafka's own tool, kafka-reassign-partitions.sh: see docs/guides/cluster.md",
        )
    try:
        with raw_client(connection, TIMEOUT_S) as cluster:
            document = run_verb(cluster, arguments, local)
    except ClientError as error:
        raise CommandFailed(str(error), "moves that have begun continue: run this again") from error
    show(arguments.format, document, lambda: as_text(document))
    return 0


def run_verb(
    cluster: Cluster, arguments: argparse.Namespace, local: ClusterDirectory | None
) -> dict[str, Any]:
    broker_id = arguments.broker
    state = read(cluster)
    check(state, broker_id)
    if arguments.cancel:
        cancelled = cancel(cluster, broker_id)
        return {"broker": broker_id, "state": "cancelled", "cancelled": cancelled}
    document = plan_document(state, broker_id, plan(state, broker_id))
    if arguments.dry_run:
        return {**document, "state": "planned"}
    try:
        move_all(cluster, broker_id, arguments.throttle, report)
    except KeyboardInterrupt:
        report(f"the moves continue; to undo them: ottla cluster decommission {broker_id} --cancel")
        raise
    return {**document, "state": leave(cluster, broker_id, local)}


def leave(cluster: Cluster, broker_id: int, local: ClusterDirectory | None) -> str:
    """Unregister the broker, if it is stopped or can be stopped."""
    if local is not None and broker_id in read(cluster).serving:
        request(local, "stop", id=str(broker_id))
        wait_until_fenced(cluster, broker_id)
    state = read(cluster)
    if broker_id in state.serving:
        return "moved"
    unregister_broker(cluster, broker_id)
    if local is not None:
        request(local, "remove", broker=broker_id)
    return "unregistered"


def wait_until_fenced(cluster: Cluster, broker_id: int) -> None:
    deadline_s = time.monotonic() + FENCED_S
    while broker_id in read(cluster).serving:
        if time.monotonic() > deadline_s:
            raise CommandFailed(
                f"broker {broker_id} was stopped, and still serves", "run this again"
            )
        time.sleep(POLL_S)


def plan_document(state: ClusterState, broker_id: int, moves: list[Move]) -> dict[str, Any]:
    before = state.targets
    after = before | {each.partition: each.after for each in moves}
    ids = sorted({*state.brokers, broker_id})
    counted = replica_counts(before.values(), ids), replica_counts(after.values(), ids)
    racks = {each.id: each.rack for each in state.brokers.values()}
    return {
        "broker": broker_id,
        "moves": [
            {
                "topic": each.partition.topic,
                "partition": each.partition.partition,
                "before": list(each.before),
                "after": list(each.after),
            }
            for each in moves
        ],
        "under_way": sum(broker_id in each.removing for each in state.reassignments.values()),
        "brokers": [
            {
                "broker": each,
                "rack": racks.get(each),
                "replicas_before": counted[0][each],
                "replicas_after": counted[1][each],
            }
            for each in ids
        ],
    }


def as_text(document: dict[str, Any]) -> str:
    broker_id = document["broker"]
    match document["state"]:
        case "cancelled":
            return f"{count_text(document['cancelled'], 'move')} cancelled"
        case "planned":
            under_way = document["under_way"]
            lines = [table(MOVES, document["moves"]), table(COUNTS, document["brokers"])]
            lines += [f"{count_text(under_way, 'move')} under way already"] if under_way else []
            return "\n".join(each for each in lines if each)
        case "moved":
            return (
                f"stop broker {broker_id} now: it has no replicas any more\n"
                f"then unregister it: ottla cluster decommission {broker_id}"
            )
    return f"broker {broker_id} is no longer a part of the cluster"


def report(text: str) -> None:
    print(text, file=sys.stderr, flush=True)
