"""Settings of groups and transactions: limits, timeouts and internal topics."""

from __future__ import annotations

from dataclasses import dataclass

from ottla.config.checks import anything, at_least, each_of, one_of_any_case
from ottla.config.kinds import BOOLEAN, INT, LIST, LONG, SHORT, STRING
from ottla.config.options import (
    DAY_MS,
    HOUR_MS,
    INT32_MAX,
    MIB,
    MINUTE_MS,
    SECOND_MS,
    Scope,
    option,
)


@dataclass(frozen=True, init=False, repr=False, eq=False)
class GroupOptions:
    group_min_session_timeout_ms: int = option(
        "group.min.session.timeout.ms",
        6 * SECOND_MS,
        INT,
        anything,
        "Shortest session timeout a member of a classic group may ask for.",
    )
    group_max_session_timeout_ms: int = option(
        "group.max.session.timeout.ms",
        30 * MINUTE_MS,
        INT,
        anything,
        "Longest session timeout a member of a classic group may ask for.",
    )
    group_initial_rebalance_delay_ms: int = option(
        "group.initial.rebalance.delay.ms",
        3 * SECOND_MS,
        INT,
        anything,
        "How long an empty classic group waits for more members before its first rebalance. On a "
        "single embedded broker the default is 0.",
    )
    group_max_size: int = option(
        "group.max.size", INT32_MAX, INT, at_least(1), "Members of a classic group."
    )
    group_coordinator_rebalance_protocols: tuple[str, ...] = option(
        "group.coordinator.rebalance.protocols",
        ("classic", "consumer"),
        LIST,
        each_of("consumer", "classic"),
        "Kinds of groups that are served.",
    )
    ottla_group_members_max: int = option(
        "ottla.group.members.max",
        5000,
        INT,
        at_least(1),
        "Members of any group, beside `group.max.size` and `group.consumer.max.size`; and ids that "
        "a classic group has given to clients that have not joined with them yet, the oldest of "
        "which are forgotten beyond it. A setting of Ottla's own.",
    )
    ottla_group_bytes_max: int = option(
        "ottla.group.bytes.max",
        16 * MIB,
        LONG,
        at_least(1),
        "Memory of the members of one group: their metadata, subscriptions and assignments. "
        "Members beyond it are rejected with GROUP_MAX_SIZE_REACHED. A setting of Ottla's own.",
    )
    ottla_groups_bytes_max: int = option(
        "ottla.groups.bytes.max",
        256 * MIB,
        LONG,
        at_least(1),
        "Memory of the members of all groups that a broker coordinates; a group without members "
        "counts 2 KB. Requests beyond it fail with COORDINATOR_NOT_AVAILABLE, and are retried. "
        "A setting of Ottla's own.",
    )
    ottla_group_topics_max: int = option(
        "ottla.group.topics.max",
        10_000,
        INT,
        at_least(1),
        "Topics that a member of a consumer group may name in its subscription. A pattern may "
        "stand for more. A setting of Ottla's own.",
    )
    ottla_group_patterns_max: int = option(
        "ottla.group.patterns.max",
        100,
        INT,
        at_least(1),
        "Patterns that the members of one consumer group may subscribe with. A setting of Ottla's "
        "own.",
    )


