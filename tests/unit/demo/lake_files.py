"""Lakes as a pipeline leaves them: Parquet files in folders of hours, with positions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from demo.comparison import TruckKey
from demo.places import Place
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
        ("partition", pa.int32()),
        ("offset", pa.int64()),
        ("timestamp", pa.timestamp("us", tz="UTC")),
    ]
)


def one_partition(reports: Sequence[Report]) -> dict[TruckKey, Place]:
    """The positions of reports that were sent in this order."""
    return {
        report[:2]: Place(0, offset, report.event_time_ms) for offset, report in enumerate(reports)
    }


def write_file(path: Path, reports: Sequence[Report], places: Mapping[TruckKey, Place]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    rows = []
    for report in reports:
        partition, offset, time_ms = places[report[:2]]
        time = datetime.fromtimestamp(time_ms / 1000, UTC)
        position = {"partition": partition, "offset": offset, "timestamp": time}
        rows.append(report._asdict() | position)
    pq.write_table(pa.Table.from_pylist(rows, SCHEMA), path)
    return path


def write_lake(
    lake: Path, batches: Sequence[Sequence[Report]], places: Mapping[TruckKey, Place]
) -> list[Path]:
    """A batch, a file; in one folder, which is enough for a reader."""
    folder = lake / "hour=2026-03-02-04"
    return [
        write_file(folder / f"part-{number}.parquet", reports, places)
        for number, reports in enumerate(batches)
    ]
