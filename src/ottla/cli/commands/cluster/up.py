"""`ottla cluster up`: run a cluster on this machine in the foreground, until Ctrl-C or SIGTERM.

Promises  one line on standard output once clients can connect to all brokers:
          `ottla cluster is ready on HOST:PORT,HOST:PORT,...`. No process outlives the command.
          Exit code 0 after a clean shutdown, 1 if a process did not start or did not stop.
"""

from __future__ import annotations

import argparse
import sys
from contextlib import suppress

from ottla.cli.arguments.numbers import whole_number
from ottla.cli.errors import CommandFailed
from ottla.cli.local_cluster.arguments import add_data_argument
from ottla.cli.local_cluster.directory import (
    DEFAULT_BROKERS,
    DEFAULT_PORT,
    ClusterDirectory,
    Description,
    plan,
)
from ottla.cli.local_cluster.lock import Locked, locked
from ottla.cli.local_cluster.ports import require_free_ports
from ottla.cli.local_cluster.supervisor import Supervisor
from ottla.cli.zookeeper_process.jars import find_jars
from ottla.cli.zookeeper_process.java import find_java
from ottla.config.addresses import PORT_MAX

BROKERS_MAX = 100
EPILOG = """\
examples:
  ottla cluster up                         three brokers on the ports 9092 to 9094
  ottla cluster up --brokers 5 --port 0    five brokers on free ports
  ottla cluster kill 2                     in another terminal: end broker 2 as a crash would
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--brokers",
        type=whole_number(1, BROKERS_MAX),
        metavar="N",
        help=f"number of brokers (default: {DEFAULT_BROKERS}, or as many as the cluster has)",
    )
    parser.add_argument(
        "--zookeepers",
        type=int,
        choices=(1, 3),
        help="number of ZooKeeper servers (default: 1, or as many as the cluster has)",
    )
    parser.add_argument(
        "--port",
        type=whole_number(0, PORT_MAX),
        help=f"port of the first broker; the others have the next ones (default: {DEFAULT_PORT}); "
        "0 picks free ports",
    )
    parser.add_argument("--jars", metavar="DIR", help="directory with the jars of ZooKeeper")
    add_data_argument(parser)


def run(arguments: argparse.Namespace) -> int:
    directory = ClusterDirectory(arguments.data)
    find_java()
    find_jars(arguments.jars)
    directory.load()  # refuses other directories before anything is written
    directory.create()
    try:
        with locked(directory.lock_path):
            description = prepare(directory, arguments)
            supervisor = Supervisor(directory, description, jars=arguments.jars)
            return supervisor.run(lambda: announce(directory, supervisor))
    except Locked:
        raise CommandFailed(
            f"the cluster in {directory.name} is running already",
            f"see: ottla cluster status{directory.option()}",
            f"stop it: ottla cluster down{directory.option()}; "
            "or choose another directory: --data DIR",
        ) from None


def prepare(directory: ClusterDirectory, arguments: argparse.Namespace) -> Description:
    found = directory.load()
    ports_end = (arguments.port or 0) + (arguments.brokers or DEFAULT_BROKERS)
    if found is None and ports_end > PORT_MAX + 1:
        raise CommandFailed(f"--port {arguments.port}: the last ports are above {PORT_MAX}", code=2)
    description = plan(directory, found, arguments.brokers, arguments.zookeepers, arguments.port)
    require_free_ports(directory, description)
    directory.write(description)
    return description


def announce(directory: ClusterDirectory, supervisor: Supervisor) -> None:
    lines = [f"ottla cluster is ready on {supervisor.bootstrap_servers}"]
    if sys.stdout is not None and sys.stdout.isatty():
        option = directory.option()
        lines += [
            f"  data directory: {directory.name}; Ctrl-C stops the cluster",
            "  try in another terminal:",
            f"    ottla status --bootstrap {supervisor.bootstrap_servers}",
            f"    ottla cluster status{option}",
            f"    ottla cluster kill 2{option}",
        ]
    with suppress(OSError):  # standard output may be closed: the cluster serves nevertheless
        print("\n".join(lines), flush=True)