@dataclass(frozen=True, init=False, repr=False, eq=False)
class ConsumerGroupOptions:
    group_consumer_session_timeout_ms: int = option(
        "group.consumer.session.timeout.ms",
        45 * SECOND_MS,
        INT,
        at_least(1),
        "Silence after which a member of a consumer group is removed; default of the group setting "
        "`consumer.session.timeout.ms`.",
    )
    group_consumer_min_session_timeout_ms: int = option(
        "group.consumer.min.session.timeout.ms",
        45 * SECOND_MS,
        INT,
        at_least(1),
        "Least value of the group setting `consumer.session.timeout.ms`.",
    )
    group_consumer_max_session_timeout_ms: int = option(
        "group.consumer.max.session.timeout.ms",
        1 * MINUTE_MS,
        INT,
        at_least(1),
        "Greatest value of the group setting `consumer.session.timeout.ms`.",
    )
    group_consumer_heartbeat_interval_ms: int = option(
        "group.consumer.heartbeat.interval.ms",
        5 * SECOND_MS,
        INT,
        at_least(1),
        "Heartbeat interval of members; default of the group setting "
        "`consumer.heartbeat.interval.ms`.",
    )
    group_consumer_min_heartbeat_interval_ms: int = option(
        "group.consumer.min.heartbeat.interval.ms",
        5 * SECOND_MS,
        INT,
        at_least(1),
        "Least value of the group setting `consumer.heartbeat.interval.ms`.",
    )
    group_consumer_max_heartbeat_interval_ms: int = option(
        "group.consumer.max.heartbeat.interval.ms",
        15 * SECOND_MS,
        INT,
        at_least(1),
        "Greatest value of the group setting `consumer.heartbeat.interval.ms`.",
    )
    group_consumer_assignment_interval_ms: int = option(
        "group.consumer.assignment.interval.ms",
        1 * SECOND_MS,
        INT,
        at_least(0),
        "Least time between two new assignments of a group; default of the group setting "
        "`consumer.assignment.interval.ms`.",
        scope=Scope.CLUSTER_WIDE,
    )
    group_consumer_min_assignment_interval_ms: int = option(
        "group.consumer.min.assignment.interval.ms",
        0,
        INT,
        at_least(0),
        "Least value of the group setting `consumer.assignment.interval.ms`.",
    )
    group_consumer_max_assignment_interval_ms: int = option(
        "group.consumer.max.assignment.interval.ms",
        15 * SECOND_MS,
        INT,
        at_least(0),
        "Greatest value of the group setting `consumer.assignment.interval.ms`.",
    )
    group_consumer_max_size: int = option(
        "group.consumer.max.size", INT32_MAX, INT, at_least(1), "Members of a consumer group."
    )
    group_consumer_assignors: tuple[str, ...] = option(
        "group.consumer.assignors",
        ("uniform", "range"),
        LIST,
        each_of("uniform", "range"),
        "Ways of assigning partitions that members may ask for; the first is the default.",
    )
    group_consumer_migration_policy: str = option(
        "group.consumer.migration.policy",
        "bidirectional",
        STRING,
        one_of_any_case("disabled", "downgrade", "upgrade", "bidirectional"),
        "Whether classic groups become consumer groups and back when their members change.",
    )
    group_consumer_regex_refresh_interval_ms: int = option(
        "group.consumer.regex.refresh.interval.ms",
        10 * MINUTE_MS,
        INT,
        at_least(10 * SECOND_MS),
        "How often a subscription by pattern is compared with the topics.",
        is_internal=True,
    )


@dataclass(frozen=True, init=False, repr=False, eq=False)
class OffsetOptions:
    offset_metadata_max_bytes: int = option(
        "offset.metadata.max.bytes",
        4096,
        INT,
        anything,
        "Longest text that a member may store with an offset.",
    )
    ottla_offsets_max: int = option(
        "ottla.offsets.max",
        2_000_000,
        LONG,
        at_least(1),
        "Committed offsets of all groups that a broker coordinates; about 500 bytes of memory "
        "each. Offsets of further partitions and groups are refused with "
        "INVALID_COMMIT_OFFSET_SIZE. A setting of Ottla's own.",
    )
    ottla_transaction_offsets_max: int = option(
        "ottla.transaction.offsets.max",
        50_000,
        INT,
        at_least(1),
        "Offsets that one transaction may commit in one partition of `__consumer_offsets`. More "
        "are refused with INVALID_COMMIT_OFFSET_SIZE. A setting of Ottla's own.",
    )
    ottla_transaction_offset_topics_max: int = option(
        "ottla.transaction.offset.topics.max",
        2000,
        INT,
        at_least(1),
        "Topics whose offsets one transaction may commit in one partition of "
        "`__consumer_offsets`; a topic counts once for each group. More are refused with "
        "INVALID_COMMIT_OFFSET_SIZE. A setting of Ottla's own.",
    )
    offsets_commit_timeout_ms: int = option(
        "offsets.commit.timeout.ms",
        5 * SECOND_MS,
        INT,
        at_least(1),
        "How long a commit waits for its replicas.",
    )
    offsets_retention_minutes: int = option(
        "offsets.retention.minutes",
        7 * 24 * 60,
        INT,
        at_least(1),
        "How long the offsets of an empty group are kept.",
    )
    offsets_retention_check_interval_ms: int = option(
        "offsets.retention.check.interval.ms",
        10 * MINUTE_MS,
        LONG,
        at_least(1),
        "How often offsets are looked through for old ones.",
    )
    offsets_topic_num_partitions: int = option(
        "offsets.topic.num.partitions",
        50,
        INT,
        at_least(1),
        "Partitions of `__consumer_offsets`. Must not change once the topic exists.",
    )
    offsets_topic_replication_factor: int = option(
        "offsets.topic.replication.factor",
        3,
        SHORT,
        at_least(1),
        "Replicas of `__consumer_offsets`. On a single embedded broker the default is 1.",
    )
    offsets_topic_segment_bytes: int = option(
        "offsets.topic.segment.bytes",
        100 * MIB,
        INT,
        at_least(1),
        "Segment size of `__consumer_offsets`.",
    )
    offsets_topic_compression_codec: int = option(
        "offsets.topic.compression.codec",
        0,
        INT,
        anything,
        "Codec number for `__consumer_offsets`: 0 none, 1 gzip, 2 snappy, 3 lz4, 4 zstd.",
    )


