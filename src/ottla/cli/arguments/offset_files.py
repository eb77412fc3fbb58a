"""Files with offsets of groups, for `ottla groups reset --from-file`.

ottla groups describe billing --format json     what this prints: committed offsets
ottla groups reset ... --format json            what this prints: the offsets after it
orders,0,17                                     CSV of Kafka's own tool, for one group
billing,orders,0,17                             and for several
"""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Iterator
from typing import Any

from ottla.base.ids import TopicPartition
from ottla.cli.arguments.numbers import INT64_MAX

Offsets = dict[TopicPartition, int]
Row = tuple[str, object, object, object]  # group, topic, partition, offset
DIGITS_MAX = 19
OFFSET_FIELDS = ("committed_offset", "after", "offset")


class BadOffsets(ValueError):
    """The text contains no offsets of the group, or is in none of the formats."""


def parse_offsets(text: str, group: str) -> Offsets:
    """The offsets of the group; or of another one, if the text has those of no others."""
    rows = list(json_rows(text) if text.lstrip()[:1] in ("[", "{") else csv_rows(text))
    if not rows:
        raise BadOffsets("there are no offsets")
    groups = {row[0] for row in rows}
    if len(groups) > 1:
        rows = [row for row in rows if row[0] == group]
        if not rows:
            raise BadOffsets(f"there are no offsets of group {group}")
    return unique((partition_of(row), offset_of(row)) for row in rows)


def unique(offsets: Iterable[tuple[TopicPartition, int]]) -> Offsets:
    found: Offsets = {}
    for partition, offset in offsets:
        if partition in found:
            raise BadOffsets(f"{partition} is given twice")
        found[partition] = offset
    return found


def csv_rows(text: str) -> Iterator[Row]:
    for number, line in enumerate(text.splitlines(), 1):
        fields = [each.strip() for row in csv.reader([line]) for each in row]
        if not any(fields):
            continue
        if len(fields) not in (3, 4) or not all(map(is_number, fields[-2:])):
            raise BadOffsets(f"line {number}: expected TOPIC,PARTITION,OFFSET")
        group = fields[0] if len(fields) == 4 else ""
        yield group, fields[-3], int(fields[-2]), int(fields[-1])


def json_rows(text: str) -> Iterator[Row]:
    try:
        document = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise BadOffsets(f"not JSON: {error}") from error
    for each in document if isinstance(document, list) else [document]:
        if not isinstance(each, dict):
            raise BadOffsets(f"expected objects with topic, partition and offset, found {each!r}")
        group = str(each.get("group"))
        for entry in each["partitions"] if isinstance(each.get("partitions"), list) else [each]:
            if (offset := json_offset(entry)) is not None:
                yield group, entry.get("topic"), entry.get("partition"), offset


def json_offset(entry: Any) -> object:
    """None for a partition without a committed offset."""
    if not isinstance(entry, dict) or not any(name in entry for name in OFFSET_FIELDS):
        raise BadOffsets(f"expected topic, partition and one of {', '.join(OFFSET_FIELDS)}")
    return next(entry[name] for name in OFFSET_FIELDS if name in entry)


def partition_of(row: Row) -> TopicPartition:
    _, topic, partition, _ = row
    if not isinstance(topic, str) or not topic or not is_count(partition):
        raise BadOffsets(f"{topic!r}, {partition!r} is not a topic and the number of a partition")
    return TopicPartition(topic, int(str(partition)))


def offset_of(row: Row) -> int:
    if not is_count(row[3]):
        raise BadOffsets(f"{row[3]!r} is not an offset")
    return int(str(row[3]))


def is_number(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) <= DIGITS_MAX


def is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= INT64_MAX
