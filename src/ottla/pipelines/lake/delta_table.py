"""A Delta table, written through deltalake: no JVM, no jar.

Owns      the commit: files of the batch, the application transaction of the pipeline, and the name
          of the manifest, in one entry of the table's log.
Promises  of two commits one succeeds, and the other is tried again from the beginning: deltalake
          itself does not refuse a repeated application transaction, so nothing is retried inside
          it. Commits of other programs (optimize, delete) are allowed in between.
Limit     the directory is one of a local file system, or mounted as one.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pyarrow as pa
from deltalake import CommitProperties, DeltaTable, Transaction
from deltalake.exceptions import CommitFailedError, DeltaError
from deltalake.transaction import AddAction, RemoveAction

from ottla.pipelines.declaration.checking import HOUR
from ottla.pipelines.declaration.tree import DELTA
from ottla.pipelines.errors import LakeError
from ottla.pipelines.lake.manifest import COMPACTION, LakeFile, Manifest
from ottla.pipelines.lake.orphans import Abandoned, remove_orphans
from ottla.pipelines.lake.ownership import OwnedTable, claim
from ottla.pipelines.lake.parquet_table import check_empty
from ottla.pipelines.lake.table import (
    added_columns,
    check_removed,
    committed_files,
    missing_files,
    remaining_rows,
    unwritable,
)

MANIFEST = "ottla.manifest"  # in the commit: the name of the manifest
HISTORY = 100


class DeltaLakeTable(OwnedTable):
    format = DELTA
    is_staged = False

    @property
    def _application(self) -> str:
        """The id of the pipeline that owns the table: its next driver must find its commits."""
        return f"ottla:{self.owner() or self._pipeline}"

    def _open(self) -> DeltaTable | None:
        if not DeltaTable.is_deltatable(self.directory):
            return None
        return DeltaTable(self.directory)

    def prepare(self, columns: pa.Schema) -> None:
        self.check_claim()
        table = self._open()
        if table is None:
            check_empty(Path(self.directory))
        self._files.create()
        claim(self._files, self._identity)
        if table is None:
            whole = columns.append(pa.field(HOUR, pa.string()))
            DeltaTable.create(self.directory, whole, partition_by=[HOUR])
            return
        new = added_columns(self._schema(table), columns, self._evolve, self.directory)
        if new:
            table.alter.add_columns([_delta_field(each) for each in new])

    def columns(self) -> pa.Schema | None:
        table = self._open()
        return None if table is None else self._schema(table)

    def _schema(self, table: DeltaTable) -> pa.Schema:
        found = pa.schema(table.schema().to_arrow())
        return pa.schema([each for each in found if each.name != HOUR])

    # Commits

    def last(self) -> Manifest | None:
        table = self._open()
        number = None if table is None else table.transaction_version(self._application)
        if table is None or number is None:
            return None
        return self._files.read(self._name_of(table, number))

    def _name_of(self, table: DeltaTable, number: int) -> str:
        """Read from the log; entries are deleted after a month; then the number decides."""
        for entry in table.history(HISTORY):
            name = entry.get(MANIFEST)
            if isinstance(name, str) and int(name.partition("-")[0]) == number:
                return name
        names = [each for each in self._files.names() if each.startswith(f"{number:020}-")]
        if len(names) != 1:
            raise LakeError(
                f"{self.directory}: the table's log no longer says which manifest was its commit "
                f"{number}, and there are {len(names)}. Keep the one whose files are in the table"
            )
        return names[0]

    def commit(self, manifest: Manifest) -> bool:
        table = self._open()
        if table is None:
            raise LakeError(f"{self.directory} is no Delta table any more")
        last = table.transaction_version(self._application)
        if last is not None and last >= manifest.number:
            return False
        self._files.write_new(manifest)
        try:
            self._write(table, manifest)
        except (CommitFailedError, DeltaError, OSError) as error:
            return self._after_failure(manifest, error)
        return True

    def _write(self, table: DeltaTable, manifest: Manifest) -> None:
        properties = CommitProperties(
            custom_metadata={MANIFEST: manifest.name},
            max_commit_retries=0,
            app_transactions=[Transaction(self._application, manifest.number)],
        )
        actions: list[Any] = [_add(file, manifest) for file in manifest.files]
        actions += _removals(table, manifest, self.directory)
        table.create_write_transaction(
            actions,
            mode="append",
            schema=table.schema(),
            partition_by=[HOUR],
            commit_properties=properties,
        )

    def _after_failure(self, manifest: Manifest, error: Exception) -> bool:
        """A commit whose response was lost may have succeeded."""
        table = self._open()
        if table is not None:
            found = table.transaction_version(self._application)
            if found == manifest.number and self._name_of(table, found) == manifest.name:
                return True
        self._files.remove(manifest.name)
        if isinstance(error, CommitFailedError):
            return False  # another commit came first
        if isinstance(error, OSError):
            raise unwritable(self.directory, error) from error
        raise LakeError(f"{self.directory}: {error}; nothing was committed") from error

    def finish(self, manifest: Manifest) -> None:
        """The commit is all there is to it."""

    # Contents

    def files(self) -> list[str]:
        table = self._open()
        if table is None:
            return []
        actions = pa.table(table.get_add_actions(flatten=True))
        return [unquote(path) for path in actions.column("path").to_pylist()]

    def hours(self) -> dict[str, str | None]:
        table = self._open()
        actions = [] if table is None else pa.table(table.get_add_actions(flatten=True)).to_pylist()
        return {unquote(row["path"]): row[f"partition.{HOUR}"] for row in actions}

    def sweep(self, query: str) -> int:
        abandoned = Abandoned(self, query)
        return remove_orphans(Path(self.directory), abandoned, committed_files(self))

    def rows(self, columns: list[str] | None = None) -> pa.Table:
        table = self._open()
        assert table is not None
        schema = self._schema(table)
        if missing_files(self):
            return remaining_rows(self, schema, columns)
        return table.to_pyarrow_table(columns=columns or schema.names)


def _add(file: LakeFile, manifest: Manifest) -> AddAction:
    stats = json.dumps({"numRecords": file.rows, **file.stats})
    is_change = manifest.kind != COMPACTION
    hour = {HOUR: file.hour}
    return AddAction(file.path, file.bytes, hour, manifest.decided_ms, is_change, stats)


def _removals(table: DeltaTable, manifest: Manifest, where: str) -> list[Any]:
    """The removals of replaced files. A compaction keeps the rows, so it is no change of data."""
    if not manifest.removed:
        return []
    found = pa.table(table.get_add_actions(flatten=True))
    wanted = set(manifest.removed)
    check_removed(manifest, {unquote(path) for path in found.column("path").to_pylist()}, where)
    return [
        RemoveAction(
            row["path"],
            manifest.kind != COMPACTION,
            manifest.decided_ms,
            row["size_bytes"],
            {HOUR: row[f"partition.{HOUR}"]},
        )
        for row in found.to_pylist()
        if unquote(row["path"]) in wanted
    ]


def _delta_field(field: pa.Field) -> Any:
    from deltalake import Schema

    return Schema.from_arrow(pa.schema([field])).fields[0]