@dataclass(frozen=True, init=False, repr=False, eq=False)
class TransactionOptions:
    transaction_max_timeout_ms: int = option(
        "transaction.max.timeout.ms",
        15 * MINUTE_MS,
        INT,
        at_least(1),
        "Longest timeout that a transaction may ask for.",
    )
    ottla_transaction_partitions_max: int = option(
        "ottla.transaction.partitions.max",
        10_000,
        INT,
        at_least(1),
        "Partitions of one transaction: each change of it stores all of them. More are refused "
        "with INVALID_REQUEST. A setting of Ottla's own.",
    )
    ottla_transactional_ids_max: int = option(
        "ottla.transactional.ids.max",
        200_000,
        INT,
        at_least(1),
        "Transactional ids that a broker coordinates; about 1 KB of memory each. "
        "Requests for new ones fail with COORDINATOR_NOT_AVAILABLE until others have expired. "
        "A setting of Ottla's own.",
    )
    transactional_id_expiration_ms: int = option(
        "transactional.id.expiration.ms",
        7 * DAY_MS,
        INT,
        at_least(1),
        "Time after which an unused transactional id is forgotten.",
    )
    transaction_abort_timed_out_transaction_cleanup_interval_ms: int = option(
        "transaction.abort.timed.out.transaction.cleanup.interval.ms",
        10 * SECOND_MS,
        INT,
        at_least(1),
        "How often transactions are looked through for those that timed out.",
    )
    transaction_remove_expired_transaction_cleanup_interval_ms: int = option(
        "transaction.remove.expired.transaction.cleanup.interval.ms",
        1 * HOUR_MS,
        INT,
        at_least(1),
        "How often transactional ids are looked through for unused ones.",
    )
    transaction_state_log_num_partitions: int = option(
        "transaction.state.log.num.partitions",
        50,
        INT,
        at_least(1),
        "Partitions of `__transaction_state`. Must not change once the topic exists.",
    )
    transaction_state_log_replication_factor: int = option(
        "transaction.state.log.replication.factor",
        3,
        SHORT,
        at_least(1),
        "Replicas of `__transaction_state`. On a single embedded broker the default is 1.",
    )
    transaction_state_log_min_isr: int = option(
        "transaction.state.log.min.isr",
        2,
        INT,
        at_least(1),
        "In-sync replicas that `__transaction_state` needs. On a single embedded broker the "
        "default is 1.",
    )
    transaction_state_log_segment_bytes: int = option(
        "transaction.state.log.segment.bytes",
        100 * MIB,
        INT,
        at_least(1),
        "Segment size of `__transaction_state`.",
    )
    transaction_partition_verification_enable: bool = option(
        "transaction.partition.verification.enable",
        True,
        BOOLEAN,
        anything,
        "Whether a partition belongs to an open transaction is checked before it is written to.",
        scope=Scope.CLUSTER_WIDE,
    )
    add_partitions_to_txn_retry_backoff_ms: int = option(
        "add.partitions.to.txn.retry.backoff.ms",
        20,
        INT,
        at_least(1),
        "Pause before that check is tried again while the coordinator is busy.",
    )
    add_partitions_to_txn_retry_backoff_max_ms: int = option(
        "add.partitions.to.txn.retry.backoff.max.ms",
        100,
        INT,
        at_least(0),
        "Time after which the producer has to retry itself, also while its last transaction ends.",
    )
    producer_id_expiration_ms: int = option(
        "producer.id.expiration.ms",
        1 * DAY_MS,
        INT,
        at_least(1),
        "Time after which a partition forgets an idle producer.",
        scope=Scope.CLUSTER_WIDE,
    )
    ottla_partition_producer_ids_max: int = option(
        "ottla.partition.producer.ids.max",
        100_000,
        INT,
        at_least(1),
        "Producers that one partition remembers; each takes about 400 bytes. Beyond it those that "
        "were idle longest are forgotten, as if they had expired. A setting of Ottla's own.",
    )
    ottla_producer_ids_max: int = option(
        "ottla.producer.ids.max",
        300_000,
        INT,
        at_least(1),
        "Producers that all partitions together remember. Beyond it partitions that have more than "
        "an equal share forget those that were idle longest. A setting of Ottla's own.",
    )
    producer_id_expiration_check_interval_ms: int = option(
        "producer.id.expiration.check.interval.ms",
        10 * MINUTE_MS,
        INT,
        at_least(1),
        "How often partitions are looked through for idle producers.",
        is_internal=True,
    )
