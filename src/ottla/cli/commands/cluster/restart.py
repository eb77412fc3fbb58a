"""`ottla cluster restart`: stop and start members of a local cluster, one after the other.

Between two brokers it waits until all partitions are in sync. Without ids it restarts all brokers,
the controller last.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from typing import Any

from ottla.cli.arguments.numbers import seconds
from ottla.cli.cluster.connection import ClusterConnection
from ottla.cli.cluster.raw_client import raw_client
from ottla.cli.errors import CommandFailed
from ottla.cli.local_cluster.arguments import add_member_arguments, run_verb
from ottla.cli.local_cluster.control import request
from ottla.cli.local_cluster.directory import ClusterDirectory
from ottla.cli.local_cluster.member import ProcessState
from ottla.cli.local_cluster.rolling import in_order, restart_all
from ottla.client.errors import ClientError

WAIT_S, WAIT_S_MAX = 120.0, 86_400
DONE = "restarted {name} on {address}, as process {pid}"
EPILOG = """\
examples:
  ottla cluster restart           all brokers, one after the other
  ottla cluster restart 2         one of them
  ottla cluster restart --force   without waiting for replicas to be in sync
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_member_arguments(parser, count="*", without="all brokers")
    parser.add_argument(
        "--wait",
        type=seconds(0, WAIT_S_MAX),
        default=WAIT_S,
        metavar="SECONDS",
        help=f"how long replicas may take to be in sync again (default: {WAIT_S:.0f})",
    )
    parser.add_argument(
        "--force",
        action="store_true",
        help="do not wait or refuse: partitions may be unavailable, records of acks=1 lost",
    )


def run(arguments: argparse.Namespace) -> int:
    directory = ClusterDirectory(arguments.data)
    status = request(directory, "status")
    names = [f"broker-{each}" if each.isdecimal() else each for each in arguments.ids]
    known = [each["name"] for each in status["members"]]
    brokers = [each for each in names or known if each.startswith("broker-")]
    if arguments.force or any(each not in known for each in names) or len(brokers) < len(names):
        arguments.ids = arguments.ids or [each.removeprefix("broker-") for each in brokers]
        return run_verb("restart", arguments, DONE, continues=False)
    require_zookeeper(status["members"])
    running = [each["address"] for each in status["members"] if is_running_broker(each)]
    if not running:
        raise CommandFailed("no broker is running", "start them: ottla cluster start ID")
    roll(directory, [int(each.removeprefix("broker-")) for each in brokers], running, arguments)
    return 0


def roll(
    directory: ClusterDirectory, ids: list[int], running: list[str], arguments: argparse.Namespace
) -> None:
    def restart(broker_id: int) -> None:
        print(DONE.format(**request(directory, "restart", id=str(broker_id))), flush=True)

    try:
        with raw_client(ClusterConnection(",".join(running)), arguments.wait) as cluster:
            cluster.read_metadata([])
            ordered = ids if arguments.ids else in_order(ids, cluster.topology.controller_id)
            restart_all(cluster, ordered, restart, arguments.wait)
    except ClientError as error:
        raise CommandFailed(str(error), "or use --force") from error


def require_zookeeper(members: Sequence[Mapping[str, Any]]) -> None:
    """CommandFailed if a broker that is stopped could not start again."""
    servers = [each for each in members if str(each["name"]).startswith("zookeeper-")]
    stopped = [str(each["name"]) for each in servers if each["state"] != ProcessState.RUNNING]
    if 2 * len(stopped) >= len(servers) > 0:
        raise CommandFailed(
            f"no broker is restarted: it could not start again without {', '.join(stopped)}",
            f"start ZooKeeper first: ottla cluster start {' '.join(stopped)}; or use --force",
        )


def is_running_broker(member: dict[str, Any]) -> bool:
    return str(member["name"]).startswith("broker-") and member["state"] == ProcessState.RUNNING
