"""Files of batches that failed: written, and named by no commit.

Tasks write the files of Delta and Iceberg tables to their final path, and those of Parquet tables
to the staging directory. Only the commit makes them part of the table.

A file is removed only if its batch can no longer be committed. A second driver starts while the
first may be about to commit: it has passed its last check of the fence, and nothing stops it any
more. So the fence does not say whose files are abandoned; the table does:

    of this query    batches up to the newest one in the table: they are never committed again.
                     Files of the next batch stay until it is committed, by either driver.
    of others        when they are a day old: backfills and compactions, and queries whose state
                     was deleted. One that takes longer finds its files missing before it commits
                     (`committing.py`), and nothing is written.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Collection
from pathlib import Path

from ottla.pipelines.lake.table import LakeTable, last_batch

PREFIX = "ottla-"  # of the names of all files that tasks write
DAY_S = 86_400.0


class Abandoned:
    """The batches of a table that are never committed any more."""

    def __init__(self, table: LakeTable, query: str) -> None:
        batch_manifest = last_batch(table, table.last())
        self._query = query
        self._newest = (
            batch_manifest.batch
            if batch_manifest is not None and batch_manifest.query == query
            else -1
        )
        self._now_s = time.time()

    def holds(self, name: str, written_s: float) -> bool:
        """`name` is `<query>-<batch>`, of which the names of files are made."""
        query, _, batch = name.rpartition("-")
        if query == self._query:
            return int(batch) <= self._newest
        return self._now_s - written_s > DAY_S


def remove_orphans(lake: Path, abandoned: Abandoned, known: Collection[str]) -> int:
    """Files in the directories of hours; their number. Directories below are not of this table."""
    removed = 0
    for path in lake.glob(f"*/{PREFIX}*.parquet"):
        if str(path.relative_to(lake)) in known:
            continue
        batch = path.stem.removeprefix(PREFIX).rsplit("-", 2)[0]  # no attempt, no number
        if abandoned.holds(batch, path.stat().st_mtime):
            path.unlink(missing_ok=True)
            removed += 1
    return removed


def remove_staged(staging: Path, abandoned: Abandoned) -> int:
    """Staged files, which are in one directory for each batch; their number."""
    removed = 0
    for directory in staging.iterdir() if staging.exists() else ():
        if abandoned.holds(directory.name, directory.stat().st_mtime):
            files = list(directory.glob("*.parquet"))
            for path in files:
                path.unlink(missing_ok=True)
            with contextlib.suppress(OSError):  # something else is in it
                directory.rmdir()
            removed += len(files)
    return removed
