"""`ottla pipeline test`: what comes out is compared, also after a crash."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.integration.pipelines.orders import SCHEMA

from ottla.cli.main import main

pytestmark = [pytest.mark.ci, pytest.mark.slow, pytest.mark.usefixtures("spark_jvm")]

PIPELINES = f"""\
spark: {{master: "local[2]", sql.shuffle.partitions: 2}}
clusters: {{main: "no-such-host:9092"}}
pipelines:
  orders_lake:
    from: {{topics: [orders], value: {{json: "{SCHEMA}"}}}}
    to: {{lake: ./lake, hourly: at}}
    bad: {{topic: orders.bad}}
  big_orders:
    from: {{topics: [orders], value: {{json: "{SCHEMA}"}}}}
    sql: SELECT CAST(id AS STRING) AS key, to_json(value) AS value FROM input WHERE amount > 1000
    to: {{topic: orders.big}}
"""
TESTS = """\
orders_lake:
  in:
    orders:
    - {value: {id: 1, item: pen, amount: 1200, at: "2026-03-01T10:00:00Z"}}
    - {value: {id: 2, item: ink, amount: 4, at: "2026-03-01T11:00:00Z"}}
    - {value: not an order}
  out:
  - {id: 1, item: pen, at: "2026-03-01T10:00:00Z", offset: 0}
  - {id: 2, amount: 4.0}
  bad:
  - {value: not an order, offset: "2", topic: orders}
big_orders:
  in:
    orders: [{value: {id: 1, amount: 1200}}, {value: {id: 2, amount: 4}}]
  out:
  - {key: "1", value: {id: 1, amount: 1200.0}}
"""


def outcome(tmp_path: Path, capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, Any]:
    (tmp_path / "orders.yaml").write_text(PIPELINES)
    capsys.readouterr()
    code = main(["pipeline", "test", str(tmp_path / "orders.yaml"), *words, "--format", "json"])
    return code, json.loads(capsys.readouterr().out)


def test_pipelines_do_what_their_tests_say(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "orders.test.yaml").write_text(TESTS)
    code, said = outcome(tmp_path, capsys)
    right = {"right": True, "differences": []}
    assert (code, said) == (0, [{"pipeline": "orders_lake", **right},
                                {"pipeline": "big_orders", **right}])  # fmt: skip
    assert not (tmp_path / "lake").exists(), "the declared table is not touched"


def test_a_crash_changes_nothing_and_differences_are_shown(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "orders.test.yaml").write_text(TESTS.replace("id: 2, amount: 4.0", "id: 3"))
    code, said = outcome(tmp_path, capsys, "orders_lake", "--crash-after", "side-committed")
    assert code == 1
    (found,) = said
    assert len(found["differences"]) == 2
    assert found["differences"][0] == 'out: missing    {"id": 3}'
    assert found["differences"][1].startswith('out: unexpected {"id": 2, "item": "ink"')
