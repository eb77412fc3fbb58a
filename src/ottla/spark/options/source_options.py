"""The options of a query that reads, declared once: name, type, check, explanation.

Owns      the table of options: those of Spark's `kafka` format, and additions.
Promises  values are read as Spark reads them: words in any case, without surrounding blanks.
Leaves    parsing to `option_table.py`, checks between options to `source_checks.py`, `kafka.*` to
          `consumer_options.py`.
"""

# ruff: noqa: RUF009 (`option` makes a field, which is what dataclasses want there)

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ottla.base.ids import TopicPartition
from ottla.config.checks import anything, at_least, one_of
from ottla.config.kinds import BOOLEAN, INT, LONG, STRING, Kind, optional
from ottla.config.options import MIB, MINUTE_MS, option
from ottla.spark.options.durations import DURATION
from ottla.spark.options.option_table import WORD, OptionTable, topic_names
from ottla.spark.options.positions import (
    ASSIGNMENT,
    POSITION,
    TIMESTAMP,
    TIMESTAMPS,
    AtTimestamp,
    AtTimestamps,
    Position,
)


def _parse_names(text: str) -> tuple[str, ...]:
    """Empty names are ignored: a trailing comma is allowed."""
    return tuple(dict.fromkeys(filter(None, map(str.strip, text.split(",")))))


NAMES: Kind[tuple[str, ...]] = Kind("LIST", 7, _parse_names, ",".join)


@dataclass(frozen=True)
class TopicOptions:
    """Which partitions are read: exactly one of the three."""

    subscribe: tuple[str, ...] | None = option(
        "subscribe", None, optional(NAMES), topic_names, "Topics to read, separated by commas."
    )
    subscribe_pattern: str | None = option(
        "subscribePattern",
        None,
        optional(STRING),
        anything,
        "A regular expression in Python's syntax; topics in whose names it is found are read, new "
        "ones included. Kafka's internal topics are left out; the decisionsTopic of sinks is not: "
        "^(?!ottla-spark-) leaves it out.",
    )
    assign: tuple[TopicPartition, ...] | None = option(
        "assign", None, ASSIGNMENT, anything, 'Partitions to read, as {"topic":[0,1]}.'
    )


@dataclass(frozen=True)
class PositionOptions:
    """Where a batch begins and ends, and where a new stream begins."""

    starting_offsets: Position | None = option(
        "startingOffsets",
        None,
        POSITION,
        anything,
        "earliest, latest, or JSON with an offset for every partition (-2 earliest, -1 latest). "
        "Default: earliest in batches, latest in streams.",
    )
    ending_offsets: Position | None = option(
        "endingOffsets",
        None,
        POSITION,
        anything,
        "The same for the end of a batch; it is not included. Default: latest.",
    )
    starting_timestamp: AtTimestamp | None = option(
        "startingTimestamp",
        None,
        TIMESTAMP,
        anything,
        "Begin at the first record of each partition with this timestamp or a later one (ms since "
        "1970). Takes precedence over startingOffsetsByTimestamp and startingOffsets.",
    )
    ending_timestamp: AtTimestamp | None = option(
        "endingTimestamp",
        None,
        TIMESTAMP,
        anything,
        "End before the first record of each partition with this timestamp or a later one.",
    )
    starting_offsets_by_timestamp: AtTimestamps | None = option(
        "startingOffsetsByTimestamp",
        None,
        TIMESTAMPS,
        anything,
        'A time for every partition, as {"topic":{"0":1700000000000}}.',
    )
    ending_offsets_by_timestamp: AtTimestamps | None = option(
        "endingOffsetsByTimestamp", None, TIMESTAMPS, anything, "The same for the end of a batch."
    )
    starting_offsets_by_timestamp_strategy: str = option(
        "startingOffsetsByTimestampStrategy",
        "error",
        WORD,
        one_of("error", "latest"),
        "What to do in a partition without a record of the starting time or later: error, or "
        "latest, which begins at its end.",
    )


@dataclass(frozen=True)
class SizeOptions:
    """How much a batch and a task read."""

    max_offsets_per_trigger: int | None = option(
        "maxOffsetsPerTrigger",
        None,
        optional(LONG),
        at_least(1),
        "The largest number of offsets in a micro-batch, shared between partitions in proportion "
        "to what each has waiting.",
    )
    min_offsets_per_trigger: int | None = option(
        "minOffsetsPerTrigger",
        None,
        optional(LONG),
        at_least(1),
        "Wait until this many offsets are available, or maxTriggerDelay has passed.",
    )
    max_trigger_delay_ms: int = option(
        "maxTriggerDelay",
        15 * MINUTE_MS,
        DURATION,
        at_least(0),
        "How long minOffsetsPerTrigger may delay a micro-batch, such as 30s or 15m.",
    )
    min_partitions: int | None = option(
        "minPartitions",
        None,
        optional(INT),
        at_least(1),
        "Read with at least this many tasks: the larger partitions are split.",
    )
    max_records_per_partition: int | None = option(
        "maxRecordsPerPartition",
        None,
        optional(LONG),
        at_least(1),
        "The largest number of offsets that a task reads: larger ranges are split.",
    )
    preserve_order: bool = option(
        "preserveOrder",
        False,
        BOOLEAN,
        anything,
        "Ours. Batches split partitions of more than a million offsets, so that more tasks can "
        "read; true keeps each partition in one task and so in order. Streams split only where "
        "minPartitions or maxRecordsPerPartition asks for it.",
    )
    pack_partitions: bool = option(
        "packPartitions",
        True,
        BOOLEAN,
        anything,
        "Ours. Several partitions with little to read share a task, because each task has a fixed "
        "cost. There are never fewer tasks than 8, than two for each core of the driver's "
        "machine, or than minPartitions. false gives each partition a task of its own.",
    )


