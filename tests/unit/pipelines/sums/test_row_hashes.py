"""Hashes of rows: the same after a round through a file, another for another row."""

from __future__ import annotations

from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from ottla.pipelines.sums.row_hashes import row_hashes

Rows = list[dict[str, Any]]

ROWS: Rows = [
    {
        "id": n,
        "item": f"item {n}" if n % 3 else None,
        "price": n / 7,
        "cents": Decimal(n) / 100,
        "at": datetime(2026, 1, 1, n % 24, tzinfo=UTC),
        "day": date(2026, 1, 1 + n % 28),
        "is_new": n % 2 == 0,
        "raw": bytes([n]),
        "tags": ["a", str(n)] if n % 4 else None,
        "buyer": {"name": f"b{n}", "age": n} if n % 5 else None,
    }
    for n in range(100)
]


def batch(rows: Rows) -> pa.RecordBatch:
    return pa.RecordBatch.from_pylist(rows)


def hashes(rows: Rows) -> list[int]:
    return list(memoryview(row_hashes(batch(rows))).cast("Q"))


def test_a_file_gives_the_same_hashes(tmp_path: Path) -> None:
    table = pa.Table.from_batches([batch(ROWS)])
    pq.write_table(table, tmp_path / "a.parquet")
    (read,) = pq.read_table(tmp_path / "a.parquet").to_batches()
    assert row_hashes(read) == row_hashes(batch(ROWS))
    assert len(set(hashes(ROWS))) == len(ROWS)


def test_the_order_of_columns_and_new_columns_of_nulls_do_not_matter() -> None:
    turned = [dict(reversed(each.items())) | {"new": None} for each in ROWS]
    assert hashes(turned) == hashes(ROWS)


def test_the_widths_of_numbers_do_not_matter() -> None:
    narrow = pa.RecordBatch.from_arrays([pa.array([1, -2], pa.int16())], names=["n"])
    wide = pa.RecordBatch.from_arrays([pa.array([1, -2], pa.int64())], names=["n"])
    assert row_hashes(narrow) == row_hashes(wide)


def test_every_changed_value_is_seen() -> None:
    usual = hashes(ROWS)
    for name, value in ROWS[1].items():
        changed = [ROWS[0], ROWS[1] | {name: ROWS[2][name]}, *ROWS[2:]]
        assert (hashes(changed)[1] != usual[1]) == (value != ROWS[2][name]), name


def test_values_of_two_columns_that_were_exchanged_are_seen() -> None:
    assert hashes([{"a": 1, "b": 2}]) != hashes([{"a": 2, "b": 1}])


def test_only_the_named_columns_are_hashed() -> None:
    found = row_hashes(batch(ROWS), ["id"])
    assert found == row_hashes(batch([{"id": each["id"]} for each in ROWS]))
