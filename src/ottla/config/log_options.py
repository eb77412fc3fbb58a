"""Settings of log directories, and the defaults of all topic settings."""

from __future__ import annotations

from dataclasses import dataclass

from ottla.config.checks import anything, at_least, between, between_or, each_of, no_blanks, one_of
from ottla.config.kinds import BOOLEAN, DOUBLE, INT, LIST, LONG, STRING, optional
from ottla.config.options import (
    DAY_MS,
    GIB,
    HOUR_MS,
    INT64_MAX,
    KIB,
    MIB,
    MINUTE_MS,
    SECOND_MS,
    Scope,
    option,
)

DYNAMIC = Scope.CLUSTER_WIDE


@dataclass(frozen=True, init=False, repr=False, eq=False)
class LogDirectoryOptions:
    log_dir: tuple[str, ...] = option(
        "log.dir", ("/tmp/ottla-logs",), LIST, no_blanks, "Used where `log.dirs` is not set."
    )
    log_dirs: tuple[str, ...] | None = option(
        "log.dirs",
        None,
        optional(LIST),
        no_blanks,
        "Directories for partition logs. Each fails independently of the others.",
    )
    log_dir_failure_timeout_ms: int = option(
        "log.dir.failure.timeout.ms",
        30 * SECOND_MS,
        LONG,
        at_least(1),
        "How long a broker may fail to report a dead directory before it stops.",
    )
    num_recovery_threads_per_data_dir: int = option(
        "num.recovery.threads.per.data.dir",
        2,
        INT,
        at_least(1),
        "Kept for tools that set it; without effect: logs are recovered one after the other.",
        scope=DYNAMIC,
    )
    log_flush_offset_checkpoint_interval_ms: int = option(
        "log.flush.offset.checkpoint.interval.ms",
        1 * MINUTE_MS,
        INT,
        at_least(0),
        "Without effect: written with replica.high.watermark.checkpoint.interval.ms, all at once.",
    )
    log_flush_start_offset_checkpoint_interval_ms: int = option(
        "log.flush.start.offset.checkpoint.interval.ms",
        1 * MINUTE_MS,
        INT,
        at_least(0),
        "Without effect: written with replica.high.watermark.checkpoint.interval.ms, all at once.",
    )
    log_retention_check_interval_ms: int = option(
        "log.retention.check.interval.ms",
        5 * MINUTE_MS,
        LONG,
        at_least(1),
        "How often logs are looked through for segments to delete.",
    )


@dataclass(frozen=True, init=False, repr=False, eq=False)
class SegmentOptions:
    log_segment_bytes: int = option(
        "log.segment.bytes",
        1 * GIB,
        INT,
        at_least(1 * MIB),
        "Default of the topic setting `segment.bytes`.",
        scope=DYNAMIC,
    )
    log_roll_ms: int | None = option(
        "log.roll.ms",
        None,
        optional(LONG),
        anything,
        "Default of the topic setting `segment.ms`; unset, `log.roll.hours` counts.",
        scope=DYNAMIC,
    )
    log_roll_hours: int = option(
        "log.roll.hours", 168, INT, at_least(1), "Used where `log.roll.ms` is not set."
    )
    log_roll_jitter_ms: int | None = option(
        "log.roll.jitter.ms",
        None,
        optional(LONG),
        anything,
        "Default of the topic setting `segment.jitter.ms`; unset, `log.roll.jitter.hours` counts.",
        scope=DYNAMIC,
    )
    log_roll_jitter_hours: int = option(
        "log.roll.jitter.hours", 0, INT, at_least(0), "Used where `log.roll.jitter.ms` is not set."
    )
    log_index_size_max_bytes: int = option(
        "log.index.size.max.bytes",
        10 * MIB,
        INT,
        at_least(4),
        "Default of the topic setting `segment.index.bytes`.",
        scope=DYNAMIC,
    )
    log_index_interval_bytes: int = option(
        "log.index.interval.bytes",
        4096,
        INT,
        at_least(0),
        "Default of the topic setting `index.interval.bytes`.",
        scope=DYNAMIC,
    )
    log_preallocate: bool = option(
        "log.preallocate",
        False,
        BOOLEAN,
        anything,
        "Default of the topic setting `preallocate`.",
        scope=DYNAMIC,
    )
    log_segment_delete_delay_ms: int = option(
        "log.segment.delete.delay.ms",
        1 * MINUTE_MS,
        LONG,
        at_least(0),
        "Default of the topic setting `file.delete.delay.ms`.",
        scope=DYNAMIC,
    )
    log_flush_interval_messages: int = option(
        "log.flush.interval.messages",
        INT64_MAX,
        LONG,
        at_least(1),
        "Default of the topic setting `flush.messages`.",
        scope=DYNAMIC,
    )
    log_flush_interval_ms: int | None = option(
        "log.flush.interval.ms",
        None,
        optional(LONG),
        anything,
        "Default of the topic setting `flush.ms`; unset, `log.flush.scheduler.interval.ms` counts.",
        scope=DYNAMIC,
    )
    log_flush_scheduler_interval_ms: int = option(
        "log.flush.scheduler.interval.ms",
        INT64_MAX,
        LONG,
        anything,
        "How often logs are looked through for records to sync.",
    )


