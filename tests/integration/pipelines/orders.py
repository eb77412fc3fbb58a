"""Orders for tests of pipelines: what is produced, and what must be found.

The expected rows are computed from the records alone, without any code of the pipelines.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from confluent_kafka import Producer

START = datetime(2026, 3, 1, 10, 0, tzinfo=UTC)
SCHEMA = "id bigint, item string, amount double, at timestamp"
PARTITIONS = 3


@dataclass
class Orders:
    """Numbers of the orders by what must become of them."""

    good: set[int] = field(default_factory=set)
    bad: set[int] = field(default_factory=set)
    late: set[int] = field(default_factory=set)
    big: set[int] = field(default_factory=set)


def produce(servers: str, topic: str, numbers: range, orders: Orders, late_at: int = 0) -> None:
    """Every 50th is bad; with `late_at`, every such one is eight hours late."""
    producer = Producer({"bootstrap.servers": servers, "linger.ms": 20})
    for number in numbers:
        is_late = bool(late_at) and number % late_at == 1
        at = START + timedelta(seconds=2 * number) - timedelta(hours=8 if is_late else 0)
        order = {"id": number, "item": "pen", "amount": number % 2000, "at": at.isoformat()}
        is_bad = number % 50 == 0
        value = f"order {number}" if is_bad else json.dumps(order)
        producer.produce(topic, value, f"k{number}", partition=number % PARTITIONS,
                         headers=[("number", str(number))])  # fmt: skip
        kind = orders.bad if is_bad else orders.late if is_late else orders.good
        kind.add(number)
        if not is_bad and order["amount"] > 1000:  # type: ignore[operator]
            orders.big.add(number)
    assert producer.flush(120) == 0


def pipeline_file(
    directory: Path,
    servers: str,
    topic: str,
    form: str,
    more: str = "",
    name: str = "orders_lake",
    master: str = "local[2]",
) -> Path:
    path = directory / f"{name}.yaml"
    path.write_text(
        f"""\
spark: {{master: "{master}", sql.shuffle.partitions: 2, driver.memory: 1g}}
clusters: {{main: "{servers}"}}
state: {directory}/state
pipelines:
  {name}:
    from: {{topics: [{topic}], value: {{json: "{SCHEMA}"}}}}
    to: {{lake: {directory}/lake/{name}, format: {form}, hourly: at}}
    bad: {{topic: {topic}.bad, stop_above: 10%}}
    late: {{after: 2h, topic: {topic}.late}}
    batch_records: 2000
{more}"""
    )
    return path


def feed(topic: str) -> str:
    return f"""\
  big_orders:
    from: {{topics: [{topic}], value: {{json: "{SCHEMA}"}}}}
    sql: SELECT CAST(id AS STRING) AS key, to_json(value) AS value FROM input WHERE amount > 1000
    to: {{topic: {topic}.big}}
    bad: {{topic: {topic}.bad2}}
"""


def ids(rows: Any) -> list[int]:
    found: list[int] = sorted(rows.column("id").to_pylist())
    return found
