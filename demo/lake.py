"""Reads the Parquet lake as written by Spark's file sink, with pyarrow only.

Spark lists the files of each completed batch in `_spark_metadata`; a file that is not listed
belongs to a batch that was interrupted by a crash and is not part of the table. Every tenth list is
a `.compact` one that contains all before it.

Promises  a listed file that is missing or damaged is reported, and the rest is read.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import unquote, urlparse

import pyarrow as pa
import pyarrow.parquet as pq

from demo.reports import Report

METADATA = "_spark_metadata"


@dataclass
class LakeContent:
    files: int = 0
    leftovers: int = 0  # files of incomplete batches
    damage: list[str] = field(default_factory=list)
    tables: list[pa.Table] = field(default_factory=list)

    def reports(self) -> Iterator[Report]:
        for table in self.tables:
            columns = [plain(table.column(name)).to_pylist() for name in Report._fields]
            yield from map(Report._make, zip(*columns, strict=True))


def read_lake(lake: Path) -> LakeContent:
    listed = listed_files(lake)
    content = LakeContent(files=len(listed))
    content.leftovers = len(set(lake.rglob("*.parquet")) - set(listed))
    for path in listed:
        try:
            content.tables.append(pq.read_table(path, columns=list(Report._fields)))
        except FileNotFoundError:
            content.damage.append(f"missing file: {path.relative_to(lake)}")
        except (pa.ArrowException, OSError) as error:
            content.damage.append(f"broken file: {path.relative_to(lake)}: {error}")
    return content


def listed_files(lake: Path) -> list[Path]:
    """The files of all completed batches. A batch written twice would be listed twice."""
    lists: dict[int, Path] = {}
    compact = -1
    for path in (lake / METADATA).glob("[0-9]*"):
        number = int(path.name.removesuffix(".compact"))
        if path.suffix == ".compact":
            compact = max(compact, number)
        if number not in lists or path.suffix == ".compact":
            lists[number] = path
    return [
        lake / file.relative_to(lake.resolve())
        for number in sorted(lists)
        if number >= compact
        for file in files_in_list(lists[number])
    ]


def files_in_list(path: Path) -> Iterator[Path]:
    version, *lines = path.read_text().splitlines()
    if version != "v1":
        raise ValueError(f"{path}: version {version!r} of the list is unknown")
    for line in lines:
        entry = json.loads(line)
        if entry["action"] == "add":
            yield Path(unquote(urlparse(entry["path"]).path)).resolve()


def plain(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Timestamps as milliseconds; the other columns are unchanged."""
    if not pa.types.is_timestamp(column.type):
        return column
    return column.cast(pa.timestamp("ms", tz=column.type.tz)).cast(pa.int64())
