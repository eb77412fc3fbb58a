"""The end of the next micro-batch: limits, the target of AvailableNow, minOffsetsPerTrigger.

Owns      the target, and the time of the last batch.
Promises  with any limit, a batch is not empty while there is something that it may read.
Leaves    the arithmetic to `trigger_limits.py`. The time is passed in.
"""

from __future__ import annotations

from collections.abc import Mapping

from pyspark.sql.streaming.datasource import (
    ReadAllAvailable,
    ReadLimit,
    ReadMaxRows,
    ReadMinRows,
)

from ottla.base.ids import TopicPartition
from ottla.spark.options.source_options import SourceOptions
from ottla.spark.planning.trigger_limits import Holding, not_beyond, share_out, waiting

Offsets = Mapping[TopicPartition, int]


class Admission:
    def __init__(self, options: SourceOptions) -> None:
        self._options = options
        self._target: dict[TopicPartition, int] | None = None
        self._last_batch_s: float | None = None

    @property
    def default_limit(self) -> ReadLimit:
        if self._options.max_offsets_per_trigger is not None:
            return ReadMaxRows(self._options.max_offsets_per_trigger)
        if self._options.min_offsets_per_trigger is not None:
            return ReadMinRows(self._options.min_offsets_per_trigger)
        return ReadAllAvailable()

    def stop_at(self, ends: Offsets) -> None:
        """AvailableNow: what is written later is left to the next run."""
        self._target = dict(ends)

    def stop_at_instead(self, ends: Offsets) -> None:
        """Other ends for partitions of topics that were created again, if there is a target."""
        if self._target is not None:
            self._target |= ends

    def note_batch(self, now_s: float) -> None:
        self._last_batch_s = now_s

    def decide_ends(
        self, reached: Offsets, starts: Offsets, latest: Offsets, limit: ReadLimit, now_s: float
    ) -> dict[TopicPartition, int]:
        """`reached` is where the stream is; `starts` also has partitions that are new to it."""
        ends = latest
        if self._target is not None:
            waits = {partition: at for partition, at in starts.items() if partition in reached}
            ends = waits | _up_to(self._target, starts, latest)
        known = {partition: starts[partition] for partition in ends}
        if not isinstance(limit, ReadAllAvailable) and self._must_wait(known, ends, now_s):
            return known
        if isinstance(limit, ReadMaxRows):
            return share_out(limit.max_rows, known, ends)
        return dict(ends)

    def _must_wait(self, starts: Offsets, ends: Offsets, now_s: float) -> bool:
        least = self._options.min_offsets_per_trigger
        if least is None or self._target is not None:
            return False
        since = self._last_batch_s
        holding = Holding(least, self._options.max_trigger_delay_ms)
        since_ms = None if since is None else (now_s - since) * 1000
        return holding.must_wait(waiting(starts, ends), since_ms)


def _up_to(target: Offsets, starts: Offsets, latest: Offsets) -> dict[TopicPartition, int]:
    """Partitions newer than the target are left to the next run. A start beyond the target is that
    of a query that has just begun at the end of the log."""
    ends = not_beyond(latest, target)
    return {
        partition: max(end, min(starts[partition], latest[partition]))
        for partition, end in ends.items()
    }
