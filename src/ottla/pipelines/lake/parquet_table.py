"""A table of Parquet files in a directory, in folders by hour.

    lake/hour=2026-03-01-10/orders_lake-5f0c1a2b-000011-0000.parquet
    lake/_ottla/manifests/00000000000000000012-....json

Owns      the rule that makes a commit: the manifest with the next number exists. Its files are
          renamed from the staging directory afterwards, by the driver or by the next one.
Promises  of two commits with one number, one succeeds. A file that a manifest names is
          published, or still staged.
Limit     a reader that lists the directory while a batch is published sees a part of its files.
"""

from __future__ import annotations

import contextlib
import logging
import os
from pathlib import Path
from typing import Any

import pyarrow as pa

from ottla.base.fault_points import PipelinePoint, reach
from ottla.pipelines.declaration.tree import PARQUET
from ottla.pipelines.errors import LakeError
from ottla.pipelines.lake.hours import hour_of_directory
from ottla.pipelines.lake.manifest import Manifest
from ottla.pipelines.lake.manifest_files import (
    METADATA_DIRECTORY,
    make_directories,
    sync_directory,
)
from ottla.pipelines.lake.orphans import Abandoned, remove_staged
from ottla.pipelines.lake.ownership import OwnedTable, claim
from ottla.pipelines.lake.table import added_columns, remaining_rows

log = logging.getLogger("ottla.pipelines")


class ParquetTable(OwnedTable):
    format = PARQUET
    is_staged = True

    def __init__(self, directory: str, pipeline: str, evolve: str, event_time: str) -> None:
        super().__init__(directory, pipeline, evolve, event_time)
        self._lake = Path(directory)

    def prepare(self, columns: pa.Schema) -> None:
        self.check_claim()
        found = self.columns()
        if found is None:
            check_empty(self._lake)
            self._files.create()
        claim(self._files, self._fields(columns if found is None else found))
        found = self.columns() or columns  # of another run, if that came first
        if new := added_columns(found, columns, self._evolve, self.directory):
            self._files.write_table(self._fields(pa.schema([*found, *new])))

    def _fields(self, columns: pa.Schema) -> dict[str, Any]:
        return {**self._identity, "columns": columns.serialize().to_pybytes().hex()}

    def columns(self) -> pa.Schema | None:
        fields = self._files.read_table()
        if fields is None:
            return None
        return pa.ipc.read_schema(pa.py_buffer(bytes.fromhex(fields["columns"])))

    # Commits

    def last(self) -> Manifest | None:
        names = self._files.names()
        if not names:
            return None
        last = self._files.read(names[-1])
        self.finish(last)
        return last

    def new_name(self, number: int) -> str:
        return f"{number:020}"  # alone, so that only one manifest can have it

    def commit(self, manifest: Manifest) -> bool:
        return self._files.write_new(manifest)

    def finish(self, manifest: Manifest) -> None:
        for number, file in enumerate(manifest.files):
            if file.staged is not None:
                self._publish(self._lake / file.staged, self._lake / file.path)
            if number == 0:
                reach(PipelinePoint.HALF_PUBLISHED)
        for path in manifest.removed:
            (self._lake / path).unlink(missing_ok=True)
        for directory in {(self._lake / file.path).parent for file in manifest.files}:
            sync_directory(directory)

    def _publish(self, staged: Path, path: Path) -> None:
        make_directories(path.parent)
        try:
            os.rename(staged, path)
        except FileNotFoundError:
            if not path.exists():  # it was published before, and something has removed it since
                log.warning(
                    "%s is missing: `ottla audit` shows what is, `backfill` repairs it", path
                )

    # Contents

    def files(self) -> list[str]:
        """The files that the manifests name: others are not part of the table."""
        found: dict[str, None] = {}
        for name in self._files.names():
            manifest = self._files.read(name)
            for path in (*manifest.removed, *manifest.forgotten):
                found.pop(path, None)
            found.update({file.path: None for file in manifest.files})
        return list(found)

    def hours(self) -> dict[str, str | None]:
        """The files in the directories of hours: readers see whatever files are there."""
        found: dict[str, str | None] = {}
        for path in sorted(self._lake.glob("*/*.parquet")):
            with contextlib.suppress(ValueError):
                found[str(path.relative_to(self._lake))] = hour_of_directory(path.parent.name)
        return found

    def sweep(self, query: str) -> int:
        # This looks at the newest commit first: if its files are still staged, they are published.
        abandoned = Abandoned(self, query)
        return remove_staged(self._files.staging, abandoned)

    def rows(self, columns: list[str] | None = None) -> pa.Table:
        schema = self.columns()
        assert schema is not None
        return remaining_rows(self, schema, columns)


def check_empty(lake: Path) -> None:
    others = (
        [path.name for path in lake.iterdir() if path.name != METADATA_DIRECTORY]
        if lake.exists()
        else []
    )
    if others:
        raise LakeError(
            f"{lake} holds something else ({', '.join(sorted(others)[:3])}): give a new directory"
        )