@dataclass(frozen=True)
class FilterOptions:
    push_filters: bool = option(
        "pushFilters",
        False,
        BOOLEAN,
        anything,
        "Ours. Batches leave out partitions, offsets and records that a query's filters on "
        "partition, offset and timestamp exclude, if spark.sql.python.filterPushdown.enabled is "
        "on as well. Only for a DataFrame that is used by one query: Spark keeps what was planned "
        "for the first filters, and gives it to later queries on the same DataFrame.",
    )


@dataclass(frozen=True)
class RecordOptions:
    """How records become rows."""

    include_headers: bool = option(
        "includeHeaders", False, BOOLEAN, anything, "Add the column headers."
    )
    fail_on_data_loss: bool = option(
        "failOnDataLoss",
        True,
        BOOLEAN,
        anything,
        "Fail if records that the query was to read no longer exist; false logs a warning and "
        "continues.",
    )
    value_format: str | None = option(
        "valueFormat",
        None,
        optional(WORD),
        one_of("json", "avro"),
        "Ours. Decode values inside the source: the column value becomes a struct.",
    )
    value_schema: str | None = option(
        "valueSchema",
        None,
        optional(STRING),
        anything,
        "Ours. What values look like: for json a Spark schema such as `id bigint, name string`, "
        "for avro the writer's schema as JSON.",
    )
    batch_bytes_max: int = option(
        "maxDecompressedBatchBytes",
        128 * MIB,
        LONG,
        at_least(1),
        "Ours. A record batch that decompresses to more is refused, so that the memory of a task "
        "is bounded.",
    )


@dataclass(frozen=True)
class FileOptions:
    files_to: str | None = option(
        "filesTo",
        None,
        optional(STRING),
        anything,
        "Ours. A directory, or a URL that pyarrow knows. Tasks write the records into Parquet "
        "files there, and the rows of the query are the files: path, topic, partition, "
        "startOffset, endOffset, rows, bytes. Records do not pass through Spark.",
    )


@dataclass(frozen=True)
class ProgressOptions:
    """What a stream reports to a consumer group."""

    group_id_prefix: str | None = option(
        "groupIdPrefix",
        None,
        optional(STRING),
        anything,
        "The beginning of the name of the group to which a stream commits its progress, unless "
        "kafka.group.id names the group. The topics and an id from the checkpoint follow. Spark "
        "does not tell a source the name of its query: give it here. Default: spark-ottla.",
    )
    commit_offsets: bool = option(
        "commitOffsets",
        True,
        BOOLEAN,
        anything,
        "Ours. Streams commit their progress to that group, so that lag tools show them. It is "
        "never read: the checkpoint alone decides where a stream continues.",
    )


@dataclass(frozen=True)
class TimeoutOptions:
    """How long to wait for brokers."""

    poll_timeout_ms: int | None = option(
        "kafkaConsumer.pollTimeoutMs",
        None,
        optional(INT),
        at_least(0),
        "How long reading may fail before the query does; the same as "
        "kafka.default.api.timeout.ms.",
    )
    fetch_offset_retries: int | None = option(
        "fetchOffset.numRetries",
        None,
        optional(INT),
        at_least(0),
        "How often a stream looks again before it reports that a partition is gone, or that a log "
        "is shorter than what was read. Default: 3.",
    )
    fetch_offset_retry_interval_ms: int | None = option(
        "fetchOffset.retryIntervalMs",
        None,
        optional(LONG),
        at_least(0),
        "The pause in between, in ms. Default: 1000.",
    )


@dataclass(frozen=True)
class SourceOptions(
    TimeoutOptions,
    ProgressOptions,
    FileOptions,
    RecordOptions,
    FilterOptions,
    SizeOptions,
    PositionOptions,
    TopicOptions,
):
    """Everything but `kafka.*`. Bases are listed in reverse, so that the fields are in order."""


# Options of the sink and of other sources, which users may try here.
MISPLACED = {
    "path": "topics have no path: name them with subscribe, subscribePattern or assign",
    "topic": "it is for writing; to read, use subscribe",
    "provider": "Spark does not hand the options of CREATE TABLE to Python sources: use "
    "CREATE TEMPORARY VIEW ... USING ottla OPTIONS (...)",
    "checkpointlocation": "it belongs to writeStream, not to readStream",
}
_TABLE = OptionTable(SourceOptions, "", MISPLACED)
SOURCE_OPTIONS = _TABLE.declared


def parse_options(texts: Mapping[str, str]) -> SourceOptions:
    """InvalidOption names the option that is unknown or has an impossible value."""
    return _TABLE.parse(texts)
