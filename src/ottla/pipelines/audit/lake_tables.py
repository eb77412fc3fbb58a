"""Reading a lake as its users do: Parquet files in a directory, Delta, or Iceberg.

    table = open_lake("./lake/orders")         # CatalogTable: an Iceberg table of a catalog
    for batch in table.batches(): ...          # all rows, whatever program wrote them
    table.manifests()                          # what the writer has booked

Owns      finding out the format, reading rows, and following the manifests of committed batches.
Promises  rows are those of the commits of the table, also while they are published; a file that was
          copied into the directory of a Parquet table is read too, as other readers do. Batches
          are read one after the other, so that memory is bounded.
Leaves    counting to `lake_tier.py`. Shares no code with the writer of the table.
"""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import pyarrow as pa
import pyarrow.dataset as ds

from ottla.pipelines.audit.report_log import AuditError

log = logging.getLogger("ottla.pipelines.audit")

METADATA_DIRECTORY = "_ottla"
MANIFEST = "ottla.manifest"
COMPLETE_UNTIL = "ottla.complete_until_ms"
COMPLETE_FROM = "ottla.complete_from_ms"
HOUR = "hour"  # the folders of a table; not a column of its rows
PARQUET, DELTA, ICEBERG = "parquet", "delta", "iceberg"
RECORD_COLUMNS = ("topic_id", "partition", "offset", "timestamp")


class LakeReader(Protocol):
    directory: Path

    def batches(self, columns: list[str] | None = None) -> Iterator[pa.RecordBatch]:
        """All rows; of these columns only, if they are named."""

    def columns(self) -> list[str]: ...

    def files(self) -> list[Path]:
        """The files that rows are read from."""

    def committed(self) -> frozenset[str]:
        """The files that the table has by its commits, whether they are there or not."""

    def last_manifest(self) -> str | None:
        """The name of the manifest of the last commit."""

    def note_complete_until(self, until_ms: int | None, from_ms: int | None = None) -> None:
        """Write to the table that all records before this time are in it; of some records before
        `from_ms` nothing is known. None withdraws what was written."""


@dataclass(frozen=True)
class CatalogTable:
    """An Iceberg table whose catalog is not in its directory: what pyiceberg needs to find it."""

    properties: Mapping[str, str]
    name: str


def open_lake(directory: str | Path, catalog: CatalogTable | None = None) -> LakeReader:
    """AuditError if there is no table, or if it is in a catalog that is not given."""
    path = Path(directory)
    found = _format_of(path)
    if catalog is not None or found == ICEBERG:
        return IcebergReader(path, catalog)
    return DeltaReader(path) if found == DELTA else ParquetReader(path)


def _format_of(path: Path) -> str:
    if not path.is_dir():
        raise AuditError(f"{path} is not a directory: name the directory of the table")
    if (path / "_delta_log").is_dir():
        return DELTA
    if (path / METADATA_DIRECTORY / "table.json").exists():
        return str(_table_fields(path).get("format", PARQUET))
    return ICEBERG if _own_catalog(path).exists() else PARQUET


def _table_fields(path: Path) -> dict[str, Any]:
    file = path / METADATA_DIRECTORY / "table.json"
    try:
        fields: dict[str, Any] = json.loads(file.read_bytes())
        return dict(fields)
    except (OSError, ValueError, TypeError) as error:
        raise AuditError(f"{file} cannot be read ({error}): restore it from a backup") from None


def _own_catalog(directory: Path) -> Path:
    """The SQLite file that pipelines make where no catalog is declared."""
    return directory / METADATA_DIRECTORY / "catalog.db"


def manifests(table: LakeReader) -> list[dict[str, Any]]:
    """The manifests of all commits, the oldest first; none if a pipeline of Ottla did not write the
    table. AuditError if one is damaged, or not there."""
    found, name = [], table.last_manifest()
    while name is not None:
        manifest = read_manifest(table.directory, name)
        name = manifest["previous"]
        found.append(manifest)
    return found[::-1]


def read_manifest(directory: Path, name: str) -> dict[str, Any]:
    path = directory / METADATA_DIRECTORY / "manifests" / f"{name}.json"
    try:
        manifest: dict[str, Any] = json.loads(path.read_bytes())
        missing = {"previous", "files", "removed"} - manifest.keys()
        if missing:
            raise ValueError(f"without {', '.join(sorted(missing))}")
    except (OSError, ValueError, AttributeError) as error:
        raise AuditError(
            f"{path}: this manifest of the table cannot be read ({error}). Restore it from a "
            "backup: what was written cannot be compared with the table without it"
        ) from None
    return manifest


