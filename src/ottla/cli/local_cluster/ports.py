"""Whether the ports of a cluster are free, before anything is started."""

from __future__ import annotations

import errno
import socket

from ottla.cli.broker_process.owners import port_owner
from ottla.cli.errors import CommandFailed
from ottla.cli.local_cluster.directory import HOST, ClusterDirectory, Description


def require_free_ports(directory: ClusterDirectory, description: Description) -> None:
    ports = [*description.broker_ports.values()]
    ports += [each.client for each in description.zookeepers.values()]
    used = [port for port in ports if not is_free(port)]
    if used:
        owners = {port: port_owner(port) for port in used}
        raise CommandFailed(
            "\n".join(
                f"port {port} is in use" + ("" if owner is None else f" by {owner}")
                for port, owner in owners.items()
            ),
            *advice(directory),
        )


def advice(directory: ClusterDirectory) -> list[str]:
    if directory.description_path.exists():
        return [
            "stop it; or change listeners and zookeeper.connect in "
            f"{directory.name}/broker-N/server.properties and the ports in "
            f"{directory.name}/cluster.json"
        ]
    return ["stop it, or choose another first port: --port PORT (0 picks free ports)"]


def is_free(port: int) -> bool:
    for family, kind, _, _, address in socket.getaddrinfo(HOST, port, type=socket.SOCK_STREAM):
        with socket.socket(family, kind) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind(address)
            except OSError as error:
                if error.errno == errno.EADDRINUSE:
                    return False
    return True
