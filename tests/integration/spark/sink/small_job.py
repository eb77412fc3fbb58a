"""What Spark does with a sink, in one small process: batches, tasks, a checkpoint.

    python -m tests.integration.spark.sink.small_job HOST:PORT TOPIC CHECKPOINT BATCHES

The checkpoint is a file with the number of the last batch that is known to be written. As in Spark,
it is noted after the commit, so a process that dies in between runs the batch again.
"""

from __future__ import annotations

import sys
from pathlib import Path

import pyarrow as pa

from ottla.client.cluster.cluster import Cluster
from ottla.client.settings import ClientSettings
from ottla.spark.options.producer_options import ProducerOptions
from ottla.spark.options.sink_options import SinkOptions
from ottla.spark.sink.decisions import TaskTransaction
from ottla.spark.sink.driver import SinkDriver
from ottla.spark.sink.input_columns import SinkColumns
from ottla.spark.sink.messages import Started
from ottla.spark.sink.plan import BatchOfQuery, TaskAction, plan_task
from ottla.spark.sink.setup import SinkSetup
from ottla.spark.sink.task_writer import TaskAttempt, TaskWriter

TASKS = 3
ROWS = 20


def main() -> None:
    servers, topic, checkpoint, batches = sys.argv[1:]
    path = Path(checkpoint)
    columns = SinkColumns(topic, has_key=True, has_headers=False, has_partition=False)
    options = SinkOptions(topic=topic, chunk_bytes=1)
    setup = SinkSetup(options, ProducerOptions(), ClientSettings(servers), columns)
    done = int(path.read_text()) if path.exists() else -1
    for number in range(done + 1, int(batches)):
        run_batch(setup, BatchOfQuery(f"query of {topic}", number))
        beside = path.with_suffix(".new")
        beside.write_text(str(number))
        beside.rename(path)  # as a whole or not at all, whenever this process is killed


def run_batch(setup: SinkSetup, wanted: BatchOfQuery) -> None:
    with Cluster(setup.settings) as cluster:
        driver = SinkDriver(cluster, setup, f"sink-of-{setup.options.topic}")
        started = driver.start()
        driver.commit(started, wanted, run_tasks(setup, started, wanted))


def run_tasks(setup: SinkSetup, started: Started, wanted: BatchOfQuery) -> list[TaskTransaction]:
    if plan_task(started.state, wanted) is TaskAction.SKIP:
        return []
    written = (
        TaskWriter(setup, started, TaskAttempt(task, 0)).write(rows_of(wanted.batch, task))
        for task in range(TASKS)
    )
    return [each for each in written if each is not None]


def rows_of(batch: int, task: int) -> list[pa.RecordBatch]:
    """Two chunks of them."""
    names = values_of(batch, task)
    return [
        pa.record_batch({"key": pa.array(part), "value": pa.array(part)})
        for part in (names[: ROWS // 2], names[ROWS // 2 :])
    ]


def values_of(batch: int, task: int) -> list[str]:
    return [f"{batch} {task} {row}" for row in range(ROWS)]


if __name__ == "__main__":
    main()
