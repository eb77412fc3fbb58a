"""Settings of a member of a cluster: where its ZooKeeper is, and how it joins."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ottla.config.checks import anything, at_least
from ottla.config.kinds import INT, STRING, optional
from ottla.config.options import SECOND_MS, invalid, option
from ottla.config.zookeeper_connect import BadConnectString, ConnectString


def names_servers(name: str, value: Any) -> str | None:
    if not value:
        return None
    try:
        ConnectString.parse(value)
    except BadConnectString as error:
        return invalid(name, value, str(error))
    return None


# Those of ZooKeeper are internal: not described to clients unless they are set, because Kafka 4 has
# no such settings.
@dataclass(frozen=True, init=False, repr=False, eq=False)
class ClusterOptions:
    zookeeper_connect: str | None = option(
        "zookeeper.connect",
        None,
        optional(STRING),
        names_servers,
        "The ZooKeeper servers of the cluster that this broker joins, as `HOST:PORT,.../chroot`. "
        "Without it, the broker is a cluster of its own, with its metadata in its data directory.",
        is_internal=True,
    )
    zookeeper_session_timeout_ms: int = option(
        "zookeeper.session.timeout.ms",
        18 * SECOND_MS,
        INT,
        at_least(1),
        "How long the cluster waits for a broker that does not respond, before others lead its "
        "partitions. One whose process has ended is replaced sooner.",
        is_internal=True,
    )
    zookeeper_connection_timeout_ms: int | None = option(
        "zookeeper.connection.timeout.ms",
        None,
        optional(INT),
        at_least(0),
        "How long a broker that starts waits for ZooKeeper; as long as the session timeout, unless "
        "it is set.",
        is_internal=True,
    )

    initial_broker_registration_timeout_ms: int = option(
        "initial.broker.registration.timeout.ms",
        60 * SECOND_MS,
        INT,
        anything,
        "How long a broker that starts waits until the controller has registered it, before its "
        "process ends.",
    )

    @property
    def is_cluster_member(self) -> bool:
        return bool(self.zookeeper_connect)