@dataclass(frozen=True, init=False, repr=False, eq=False)
class RetentionOptions:
    log_cleanup_policy: tuple[str, ...] = option(
        "log.cleanup.policy",
        ("delete",),
        LIST,
        each_of("compact", "delete"),
        "Default of the topic setting `cleanup.policy`.",
        scope=DYNAMIC,
    )
    log_retention_bytes: int = option(
        "log.retention.bytes",
        -1,
        LONG,
        anything,
        "Default of the topic setting `retention.bytes`.",
        scope=DYNAMIC,
    )
    log_retention_ms: int | None = option(
        "log.retention.ms",
        None,
        optional(LONG),
        anything,
        "Default of the topic setting `retention.ms`; unset, `log.retention.minutes` counts.",
        scope=DYNAMIC,
    )
    log_retention_minutes: int | None = option(
        "log.retention.minutes",
        None,
        optional(INT),
        anything,
        "Used where `log.retention.ms` is not set; unset, `log.retention.hours` counts.",
    )
    log_retention_hours: int = option(
        "log.retention.hours", 168, INT, anything, "Used where the finer ones are not set."
    )
    log_local_retention_ms: int = option(
        "log.local.retention.ms",
        -2,
        LONG,
        at_least(-2),
        "Default of the topic setting `local.retention.ms`.",
        scope=DYNAMIC,
    )
    log_local_retention_bytes: int = option(
        "log.local.retention.bytes",
        -2,
        LONG,
        at_least(-2),
        "Default of the topic setting `local.retention.bytes`.",
        scope=DYNAMIC,
    )


