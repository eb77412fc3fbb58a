"""Why a broker takes no records: a disk that is full, or a log directory that is offline."""

from __future__ import annotations

from ottla.cli.cluster.connection import ClusterConnection
from ottla.cli.cluster.raw_client import is_usable, raw_client
from ottla.client.admin.log_directories import disk_problem
from ottla.client.errors import ClientError


def disk_problem_of(connection: ClusterConnection, broker_id: int) -> str | None:
    """None if all disks of the broker have room, or if that is not known."""
    if not is_usable(connection):
        return None
    try:
        with raw_client(connection) as cluster:
            return disk_problem(cluster, broker_id)
    except ClientError:
        return None
