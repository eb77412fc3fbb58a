"""Where events are in the topic, and differences by partition and bucket, as the audit names them.

Promises  pure, and shares no code with the audit: a bucket is ten minutes of record time.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, NamedTuple

from demo.scenario import MINUTE_MS

BUCKET_MS = 10 * MINUTE_MS
Range = list[int]  # the first and the last offset
NAMED_MAX = 5


class Place(NamedTuple):
    partition: int
    offset: int
    time_ms: int


@dataclass(frozen=True)
class Difference:
    """Offsets of one bucket that a table lacks, or has more than once."""

    bucket: str
    partition: int
    lost: list[Range] = field(default_factory=list)
    duplicated: list[Range] = field(default_factory=list)

    def __str__(self) -> str:
        words = [
            f"{name} offsets {ranges_text(ranges)}"
            for name, ranges in (("lost", self.lost), ("duplicated", self.duplicated))
            if ranges
        ]
        return f"partition {self.partition}, bucket {self.bucket}: {'; '.join(words)}"


def find_differences(lost: Iterable[Place], duplicated: Iterable[Place]) -> list[Difference]:
    """By bucket and partition."""
    found: dict[tuple[str, int], tuple[list[int], list[int]]] = {}
    for number, places in enumerate((lost, duplicated)):
        for place in places:
            key = bucket_text(place.time_ms), place.partition
            found.setdefault(key, ([], []))[number].append(place.offset)
    return [
        Difference(bucket, partition, *map(ranges_of, offsets))
        for (bucket, partition), offsets in sorted(found.items())
    ]


def differences_of_drill(document: Mapping[str, Any]) -> list[Difference]:
    """What `ottla audit drill --format json` has found."""
    found = [
        Difference(each["bucket"], each["partition"], each["missing"], each["doubled"])
        for each in document["partitions"]
    ]
    return sorted(found, key=lambda each: (each.bucket, each.partition))


def disagreements(checker: Sequence[Difference], audit: Sequence[Difference]) -> list[str]:
    """What one of them has found and the other has not; nothing if they agree."""
    return [
        f"only the {name} found {each}"
        for name, mine, other in (("checker", checker, audit), ("audit", audit, checker))
        for each in mine
        if each not in other
    ]


def bucket_text(time_ms: int) -> str:
    start = datetime.fromtimestamp(time_ms // BUCKET_MS * BUCKET_MS / 1000, UTC)
    return f"{start:%Y-%m-%dT%H:%M:%SZ}"


def ranges_of(numbers: Iterable[int]) -> list[Range]:
    """`[[1, 3], [7, 7]]` of 1, 2, 3, 7."""
    found: list[Range] = []
    for number in sorted(numbers):
        if found and number <= found[-1][1] + 1:
            found[-1][1] = number
        else:
            found.append([number, number])
    return found


def ranges_text(ranges: Sequence[Range]) -> str:
    """`1-3, 7`"""
    words = [str(first) if first == last else f"{first}-{last}" for first, last in ranges]
    return ", ".join(words[:NAMED_MAX]) + (", ..." if len(words) > NAMED_MAX else "")
