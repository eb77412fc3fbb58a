"""The pipelines of the demo over a real broker, once, compared with the oracle; then without their
state."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Producer
from demo.checker import check
from demo.declaration import write_pipelines
from demo.directory import DemoDirectory
from demo.reports import encode, rounds
from demo.scenario import QUERIES, REPORTS_TOPIC, Scenario
from demo.topics import create_topics

from ottla.pipelines.declaration.loading import load
from ottla.pipelines.running.service import PipelineService
from ottla.testing.broker import RunningBroker

SCENARIO = Scenario(trucks=30, rate=300, seconds=10)


def send_all(servers: str) -> None:
    producer = Producer({"bootstrap.servers": servers})
    for reports in rounds(SCENARIO):
        for each in reports:
            producer.produce(REPORTS_TOPIC, encode(each), each.truck, timestamp=each.event_time_ms)
    assert producer.flush(120) == 0


def run_once(spark: Any, directory: DemoDirectory) -> None:
    declared = load(str(directory.pipelines))
    service = PipelineService(spark, declared, QUERIES, once=True, on_report=lambda _report: None)
    assert service.run(), [each.failure for each in service.running.values()]


def test_the_file_declares_what_the_demo_watches(tmp_path: Path) -> None:
    directory = DemoDirectory(tmp_path)
    directory.prepare()
    write_pipelines(directory, SCENARIO, "localhost:9092")
    declared = load(str(directory.pipelines))
    assert tuple(declared.pipelines) == QUERIES
    assert declared.state == str(directory.state)
    watermark = declared.pipelines["alerts"].watermark
    assert watermark is not None
    assert watermark.delay_ms == SCENARIO.watermark_ms


@pytest.mark.ci
@pytest.mark.slow
@pytest.mark.xdist_group("spark")
def test_a_deleted_state_makes_no_batch_vanish(spark: Any, tmp_path: Path) -> None:
    """Batches begin at 0 again, under a new id of the query: feeds write theirs again, and the lake
    continues where it ends."""
    directory = DemoDirectory(tmp_path)
    directory.prepare()
    with RunningBroker() as broker:
        servers = broker.bootstrap_servers
        create_topics(servers)
        send_all(servers)
        write_pipelines(directory, SCENARIO, servers)
        run_once(spark, directory)
        first = check(SCENARIO, servers, directory.lake)
        assert all(each.is_matching for each in first), first
        shutil.rmtree(directory.state)
        run_once(spark, directory)
        topic, lake, latest, alerts = check(SCENARIO, servers, directory.lake)
    assert topic.is_matching
    assert lake.is_matching
    assert latest.duplicated == SCENARIO.trucks
    assert alerts.duplicated == alerts.expected > 0
