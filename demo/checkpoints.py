"""The progress of a Spark query, read from its checkpoint, even while no driver is running.

Spark writes `offsets/N` when batch N starts and `commits/N` when it is done, each with a rename, so
existing files are complete.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from demo.scenario import REPORTS_TOPIC


@dataclass(frozen=True, slots=True)
class QueryProgress:
    batch: int = -1  # the last completed batch
    events: int = 0  # read by all batches up to this one
    watermark_ms: int = 0  # of that batch
    is_in_batch: bool = False  # the next batch has started


def read_query_progress(checkpoint: Path) -> QueryProgress:
    batch = newest(checkpoint / "commits")
    is_in_batch = newest(checkpoint / "offsets") > batch
    if batch < 0:
        return QueryProgress(is_in_batch=is_in_batch)
    text = (checkpoint / "offsets" / str(batch)).read_text()
    events, watermark_ms = decode_offsets(text)
    return QueryProgress(batch, events, watermark_ms, is_in_batch)


def decode_offsets(text: str) -> tuple[int, int]:
    """The number of events up to the end of the batch, and its watermark."""
    _version, metadata, offsets = text.splitlines()
    ends = json.loads(offsets)[REPORTS_TOPIC]
    return sum(ends.values()), json.loads(metadata)["batchWatermarkMs"]


def commit_times(checkpoint: Path) -> list[float]:
    """The completion time of each batch, in seconds since 1970."""
    return sorted(path.stat().st_mtime for path in (checkpoint / "commits").glob("[0-9]*"))


def newest(directory: Path) -> int:
    return max((int(path.name) for path in directory.glob("[0-9]*")), default=-1)
