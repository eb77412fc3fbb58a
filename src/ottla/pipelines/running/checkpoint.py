"""The state of a pipeline: the checkpoint of its query, and the pipeline that owns it.

    state/orders_lake/pipeline.json      {"pipeline": "orders_lake", "topics": ["orders"]}
    state/orders_lake/checkpoint/        Spark's: metadata, offsets/N, commits/N

Owns      reading the offsets of a batch. Spark writes `offsets/N` before batch N starts and
          `commits/N` when it is done, each with a rename, so existing files are complete.
Promises  a checkpoint of another pipeline is refused.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ottla.base.ids import TopicPartition
from ottla.pipelines.errors import PipelineError
from ottla.pipelines.lake.manifest import Offsets
from ottla.spark.planning.stream_offsets import StreamOffsets, offsets_from_json
from ottla.spark.sink.checkpoint import offsets_digest, query_of_checkpoint


@dataclass(frozen=True)
class BatchOffsets:
    """The offsets of one batch, by topic id."""

    query: str
    batch: int
    topics: Mapping[str, str]  # names to ids
    starts: Offsets
    ends: Offsets
    digest: str = ""


class PipelineState:
    def __init__(self, state: str, pipeline: str) -> None:
        self.directory = Path(state) / pipeline
        self.checkpoint = self.directory / "checkpoint"
        self._pipeline = pipeline

    def claim(self, topics: tuple[str, ...]) -> None:
        """PipelineError if the directory belongs to another pipeline."""
        path = self.directory / "pipeline.json"
        wanted = {"pipeline": self._pipeline, "topics": sorted(topics)}
        if not path.exists():
            self.directory.mkdir(parents=True, exist_ok=True)
            path.write_text(json.dumps(wanted))
            return
        found = self._read(path)
        if found["pipeline"] != self._pipeline:
            raise PipelineError(
                f"{self.directory} is the state of the pipeline {found['pipeline']}, not of "
                f"{self._pipeline}: give another directory with the key state"
            )
        if not set(found["topics"]) <= set(topics):
            missing = ", ".join(sorted(set(found["topics"]) - set(topics)))
            raise PipelineError(
                f"{self._pipeline} read the topics {missing} before, and its checkpoint names "
                f"their offsets: keep them in `from`, or delete {self.directory} to begin a new "
                "query"
            )
        path.write_text(json.dumps(wanted))

    def _read(self, path: Path) -> dict[str, Any]:
        try:
            found = json.loads(path.read_text())
            return {"pipeline": found["pipeline"], "topics": found["topics"]}
        except (ValueError, KeyError, TypeError) as error:
            raise PipelineError(
                f"{path} is damaged: {error!r}: restore {self.directory} from a backup, or delete "
                "it to begin a new query"
            ) from None

    @property
    def has_offsets(self) -> bool:
        """Whether a batch was planned: only then Spark continues from the checkpoint. A query
        that fails before has left its `metadata`, and begins where its options say."""
        return _newest(self.checkpoint / "offsets") >= 0

    @property
    def query(self) -> str:
        found = query_of_checkpoint(str(self.checkpoint))
        if found is None:
            raise PipelineError(f"{self.checkpoint} has no id of a query: it is damaged")
        return found

    def last_batch(self) -> int:
        """The newest that is done; -1 before the first."""
        return _newest(self.checkpoint / "commits")

    def range_of(self, batch: int) -> BatchOffsets:
        end = self._offsets(batch)
        if end.began_at is not None:
            begin: Mapping[TopicPartition, int] = end.began_at
        else:
            begin = self._offsets(batch - 1).offsets if batch > 0 else {}
        ids = end.topic_ids
        digest = offsets_digest(str(self.checkpoint), batch)
        # A partition that is new to the query begins with its log.
        starts = {partition: begin.get(partition, 0) for partition in end.offsets}
        return BatchOffsets(
            self.query, batch, dict(ids), _by_id(starts, ids), _by_id(end.offsets, ids), digest
        )

    def offsets_of(self, batch: int) -> tuple[StreamOffsets, StreamOffsets]:
        """Where a batch begins and ends, for the data source. The first one has its beginning
        stored with its end."""
        end = self._offsets(batch)
        if end.began_at is not None:
            return StreamOffsets({}, is_undecided=True), end
        if batch == 0:
            raise PipelineError(
                f"{self.checkpoint} does not say where its first batch begins: it is that of a "
                f"query that was no pipeline. Delete {self.directory} to begin a new query"
            )
        return self._offsets(batch - 1), end

    def _offsets(self, batch: int) -> StreamOffsets:
        path = self.checkpoint / "offsets" / str(batch)
        try:
            *_, offsets = path.read_text().splitlines()
            return offsets_from_json(json.loads(offsets))
        except (OSError, ValueError) as error:
            raise PipelineError(f"{path} cannot be read: {error}") from None


def _by_id(offsets: Mapping[TopicPartition, int], ids: Mapping[str, str]) -> Offsets:
    found: dict[str, dict[str, int]] = {}
    for partition, offset in sorted(offsets.items()):
        found.setdefault(ids.get(partition.topic, partition.topic), {})[
            str(partition.partition)
        ] = offset
    return found


def _newest(directory: Path) -> int:
    return max((int(path.name) for path in directory.glob("[0-9]*")), default=-1)