def complete_properties(until_ms: int | None, from_ms: int | None) -> dict[str, str]:
    found = {COMPLETE_UNTIL: until_ms, COMPLETE_FROM: None if until_ms is None else from_ms}
    return {name: str(each) for name, each in found.items() if each is not None}


def write_complete_until(directory: Path, until_ms: int | None, from_ms: int | None) -> None:
    """A small file, replaced in one step, or removed."""
    properties = {name: int(each) for name, each in complete_properties(until_ms, from_ms).items()}
    metadata = directory / METADATA_DIRECTORY
    if not properties:
        (metadata / "complete_until.json").unlink(missing_ok=True)
        return
    metadata.mkdir(exist_ok=True)
    new = metadata / ".complete_until.new"
    new.write_text(json.dumps(properties))
    os.replace(new, metadata / "complete_until.json")


def withdrawn(known: Mapping[str, str], properties: Mapping[str, str]) -> list[str]:
    """Properties that the table has, and that are no longer true."""
    return [
        name for name in (COMPLETE_UNTIL, COMPLETE_FROM) if name in known and name not in properties
    ]


def _read_files(files: list[Path], schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    """The files that exist."""
    paths = [str(path) for path in files if path.exists()]
    if paths:
        yield from ds.dataset(paths, schema=schema, format="parquet").to_batches()


class ParquetReader:
    """By its manifests: a commit whose files are being renamed, or whose old files are being
    deleted, is read as a whole. Files that no manifest names are read too, as other readers do."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self._manifests: dict[str, dict[str, Any]] = {}  # they never change

    def files(self) -> list[Path]:
        listed = self._listed()  # before the manifests: what is published later is not taken
        staged = self._staged()
        if staged is None:
            return listed
        found = []
        for name, aside in staged.items():
            paths = [self.directory / each for each in (name, aside) if each is not None]
            found += [path for path in paths if path.exists()][:1]
        last = self._read(self._names()[-1])
        named = {self.directory / name for name in (*staged, *last["removed"])}
        return found + [path for path in listed if path not in named and path.exists()]

    def committed(self) -> frozenset[str]:
        staged = self._staged()
        return frozenset(map(str, self._listed()) if staged is None else staged)

    def _staged(self) -> dict[str, str | None] | None:
        """Where each file of the table was before it was published, by its name; None without
        manifests."""
        names = self._names()
        found: dict[str, str | None] = {}
        for manifest in map(self._read, names):
            for name in (*manifest["removed"], *manifest.get("forgotten", ())):
                found.pop(name, None)
            found |= {file["path"]: file.get("staged") for file in manifest["files"]}
        return found if names else None

    def _names(self) -> list[str]:
        return sorted(
            path.stem for path in (self.directory / METADATA_DIRECTORY / "manifests").glob("*.json")
        )

    def _read(self, name: str) -> dict[str, Any]:
        if name not in self._manifests:
            self._manifests[name] = read_manifest(self.directory, name)
        return self._manifests[name]

    def _listed(self) -> list[Path]:
        """Names that begin with an underscore or a dot are not data, for all readers."""
        found = []
        for path in sorted(self.directory.rglob("*.parquet")):
            parts = path.relative_to(self.directory).parts
            if not any(part.startswith(("_", ".")) for part in parts):
                found.append(path)
        return found

    def _dataset(self) -> ds.Dataset | None:
        paths = [str(path) for path in self.files()]
        if not paths:
            return None
        # Files of different times may have different columns: missing ones are null.
        schemas = [ds.dataset(path, format="parquet").schema for path in paths]
        schema = pa.unify_schemas(schemas, promote_options="permissive")
        return ds.dataset(paths, schema=schema, format="parquet")

    def columns(self) -> list[str]:
        dataset = self._dataset()
        return [] if dataset is None else list(dataset.schema.names)

    def batches(self, columns: list[str] | None = None) -> Iterator[pa.RecordBatch]:
        dataset = self._dataset()
        if dataset is not None:
            yield from dataset.to_batches(columns=columns)

    def last_manifest(self) -> str | None:
        names = self._names()
        return names[-1] if names else None

    def note_complete_until(self, until_ms: int | None, from_ms: int | None = None) -> None:
        write_complete_until(self.directory, until_ms, from_ms)


class DeltaReader:
    def __init__(self, directory: Path) -> None:
        self.directory = directory

    def _table(self) -> Any:
        from deltalake import DeltaTable

        return DeltaTable(str(self.directory))

    def files(self) -> list[Path]:
        actions = pa.table(self._table().get_add_actions(flatten=True))
        return [self.directory / path for path in actions.column("path").to_pylist()]

    def committed(self) -> frozenset[str]:
        return frozenset(map(str, self.files()))

    def columns(self) -> list[str]:
        return [name for name in self._table().to_pyarrow_dataset().schema.names if name != HOUR]

    def batches(self, columns: list[str] | None = None) -> Iterator[pa.RecordBatch]:
        dataset = self._table().to_pyarrow_dataset()
        chosen = columns or self.columns()
        files = self.files()
        if all(path.exists() for path in files):
            yield from dataset.to_batches(columns=chosen)
        else:  # the table cannot be read any more, but the audit counts what is left
            schema = pa.schema([dataset.schema.field(name) for name in chosen])
            yield from _read_files(files, schema)

    def last_manifest(self) -> str | None:
        for entry in self._table().history():
            if isinstance(entry.get(MANIFEST), str):
                return str(entry[MANIFEST])
        return None

    def note_complete_until(self, until_ms: int | None, from_ms: int | None = None) -> None:
        from deltalake.exceptions import DeltaError

        write_complete_until(self.directory, until_ms, from_ms)
        table = self._table()
        properties = complete_properties(until_ms, from_ms)
        known = table.metadata().configuration
        # The library cannot remove properties: what is withdrawn becomes empty.
        properties = dict.fromkeys(withdrawn(known, properties), "") | properties
        if properties.items() <= known.items():
            return
        try:
            table.alter.set_table_properties(properties, raise_if_not_exists=False)
        except DeltaError as error:  # a pipeline has committed at the same time
            log.info("%s: complete_until is written by the next pass: %s", self.directory, error)


class IcebergReader:
    """By its catalog: a declared one, or the SQLite file that pipelines make."""

    def __init__(self, directory: Path, catalog: CatalogTable | None = None) -> None:
        self.directory = directory
        self._declared = catalog

    def _table(self) -> Any:
        from pyiceberg.catalog import load_catalog

        if self._declared is not None:
            return load_catalog("ottla", **self._declared.properties).load_table(
                self._declared.name
            )
        own = _own_catalog(self.directory).absolute()
        if not own.exists():
            raise AuditError(
                f"{self.directory}: the catalog of this Iceberg table is not in its directory: "
                "name the file of pipelines that declares it, with --pipelines (audit run) or "
                "--file (audit drill)"
            )
        catalog = load_catalog("ottla", type="sql", uri=f"sqlite:///{own}")
        names = [name for space in catalog.list_namespaces() for name in catalog.list_tables(space)]
        if len(names) != 1:
            raise AuditError(f"{self.directory}: its catalog has {len(names)} tables, not one")
        return catalog.load_table(names[0])

    def files(self) -> list[Path]:
        tasks = self._table().scan().plan_files()
        return [Path(task.file.file_path.removeprefix("file://")) for task in tasks]

    def committed(self) -> frozenset[str]:
        return frozenset(map(str, self.files()))

    def columns(self) -> list[str]:
        return [field.name for field in self._table().schema().fields]

    def batches(self, columns: list[str] | None = None) -> Iterator[pa.RecordBatch]:
        table = self._table()
        chosen = ("*",) if columns is None else tuple(columns)
        scan = table.scan(selected_fields=chosen)
        files = self.files()
        if all(path.exists() for path in files):
            yield from scan.to_arrow_batch_reader()
        else:
            from pyiceberg.io.pyarrow import schema_to_pyarrow

            schema = schema_to_pyarrow(scan.projection(), include_field_ids=False)
            yield from _read_files(files, schema)

    def last_manifest(self) -> str | None:
        name = self._table().properties.get(MANIFEST)
        return None if name is None else str(name)

    def note_complete_until(self, until_ms: int | None, from_ms: int | None = None) -> None:
        from pyiceberg.exceptions import CommitFailedException

        write_complete_until(self.directory, until_ms, from_ms)
        table = self._table()
        properties = complete_properties(until_ms, from_ms)
        withdrawn_names = withdrawn(table.properties, properties)
        if properties.items() <= table.properties.items() and not withdrawn_names:
            return
        try:
            with table.transaction() as change:
                if withdrawn_names:
                    change.remove_properties(*withdrawn_names)
                if properties:
                    change.set_properties(properties)
        except CommitFailedException as error:
            log.info("%s: complete_until is written by the next pass: %s", self.directory, error)
