"""An Iceberg table, written through pyiceberg: no JVM, no jar.

Owns      the commit: the files of the batch, and the name of the manifest as a property of the
          table, in one change of its metadata.
Promises  of two commits one succeeds: every commit makes a snapshot, one without files included,
          and the catalog accepts it only if the snapshot before it is still the newest.

Without a declared catalog the table has one of its own, in the SQLite file `_ottla/catalog.db`.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pyarrow as pa
from pyiceberg.catalog import Catalog, load_catalog
from pyiceberg.exceptions import CommitFailedException, NoSuchTableError
from pyiceberg.io.pyarrow import schema_to_pyarrow
from pyiceberg.table import Table
from pyiceberg.transforms import HourTransform

from ottla.pipelines.declaration.tree import ICEBERG
from ottla.pipelines.errors import LakeError
from ottla.pipelines.lake.hours import hour_text
from ottla.pipelines.lake.manifest import Manifest
from ottla.pipelines.lake.orphans import Abandoned, remove_orphans
from ottla.pipelines.lake.ownership import OwnedTable, check_owner, claim
from ottla.pipelines.lake.parquet_table import check_empty
from ottla.pipelines.lake.table import (
    added_columns,
    check_removed,
    committed_files,
    missing_files,
    remaining_rows,
    unwritable,
)

MANIFEST = "ottla.manifest"
OWNER = "ottla.pipeline"
NAMESPACE = "lake"
# pyiceberg would append to whatever another commit has made of the table meanwhile.
RETRIES = {"commit.retry.num-retries": "0"}
NEW_TABLE = {"write.metadata.delete-after-commit.enabled": "true", **RETRIES}


class IcebergTable(OwnedTable):
    format = ICEBERG
    is_staged = False

    def __init__(
        self,
        directory: str,
        pipeline: str,
        evolve: str,
        event_time: str,
        catalog: Mapping[str, str] | None = None,
        name: str | None = None,
    ) -> None:
        super().__init__(directory, pipeline, evolve, event_time)
        self._properties = catalog
        self._name = name or f"{NAMESPACE}.{pipeline.replace('.', '_')}"
        self._catalog: Catalog | None = None

    @property
    def _location(self) -> str:
        """The path without quoting: pyiceberg uses it unchanged."""
        return f"file://{self.directory}" if self.directory.startswith("/") else self.directory

    def _connected(self) -> Catalog:
        if self._catalog is None:
            default_catalog = {
                "type": "sql",
                "uri": f"sqlite:///{self._files.metadata / 'catalog.db'}",
                "warehouse": self._location,
            }
            if not self._properties:
                self._files.create()
            self._catalog = load_catalog("ottla", **(self._properties or default_catalog))
        return self._catalog

    def _open(self) -> Table | None:
        if not self._properties and not (self._files.metadata / "catalog.db").exists():
            return None
        try:
            return self._connected().load_table(self._name)
        except NoSuchTableError:
            return None

    def prepare(self, columns: pa.Schema) -> None:
        self.check_claim()
        table = self._open()
        if table is None:
            check_empty(Path(self.directory))
        self._files.create()
        claim(self._files, self._identity)
        if table is None:
            self._create(columns)
            return
        new = added_columns(schema_to_pyarrow(table.schema(), include_field_ids=False), columns,
                            self._evolve, self.directory)  # fmt: skip
        if new:
            with table.update_schema() as update:
                update.union_by_name(pa.schema(new))

    def _create(self, columns: pa.Schema) -> None:
        catalog = self._connected()
        catalog.create_namespace_if_not_exists(self._name.rpartition(".")[0])
        location = self._location
        with (
            catalog.create_table_transaction(
                self._name, columns, location=location, properties=self._new_properties
            ) as change,
            change.update_spec() as spec,
        ):
            spec.add_field(self._event_time, HourTransform(), "hour")

    @property
    def _new_properties(self) -> dict[str, str]:
        return {**NEW_TABLE, OWNER: self._pipeline}

    def check_claim(self) -> None:
        super().check_claim()
        check_owner(self.owner(), self._pipeline, self.directory)

    def owner(self) -> str | None:
        """Of the table, too: a catalog may know it under another directory."""
        table = self._open()
        owner = None if table is None else table.properties.get(OWNER)
        return owner or super().owner()

    def columns(self) -> pa.Schema | None:
        table = self._open()
        return None if table is None else schema_to_pyarrow(table.schema(), include_field_ids=False)

    # Commits

    def last(self) -> Manifest | None:
        table = self._open()
        name = None if table is None else table.properties.get(MANIFEST)
        return None if name is None else self._files.read(name)

    def commit(self, manifest: Manifest) -> bool:
        table = self._open()
        if table is None:
            raise LakeError(f"{self.directory} is no Iceberg table any more")
        if table.properties.get(MANIFEST) != manifest.previous:
            return False
        if not RETRIES.items() <= table.properties.items():
            with table.transaction() as change:
                change.set_properties(RETRIES)
        self._files.write_new(manifest)
        try:
            self._write(table, manifest)
        except CommitFailedException:
            return self._is_committed(manifest)
        except OSError as error:  # of the disk, or of the connection to a catalog
            if not self._names(manifest):
                raise unwritable(self.directory, error) from error
        return True

    def _write(self, table: Table, manifest: Manifest) -> None:
        paths = [f"{self._location}/{file.path}" for file in manifest.files]
        replaced = self._replaced(table, manifest)
        with table.transaction() as change:
            summary = {MANIFEST: manifest.name}
            if replaced:  # the two snapshots become visible together
                with change.update_snapshot(snapshot_properties=summary).overwrite() as rewrite:
                    for file in replaced:
                        rewrite.delete_data_file(file)
            if paths:
                change.add_files(paths, snapshot_properties=summary, check_duplicate_files=False)
            else:
                with change.update_snapshot(snapshot_properties=summary).fast_append():
                    pass
            change.set_properties({MANIFEST: manifest.name})

    def _replaced(self, table: Table, manifest: Manifest) -> list[Any]:
        if not manifest.removed:
            return []
        found = {self._relative(file): file for file in _data_files(table)}
        check_removed(manifest, found, self.directory)
        return [found[path] for path in manifest.removed if path in found]

    def _is_committed(self, manifest: Manifest) -> bool:
        """A commit whose response was lost may have succeeded."""
        if self._names(manifest):
            return True
        self._files.remove(manifest.name)
        return False

    def _names(self, manifest: Manifest) -> bool:
        """Whether it is that of the newest commit."""
        table = self._open()
        return table is not None and table.properties.get(MANIFEST) == manifest.name

    def finish(self, manifest: Manifest) -> None:
        """The commit is all there is to it."""

    # Contents

    def files(self) -> list[str]:
        return list(self.hours())

    def hours(self) -> dict[str, str | None]:
        table = self._open()
        files = [] if table is None else _data_files(table)
        return {self._relative(file): hour_text(file.partition[0]) for file in files}

    def _relative(self, file: Any) -> str:
        return str(Path(urlsplit(file.file_path).path).relative_to(self.directory))

    def sweep(self, query: str) -> int:
        abandoned = Abandoned(self, query)
        return remove_orphans(Path(self.directory), abandoned, committed_files(self))

    def rows(self, columns: list[str] | None = None) -> pa.Table:
        table = self._open()
        assert table is not None
        if missing_files(self):
            schema = schema_to_pyarrow(table.schema(), include_field_ids=False)
            return remaining_rows(self, schema, columns)
        return table.scan(selected_fields=tuple(columns or ["*"])).to_arrow()


def _data_files(table: Table) -> list[Any]:
    """The data files of the newest snapshot."""
    if table.current_snapshot() is None:
        return []
    return [task.file for task in table.scan().plan_files()]
