"""SQL and Python over records: joins with a compacted topic, windows, lakes of queries."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.integration.pipelines.test_running import run_once
from tests.integration.spark.sink.committed_records import committed

from ottla.pipelines.declaration.loading import load
from ottla.pipelines.verbs.validate import validate
from ottla.testing import Kafka

pytestmark = [pytest.mark.ci, pytest.mark.xdist_group("spark")]

FILE = """\
clusters: {{main: "{servers}"}}
state: {state}/state
pipelines:
  named_orders:
    from: {{topics: [{orders}], value: {{json: "id bigint, customer string, at timestamp"}}}}
    tables:
      customers: {{topic: {customers}, value: {{json: "name string"}}}}
    sql: >
      SELECT CAST(id AS STRING) AS key, to_json(named_struct('id', id, 'name', c.name)) AS value,
      input.timestamp
      FROM input LEFT JOIN customers c ON c.key = CAST(customer AS BINARY) WHERE id % 2 = 0
    to: {{topic: {orders}.named}}
  hourly_orders:
    from: {{topics: [{orders}], value: {{json: "id bigint, customer string, at timestamp"}}}}
    watermark: {{column: at, delay: 10m}}
    sql: >
      SELECT CAST(window.start AS STRING) AS key, CAST(count(*) AS STRING) AS value
      FROM input GROUP BY window(at, '1 hour')
    to: {{topic: {orders}.hourly}}
  even_lake:
    from: {{topics: [{orders}], value: {{json: "id bigint, customer string, at timestamp"}}}}
    python: feed_functions:even
    to: {{lake: {state}/lake, format: parquet, hourly: at}}
"""
FUNCTIONS = """\
def even(records):
    kept = records.where("id % 2 = 0")
    return kept.select("id", "at", "topic", "partition", "offset", "timestamp")
"""


def test_joins_windows_and_functions(spark: Any, kafka: Kafka, tmp_path: Path) -> None:
    orders, customers = kafka.topic("orders", partitions=2), kafka.topic("customers")
    kafka.produce(
        customers, [("c0", '{"name": "old"}'), ("c1", '{"name": "ada"}'), ("c0", '{"name": "bob"}'),
                    ("c2", '{"name": "gone"}'), ("c2", None)],
    )  # fmt: skip
    rows = [
        {"id": each, "customer": f"c{each % 4}", "at": f"2026-03-01T{10 + each // 6:02}:00:00Z"}
        for each in range(24)
    ]
    kafka.produce(orders, [(str(row["id"]), json.dumps(row)) for row in rows])
    path = tmp_path / "feeds.yaml"
    path.write_text(
        FILE.format(
            servers=kafka.bootstrap_servers, state=tmp_path, orders=orders, customers=customers
        )
    )
    (tmp_path / "feed_functions.py").write_text(FUNCTIONS)
    checks = validate(load(str(path)), lambda: with_modules(spark, tmp_path))
    assert [check for check in checks if check.problem] == []
    reports = run_once(spark, path)

    named = committed(kafka.bootstrap_servers, f"{orders}.named")
    names = {int(each.key or ""): json.loads(each.value or "").get("name") for each in named}
    assert names == {each: {0: "bob", 2: None}[each % 4] for each in range(0, 24, 2)}
    counts = next(each.counts for each in reports if each.pipeline == "named_orders")
    assert counts.numbers() == (24, 12, 12, 0, 0)
    hours = {
        each.key: each.value for each in committed(kafka.bootstrap_servers, f"{orders}.hourly")
    }
    assert hours == {f"2026-03-01 {hour}:00:00": "6" for hour in (10, 11)}  # the newest is 13:00


def with_modules(spark: Any, directory: Path) -> Any:
    import sys

    if str(directory) not in sys.path:
        sys.path.insert(0, str(directory))
    return spark


def test_validate_finds_what_a_run_would_fail_with(
    spark: Any, kafka: Kafka, tmp_path: Path
) -> None:
    topic = kafka.topic("orders")
    path = tmp_path / "wrong.yaml"
    (tmp_path / "lake").mkdir()
    (tmp_path / "lake" / "photo.jpeg").write_text("")
    path.write_text(
        f"""\
clusters: {{main: "{kafka.bootstrap_servers}"}}
pipelines:
  no_topic:
    from: {{topics: [{topic}-none]}}
    to: {{lake: {tmp_path}/other}}
  no_column:
    from: {{topics: [{topic}], value: {{json: "id bigint"}}}}
    sql: SELECT key, nothing AS value FROM input
    to: {{topic: {topic}.copy}}
  no_place:
    from: {{topics: [{topic}], value: {{json: "id bigint"}}}}
    sql: SELECT id FROM input
    to: {{lake: {tmp_path}/other2}}
  no_table:
    from: {{topics: [{topic}]}}
    to: {{lake: {tmp_path}/lake}}
"""
    )
    checks = validate(load(str(path)), lambda: spark)
    found = {check.pipeline: check.problem for check in checks if check.problem}
    assert "does not exist: create it (ottla topics create" in found["no_topic"]
    assert "nothing" in found["no_column"]
    assert "have no topic, partition, offset, timestamp" in found["no_place"]
    assert "holds something else (photo.jpeg)" in found["no_table"]
