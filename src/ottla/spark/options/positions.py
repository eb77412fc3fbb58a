"""Start and end of a query: the values of `startingOffsets`, `endingOffsets` and the options with
timestamps.

Owns      parsing these options. The JSON is that of Spark's `kafka` format.
Leaves    looking up positions in logs to `source/position_lookup.py`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from ottla.base.ids import TopicPartition
from ottla.config.kinds import Kind

EARLIEST_OFFSET, LATEST_OFFSET = -2, -1
INT64_MAX = 2**63 - 1
PARTITION_MAX = 2**31 - 1


@dataclass(frozen=True)
class Earliest:
    """The start of the log."""


@dataclass(frozen=True)
class Latest:
    """The end of the log when it is looked up."""


@dataclass(frozen=True)
class AtOffsets:
    """An offset for each partition: -2 is the earliest, -1 the latest."""

    offsets: Mapping[TopicPartition, int]


@dataclass(frozen=True)
class AtTimestamp:
    """The first record of each partition with this timestamp or a later one."""

    timestamp_ms: int


@dataclass(frozen=True)
class AtTimestamps:
    """The same with a timestamp for each partition."""

    timestamps_ms: Mapping[TopicPartition, int]


Position = Earliest | Latest | AtOffsets | AtTimestamp | AtTimestamps


def parse_position(text: str) -> Position:
    """`earliest`, `latest`, or JSON with an offset for each partition."""
    match text.lower():
        case "earliest":
            return Earliest()
        case "latest":
            return Latest()
    if not text.startswith("{"):
        raise ValueError('must be earliest, latest or JSON such as {"topic":{"0":23,"1":-2}}')
    return AtOffsets(parse_numbers(text, minimum=EARLIEST_OFFSET))


def parse_timestamps(text: str) -> AtTimestamps:
    return AtTimestamps(parse_numbers(text, minimum=0))


def parse_timestamp(text: str) -> AtTimestamp:
    if not text.isascii() or not text.isdigit() or int(text) > INT64_MAX:
        raise ValueError("must be milliseconds since 1970, a whole number not below 0")
    return AtTimestamp(int(text))


def parse_numbers(text: str, *, minimum: int) -> dict[TopicPartition, int]:
    """{"topic": {"partition": number}}: a number for each partition."""
    found = parse_object_numbers(_parse_object(text), minimum=minimum)
    if not found:
        raise ValueError("no partition is named")
    return found


def parse_object_numbers(topics: Mapping[str, Any], *, minimum: int) -> dict[TopicPartition, int]:
    """The same from parsed JSON; it may be empty."""
    found = {}
    for topic, numbers in topics.items():
        if not isinstance(numbers, dict) or not numbers:
            raise ValueError(f'topic {topic!r}: expected an object such as {{"0":23,"1":-2}}')
        for partition, number in numbers.items():
            topic_partition = TopicPartition(topic, _parse_partition(topic, partition))
            if not _is_whole(number) or not minimum <= number <= INT64_MAX:
                raise ValueError(
                    f"{topic_partition}: {number!r} is no whole number from {minimum} on"
                )
            found[topic_partition] = number
    return found


def parse_assignment(text: str) -> tuple[TopicPartition, ...]:
    """{"topic": [0, 1]}: the partitions to read."""
    found = []
    for topic, partitions in _parse_object(text).items():
        if not isinstance(partitions, list):
            raise ValueError(f"topic {topic!r}: expected a list of partitions such as [0,1]")
        found += [TopicPartition(topic, _parse_partition(topic, each)) for each in partitions]
    if not found:
        raise ValueError("no partition is named")
    return tuple(dict.fromkeys(found))


def _parse_object(text: str) -> dict[str, Any]:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        advice = ". json.dumps makes JSON of a Python object" if "'" in text else ""
        raise ValueError(f"is not JSON: {error}{advice}") from None
    if not isinstance(value, dict):
        raise ValueError("must be a JSON object with topics for names")
    return value


def _parse_partition(topic: str, value: Any) -> int:
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) <= 10:
        value = int(value)
    if not _is_whole(value) or not 0 <= value <= PARTITION_MAX:
        raise ValueError(f"topic {topic!r}: {value!r} is no number of a partition")
    return int(value)


def _is_whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _kind(name: str, parse: Callable[[str], Any]) -> Kind[Any]:
    return Kind(name, 2, parse, str)


POSITION: Kind[Position | None] = _kind("offsets", parse_position)
TIMESTAMP: Kind[AtTimestamp | None] = _kind("time", parse_timestamp)
TIMESTAMPS: Kind[AtTimestamps | None] = _kind("times", parse_timestamps)
ASSIGNMENT: Kind[tuple[TopicPartition, ...] | None] = _kind("partitions", parse_assignment)
