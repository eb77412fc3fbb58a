"""Damage to the lake before the verification, which must find it.

lake               a file is removed
twice              the rows of a file are added a second time
lost-and-doubled   one row is removed and another one of the same bucket doubled: the number of
                   rows stays what it was
"""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from demo.lake import lake_files
from demo.places import BUCKET_MS


def sabotage(kind: str, lake: Path) -> str:
    """A description of what was done."""
    # The largest file: with many rows of a bucket.
    victim = max(lake_files(lake), key=lambda path: path.stat().st_size)
    return f"{KINDS[kind](victim)} {victim.relative_to(lake.parent)}"


def remove_file(path: Path) -> str:
    path.unlink()
    return "removed"


def add_twice(path: Path) -> str:
    shutil.copy(path, path.with_name("added-again.parquet"))
    return "added the rows a second time of"


def lose_and_double(path: Path) -> str:
    table = pq.read_table(path, partitioning=None)
    lost, doubled = two_of_a_bucket(table)
    rows = [number for number in range(len(table)) if number != lost]
    pq.write_table(table.take([*rows, doubled]), path)
    return f"lost row {lost} and doubled row {doubled} of"


def two_of_a_bucket(table: pa.Table) -> tuple[int, int]:
    """Two rows of the same partition and bucket."""
    seen: dict[tuple[int, int], int] = {}
    times = table.column("timestamp").cast(pa.timestamp("ms", tz="UTC")).cast(pa.int64())
    buckets = zip(table.column("partition").to_pylist(), times.to_pylist(), strict=True)
    for number, (partition, time_ms) in enumerate(buckets):
        first = seen.setdefault((partition, time_ms // BUCKET_MS), number)
        if first != number:
            return first, number
    raise ValueError("no bucket has two rows in this file")


KINDS: dict[str, Callable[[Path], str]] = {
    "lake": remove_file,
    "twice": add_twice,
    "lost-and-doubled": lose_and_double,
}
