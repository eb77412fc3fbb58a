"""Settings of replication: default counts, permitted lag, elections."""

from __future__ import annotations

from dataclasses import dataclass

from ottla.config.checks import anything, at_least, one_of
from ottla.config.kinds import BOOLEAN, INT, LONG, STRING, optional
from ottla.config.options import INT64_MAX, KIB, MIB, MINUTE_MS, SECOND_MS, Scope, option

DYNAMIC = Scope.CLUSTER_WIDE
RACK_AWARE = "org.apache.kafka.common.replica.RackAwareReplicaSelector"


@dataclass(frozen=True, init=False, repr=False, eq=False)
class TopicCreationOptions:
    auto_create_topics_enable: bool = option(
        "auto.create.topics.enable",
        True,
        BOOLEAN,
        anything,
        "Whether asking for the metadata of a missing topic creates it.",
    )
    num_partitions: int = option(
        "num.partitions",
        1,
        INT,
        at_least(1),
        "Partitions of a topic where its creator did not say.",
    )
    default_replication_factor: int = option(
        "default.replication.factor",
        1,
        INT,
        anything,
        "Replicas of a topic where its creator did not say.",
    )
    delete_topic_enable: bool = option(
        "delete.topic.enable", True, BOOLEAN, anything, "Whether topics can be deleted."
    )
    ottla_partitions_max: int = option(
        "ottla.partitions.max",
        200_000,
        INT,
        at_least(1),
        "Partitions that the cluster may have in all; creating more is a policy violation. A "
        "setting of Ottla's own.",
    )


@dataclass(frozen=True, init=False, repr=False, eq=False)
class ReplicaOptions:
    min_insync_replicas: int = option(
        "min.insync.replicas",
        1,
        INT,
        at_least(1),
        "Default of the topic setting of the same name. The first start of a cluster keeps it in "
        "the cluster's own settings, so that all brokers agree; later it is changed there.",
        scope=DYNAMIC,
    )
    unclean_leader_election_enable: bool = option(
        "unclean.leader.election.enable",
        False,
        BOOLEAN,
        anything,
        "Default of the topic setting of the same name.",
        scope=DYNAMIC,
    )
    unclean_leader_election_interval_ms: int = option(
        "unclean.leader.election.interval.ms",
        5 * MINUTE_MS,
        LONG,
        at_least(1),
        "How often partitions without a leader are looked through for an unclean election.",
        is_internal=True,
    )
    auto_leader_rebalance_enable: bool = option(
        "auto.leader.rebalance.enable",
        True,
        BOOLEAN,
        anything,
        "Whether leadership goes back to preferred replicas by itself.",
    )
    leader_imbalance_check_interval_seconds: int = option(
        "leader.imbalance.check.interval.seconds",
        300,
        LONG,
        at_least(1),
        "How often that is looked after.",
    )
    controlled_shutdown_enable: bool = option(
        "controlled.shutdown.enable",
        True,
        BOOLEAN,
        anything,
        "Whether a broker hands over its leaderships before it stops.",
    )
    broker_session_timeout_ms: int = option(
        "broker.session.timeout.ms",
        9 * SECOND_MS,
        INT,
        anything,
        "Silence after which a broker counts as dead.",
    )
    broker_heartbeat_interval_ms: int = option(
        "broker.heartbeat.interval.ms",
        2 * SECOND_MS,
        INT,
        anything,
        "How often a broker says that it lives.",
    )


@dataclass(frozen=True, init=False, repr=False, eq=False)
class ReplicaFetchOptions:
    num_replica_fetchers: int = option(
        "num.replica.fetchers",
        1,
        INT,
        at_least(1),
        "Connections over which a follower fetches from each leader's broker.",
        scope=DYNAMIC,
    )
    replica_fetch_max_bytes: int = option(
        "replica.fetch.max.bytes",
        1 * MIB,
        INT,
        at_least(0),
        "Bytes that a follower asks for per partition.",
    )
    replica_fetch_response_max_bytes: int = option(
        "replica.fetch.response.max.bytes",
        10 * MIB,
        INT,
        at_least(0),
        "Bytes that a follower asks for in all.",
    )
    replica_fetch_min_bytes: int = option(
        "replica.fetch.min.bytes", 1, INT, anything, "Bytes for which a leader holds a fetch back."
    )
    replica_fetch_wait_max_ms: int = option(
        "replica.fetch.wait.max.ms", 500, INT, anything, "Longest time a fetch is held back."
    )
    replica_fetch_backoff_ms: int = option(
        "replica.fetch.backoff.ms",
        1 * SECOND_MS,
        INT,
        at_least(0),
        "Pause of a follower after an error.",
    )
    replica_lag_time_max_ms: int = option(
        "replica.lag.time.max.ms",
        30 * SECOND_MS,
        LONG,
        anything,
        "Time after which a follower that did not catch up leaves the in-sync replicas.",
    )
    replica_high_watermark_checkpoint_interval_ms: int = option(
        "replica.high.watermark.checkpoint.interval.ms",
        5 * SECOND_MS,
        LONG,
        anything,
        "How often high watermarks are written.",
    )
    replica_socket_timeout_ms: int = option(
        "replica.socket.timeout.ms",
        30 * SECOND_MS,
        INT,
        anything,
        "Time that a follower waits for a leader's answer.",
    )
    replica_socket_receive_buffer_bytes: int = option(
        "replica.socket.receive.buffer.bytes",
        64 * KIB,
        INT,
        anything,
        "Receive buffer of a follower's connection. The default, and -1, leave it to the system.",
    )
    replica_selector_class: str | None = option(
        "replica.selector.class",
        None,
        optional(STRING),
        one_of(RACK_AWARE),
        "Set to Kafka's rack-aware selector, consumers are sent to a replica in their rack.",
    )


@dataclass(frozen=True, init=False, repr=False, eq=False)
class ReplicationQuotaOptions:
    leader_replication_throttled_rate: int = option(
        "leader.replication.throttled.rate",
        INT64_MAX,
        LONG,
        at_least(0),
        "Bytes a second that a broker sends for throttled replicas.",
        scope=DYNAMIC,
        is_internal=True,
    )
    follower_replication_throttled_rate: int = option(
        "follower.replication.throttled.rate",
        INT64_MAX,
        LONG,
        at_least(0),
        "Bytes a second that a broker fetches for throttled replicas.",
        scope=DYNAMIC,
        is_internal=True,
    )
    replica_alter_log_dirs_io_max_bytes_per_second: int = option(
        "replica.alter.log.dirs.io.max.bytes.per.second",
        INT64_MAX,
        LONG,
        at_least(0),
        "Bytes a second for moving replicas between a broker's directories.",
        scope=DYNAMIC,
        is_internal=True,
    )
