"""A declared pipeline and its audit, from the topic to the table, a fault and its repair."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Producer
from tests.integration.pipelines.orders import PARTITIONS, START, pipeline_file
from tests.integration.pipelines.test_running import run_once

from ottla.cli.main import main
from ottla.pipelines.declaration.loading import load
from ottla.pipelines.verbs.backfill import backfill
from ottla.testing import Kafka

pytestmark = [pytest.mark.ci, pytest.mark.xdist_group("spark")]


def produce(servers: str, topic: str, numbers: range, late_at: int = 0) -> None:
    """Orders whose records have the time of the order; every 50th is bad."""
    producer = Producer({"bootstrap.servers": servers, "linger.ms": 20})
    for number in numbers:
        is_late = bool(late_at) and number % late_at == 1
        at = START + timedelta(seconds=2 * number) - timedelta(hours=8 if is_late else 0)
        order = {"id": number, "item": "pen", "amount": number, "at": at.isoformat()}
        value = f"order {number}" if number % 50 == 0 else json.dumps(order)
        producer.produce(
            topic, value, partition=number % PARTITIONS, timestamp=int(at.timestamp() * 1000)
        )
    assert producer.flush(120) == 0


@pytest.fixture
def report_topic(kafka: Kafka) -> str:
    return str(kafka.topic("audit", partitions=1, config={"cleanup.policy": "compact"}))


@pytest.fixture
def ask(kafka: Kafka, report_topic: str, capsys: pytest.CaptureFixture[str]) -> Callable[..., Any]:
    def said(*words: str) -> Any:
        capsys.readouterr()
        reports = ("--bootstrap", kafka.bootstrap_servers, "--report-topic", report_topic)
        code = main(["audit", *words, *reports, "--format", "json"])
        return {"code": code, **json.loads(capsys.readouterr().out)}

    return said


@pytest.fixture
def status(report_topic: str, capsys: pytest.CaptureFixture[str]) -> Callable[[Path], Any]:
    def said(path: Path) -> Any:
        capsys.readouterr()
        words = [str(path), "--report-topic", report_topic, "--format", "json"]
        assert main(["pipeline", "status", *words]) == 0
        (document,) = json.loads(capsys.readouterr().out)
        return document

    return said


@pytest.mark.parametrize("form", ["parquet", "delta", "iceberg"])
def test_a_pipeline_is_complete_until_a_file_is_lost_and_after_the_repair(
    spark: Any,
    kafka: Kafka,
    tmp_path: Path,
    ask: Callable[..., Any],
    status: Callable[[Path], Any],
    form: str,
) -> None:
    topic, servers = kafka.topic("orders", partitions=PARTITIONS), kafka.bootstrap_servers
    path = pipeline_file(tmp_path, servers, topic, form)
    produce(servers, topic, range(1000))
    run_once(spark, path)
    produce(servers, topic, range(1000, 1400), late_at=40)
    run_once(spark, path)
    assert status(path)["percent"] == "not audited"
    audit = ("run", topic, "--once", "--without-spark", "--pipelines", str(path))
    assert ask(*audit)["code"] == 0
    assert (status(path)["percent"], status(path)["share"]) == ("100 %", 1)
    assert status(path)["complete_until"] is not None
    sound = ask("verify", topic)
    assert (sound["code"], sound["faults"]) == (0, [])
    assert sound["records"] == 2 * 1400, "in two tiers, with those that were put aside"
    (counts,) = ask("report", topic)["pipelines"]
    assert counts["balances"]
    assert counts["bad"] == 28
    assert counts["late"] > 0

    lake = tmp_path / "lake" / "orders_lake"
    min(lake.glob("hour=*/*.parquet")).unlink()
    ask(*audit)
    assert status(path)["share"] < 1
    broken = ask("verify", topic)
    assert {(each["tier"], each["state"]) for each in broken["faults"]} == {
        ("orders_lake.counted", "missing")
    }
    command = ask("drill", topic, "--file", str(path))["repair"]
    words = shlex.split(command)
    declared = load(str(path))
    backfill(
        declared, declared.pipelines["orders_lake"], words[words.index("--offsets") + 1 :],
        lambda: spark,
    )  # fmt: skip
    ask(*audit)
    assert ask("verify", topic)["faults"] == []
