"""Checks between the options of a query, each of which is valid by itself.

Promises  InvalidOption names the options that cannot be combined, and what to do.
Owns      which of the options decides where a query begins and ends.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Collection, Iterator
from datetime import UTC, datetime

from ottla.config.options import InvalidOption
from ottla.spark.options.positions import (
    EARLIEST_OFFSET,
    LATEST_OFFSET,
    AtOffsets,
    AtTimestamp,
    AtTimestamps,
    Earliest,
    Latest,
    Position,
)
from ottla.spark.options.source_options import SourceOptions

log = logging.getLogger("ottla.spark")

STREAM_ONLY = {
    "maxOffsetsPerTrigger": "max_offsets_per_trigger",
    "minOffsetsPerTrigger": "min_offsets_per_trigger",
}
LIKELY_SECONDS = range(10**9, 10**10)  # 2001 to 2286 in seconds, January to April 1970 in ms
ENDING = {
    "endingOffsets": "ending_offsets",
    "endingTimestamp": "ending_timestamp",
    "endingOffsetsByTimestamp": "ending_offsets_by_timestamp",
}


def check_topics(options: SourceOptions) -> None:
    given = [
        name
        for name, value in (
            ("subscribe", options.subscribe),
            ("subscribePattern", options.subscribe_pattern),
            ("assign", options.assign),
        )
        if value is not None
    ]
    if len(given) != 1:
        found = f"found {' and '.join(given)}" if given else "none of them is there"
        raise InvalidOption(
            f"Exactly one of the options subscribe, subscribePattern and assign is needed: {found}."
        )
    if options.subscribe == ():
        raise InvalidOption("Option subscribe: no topic is named.")
    if options.subscribe_pattern is not None and not options.subscribe_pattern.strip():
        raise InvalidOption(
            "Option subscribePattern is empty, which would match every topic: use .* for that."
        )
    if options.subscribe_pattern is not None:
        compile_pattern(options.subscribe_pattern)


def compile_pattern(pattern: str) -> re.Pattern[str]:
    try:
        return re.compile(pattern)
    except (re.error, RecursionError, OverflowError) as error:
        raise InvalidOption(
            f"Option subscribePattern: {pattern!r} is no regular expression: {error}."
        ) from None


def check_batch(options: SourceOptions) -> None:
    """Check the options for `spark.read`."""
    check_common(options)
    start, end = starting_position(options, Earliest()), ending_position(options)
    if isinstance(start, Latest) or _holds(start, LATEST_OFFSET):
        raise InvalidOption(
            "Option startingOffsets: a batch cannot begin at latest (-1), "
            "there would be nothing to read."
        )
    if isinstance(end, Earliest) or _holds(end, EARLIEST_OFFSET):
        raise InvalidOption(
            "Option endingOffsets: a batch cannot end at earliest (-2), "
            "there would be nothing to read."
        )
    if isinstance(start, AtOffsets) and isinstance(end, AtOffsets):
        _check_order(start, end)
    _warn_of_seconds(start, end)
    for name, attribute in STREAM_ONLY.items():
        if getattr(options, attribute) is not None:
            log.warning("the option %s is for streams, this batch ignores it", name)


def _check_order(start: AtOffsets, end: AtOffsets) -> None:
    for partition, first in start.offsets.items():
        last = end.offsets.get(partition, LATEST_OFFSET)
        if last >= 0 and first > last:
            raise InvalidOption(
                f"Option startingOffsets: {partition} begins at {first}, behind its end {last} "
                "in endingOffsets."
            )


def check_stream(options: SourceOptions) -> None:
    """Check the options for `spark.readStream`."""
    check_common(options)
    for name, attribute in ENDING.items():
        if getattr(options, attribute) is not None:
            raise InvalidOption(
                f"Option {name}: a stream has no end. Use trigger(availableNow=True) to stop at "
                "what is there now, or spark.read for a range."
            )
    least, most = options.min_offsets_per_trigger, options.max_offsets_per_trigger
    if least is not None and most is not None and least > most:
        raise InvalidOption(
            f"Option minOffsetsPerTrigger={least} is larger than maxOffsetsPerTrigger={most}."
        )
    _warn_of_seconds(starting_position(options, Latest()))


def _warn_of_seconds(*positions: Position) -> None:
    """A time of today in seconds is one of January 1970 in milliseconds: such a start reads all
    records, and such an end none."""
    for position in positions:
        for time_ms in _times_of(position):
            if time_ms in LIKELY_SECONDS:
                date = datetime.fromtimestamp(time_ms / 1000, UTC).date()
                log.warning(
                    "the time %d is in milliseconds and so on %s: multiply seconds by 1000",
                    time_ms,
                    date,
                )
                return


def _times_of(position: Position) -> Collection[int]:
    match position:
        case AtTimestamp(timestamp_ms):
            return (timestamp_ms,)
        case AtTimestamps(timestamps_ms):
            return timestamps_ms.values()
    return ()


def check_common(options: SourceOptions) -> None:
    check_topics(options)
    for wrong in _conflicts(options):
        raise InvalidOption(wrong)


def _conflicts(options: SourceOptions) -> Iterator[str]:
    splits = options.min_partitions is not None or options.max_records_per_partition is not None
    if options.preserve_order and splits:
        yield (
            "Option preserveOrder keeps each partition in one task: "
            "minPartitions and maxRecordsPerPartition cannot be set with it."
        )
    if options.value_format == "avro" and options.value_schema is None:
        yield "Option valueFormat=avro needs the option valueSchema: the Avro schema as JSON."
    if options.value_schema is not None and options.value_format is None:
        yield "Option valueSchema needs the option valueFormat: json or avro."


def starting_position(options: SourceOptions, default: Position) -> Position:
    return (
        options.starting_timestamp
        or options.starting_offsets_by_timestamp
        or options.starting_offsets
        or default
    )


def ending_position(options: SourceOptions) -> Position:
    return (
        options.ending_timestamp
        or options.ending_offsets_by_timestamp
        or options.ending_offsets
        or Latest()
    )


def _holds(position: Position, offset: int) -> bool:
    return isinstance(position, AtOffsets) and offset in position.offsets.values()
