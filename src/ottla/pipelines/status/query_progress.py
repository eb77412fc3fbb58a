"""How far the query of a pipeline is, by its checkpoint: also while no driver runs.

Owns      reading `offsets/N`, which Spark writes when batch N starts, and `commits/N`, when it is
          done. Each is written with a rename, so that existing files are complete.
Promises  no Spark, and no cluster.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from ottla.spark.planning.stream_offsets import offsets_from_json


@dataclass(frozen=True, slots=True)
class QueryProgress:
    batch: int = -1  # the last completed batch
    end_offsets: int = 0  # of all partitions, added up: where this batch ended
    watermark_ms: int = 0  # of that batch
    is_in_batch: bool = False  # the next batch has started


def read_query_progress(checkpoint: Path) -> QueryProgress:
    batch = newest(checkpoint / "commits")
    is_in_batch = newest(checkpoint / "offsets") > batch
    if batch < 0:
        return QueryProgress(is_in_batch=is_in_batch)
    _version, metadata, offsets = (checkpoint / "offsets" / str(batch)).read_text().splitlines()
    ends = offsets_from_json(json.loads(offsets)).offsets
    watermark_ms = json.loads(metadata)["batchWatermarkMs"]
    return QueryProgress(batch, sum(ends.values()), watermark_ms, is_in_batch)


def commit_times(checkpoint: Path) -> list[float]:
    """The completion time of each batch, in seconds since 1970."""
    return sorted(path.stat().st_mtime for path in (checkpoint / "commits").glob("[0-9]*"))


def newest(directory: Path) -> int:
    return max((int(path.name) for path in directory.glob("[0-9]*")), default=-1)
