"""The same pipelines, and their audit, on Apache Kafka."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.integration.pipelines.audit.test_pipeline import produce as produce_dated
from tests.integration.pipelines.orders import (
    PARTITIONS,
    Orders,
    feed,
    ids,
    pipeline_file,
    produce,
)
from tests.integration.pipelines.test_running import check_side_topics, run_once, table_of
from tests.integration.spark.sink.committed_records import committed
from tests.support.apache_kafka import ApacheKafka

from ottla.cli.main import main
from ottla.testing import Kafka

pytestmark = [pytest.mark.ci, pytest.mark.slow, pytest.mark.xdist_group("spark")]

FORMATS = ["parquet", "delta", "iceberg"]


@pytest.fixture(scope="module")
def apache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with ApacheKafka(tmp_path_factory.mktemp("kafka")) as node:
        yield node.bootstrap


@pytest.fixture
def topics(apache: str) -> Iterator[Kafka]:
    kafka = Kafka(apache)
    yield kafka
    kafka.close()


@pytest.fixture
def ask(
    apache: str, topics: Kafka, capsys: pytest.CaptureFixture[str]
) -> Callable[..., dict[str, Any]]:
    reports = topics.topic("audit", config={"cleanup.policy": "compact"})

    def said(*words: str) -> dict[str, Any]:
        capsys.readouterr()
        code = main(["audit", *words, "--bootstrap", apache, "--report-topic", reports,
                     "--format", "json"])  # fmt: skip
        return {"code": code, **json.loads(capsys.readouterr().out)}

    return said


def test_a_lake_and_a_feed(spark: Any, apache: str, topics: Kafka, tmp_path: Path) -> None:
    topic = topics.topic("orders", partitions=PARTITIONS)
    path = pipeline_file(tmp_path, apache, topic, "parquet", feed(topic))
    orders = Orders()
    produce(apache, topic, range(3000), orders)
    run_once(spark, path)
    produce(apache, topic, range(3000, 3500), orders, late_at=40)
    run_once(spark, path)
    assert ids(table_of(path).rows()) == sorted(orders.good)
    check_side_topics(apache, topic, orders)
    big = committed(apache, f"{topic}.big")
    assert sorted(int(each.key or "") for each in big) == sorted(orders.big)


@pytest.mark.parametrize("form", FORMATS)
def test_the_audit_of_a_lake_names_a_fault_and_its_repair(
    spark: Any, apache: str, topics: Kafka, tmp_path: Path, ask: Callable[..., Any], form: str
) -> None:
    topic = topics.topic("orders", partitions=PARTITIONS)
    path = pipeline_file(tmp_path, apache, topic, form)
    produce_dated(apache, topic, range(1000))
    run_once(spark, path)
    audit = ("run", topic, "--once", "--without-spark", "--pipelines", str(path))
    assert ask(*audit)["code"] == 0
    sound = ask("verify", topic)
    assert (sound["code"], sound["faults"]) == (0, [])
    assert ask("report", topic)["pipelines"][0]["balances"]
    min((tmp_path / "lake" / "orders_lake").glob("hour=*/*.parquet")).unlink()
    ask(*audit)
    broken = ask("verify", topic)
    assert {(each["tier"], each["state"]) for each in broken["faults"]} == {
        ("orders_lake.counted", "missing")
    }
    command = ask("drill", topic, "--file", str(path))["repair"]
    assert main(shlex.split(command)[1:]) == 0
    ask(*audit)
    assert ask("verify", topic)["faults"] == []
