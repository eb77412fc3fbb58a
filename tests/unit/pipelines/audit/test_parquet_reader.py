"""A Parquet table while commits are being published: each is read as a whole."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from tests.unit.pipelines.audit.records import TOPIC_ID, batch_of, row

from ottla.pipelines.audit.lake_tables import METADATA_DIRECTORY, ParquetReader
from ottla.pipelines.audit.lake_tier import Counted, count_unchanged
from ottla.pipelines.audit.reports import Coverage, PartitionId, Tier

REFERENCE = Tier("broker", coverage={PartitionId(TOPIC_ID, 0): Coverage("t", 0, 1000, 0)})


def write(path: Path, *offsets: int) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.Table.from_batches([batch_of([row(n) for n in offsets])]), path)


def commit(lake: Path, number: int, files: dict[str, str | None], *removed: str) -> None:
    manifest: dict[str, Any] = {
        "previous": None if not number else f"{number - 1:020}",
        "files": [{"path": path, "staged": staged} for path, staged in files.items()],
        "removed": list(removed),
    }
    path = lake / METADATA_DIRECTORY / "manifests" / f"{number:020}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(manifest))


def count(counted: Counted) -> int:
    return sum(each.count for each in counted.audited.values())


def counted(lake: Path) -> int:
    return count(count_unchanged(ParquetReader(lake), REFERENCE))


def test_a_batch_that_is_half_published_is_there(tmp_path: Path) -> None:
    write(tmp_path / "hour=1" / "a.parquet", 0, 1)
    write(tmp_path / METADATA_DIRECTORY / "staging" / "q" / "b.parquet", 2, 3)
    staged = {
        name: f"{METADATA_DIRECTORY}/staging/q/{name[7:]}"
        for name in ("hour=1/a.parquet", "hour=1/b.parquet")
    }
    commit(tmp_path, 0, dict(staged))
    assert counted(tmp_path) == 4


def test_files_that_a_compaction_has_replaced_do_not_count(tmp_path: Path) -> None:
    write(tmp_path / "hour=1" / "a.parquet", 0, 1)
    commit(tmp_path, 0, {"hour=1/a.parquet": None})
    write(tmp_path / "hour=1" / "b.parquet", 0, 1)
    commit(tmp_path, 1, {"hour=1/b.parquet": None}, "hour=1/a.parquet")
    assert counted(tmp_path) == 2
    write(tmp_path / "hour=1" / "copied.parquet", 0, 1)
    assert counted(tmp_path) == 4, "other readers see it"


def test_a_table_that_was_compacted_meanwhile_is_counted_again(tmp_path: Path) -> None:
    write(tmp_path / "hour=1" / "a.parquet", 0, 1)
    commit(tmp_path, 0, {"hour=1/a.parquet": None})

    class Compacted(ParquetReader):
        """A compaction is committed and published after the manifests were read."""

        def _dataset(self) -> Any:
            if (tmp_path / "hour=1" / "a.parquet").exists():
                write(tmp_path / "hour=1" / "b.parquet", 0, 1)
                commit(tmp_path, 1, {"hour=1/b.parquet": None}, "hour=1/a.parquet")
                (tmp_path / "hour=1" / "a.parquet").unlink()
                return None
            return super()._dataset()

    assert count(count_unchanged(Compacted(tmp_path), REFERENCE)) == 2
