"""Which records a pipeline reads: committed ones, of the topic it began with, while it runs."""

from __future__ import annotations

import json
import shutil
import threading
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Producer
from tests.integration.pipelines.orders import Orders, ids, pipeline_file, produce
from tests.integration.pipelines.test_running import run_once, table_of
from tests.integration.spark.sink.committed_records import committed

from ottla.client.admin.topics import NewTopic, create_topics, delete_topics
from ottla.client.cluster.cluster import Cluster
from ottla.client.settings import ClientSettings
from ottla.pipelines.batch_report import BatchReport
from ottla.pipelines.declaration.loading import load
from ottla.pipelines.running.service import PipelineService
from ottla.testing import Kafka

pytestmark = [pytest.mark.ci, pytest.mark.xdist_group("spark")]

PATIENCE_S = 300.0
FEED = """\
  copies:
    from: {{topics: [{topic}]}}
    sql: SELECT key, value FROM input
    to: {{topic: {topic}.copy}}
"""


def write_transactions(servers: str, topic: str) -> None:
    """One that is committed, and one that is aborted."""
    producer = Producer({"bootstrap.servers": servers, "transactional.id": topic})
    producer.init_transactions(60)
    for number, is_committed in enumerate((True, False, True)):
        producer.begin_transaction()
        value = json.dumps({"id": number, "at": "2026-03-01T10:00:00Z"})
        for partition in range(3):
            producer.produce(topic, value, partition=partition)
        producer.flush(60)
        if is_committed:
            producer.commit_transaction(60)
        else:
            producer.abort_transaction(60)


def test_records_of_aborted_transactions_are_in_no_output(
    spark: Any, kafka: Kafka, tmp_path: Path
) -> None:
    topic, servers = kafka.topic("orders", partitions=3), kafka.bootstrap_servers
    path = pipeline_file(tmp_path, servers, topic, "parquet", FEED.format(topic=topic))
    write_transactions(servers, topic)
    counts = [each.counts.read for each in run_once(spark, path)]
    assert sum(counts) == 2 * 6
    assert ids(table_of(path).rows()) == [0, 0, 0, 2, 2, 2]
    copies = committed(servers, f"{topic}.copy")
    assert sorted((each.value or "")[7] for each in copies) == list("000222")


@pytest.mark.parametrize("keeps_state", [True, False])
def test_a_topic_that_was_created_again_is_refused(
    spark: Any, kafka: Kafka, tmp_path: Path, keeps_state: bool
) -> None:
    """Its offsets mean other records; and those of the old ones that the table lacks are gone."""
    topic, servers = kafka.topic("orders", partitions=3), kafka.bootstrap_servers
    path = pipeline_file(tmp_path, servers, topic, "parquet")
    path.write_text(path.read_text() + "    failures_max: 0\n")
    orders = Orders()
    produce(servers, topic, range(200), orders)
    run_once(spark, path)
    before = table_of(path).last()
    with Cluster(ClientSettings(servers)) as cluster:
        delete_topics(cluster, [topic])
        create_topics(cluster, [NewTopic(topic, 3)])
    produce(servers, topic, range(1000, 1400), Orders())
    if not keeps_state:
        shutil.rmtree(tmp_path / "state")
    with pytest.raises(AssertionError, match=f"{topic}.* was deleted and created again"):
        run_once(spark, path)
    assert table_of(path).last() == before
    assert ids(table_of(path).rows()) == sorted(orders.good)


def test_a_table_that_was_removed_is_not_begun_in_the_middle(
    spark: Any, kafka: Kafka, tmp_path: Path
) -> None:
    topic, servers = kafka.topic("orders", partitions=3), kafka.bootstrap_servers
    path = pipeline_file(tmp_path, servers, topic, "parquet")
    orders = Orders()
    produce(servers, topic, range(100), orders)
    run_once(spark, path)
    shutil.rmtree(tmp_path / "lake")
    produce(servers, topic, range(100, 200), orders)
    with pytest.raises(AssertionError, match="the table has no commit"):
        run_once(spark, path)
    assert table_of(path).files() == []
    shutil.rmtree(tmp_path / "state")
    run_once(spark, path)
    assert ids(table_of(path).rows()) == sorted(orders.good)


def test_a_running_pipeline_raises_its_limit_between_batches_and_loses_nothing(
    spark: Any, kafka: Kafka, tmp_path: Path
) -> None:
    """Its query is stopped and started again for that."""
    topic, servers = kafka.topic("orders", partitions=3), kafka.bootstrap_servers
    path = pipeline_file(tmp_path, servers, topic, "parquet")
    text = path.read_text().replace("batch_records: 2000", "batch_records: 1000\n    every: 20s")
    path.write_text(text)
    orders = Orders()
    produce(servers, topic, range(9000), orders)
    reports: list[BatchReport] = []
    all_read = threading.Event()

    def note(report: BatchReport) -> None:
        reports.append(report)
        if report.totals.read >= 9000:
            all_read.set()
            service.stop()

    service = PipelineService(spark, load(str(path)), ["orders_lake"], once=False, on_report=note)
    give_up = threading.Timer(PATIENCE_S, service.stop)
    give_up.start()
    assert service.run()
    give_up.cancel()
    assert all_read.is_set()
    assert max(each.limit for each in reports) > 1000
    assert [each.batch for each in reports] == list(range(len(reports)))
    assert ids(table_of(path).rows()) == sorted(orders.good)
