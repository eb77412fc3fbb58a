"""A Spark session for tests: one for the whole run, small, its workers with the right Python.

    def test_orders_are_counted(spark, kafka):
        topic = kafka.topic("orders")
        kafka.produce(topic, [{"id": 1}, {"id": 2}])
        orders = (spark.read.format("ottla").option("subscribe", topic)
                  .option("kafka.bootstrap.servers", kafka.bootstrap_servers).load())
        assert orders.count() == 2

Promises  the session ends with the run; `local[2]`, no web page, nothing written outside a
          temporary directory. A conftest.py may define `spark_config` for settings of its own.
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

CONFIG: Mapping[str, str] = {
    "spark.master": "local[2]",
    "spark.app.name": "tests",
    "spark.driver.memory": "1g",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.sql.shuffle.partitions": "2",
    "spark.sql.session.timeZone": "UTC",
}


@contextmanager
def spark_session(config: Mapping[str, str] | None = None) -> Iterator[Any]:
    """A session with these settings besides, stopped afterwards."""
    from pyspark.sql import SparkSession

    # Workers are started as "python3" otherwise, whatever Python runs the tests.
    os.environ["PYSPARK_PYTHON"] = os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
    with tempfile.TemporaryDirectory(prefix="ottla-spark-") as directory:
        builder = SparkSession.builder.config("spark.sql.warehouse.dir", directory)
        for name, value in {**CONFIG, "spark.local.dir": directory, **(config or {})}.items():
            builder = builder.config(name, value)
        session = builder.getOrCreate()
        session.sparkContext.setLogLevel("ERROR")
        try:
            yield session
        finally:
            session.stop()
