"""The topic with the last report of each pipeline, and the lag that follows from it."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from tests.integration.pipelines.orders import Orders, pipeline_file, produce

from ottla.base.uuids import uuid_to_text
from ottla.cli.main import main
from ottla.client.cluster.cluster import Cluster
from ottla.client.settings import ClientSettings
from ottla.pipelines.batch_report import FAILED, STOPPED, BatchReport
from ottla.pipelines.lake.manifest import Counts
from ottla.pipelines.status.lag import lag_of
from ottla.pipelines.status.report_topic import make_ready, read_reports, write_report
from ottla.testing import Kafka


def test_the_newest_report_of_each_pipeline_counts(kafka: Kafka) -> None:
    first = BatchReport(kafka.name("lake"), batch=1, counts=Counts(5, 5))
    other = BatchReport(kafka.name("feed"), batch=7, failure="no disk", state=FAILED)
    with Cluster(ClientSettings(kafka.bootstrap_servers)) as cluster:
        make_ready(cluster)
        make_ready(cluster)
        for report in (first, other, replace(first, batch=2), replace(first, state=STOPPED)):
            write_report(cluster, report)
        found = read_reports(cluster)
    assert found[first.pipeline] == replace(first, state=STOPPED)
    assert found[other.pipeline] == other


def test_lag_is_what_the_report_has_not_read(kafka: Kafka) -> None:
    topic = kafka.topic("orders", partitions=3)
    produce(kafka.bootstrap_servers, topic, range(30), Orders())
    with Cluster(ClientSettings(kafka.bootstrap_servers)) as cluster:
        topic_id = uuid_to_text(cluster.describe_topics([topic])[topic].topic_id)
        report = BatchReport(
            "lake", topics={topic: topic_id}, ends={topic_id: {"0": 10, "1": 7, "2": 0}}
        )
        lag = lag_of(cluster, report)
        assert lag is not None
        assert lag.records == 13
        assert lag.seconds is not None
        assert 0 <= lag.seconds < 3600
        done = replace(report, ends={topic_id: {"0": 10, "1": 10, "2": 10}})
        caught_up = lag_of(cluster, done)
        assert caught_up is not None
        assert (caught_up.records, caught_up.seconds) == (0, None)
        assert lag_of(cluster, replace(report, topics={topic: "AAAAAAAAAAAAAAAAAAAAAQ"})) is None


def test_the_report_of_another_pipeline_of_this_name_is_not_shown_as_its_own(
    kafka: Kafka, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    topic, name = kafka.topic("orders"), kafka.name("lake")
    path = pipeline_file(tmp_path, kafka.bootstrap_servers, topic, "parquet", name=name)
    counts = Counts(4321, 4321)
    other = BatchReport(name, batch=3, to="lake /other/place (delta)", totals=counts)
    with Cluster(ClientSettings(kafka.bootstrap_servers)) as cluster:
        make_ready(cluster)
        write_report(cluster, other)
        assert main(["pipeline", "status", str(path)]) == 0
        shown = capsys.readouterr().out
        assert "the last pipeline of this name wrote to the lake /other/place (delta)" in shown
        assert "4321" not in shown
        own = f"lake {tmp_path}/lake/{name} (parquet)"
        write_report(cluster, replace(other, to=own))
        assert main(["pipeline", "status", str(path)]) == 0
        assert "4321" in capsys.readouterr().out
        write_report(cluster, BatchReport(name, to=own, state=FAILED, failure="no disk"))
    assert main(["pipeline", "status", str(path), "--format", "json"]) == 1
    (found,) = json.loads(capsys.readouterr().out)
    assert (found["batch"], found["age_ms"]) == (None, None)
