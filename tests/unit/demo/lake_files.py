"""Lakes as Spark's file sink leaves them: Parquet files, and a list of them for each batch."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from demo.lake import METADATA
from demo.reports import Report

SCHEMA = pa.schema(
    [
        ("truck", pa.string()),
        ("sequence", pa.int64()),
        ("event_time_ms", pa.int64()),
        ("latitude", pa.float64()),
        ("longitude", pa.float64()),
        ("speed_kmh", pa.int32()),
        ("driven_ms", pa.int64()),
    ]
)


def write_file(lake: Path, name: str, reports: Sequence[Report]) -> Path:
    lake.mkdir(parents=True, exist_ok=True)
    rows = [report._asdict() for report in reports]
    pq.write_table(pa.Table.from_pylist(rows, SCHEMA), lake / name)
    return lake / name


def write_list(lake: Path, name: str, files: Sequence[Path]) -> None:
    (lake / METADATA).mkdir(parents=True, exist_ok=True)
    entries = [json.dumps({"path": each.as_uri(), "action": "add"}) for each in files]
    (lake / METADATA / name).write_text("\n".join(["v1", *entries]))


def write_lake(lake: Path, batches: Sequence[Sequence[Report]]) -> list[Path]:
    """A batch, a file, a list."""
    files = []
    for number, reports in enumerate(batches):
        files.append(write_file(lake, f"part-{number}.snappy.parquet", reports))
        write_list(lake, str(number), files[-1:])
    return files
