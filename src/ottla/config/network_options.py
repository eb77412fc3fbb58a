"""Settings of the broker's id, its listeners and its network limits."""

from __future__ import annotations

from dataclasses import dataclass

from ottla.config.checks import anything, at_least, between, no_blanks, one_of
from ottla.config.kinds import INT, LIST, LONG, STRING, optional
from ottla.config.options import INT32_MAX, KIB, MIB, MINUTE_MS, SECOND_MS, Scope, option


@dataclass(frozen=True, init=False, repr=False, eq=False)
class IdentityOptions:
    node_id: int = option(
        "node.id",
        1,
        INT,
        at_least(0),
        "The broker's number in the cluster. `broker.id` is its older name; both may be set if "
        "they are equal.",
    )
    broker_id: int = option(
        "broker.id", -1, INT, anything, "Older name of `node.id`; negative where it is not used."
    )
    broker_rack: str | None = option(
        "broker.rack",
        None,
        optional(STRING),
        anything,
        "Where the broker stands. Replicas of a partition are spread over racks, and consumers may "
        "fetch from the rack they are in.",
    )


@dataclass(frozen=True, init=False, repr=False, eq=False)
class ListenerOptions:
    listeners: tuple[str, ...] = option(
        "listeners",
        ("PLAINTEXT://:9092",),
        LIST,
        no_blanks,
        "Addresses to listen on, as `NAME://host:port`. An empty host is every interface; port 0 "
        "takes a free one.",
    )
    advertised_listeners: tuple[str, ...] | None = option(
        "advertised.listeners",
        None,
        optional(LIST),
        no_blanks,
        "Addresses that clients connect to, if they differ from `listeners`.",
    )
    listener_security_protocol_map: str = option(
        "listener.security.protocol.map",
        "SASL_SSL:SASL_SSL,PLAINTEXT:PLAINTEXT,SSL:SSL,SASL_PLAINTEXT:SASL_PLAINTEXT",
        STRING,
        anything,
        "Which protocol each listener name stands for, as `NAME:PROTOCOL,...`.",
    )
    inter_broker_listener_name: str | None = option(
        "inter.broker.listener.name",
        None,
        optional(STRING),
        anything,
        "The listener over which brokers talk to each other. Unset, it is the one whose protocol "
        "is `security.inter.broker.protocol`.",
    )
    security_inter_broker_protocol: str = option(
        "security.inter.broker.protocol",
        "PLAINTEXT",
        STRING,
        one_of("PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL"),
        "Protocol between brokers; set either this or `inter.broker.listener.name`.",
    )


@dataclass(frozen=True, init=False, repr=False, eq=False)
class ConnectionOptions:
    socket_send_buffer_bytes: int = option(
        "socket.send.buffer.bytes",
        # With Kafka's 100 KiB, a megabyte from a file takes ten iterations of the event loop; with
        # a buffer for all of it, the client copies data that has left the processor's caches.
        256 * KIB,
        INT,
        anything,
        "Send buffer of a connection; -1 leaves it to the system, which fits it to the client.",
    )
    socket_receive_buffer_bytes: int = option(
        "socket.receive.buffer.bytes",
        -1,
        INT,
        anything,
        "Receive buffer of a connection; -1 leaves it to the system, which fits it to the client.",
    )
    socket_request_max_bytes: int = option(
        "socket.request.max.bytes",
        100 * MIB,
        INT,
        at_least(1),
        "Largest request. A longer one closes its connection before it is read.",
    )
    socket_listen_backlog_size: int = option(
        "socket.listen.backlog.size",
        50,
        INT,
        at_least(1),
        "Connections that may wait to be accepted; fewer than 1,024 are taken as 1,024.",
    )
    max_connections: int = option(
        "max.connections",
        10_000,
        INT,
        at_least(0),
        "Connections at a time, fewer where files need the descriptors; more have to wait. Kafka "
        "sets no limit.",
        scope=Scope.CLUSTER_WIDE,
    )
    max_connections_per_ip: int = option(
        "max.connections.per.ip",
        INT32_MAX,
        INT,
        at_least(0),
        "Connections at a time from one address.",
        scope=Scope.CLUSTER_WIDE,
    )
    max_connections_per_ip_overrides: str = option(
        "max.connections.per.ip.overrides",
        "",
        STRING,
        anything,
        "Limits for single addresses or host names, as `host:limit,...`.",
        scope=Scope.CLUSTER_WIDE,
    )
    max_connection_creation_rate: int = option(
        "max.connection.creation.rate",
        INT32_MAX,
        INT,
        at_least(0),
        "New connections a second; more have to wait.",
        scope=Scope.CLUSTER_WIDE,
    )
    connections_max_idle_ms: int = option(
        "connections.max.idle.ms",
        10 * MINUTE_MS,
        LONG,
        anything,
        "Time without a request after which a connection is closed; negative for never.",
    )
    socket_connection_setup_timeout_ms: int = option(
        "socket.connection.setup.timeout.ms",
        10 * SECOND_MS,
        LONG,
        anything,
        "Time to wait for another broker to accept a connection; it grows with each failure.",
    )
    socket_connection_setup_timeout_max_ms: int = option(
        "socket.connection.setup.timeout.max.ms",
        30 * SECOND_MS,
        LONG,
        anything,
        "Where that growth ends.",
    )


