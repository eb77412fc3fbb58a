"""Reads the lake as any reader of Parquet files does: all files in the folders of hours.

Promises  only pyarrow, and nothing of the pipeline that wrote it. A file that cannot be read is
          reported, and the rest is read.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from demo.reports import Report

POSITION = ("partition", "offset")


@dataclass
class LakeContent:
    damage: list[str] = field(default_factory=list)
    tables: list[pa.Table] = field(default_factory=list)

    def reports(self) -> Iterator[tuple[Report, tuple[int, int]]]:
        """Each with the partition and the offset that its row names."""
        for table in self.tables:
            columns = [table.column(name).to_pylist() for name in Report._fields]
            positions = zip(*[table.column(name).to_pylist() for name in POSITION], strict=True)
            yield from zip(map(Report._make, zip(*columns, strict=True)), positions, strict=True)


def read_lake(lake: Path) -> LakeContent:
    content = LakeContent()
    for path in lake_files(lake):
        try:
            columns = [*Report._fields, *POSITION]
            content.tables.append(pq.read_table(path, columns=columns, partitioning=None))
        except (pa.ArrowException, OSError) as error:
            content.damage.append(f"broken file: {path.relative_to(lake)}: {error}")
    return content


def lake_files(lake: Path) -> list[Path]:
    return sorted(lake.glob("hour=*/*.parquet"))
