"""How Spark finds the source: from the installed package alone, on executors of their own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from ottla.testing import Kafka

pytestmark = [pytest.mark.xdist_group("spark"), pytest.mark.usefixtures("spark_jvm")]

PATIENCE_S = 400
JOB = """
import json, sys
from pyspark.sql import SparkSession

servers, topic = sys.argv[1:]
spark = (SparkSession.builder.master("local-cluster[2,1,1024]")
         .config("spark.ui.enabled", "false").config("spark.driver.memory", "1g")
         .config("spark.driver.host", "127.0.0.1").config("spark.driver.bindAddress", "127.0.0.1")
         .getOrCreate())
frame = (spark.read.format("ottla").option("kafka.bootstrap.servers", servers)
         .option("subscribe", topic).load())
values = sorted(bytes(row.value).decode() for row in frame.select("value").collect())
print("FOUND " + json.dumps(values))
spark.stop()
"""


def test_executors_of_a_cluster_read_without_any_registration(kafka: Kafka, tmp_path: Path) -> None:
    topic = kafka.topic("t", partitions=3)
    kafka.produce(topic, [(str(number), f"value {number}") for number in range(20)])
    job = tmp_path / "job.py"
    job.write_text(JOB)
    environment = {n: text for n, text in os.environ.items() if not n.startswith("PYTHONPATH")}
    finished = subprocess.run(
        [sys.executable, str(job), kafka.bootstrap_servers, topic],
        env={**environment, "PYSPARK_PYTHON": sys.executable},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )
    assert finished.returncode == 0, finished.stderr[-4000:]
    (line,) = [each for each in finished.stdout.splitlines() if each.startswith("FOUND ")]
    assert json.loads(line[6:]) == sorted(f"value {number}" for number in range(20))
