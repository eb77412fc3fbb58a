"""The settings of a topic, under Kafka's names and with Kafka's defaults."""

from dataclasses import dataclass

from ottla.config.checks import (
    anything,
    at_least,
    between,
    between_or,
    each_of,
    one_of,
    throttled_replicas,
)
from ottla.config.kinds import BOOLEAN, DOUBLE, INT, LIST, LONG, REPEATING_LIST, STRING, optional
from ottla.config.options import (
    DAY_MS,
    GIB,
    HOUR_MS,
    INT64_MAX,
    MIB,
    MINUTE_MS,
    option,
)


@dataclass(frozen=True, slots=True)
class TopicConfig:
    segment_bytes: int = option(
        "segment.bytes",
        1 * GIB,
        INT,
        at_least(1 * MIB),
        "Size at which the active segment is closed and the next one begun.",
    )
    segment_ms: int = option(
        "segment.ms",
        7 * DAY_MS,
        LONG,
        at_least(1),
        "Age at which the active segment is closed even if it is not full, so that retention and "
        "compaction can reach its records.",
    )
    segment_jitter_ms: int = option(
        "segment.jitter.ms",
        0,
        LONG,
        at_least(0),
        "Largest random time subtracted from segment.ms, so that segments do not all roll at once.",
    )
    segment_index_bytes: int = option(
        "segment.index.bytes",
        10 * MIB,
        INT,
        at_least(4),
        "Size at which an index is full; the segment is then closed.",
    )
    flush_messages: int = option(
        "flush.messages",
        INT64_MAX,
        LONG,
        at_least(1),
        "Records after which the log is synced to disk; 1 means before every acknowledgement.",
    )
    flush_ms: int = option(
        "flush.ms",
        INT64_MAX,
        LONG,
        at_least(0),
        "Time after which appended records are synced to disk.",
    )
    retention_bytes: int = option(
        "retention.bytes",
        -1,
        LONG,
        anything,
        "Size of a partition above which its oldest segments are deleted; -1 for no limit.",
    )
    retention_ms: int = option(
        "retention.ms",
        7 * DAY_MS,
        LONG,
        at_least(-1),
        "Age above which a segment is deleted; -1 for no limit.",
    )
    max_message_bytes: int = option(
        "max.message.bytes",
        1 * MIB + 12,
        INT,
        at_least(0),
        "Largest record batch, after compression.",
    )
    index_interval_bytes: int = option(
        "index.interval.bytes",
        4096,
        INT,
        at_least(0),
        "Bytes of records between two entries of the offset index.",
    )
    delete_retention_ms: int = option(
        "delete.retention.ms",
        1 * DAY_MS,
        LONG,
        at_least(0),
        "How long a tombstone outlives compaction, so that slow readers still see it.",
    )
    min_compaction_lag_ms: int = option(
        "min.compaction.lag.ms",
        0,
        LONG,
        at_least(0),
        "Time for which a record stays uncompacted.",
    )
    max_compaction_lag_ms: int = option(
        "max.compaction.lag.ms",
        INT64_MAX,
        LONG,
        at_least(1),
        "Time after which a record must be subject to compaction, whatever the dirty ratio.",
    )
    file_delete_delay_ms: int = option(
        "file.delete.delay.ms",
        1 * MINUTE_MS,
        LONG,
        at_least(0),
        "Time between removing a segment from the log and deleting its files.",
    )
    min_cleanable_dirty_ratio: float = option(
        "min.cleanable.dirty.ratio",
        0.5,
        DOUBLE,
        between(0, 1),
        "Share of uncompacted bytes at which a log is compacted.",
    )
    cleanup_policy: tuple[str, ...] = option(
        "cleanup.policy",
        ("delete",),
        LIST,
        each_of("compact", "delete"),
        "What happens to old records: deleted by age and size, compacted by key, or both.",
    )
    unclean_leader_election_enable: bool = option(
        "unclean.leader.election.enable",
        False,
        BOOLEAN,
        anything,
        "Whether a replica that is not in sync may lead as a last resort, at the cost of records.",
    )
    min_insync_replicas: int = option(
        "min.insync.replicas",
        1,
        INT,
        at_least(1),
        "Replicas that must have a record before acks=all is answered.",
    )
    compression_type: str = option(
        "compression.type",
        "producer",
        STRING,
        one_of("uncompressed", "zstd", "lz4", "snappy", "gzip", "producer"),
        "Codec in which batches are stored; `producer` keeps what the producer chose.",
    )
    compression_gzip_level: int = option(
        "compression.gzip.level",
        -1,
        INT,
        between_or(1, 9, -1),
        "Level for gzip; -1 is the library's default.",
    )
    compression_lz4_level: int = option(
        "compression.lz4.level",
        9,
        INT,
        between(1, 17),
        "Level for lz4.",
    )
    compression_zstd_level: int = option(
        "compression.zstd.level",
        3,
        INT,
        between(-131072, 22),
        "Level for zstd.",
    )
    preallocate: bool = option(
        "preallocate",
        False,
        BOOLEAN,
        anything,
        "Whether a new segment's file gets its full size at once, as a sparse file.",
    )
    message_timestamp_type: str = option(
        "message.timestamp.type",
        "CreateTime",
        STRING,
        one_of("CreateTime", "LogAppendTime"),
        "Whose clock a record's timestamp shows: the producer's or the broker's.",
    )
    message_timestamp_before_max_ms: int = option(
        "message.timestamp.before.max.ms",
        INT64_MAX,
        LONG,
        at_least(0),
        "How far a CreateTime may lie behind the broker's clock.",
    )
    message_timestamp_after_max_ms: int = option(
        "message.timestamp.after.max.ms",
        1 * HOUR_MS,
        LONG,
        at_least(0),
        "How far a CreateTime may lie ahead of the broker's clock.",
    )
    leader_replication_throttled_replicas: tuple[str, ...] = option(
        "leader.replication.throttled.replicas",
        (),
        REPEATING_LIST,
        throttled_replicas,
        "Replicas whose leaders send at the throttled rate: `partition:broker` pairs, or `*`.",
    )
    follower_replication_throttled_replicas: tuple[str, ...] = option(
        "follower.replication.throttled.replicas",
        (),
        REPEATING_LIST,
        throttled_replicas,
        "Replicas that fetch at the throttled rate: `partition:broker` pairs, or `*`.",
    )
    remote_storage_enable: bool = option(
        "remote.storage.enable",
        False,
        BOOLEAN,
        anything,
        "Tiered storage, which Ottla does not have: only `false` is accepted.",
    )
    remote_log_copy_disable: bool = option(
        "remote.log.copy.disable",
        False,
        BOOLEAN,
        anything,
        "Kept for tools that copy settings between clusters; without effect.",
    )
    remote_log_delete_on_disable: bool = option(
        "remote.log.delete.on.disable",
        False,
        BOOLEAN,
        anything,
        "Kept for tools that copy settings between clusters; without effect.",
    )
    local_retention_ms: int = option(
        "local.retention.ms",
        -2,
        LONG,
        at_least(-2),
        "Kept for tools that copy settings between clusters; without effect.",
    )
    local_retention_bytes: int = option(
        "local.retention.bytes",
        -2,
        LONG,
        at_least(-2),
        "Kept for tools that copy settings between clusters; without effect.",
    )
    internal_segment_bytes: int | None = option(
        "internal.segment.bytes",
        None,
        optional(INT),
        anything,
        "Replaces segment.bytes, below its minimum too. For tests of what happens at segment ends.",
        is_internal=True,
    )

    @property
    def is_compacted(self) -> bool:
        return "compact" in self.cleanup_policy

    @property
    def is_deleted(self) -> bool:
        """Whether retention by time and size applies."""
        return "delete" in self.cleanup_policy
