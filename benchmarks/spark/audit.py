"""The fold of the audit: records per second from a broker's log to sums, and what a pass costs.

    python -m benchmarks.spark.audit [--rounds 3] [--long]

Values of 100 bytes in six partitions. The fold in Spark is the job of `ottla audit run`, in
`local[2]`; the fold in this process is what `--without-spark` does, on one core. The last table is
processor time for each million records, of the process that folds alone.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence

from benchmarks.end_to_end.brokers import running
from benchmarks.report import OURS, options, show
from benchmarks.spark.connectors import report, spark_session
from benchmarks.spark.reading import MILLION, fill

from ottla.client.cluster.cluster import Cluster
from ottla.client.settings import ClientSettings
from ottla.pipelines.audit.fold_plan import FoldedRange, FoldRange, split_ranges
from ottla.pipelines.audit.running import TASK_OFFSETS, LocalEngine, log_positions
from ottla.pipelines.audit.spark_fold import SparkEngine

Fold = Callable[[Sequence[FoldRange]], Iterable[FoldedRange]]


def main() -> None:
    asked = options(__doc__)
    rows = (20 if asked.is_long else 6) * MILLION
    rates = report("Fold of the audit, 100 B", less_is_better=False, unit="thousand records/s")
    costs = report(
        "Processor time of the fold", less_is_better=True, unit="s per million records", digits=3
    )
    with running([OURS]) as (broker,), spark_session() as spark:
        fill(broker.bootstrap, "six", 6, rows)
        settings = ClientSettings(broker.bootstrap)
        with Cluster(settings) as cluster:
            positions = log_positions(cluster, ["six"])
            whole = [
                FoldRange("six", place, each.log_start, each.stable_end)
                for place, each in positions.items()
            ]
            ranges = split_ranges(whole, TASK_OFFSETS)
            engines: dict[str, Fold] = {
                "in Spark, local[2]": SparkEngine(spark, settings),
                "in one process": LocalEngine(cluster),
            }
            for number in range(asked.rounds + 1):
                for name, engine in engines.items():
                    taken_s, used_s = measured(engine, ranges, rows)
                    if number:
                        rates.add(name, OURS, rows / taken_s / 1e3)
                        if isinstance(engine, LocalEngine):
                            costs.add(name, OURS, used_s / rows * MILLION)
    show(rates)
    show(costs)


def measured(engine: Fold, ranges: Sequence[FoldRange], rows: int) -> tuple[float, float]:
    start, used = time.perf_counter(), time.process_time()
    found = list(engine(ranges))
    taken_s, used_s = time.perf_counter() - start, time.process_time() - used
    count = sum(sums.count for each in found for sums in each.committed.values())
    assert count == rows + 6, f"{count} of {rows} records"  # one in each partition is a test
    return taken_s, used_s


if __name__ == "__main__":
    main()