@dataclass(frozen=True, init=False, repr=False, eq=False)
class CleanerOptions:
    log_cleaner_enable: bool = option(
        "log.cleaner.enable", True, BOOLEAN, anything, "Whether logs are compacted at all."
    )
    log_cleaner_threads: int = option(
        "log.cleaner.threads",
        1,
        INT,
        at_least(0),
        "Kept for tools that set it; without effect: logs are compacted one after the other.",
        scope=DYNAMIC,
    )
    log_cleaner_dedupe_buffer_size: int = option(
        "log.cleaner.dedupe.buffer.size",
        128 * MIB,
        LONG,
        anything,
        "Memory for the keys of one compaction; a log with more takes several rounds.",
        scope=DYNAMIC,
    )
    log_cleaner_io_buffer_size: int = option(
        "log.cleaner.io.buffer.size",
        512 * KIB,
        INT,
        at_least(0),
        "Kept for tools that set it; without effect: batches are read one at a time.",
        scope=DYNAMIC,
    )
    log_cleaner_io_buffer_load_factor: float = option(
        "log.cleaner.io.buffer.load.factor",
        0.9,
        DOUBLE,
        anything,
        "Kept for tools that set it; without effect.",
        scope=DYNAMIC,
    )
    log_cleaner_io_max_bytes_per_second: float = option(
        "log.cleaner.io.max.bytes.per.second",
        1.7976931348623157e308,
        DOUBLE,
        anything,
        "Bytes a second that compaction may read and write.",
        scope=DYNAMIC,
    )
    log_cleaner_backoff_ms: int = option(
        "log.cleaner.backoff.ms",
        15 * SECOND_MS,
        LONG,
        at_least(0),
        "Pause when there was nothing to compact.",
        scope=DYNAMIC,
    )
    log_cleaner_min_cleanable_ratio: float = option(
        "log.cleaner.min.cleanable.ratio",
        0.5,
        DOUBLE,
        between(0, 1),
        "Default of the topic setting `min.cleanable.dirty.ratio`.",
        scope=DYNAMIC,
    )
    log_cleaner_delete_retention_ms: int = option(
        "log.cleaner.delete.retention.ms",
        1 * DAY_MS,
        LONG,
        at_least(0),
        "Default of the topic setting `delete.retention.ms`.",
        scope=DYNAMIC,
    )
    log_cleaner_min_compaction_lag_ms: int = option(
        "log.cleaner.min.compaction.lag.ms",
        0,
        LONG,
        at_least(0),
        "Default of the topic setting `min.compaction.lag.ms`.",
        scope=DYNAMIC,
    )
    log_cleaner_max_compaction_lag_ms: int = option(
        "log.cleaner.max.compaction.lag.ms",
        INT64_MAX,
        LONG,
        at_least(1),
        "Default of the topic setting `max.compaction.lag.ms`.",
        scope=DYNAMIC,
    )


@dataclass(frozen=True, init=False, repr=False, eq=False)
class MessageOptions:
    message_max_bytes: int = option(
        "message.max.bytes",
        1 * MIB + 12,
        INT,
        at_least(0),
        "Default of the topic setting `max.message.bytes`.",
        scope=DYNAMIC,
    )
    compression_type: str = option(
        "compression.type",
        "producer",
        STRING,
        one_of("uncompressed", "zstd", "lz4", "snappy", "gzip", "producer"),
        "Default of the topic setting of the same name.",
        scope=DYNAMIC,
    )
    compression_gzip_level: int = option(
        "compression.gzip.level",
        -1,
        INT,
        between_or(1, 9, -1),
        "Default of the topic setting of the same name.",
        scope=DYNAMIC,
    )
    compression_lz4_level: int = option(
        "compression.lz4.level",
        9,
        INT,
        between(1, 17),
        "Default of the topic setting of the same name.",
        scope=DYNAMIC,
    )
    compression_zstd_level: int = option(
        "compression.zstd.level",
        3,
        INT,
        between(-131072, 22),
        "Default of the topic setting of the same name.",
        scope=DYNAMIC,
    )
    log_message_timestamp_type: str = option(
        "log.message.timestamp.type",
        "CreateTime",
        STRING,
        one_of("CreateTime", "LogAppendTime"),
        "Default of the topic setting `message.timestamp.type`.",
        scope=DYNAMIC,
    )
    log_message_timestamp_before_max_ms: int = option(
        "log.message.timestamp.before.max.ms",
        INT64_MAX,
        LONG,
        at_least(0),
        "Default of the topic setting `message.timestamp.before.max.ms`.",
        scope=DYNAMIC,
    )
    log_message_timestamp_after_max_ms: int = option(
        "log.message.timestamp.after.max.ms",
        1 * HOUR_MS,
        LONG,
        at_least(0),
        "Default of the topic setting `message.timestamp.after.max.ms`.",
        scope=DYNAMIC,
    )
