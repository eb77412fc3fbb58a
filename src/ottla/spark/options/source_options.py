"""The options of a query that reads, declared once: name, type, check, explanation.

Owns      the table of options, which are those of Spark's `kafka` format and a few of our own.
Promises  values are read as Spark reads them: words in any case, blanks around them left out.
Leaves    names and texts to `option_table.py`, what must hold between options to
          `option_checks.py`, `kafka.*` to `kafka_options.py`.
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
from ottla.spark.options.option_table import WORD, OptionTable
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
    """Blanks between commas are no names: a trailing comma does no harm."""
    return tuple(dict.fromkeys(filter(None, map(str.strip, text.split(",")))))


NAMES: Kind[tuple[str, ...]] = Kind("LIST", 7, _parse_names, ",".join)


@dataclass(frozen=True)
class TopicOptions:
    """Which partitions are read: exactly one of the three."""

    subscribe: tuple[str, ...] | None = option(
        "subscribe", None, optional(NAMES), anything, "Topics to read, separated by commas."
    )
    subscribe_pattern: str | None = option(
        "subscribePattern",
        None,
        optional(STRING),
        anything,
        "A regular expression; topics in whose names it is found are read, new ones included.",
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
        "Begin at the first record of each partition that is at least this young (ms since 1970). "
        "Goes before startingOffsetsByTimestamp and startingOffsets.",
    )
    ending_timestamp: AtTimestamp | None = option(
        "endingTimestamp",
        None,
        TIMESTAMP,
        anything,
        "End before the first record of each partition that is at least this young.",
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
        "What to do where no record is young enough for the start: error, or begin at the end.",
    )


@dataclass(frozen=True)
class SizeOptions:
    """How much comes at a time, and in how many pieces."""

    max_offsets_per_trigger: int | None = option(
        "maxOffsetsPerTrigger",
        None,
        optional(LONG),
        at_least(1),
        "At most so many offsets in a micro-batch, shared out by what each partition has waiting.",
    )
    min_offsets_per_trigger: int | None = option(
        "minOffsetsPerTrigger",
        None,
        optional(LONG),
        at_least(1),
        "Wait until so many offsets are there, or maxTriggerDelay has passed.",
    )
    max_trigger_delay_ms: int = option(
        "maxTriggerDelay",
        15 * MINUTE_MS,
        DURATION,
        at_least(0),
        "How long minOffsetsPerTrigger may hold back what is there, such as 30s or 15m.",
    )
    min_partitions: int | None = option(
        "minPartitions",
        None,
        optional(INT),
        at_least(1),
        "Read with at least so many tasks: the larger partitions are split.",
    )
    max_records_per_partition: int | None = option(
        "maxRecordsPerPartition",
        None,
        optional(LONG),
        at_least(1),
        "A task reads at most so many offsets: larger ranges are split.",
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
        "Ours. Where there are many partitions with little to read, several share a task, because "
        "each task has a cost. Never fewer than 8 tasks, two for each core of the driver's "
        "machine, or minPartitions. false gives each partition a task of its own.",
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
    """What becomes of the records."""

    include_headers: bool = option(
        "includeHeaders", False, BOOLEAN, anything, "Add the column headers."
    )
    fail_on_data_loss: bool = option(
        "failOnDataLoss",
        True,
        BOOLEAN,
        anything,
        "Fail where records are gone that were to be read; false warns and goes on.",
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
        "Ours. A record batch that unpacks to more is refused: it bounds the memory of a task.",
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
    """What others see of the query."""

    group_id_prefix: str | None = option(
        "groupIdPrefix",
        None,
        optional(STRING),
        anything,
        "Begins the name of the group in which a stream's progress is kept, where kafka.group.id "
        "names none: then come the topics and an id that the query keeps in its checkpoint. "
        "Default: spark-ottla.",
    )
    commit_offsets: bool = option(
        "commitOffsets",
        True,
        BOOLEAN,
        anything,
        "Ours. Streams commit their progress to that group, so that lag tools see them. It is "
        "never read back: the checkpoint decides where a stream goes on.",
    )


@dataclass(frozen=True)
class PatienceOptions:
    """How long to wait for brokers."""

    poll_timeout_ms: int | None = option(
        "kafkaConsumer.pollTimeoutMs",
        None,
        optional(LONG),
        at_least(0),
        "How long a task waits for a broker's answer; as kafka.default.api.timeout.ms.",
    )
    fetch_offset_retries: int | None = option(
        "fetchOffset.numRetries",
        None,
        optional(INT),
        at_least(0),
        "How often a stream asks again before it believes that a partition is gone, or its end "
        "lies before what was read. Default: 3.",
    )
    fetch_offset_retry_interval_ms: int | None = option(
        "fetchOffset.retryIntervalMs",
        None,
        optional(LONG),
        at_least(0),
        "How long it waits in between. Default: 1000.",
    )


@dataclass(frozen=True)
class SourceOptions(
    PatienceOptions,
    ProgressOptions,
    FileOptions,
    RecordOptions,
    FilterOptions,
    SizeOptions,
    PositionOptions,
    TopicOptions,
):
    """Everything but `kafka.*`. Bases are listed last part first: fields come out in order."""


# Options of the sink, of other sources, and of what people look for here.
ELSEWHERE = {
    "path": "the format ottla has no path: name topics with subscribe, subscribePattern or assign",
    "topic": "topic is an option for writing: to read, use subscribe",
    "provider": "Spark does not hand the options of CREATE TABLE to Python sources: use "
    "CREATE TEMPORARY VIEW ... USING ottla OPTIONS (...)",
    "checkpointlocation": "checkpointLocation belongs to writeStream, not to readStream",
}
_TABLE = OptionTable(SourceOptions, "", ELSEWHERE)
SOURCE_OPTIONS = _TABLE.declared


def parse_options(texts: Mapping[str, str]) -> SourceOptions:
    """InvalidOption names the option that is unknown or has an impossible value."""
    return _TABLE.parse(texts)
