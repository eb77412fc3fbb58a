"""Folding ranges of logs in the tasks of one Spark job.

Owns      the job: a row for each range, folded by the task that gets it.
Promises  only sums travel back to the driver; the session may be local, or a cluster's.
Leaves    folding to `log_fold.py`.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from ottla.client.cluster.cluster import Cluster
from ottla.client.settings import ClientSettings
from ottla.pipelines.audit.fold_plan import FoldedRange, FoldRange
from ottla.pipelines.audit.log_fold import fold_range
from ottla.pipelines.sums.record_sums import decode_book, encode_book

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

RESULT = "number bigint, folded string"


class SparkEngine:
    def __init__(self, spark: SparkSession, settings: ClientSettings) -> None:
        self._spark = spark
        self._settings = settings

    def __call__(self, ranges: Sequence[FoldRange]) -> Iterable[FoldedRange]:
        if not ranges:
            return []
        count = len(ranges)
        numbers = self._spark.range(0, count, 1, count)  # one in each task
        found = numbers.mapInArrow(_Folding(self._settings, ranges), RESULT).collect()
        folded = {row.number: decode_folded(ranges[row.number], row.folded) for row in found}
        return [folded[number] for number in range(count)]


class _Folding:
    """The work of a task, pickled to it."""

    def __init__(self, settings: ClientSettings, ranges: Sequence[FoldRange]) -> None:
        self._settings = settings
        self._ranges = ranges

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        with Cluster(self._settings) as cluster:
            for batch in batches:
                numbers = batch.column("id").to_pylist()
                folded = [encode_folded(fold_range(cluster, self._ranges[n])) for n in numbers]
                columns = [pa.array(numbers, pa.int64()), pa.array(folded, pa.string())]
                yield pa.RecordBatch.from_arrays(columns, names=["number", "folded"])


def encode_folded(folded: FoldedRange) -> str:
    value: dict[str, Any] = {
        "committed": encode_book(folded.committed),
        "aborted": encode_book(folded.aborted),
        "log_start": folded.log_start,
    }
    return json.dumps(value)


def decode_folded(wanted: FoldRange, text: str) -> FoldedRange:
    value = json.loads(text)
    committed, aborted = decode_book(value["committed"]), decode_book(value["aborted"])
    return FoldedRange(wanted, committed, aborted, value["log_start"])
