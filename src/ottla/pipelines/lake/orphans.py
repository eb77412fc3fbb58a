"""Files in the directory of a table that no commit names.

Tasks write the files of Delta and Iceberg tables to their final place: only the commit makes them
part of the table. A batch that failed leaves its files behind.
"""

from __future__ import annotations

import time
from collections.abc import Collection
from pathlib import Path

from ottla.pipelines.lake.manifest_files import DAY_S

PREFIX = "ottla-"  # of the names of all files that tasks write


def remove_orphans(lake: Path, query: str, known: Collection[str]) -> int:
    """Remove those of this query, and those of others that are a day old; their number."""
    removed = 0
    now_s = time.time()
    for path in lake.rglob(f"{PREFIX}*.parquet"):
        relative = str(path.relative_to(lake))
        if relative in known:
            continue
        is_own = path.name.startswith(f"{PREFIX}{query}")
        if is_own or now_s - path.stat().st_mtime > DAY_S:
            path.unlink(missing_ok=True)
            removed += 1
    return removed
