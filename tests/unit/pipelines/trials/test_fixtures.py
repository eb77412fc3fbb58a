"""The file of a test: errors in it are reported with file and line."""

from __future__ import annotations

from pathlib import Path

import pytest

from ottla.pipelines.declaration.loading import declare
from ottla.pipelines.errors import DeclarationError
from ottla.pipelines.trials.fixtures import FixtureRecord, default_path, load_fixtures

DECLARED = declare(
    clusters={"main": "localhost:9092"},
    pipelines={"orders_lake": {"from": {"topics": ["orders"]}, "to": {"lake": "/tmp/x"}}},
)


def test_records_and_rows(tmp_path: Path) -> None:
    path = tmp_path / "orders.test.yaml"
    path.write_text(
        """\
orders_lake:
  in:
  - orders:
    - {key: k1, value: {id: 1}, headers: {a: b}, partition: 2, timestamp: "2026-03-01T10:00:00Z"}
  - orders: [{value: plain, timestamp: 5}, {}]
  out: [{id: 1}]
  bad: 1
  late: [{value: plain}]
"""
    )
    found = load_fixtures(path, DECLARED)["orders_lake"]
    whole = FixtureRecord(b'{"id": 1}', b"k1", (("a", b"b"),), 2, 1_772_359_200_000)
    plain = FixtureRecord(b"plain", timestamp_ms=5)
    assert found.runs == [{"orders": [whole]}, {"orders": [plain, FixtureRecord()]}]
    assert (found.out, found.bad, found.late) == ([{"id": 1}], 1, [{"value": "plain"}])
    assert default_path(str(tmp_path / "orders.yaml")) == path


@pytest.mark.parametrize(
    ("text", "reported"),
    [
        ("orders_lak: {in: {}}", "t.yaml:1: no pipeline orders_lak: did you mean orders_lake?"),
        ("orders_lake:\n  out: []", "t.yaml:2: the key in is missing"),
        ("orders_lake:\n  in: {}\n  outt: []", "t.yaml:3: unknown key outt: did you mean out?"),
        ("orders_lake:\n  in:\n    orders:\n    - {valu: 1}", "t.yaml:4: unknown key valu"),
        ("orders_lake:\n  in:\n    orders: 5", "t.yaml:3: must be a list, and is 5"),
        ("orders_lake: {in: {orders: [{partition: -1}]}}", "t.yaml:1: partition -1"),
        ("orders_lake: {in: {orders: [{timestamp: noon}]}}", "t.yaml:1: timestamp 'noon'"),
        ("orders_lake: {in: {orders: [{headers: 1}]}}", "t.yaml:1: headers must be"),
        ("orders_lake: {in: {}, out: [5]}", "t.yaml:1: a row must be a mapping"),
        ("orders_lake: {in: {}, bad: -1}", "t.yaml:1: must be a list, and is -1"),
        ("orders_lake: 5", "t.yaml:1: must be a mapping, and is 5"),
    ],
)
def test_errors_are_reported_with_their_line(tmp_path: Path, text: str, reported: str) -> None:
    path = tmp_path / "t.yaml"
    path.write_text(text)
    with pytest.raises(DeclarationError) as failed:
        load_fixtures(path, DECLARED)
    assert reported in str(failed.value)


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(DeclarationError, match="No such file"):
        load_fixtures(tmp_path / "none.yaml", DECLARED)
