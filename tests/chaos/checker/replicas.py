"""The copies of a partition: the same bytes in all of them, up to the high watermark.

Promises  copies are compared batch by batch, so that a finding names the first batch that differs.
          Where segments end does not matter: each replica rolls by itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from tests.chaos.checker.anomalies import Anomaly, Finding

from ottla.protocol.records.batch import iterate_headers


class Batch(NamedTuple):
    base_offset: int
    last_offset: int
    data: bytes


def batches_of(segments: Sequence[bytes]) -> Iterator[Batch]:
    """Of all segments of one replica, in their order."""
    for segment in segments:
        for position, header in iterate_headers(segment):
            end = position + header.size_bytes
            yield Batch(header.base_offset, header.last_offset, segment[position:end])


def read_segments(partition: Path) -> list[bytes]:
    """Of one replica, from the directory of its broker."""
    return [path.read_bytes() for path in sorted(partition.glob("*.log"))]


def differences(
    key: str, copies: Mapping[int, Sequence[Batch]], high_watermark: int
) -> Iterator[Finding]:
    """`copies` are the batches by broker. The one with the lowest id is compared with all others;
    each copy must reach the high watermark."""
    committed = {
        broker: [batch for batch in batches if batch.base_offset < high_watermark]
        for broker, batches in copies.items()
    }
    for broker, batches in committed.items():
        end = batches[-1].last_offset + 1 if batches else 0
        if end < high_watermark:
            text = f"broker {broker} ends at {end}, below the high watermark {high_watermark}"
            yield Finding(Anomaly.DIVERGED, key, text)
    first, *others = sorted(committed)
    for other in others:
        if difference := _first_difference(committed[first], committed[other]):
            yield Finding(Anomaly.DIVERGED, key, f"brokers {first} and {other}: {difference}")


def _first_difference(ours: Sequence[Batch], theirs: Sequence[Batch]) -> str | None:
    for one, another in zip(ours, theirs, strict=False):
        if one.data != another.data:
            return (
                f"the batch of the offsets {one.base_offset} to {one.last_offset} differs from "
                f"that of {another.base_offset} to {another.last_offset} in byte "
                f"{_first_different_byte(one.data, another.data)}"
            )
    if len(ours) != len(theirs):
        longer = ours if len(ours) > len(theirs) else theirs
        return f"only one has the batch at offset {longer[min(len(ours), len(theirs))].base_offset}"
    return None


def _first_different_byte(one: bytes, another: bytes) -> int:
    pairs = enumerate(zip(one, another, strict=False))
    shorter = min(len(one), len(another))
    return next((at for at, (ours, theirs) in pairs if ours != theirs), shorter)
