"""SQL and Python over records: joins with a compacted topic, windows, lakes of queries."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from tests.integration.pipelines.orders import ids
from tests.integration.pipelines.test_running import run_once, table_of
from tests.integration.spark.sink.committed_records import committed

from ottla.client.cluster.cluster import Cluster
from ottla.client.settings import ClientSettings
from ottla.pipelines.declaration.loading import load
from ottla.pipelines.status.report_topic import read_reports
from ottla.pipelines.verbs.backfill import backfill
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


def test_a_backfill_reads_around_the_thousands_of_records_that_a_query_filters(
    spark: Any, kafka: Kafka, tmp_path: Path
) -> None:
    orders, servers = kafka.topic("orders"), kafka.bootstrap_servers
    kafka.produce(orders, [("k", json.dumps({"id": each})) for each in range(6000)])
    path = tmp_path / "even.yaml"
    path.write_text(
        f"""\
clusters: {{main: "{servers}"}}
state: {tmp_path}/state
pipelines:
  even:
    from: {{topics: [{orders}], value: {{json: "id bigint"}}}}
    sql: SELECT id, topic, partition, offset, timestamp FROM input WHERE id % 2 = 0
    to: {{lake: {tmp_path}/lake}}
    batch_records: 3000
"""
    )
    run_once(spark, path)
    table = table_of(path, "even")
    assert ids(table.rows()) == list(range(0, 6000, 2))
    lost = Path(table.directory) / table.files()[0]
    count = pq.read_metadata(lost).num_rows
    lost.unlink()
    declared = load(str(path))
    done = backfill(declared, declared.pipelines["even"], [], lambda: spark)
    assert done.added == count > 0
    assert done.missing == 3000 + count
    assert ids(table.rows()) == list(range(0, 6000, 2))


WINDOWS = """\
clusters: {{main: "{servers}"}}
state: {state}/state
pipelines:
  hourly:
    from: {{topics: [{orders}], value: {{json: "id bigint, at timestamp"}}}}
    watermark: {{column: at, delay: 10m}}
    sql: >
      SELECT CAST(window.start AS STRING) AS key, CAST(count(*) AS STRING) AS value
      FROM input GROUP BY window(at, '1 hour')
    to: {{topic: {orders}.hourly}}
    failures_max: 0
"""


def test_windows_leave_nothing_out_silently(
    spark: Any, kafka: Kafka, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    orders, servers = kafka.topic("orders"), kafka.bootstrap_servers
    path = tmp_path / "windows.yaml"
    path.write_text(WINDOWS.format(servers=servers, state=tmp_path, orders=orders))

    def send(*hours: int) -> None:
        rows = [{"id": 1, "at": f"2026-03-01T{hour:02}:30:00Z"} for hour in hours]
        kafka.produce(orders, [("k", json.dumps(row)) for row in rows])

    send(10, 11, 14)
    run_once(spark, path)
    send(10, 15)  # the window of the first is closed
    run_once(spark, path)
    with Cluster(ClientSettings(servers)) as cluster:
        report = read_reports(cluster)["hourly"]
    assert report.totals.late == 1
    assert "1 rows came after their windows were closed" in caplog.text
    kafka.produce(orders, [("k", "no order")])
    failure = f"topic {orders}, partition 0, offset 5 cannot be decoded: not JSON"
    with pytest.raises(AssertionError, match=failure):
        run_once(spark, path)


def test_a_batch_of_a_feed_that_is_repeated_has_the_counts_of_its_first_attempt(
    spark: Any, kafka: Kafka, tmp_path: Path
) -> None:
    """The driver died after the commit, and before Spark noted it."""
    orders, servers = kafka.topic("orders"), kafka.bootstrap_servers
    rows = [json.dumps({"id": each, "amount": each}) for each in range(20)]
    kafka.produce(orders, [("k", each) for each in [*rows, "no order"]])
    path = tmp_path / "feed.yaml"
    path.write_text(
        f"""\
clusters: {{main: "{servers}"}}
state: {tmp_path}/state
pipelines:
  large:
    from: {{topics: [{orders}], value: {{json: "id bigint, amount double"}}}}
    sql: SELECT CAST(id AS STRING) AS key, to_json(value) AS value FROM input WHERE amount > 9
    to: {{topic: {orders}.large}}
    bad: {{topic: {orders}.bad}}
"""
    )
    (first,) = run_once(spark, path)
    commits = tmp_path / "state" / "large" / "checkpoint" / "commits"
    for name in ("0", ".0.crc"):
        (commits / name).unlink()
    again = run_once(spark, path)[0]
    assert again.batch == first.batch == 0
    assert again.counts == first.counts
    assert first.counts.numbers() == (21, 10, 10, 1, 0)
    assert len(committed(servers, f"{orders}.large")) == 10
    assert len(committed(servers, f"{orders}.bad")) == 1


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
  no_sql:
    from: {{topics: [{topic}], value: {{json: "id bigint"}}}}
    sql: SELEC key, value FROM input
    to: {{topic: {topic}.copy}}
  no_event_time:
    from: {{topics: [{topic}], value: {{json: "id bigint, at timestamp"}}}}
    watermark: {{column: value.att, delay: 1m}}
    sql: SELECT to_json(value) AS value FROM input
    to: {{topic: {topic}.copy}}
  no_time:
    from: {{topics: [{topic}], value: {{json: "id bigint, at timestamp"}}}}
    watermark: {{column: id, delay: 1m}}
    sql: SELECT to_json(value) AS value FROM input
    to: {{topic: {topic}.copy}}
"""
    )
    checks = validate(load(str(path)), lambda: spark)
    found = {check.pipeline: check.problem for check in checks if check.problem}
    assert "does not exist: create it (ottla topics create" in found["no_topic"]
    assert "nothing" in found["no_column"]
    assert "have no topic, partition, offset, timestamp" in found["no_place"]
    assert "holds something else (photo.jpeg)" in found["no_table"]
    assert "Syntax error at or near 'SELEC'" in found["no_sql"]
    assert "watermark: there is no column value.att: there is " in found["no_event_time"]
    assert "watermark: id is bigint, and must be a timestamp" in found["no_time"]