@dataclass(frozen=True, init=False, repr=False, eq=False)
class RequestOptions:
    queued_max_requests: int = option(
        "queued.max.requests",
        500,
        INT,
        at_least(1),
        "Without effect: each connection's requests are bounded by themselves, all by their bytes.",
    )
    queued_max_request_bytes: int = option(
        "queued.max.request.bytes",
        256 * MIB,
        LONG,
        anything,
        "Bytes of waiting requests before the broker stops reading; -1 for no limit, which is "
        "Kafka's default.",
    )
    ottla_queued_request_bytes_per_second_min: int = option(
        "ottla.queued.request.bytes.per.second.min",
        64 * KIB,
        LONG,
        at_least(0),
        "Rate at which a request of up to 1 MiB must arrive while others wait for the memory of "
        "requests; larger ones as many times faster. Slower ones are closed. A setting of "
        "Ottla's own.",
    )
    ottla_queued_percent_per_ip_max: int = option(
        "ottla.queued.percent.per.ip.max",
        50,
        INT,
        between(1, 100),
        "Part of the memory of requests, and of that of responses, that the connections of one "
        "address (one /64 network of IPv6) keep while another address waits for it. A setting of "
        "Ottla's own.",
    )
    ottla_queued_response_bytes_max: int = option(
        "ottla.queued.response.bytes.max",
        256 * MIB,
        LONG,
        at_least(1),
        "Bytes of responses in memory that clients have not read yet. Beyond it, connections "
        "that hold some begin no further request, and those that do not read are closed. A "
        "setting of Ottla's own.",
    )
    ottla_response_bytes_max: int = option(
        "ottla.response.bytes.max",
        100 * MIB,
        LONG,
        between(MIB, 2**31 - 1),
        "Bytes of one response, without the records in it. A request whose response would be "
        "larger is refused with INVALID_REQUEST. A setting of Ottla's own.",
    )
    request_timeout_ms: int = option(
        "request.timeout.ms",
        30 * SECOND_MS,
        INT,
        anything,
        "Time that one broker waits for another's answer.",
    )
    fetch_max_bytes: int = option(
        "fetch.max.bytes",
        55 * MIB,
        INT,
        at_least(1024),
        "Largest answer to a fetch, whatever the client allows.",
    )
    max_incremental_fetch_session_cache_slots: int = option(
        "max.incremental.fetch.session.cache.slots",
        1000,
        INT,
        at_least(0),
        "Fetch sessions that are remembered at a time.",
    )
    ottla_fetch_session_partitions_max: int = option(
        "ottla.fetch.session.partitions.max",
        200_000,
        INT,
        at_least(0),
        "Partitions that all fetch sessions together hold; each takes about 500 bytes. A reader "
        "for which there is no room is served without a session. A setting of Ottla's own.",
    )
    ottla_fetch_parked_partitions_max: int = option(
        "ottla.fetch.parked.partitions.max",
        200_000,
        INT,
        at_least(0),
        "Partitions that all waiting fetches without a session hold; each takes about 500 bytes. "
        "Beyond it a fetch is answered at once, with a throttle time. A setting of Ottla's own.",
    )
    max_request_partition_size_limit: int = option(
        "max.request.partition.size.limit",
        2000,
        INT,
        at_least(1),
        "Partitions in one answer to DescribeTopicPartitions.",
    )
    ottla_config_bytes_max: int = option(
        "ottla.config.bytes.max",
        32 * MIB,
        LONG,
        at_least(1),
        "Bytes of all settings of topics, groups, brokers and client metrics that are stored in "
        "the metadata, each counted with its names and 64 bytes besides; more is a policy "
        "violation. A setting of Ottla's own.",
    )
    ottla_client_metrics_subscriptions_max: int = option(
        "ottla.client.metrics.subscriptions.max",
        1000,
        INT,
        at_least(1),
        "Subscriptions to metrics of clients: each new client is compared with all of them. One "
        "more is a policy violation. A setting of Ottla's own.",
    )
    telemetry_max_bytes: int = option(
        "telemetry.max.bytes",
        1 * MIB,
        INT,
        at_least(1),
        "Largest set of metrics that a client may push.",
    )
    num_network_threads: int = option(
        "num.network.threads",
        3,
        INT,
        at_least(1),
        "Kept for tools that set it; without effect: one event loop serves all connections.",
        scope=Scope.CLUSTER_WIDE,
    )
    num_io_threads: int = option(
        "num.io.threads",
        8,
        INT,
        at_least(1),
        "Kept for tools that set it; without effect: there are as many threads as disks need.",
        scope=Scope.CLUSTER_WIDE,
    )
    background_threads: int = option(
        "background.threads",
        10,
        INT,
        at_least(1),
        "Kept for tools that set it; without effect.",
        scope=Scope.CLUSTER_WIDE,
    )
