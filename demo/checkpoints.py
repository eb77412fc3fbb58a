"""How far a query of Spark has come, read from its checkpoint: true even while no driver lives.

Spark writes `offsets/N` when batch N begins and `commits/N` when it is done, each by a rename, so a
file that is there is whole.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from demo.scenario import REPORTS_TOPIC


@dataclass(frozen=True, slots=True)
class Stand:
    batch: int = -1  # the last one that is done
    events: int = 0  # how many of the topic it and those before have read
    watermark_ms: int = 0  # of that batch
    is_in_batch: bool = False  # the next one has begun


def read_stand(checkpoint: Path) -> Stand:
    batch = newest(checkpoint / "commits")
    is_in_batch = newest(checkpoint / "offsets") > batch
    if batch < 0:
        return Stand(is_in_batch=is_in_batch)
    text = (checkpoint / "offsets" / str(batch)).read_text()
    events, watermark_ms = decode_offsets(text)
    return Stand(batch, events, watermark_ms, is_in_batch)


def decode_offsets(text: str) -> tuple[int, int]:
    """Events that were read up to the end of the batch, and its watermark."""
    _version, metadata, offsets = text.splitlines()
    ends = json.loads(offsets)[REPORTS_TOPIC]
    return sum(ends.values()), json.loads(metadata)["batchWatermarkMs"]


def commit_times(checkpoint: Path) -> list[float]:
    """When each batch was done, in seconds since 1970."""
    return sorted(path.stat().st_mtime for path in (checkpoint / "commits").glob("[0-9]*"))


def newest(directory: Path) -> int:
    return max((int(path.name) for path in directory.glob("[0-9]*")), default=-1)
