"""Declared pipelines over a real broker, read back by other programs."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from tests.integration.pipelines.orders import Orders, feed, ids, pipeline_file, produce
from tests.integration.spark.sink.committed_records import committed

from ottla.cli.main import main
from ottla.client.cluster.cluster import Cluster
from ottla.client.settings import ClientSettings
from ottla.pipelines.batch_report import BatchReport
from ottla.pipelines.declaration.loading import load
from ottla.pipelines.declaration.tree import Lake
from ottla.pipelines.lake.opening import open_table
from ottla.pipelines.lake.table import LakeTable
from ottla.pipelines.running.service import PipelineService
from ottla.pipelines.status.report_topic import read_reports
from ottla.pipelines.verbs.backfill import backfill
from ottla.testing import Kafka

pytestmark = pytest.mark.xdist_group("spark")


def run_once(spark: Any, path: Path, names: Sequence[str] = ()) -> list[BatchReport]:
    """All batches; a failure of a pipeline is raised."""
    declared = load(str(path))
    reported: list[BatchReport] = []
    service = PipelineService(
        spark, declared, names or list(declared.pipelines), once=True, on_report=reported.append
    )
    is_right = service.run()
    assert is_right, [each.failure for each in service.running.values()]
    return reported


def table_of(path: Path, name: str = "orders_lake") -> LakeTable:
    lake = load(str(path)).pipelines[name].to
    assert isinstance(lake, Lake)
    return open_table(lake, name)


def test_a_lake_has_every_record_once_and_bad_and_late_ones_are_aside(
    spark: Any, kafka: Kafka, tmp_path: Path
) -> None:
    topic, servers = kafka.topic("orders", partitions=3), kafka.bootstrap_servers
    orders = Orders()
    path = pipeline_file(tmp_path, servers, topic, "parquet", feed(topic))
    produce(servers, topic, range(3000), orders)
    first = run_once(spark, path)
    produce(servers, topic, range(3000, 4000), orders, late_at=40)
    second = run_once(spark, path)

    table = table_of(path)
    assert ids(table.rows()) == sorted(orders.good)
    lake = [each.counts for each in (*first, *second) if each.pipeline == "orders_lake"]
    assert len(lake) >= 3  # of 2,000 records at most
    total = [sum(each) for each in zip(*(counts.numbers() for counts in lake), strict=True)]
    assert total == [4000, len(orders.good), 0, len(orders.bad), len(orders.late)]
    check_side_topics(servers, topic, orders)
    big = committed(servers, f"{topic}.big")
    assert sorted(int(each.key or "") for each in big) == sorted(orders.big)
    read_by_others(spark, table, orders)
    check_status(path, servers, orders)
    check_second_start(spark, path, table, orders)
    check_repair(spark, path, table, orders)


def check_side_topics(servers: str, topic: str, orders: Orders) -> None:
    bad = committed(servers, f"{topic}.bad")
    assert sorted(int((each.value or "").split()[1]) for each in bad) == sorted(orders.bad)
    reported = dict(bad[0].headers)
    assert reported["ottla-topic"] == topic.encode()
    assert reported["ottla-reason"].startswith(b"not JSON")  # type: ignore[union-attr]
    assert reported["number"] == (bad[0].value or "").split()[1].encode()
    late = committed(servers, f"{topic}.late")
    assert sorted(json.loads(each.value or "")["id"] for each in late) == sorted(orders.late)


def read_by_others(spark: Any, table: LakeTable, orders: Orders) -> None:
    import duckdb
    import pandas

    found = duckdb.sql(f"SELECT id FROM read_parquet('{table.directory}/*/*.parquet')").fetchall()
    assert sorted(each[0] for each in found) == sorted(orders.good)
    assert sorted(pandas.read_parquet(table.directory)["id"]) == sorted(orders.good)
    rows = spark.read.parquet(table.directory)
    assert sorted(row.id for row in rows.select("id").collect()) == sorted(orders.good)
    assert rows.select("hour").distinct().count() >= 2


def check_status(path: Path, servers: str, orders: Orders) -> None:
    with Cluster(ClientSettings(servers)) as cluster:
        report = read_reports(cluster)["orders_lake"]
    assert report.state == "stopped"
    assert report.totals.written <= len(orders.good)
    assert main(["pipeline", "status", str(path)]) == 0


def check_second_start(spark: Any, path: Path, table: LakeTable, orders: Orders) -> None:
    """Without its state, a pipeline continues where its table ends."""
    state = path.parent / "state" / "orders_lake"
    state.rename(path.parent / "old-state")
    before = table.last()
    run_once(spark, path, ["orders_lake"])
    assert ids(table.rows()) == sorted(orders.good)
    after = table.last()
    assert before is not None
    assert after is not None
    assert after.ends == before.ends


def check_repair(spark: Any, path: Path, table: LakeTable, orders: Orders) -> None:
    lost = Path(table.directory) / table.files()[1]
    lost.unlink()
    assert ids(table.rows()) != sorted(orders.good)
    declared = load(str(path))
    done = backfill(declared, declared.pipelines["orders_lake"], [], lambda: spark)
    assert done.added > 0
    assert ids(table.rows()) == sorted(orders.good)
    again = backfill(declared, declared.pipelines["orders_lake"], [], lambda: spark)
    assert again.added == 0


@pytest.mark.parametrize("form", ["delta", "iceberg"])
def test_tables_of_other_formats(spark: Any, kafka: Kafka, tmp_path: Path, form: str) -> None:
    topic, servers = kafka.topic("orders", partitions=3), kafka.bootstrap_servers
    orders = Orders()
    path = pipeline_file(tmp_path, servers, topic, form)
    produce(servers, topic, range(500), orders)
    run_once(spark, path)
    produce(servers, topic, range(500, 900), orders)
    run_once(spark, path)
    assert ids(table_of(path).rows()) == sorted(orders.good)


def test_too_many_bad_records_stop_a_pipeline_and_nothing_is_written(
    spark: Any, kafka: Kafka, tmp_path: Path
) -> None:
    topic, servers = kafka.topic("orders", partitions=3), kafka.bootstrap_servers
    kafka.produce(topic, [*[("k", "garbage")] * 10, ("k", '{"id": 1}')])
    path = pipeline_file(tmp_path, servers, topic, "parquet")
    with pytest.raises(AssertionError, match="10 of 11 records of batch 0 are bad"):
        run_once(spark, path)
    assert table_of(path).last() is None
    assert committed(servers, f"{topic}.bad") == []
