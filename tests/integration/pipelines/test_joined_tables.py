"""Joins with compacted topics: values that cannot be decoded, and tables that are empty."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.integration.pipelines.test_running import run_once
from tests.integration.spark.sink.committed_records import committed

from ottla.testing import Kafka

pytestmark = [pytest.mark.ci, pytest.mark.xdist_group("spark")]

FILE = """\
clusters: {{main: "{servers}"}}
state: {state}/state
pipelines:
  named_orders:
    from: {{topics: [{orders}], value: {{json: "id bigint, customer string"}}}}
    tables:
      customers: {{topic: {customers}, value: {{json: "name string"}}}}
    sql: >
      SELECT CAST(id AS STRING) AS key, c.name AS value
      FROM input JOIN customers c ON c.key = CAST(customer AS BINARY)
    bad: {{topic: {orders}.bad}}
    to: {{topic: {orders}.named}}
    failures_max: 0
"""


def test_bad_values_of_tables_and_records_are_never_passed_over(
    spark: Any, kafka: Kafka, tmp_path: Path
) -> None:
    servers = kafka.bootstrap_servers
    orders, customers = kafka.topic("orders"), kafka.topic("customers")
    path = tmp_path / "named.yaml"
    path.write_text(
        FILE.format(servers=servers, state=tmp_path, orders=orders, customers=customers)
    )
    order = json.dumps({"id": 1, "customer": "c1"})
    kafka.produce(orders, [("1", order), ("2", "no order")])
    (empty,) = run_once(spark, path)  # Spark need not read the orders: the other side is empty
    assert empty.counts.numbers() == (2, 0, 1, 1, 0)
    assert [each.value for each in committed(servers, f"{orders}.bad")] == ["no order"]

    kafka.produce(customers, [("c1", '{"name": "ada"}'), ("c1", "no customer")])
    kafka.produce(orders, [("3", order.replace("1,", "3,"))])
    with pytest.raises(AssertionError, match=f"cannot be decoded: topic {customers}, "):
        run_once(spark, path)
