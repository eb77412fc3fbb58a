"""Rows for a topic that has lost one of its replicas, on an Apache Kafka of two brokers."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest
from tests.integration.client.kafka_cluster import two_brokers
from tests.support.waiting import wait_until

from ottla.base.ids import TopicPartition
from ottla.client.admin.list_offsets import latest_offsets
from ottla.client.admin.topics import NewTopic, create_topics
from ottla.client.cluster.cluster import Cluster
from ottla.client.settings import ClientSettings
from ottla.spark.options.producer_options import ProducerOptions
from ottla.spark.options.sink_options import AT_LEAST_ONCE, SinkOptions
from ottla.spark.sink.errors import SinkError
from ottla.spark.sink.input_columns import SinkColumns
from ottla.spark.sink.setup import SinkSetup
from ottla.spark.sink.task_writer import TaskAttempt, TaskWriter

pytestmark = [pytest.mark.java, pytest.mark.slow]

IN_SYNC = {"min.insync.replicas": "2"}


def write(settings: ClientSettings, topic: str) -> None:
    """Without a transaction, whose coordinator may be the broker that was lost."""
    columns = SinkColumns(topic, has_key=False, has_headers=False, has_partition=False)
    options = SinkOptions(topic=topic, delivery=AT_LEAST_ONCE)
    setup = SinkSetup(options, ProducerOptions(), settings, columns)
    rows = pa.record_batch({"value": pa.array(["a"])})
    TaskWriter(setup, None, TaskAttempt(0, 0)).write([rows])


def in_sync(cluster: Cluster, topic: str) -> int:
    (partition,) = cluster.describe_topics([topic])[topic].partitions
    return len(partition.in_sync_replicas)


def test_too_few_replicas_are_reported_with_advice(tmp_path: Path) -> None:
    with two_brokers(tmp_path) as (first, second):
        settings = ClientSettings(first.bootstrap, delivery_timeout_ms=2_000)
        with Cluster(settings) as cluster:
            wait_until(lambda: len(cluster.broker_ids()) == 2, "both brokers are registered")
            create_topics(cluster, [NewTopic("t", 1, 2, IN_SYNC)])
            wait_until(lambda: in_sync(cluster, "t") == 2, "both replicas are in sync")
            write(settings, "t")
            second.stop()
            wait_until(lambda: in_sync(cluster, "t") == 1, "one replica is gone")
            reported = r"Produce to t-0 .*NOT_ENOUGH_REPLICAS .*bring brokers back, or lower it"
            with pytest.raises(SinkError, match=reported):
                write(settings, "t")
            second.start()  # without it the end of the log may stay unknown
            wait_until(lambda: in_sync(cluster, "t") == 2, "the replica is back")
            place = TopicPartition("t", 0)
            assert latest_offsets(cluster, [place]) == {place: 1}
