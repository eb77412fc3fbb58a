"""A driver as a process of its own: what its user reads while brokers are away."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.support.waiting import wait_until

from ottla.testing import Kafka
from ottla.testing.broker import RunningBroker

pytestmark = [pytest.mark.ci, pytest.mark.xdist_group("spark-first-hour")]

DRIVER = """
import os, sys
os.environ["PYSPARK_PYTHON"] = sys.executable
from pyspark.sql import SparkSession

servers, topic, other, checkpoint = sys.argv[1:]
spark = (
    SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false")
    .config("spark.driver.bindAddress", "127.0.0.1").config("spark.driver.host", "127.0.0.1")
    .getOrCreate()
)

def stream(topic):
    rows = (
        spark.readStream.format("ottla").option("kafka.bootstrap.servers", servers)
        .option("subscribe", topic).option("startingOffsets", "earliest").load()
    )
    return rows.writeStream.format("noop").option("checkpointLocation", checkpoint).start()

query = stream(topic)
query.processAllAvailable()
print("reading", flush=True)
sys.stdin.readline()
query.processAllAvailable()
query.stop()
try:
    stream(other).awaitTermination()
except Exception as error:
    print(error, flush=True)
"""


def test_brokers_that_are_away_and_checkpoints_of_others_are_reported(tmp_path: Path) -> None:
    errors = tmp_path / "errors"
    with RunningBroker() as broker, open(errors, "wb") as stderr:
        kafka = Kafka(broker.bootstrap_servers)
        topic, other = kafka.topic("orders"), kafka.topic("refunds")
        kafka.produce(topic, "a")
        kafka.produce(other, "b")
        words = [broker.bootstrap_servers, topic, other, str(tmp_path / "checkpoint")]
        with subprocess.Popen(
            [sys.executable, "-c", DRIVER, *words],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=stderr, text=True,
            env=os.environ | {"SPARK_LOCAL_IP": "127.0.0.1"},
        ) as driver:  # fmt: skip
            assert driver.stdout is not None
            assert "reading\n" in iter(driver.stdout.readline, "")
            broker.kill()
            wait_until(lambda: "trying again" in errors.read_text(), "a line that it is away")
            broker.start()
            wait_until(lambda: "works again" in errors.read_text(), "a line that it is back")
            reported, _ = driver.communicate("end\n", timeout=180)
    assert f"The checkpoint holds offsets of {topic}-0, which this query does not read" in reported
    assert f"(subscribe={other}" in reported
