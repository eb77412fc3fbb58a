"""Millions of orders over 26 hours of event time, 1 % late and 0.1 % bad, in one lake.

    python -m tests.integration.pipelines.many_hours [--rows 2000000] [--format delta]
        [--node kafka]

What must be there is computed from the numbers of the orders alone; DuckDB counts the files of the
table, confluent-kafka the topics. Exit code 1 if anything differs.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections import Counter
from datetime import datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory

import duckdb
from confluent_kafka import Producer
from tests.integration.pipelines.crashes import FORMATS, NODES, opened_node, run_pipeline
from tests.integration.pipelines.orders import PARTITIONS, START, pipeline_file
from tests.integration.spark.sink.committed_records import committed
from tests.support.spark_jvm import use_archive

from ottla.testing import Kafka

HOURS = 26
BAD_AT, LATE_AT = 1000, 100
FIRST = 100_000  # produced and committed before the first late one


def kind_of(number: int) -> str:
    if number % BAD_AT == 7:
        return "bad"
    return "late" if number >= FIRST and number % LATE_AT == 3 else "good"


def time_of(number: int, rows: int) -> datetime:
    """Late ones are a day and more behind everything else."""
    at = START + timedelta(hours=HOURS) * (number / rows)
    return at - timedelta(hours=30) if kind_of(number) == "late" else at


def produce(servers: str, topic: str, numbers: range, rows: int) -> None:
    producer = Producer({
        "bootstrap.servers": servers, "linger.ms": 20, "queue.buffering.max.messages": 1_000_000,
    })  # fmt: skip
    for number in numbers:
        value = f"order {number}"
        if kind_of(number) != "bad":
            order = {"id": number, "item": "pen", "amount": number % 2000,
                     "at": time_of(number, rows).isoformat()}  # fmt: skip
            value = json.dumps(order)
        while True:
            try:
                producer.produce(topic, value, partition=number % PARTITIONS)
                break
            except BufferError:
                producer.poll(0.1)
        if number % 1000 == 0:
            producer.poll(0)
    assert producer.flush(600) == 0


def differences(servers: str, topic: str, files: str, rows: int) -> list[str]:
    expected = Counter(kind_of(number) for number in range(rows))
    hours = Counter(
        int(time_of(number, rows).timestamp()) // 3600
        for number in range(rows)
        if kind_of(number) == "good"
    )
    sums = sum(number for number in range(rows) if kind_of(number) == "good")
    table = f"read_parquet({files}, hive_partitioning=false)"
    (found,) = duckdb.sql(f"SELECT count(*), count(DISTINCT id), sum(id) FROM {table}").fetchall()
    problems = []
    if found != (expected["good"], expected["good"], sums):
        problems.append(f"the table has {found}, for {expected['good']} orders with sum {sums}")
    by_hour = f'SELECT CAST(floor(epoch("at")) AS BIGINT) // 3600, count(*) FROM {table} GROUP BY 1'
    counted = dict(duckdb.sql(by_hour).fetchall())
    if counted != dict(hours):
        problems.append(f"{len(counted)} hours, for {len(hours)}")
    for kind in ("bad", "late"):
        records = committed(servers, f"{topic}.{kind}")
        numbers = Counter(number_in(each.value or "") for each in records)
        wanted = Counter(number for number in range(rows) if kind_of(number) == kind)
        if numbers != wanted:
            problems.append(f"{kind} records: {len(records)} for {expected[kind]}")
    return problems


def number_in(value: str) -> int:
    return int(value.split()[1]) if value.startswith("order") else int(json.loads(value)["id"])


def data_files(lake: Path, form: str) -> str:
    """Those of the table, as a list for DuckDB; of Delta and Iceberg by their own libraries."""
    if form == "parquet":
        return f"'{lake}/*/*.parquet'"
    from ottla.pipelines.audit.lake_tables import open_lake

    return str([str(path) for path in open_lake(lake).files()])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rows", type=int, default=2_000_000)
    parser.add_argument("--format", choices=FORMATS, default="parquet")
    parser.add_argument("--node", choices=NODES, default="cluster")
    arguments = parser.parse_args()
    use_archive()
    rows, form = arguments.rows, arguments.format
    with opened_node(arguments.node) as servers, TemporaryDirectory() as place:
        kafka = Kafka(servers)
        topic = kafka.topic("orders", partitions=PARTITIONS)
        directory = Path(place)
        path = pipeline_file(directory, servers, topic, form)
        path.write_text(path.read_text().replace("batch_records: 2000", "batch_records: 500000"))
        problems = []
        for part in (range(min(FIRST, rows)), range(FIRST, rows)):
            produce(servers, topic, part, rows)
            started_s = time.monotonic()
            if (code := run_pipeline(directory, path)) != 0:
                problems.append(f"the run ended with {code}")
            print(f"{len(part)} records in {time.monotonic() - started_s:.1f} s", flush=True)
        lake = directory / "lake" / "orders_lake"
        problems += differences(servers, topic, data_files(lake, form), rows)
        kafka.close()
    print("; ".join(problems) or f"right: {rows} orders in {HOURS} hours", flush=True)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
