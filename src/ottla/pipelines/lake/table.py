"""What the formats of tables have in common.

Owns      the interface, and the checks of a table's columns against those of a pipeline.
Leaves    the order of a commit to `committing.py`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from pathlib import Path
from typing import Protocol

import pyarrow as pa
import pyarrow.dataset as ds

from ottla.pipelines.declaration.tree import ADD
from ottla.pipelines.errors import BatchRefused, LakeError, LakeUnavailable
from ottla.pipelines.lake.manifest import BATCH, REWRITES, LakeFile, Manifest


class LakeTable(Protocol):
    directory: str
    is_staged: bool  # files are renamed when they are published

    def check_claim(self) -> None:
        """BatchRefused if it is the table of another pipeline. Nothing is changed."""

    def owner(self) -> str | None:
        """The pipeline whose table it is; None if there is no table."""

    def prepare(self, columns: pa.Schema) -> None:
        """Create the table, or check that it has these columns; add them if that is allowed.
        BatchRefused if it is the table of another pipeline."""

    def last(self) -> Manifest | None:
        """The newest commit. A commit that was decided is finished first."""

    def read_manifest(self, name: str) -> Manifest: ...

    def new_name(self, number: int) -> str:
        """The name of the manifest with this number."""

    def commit(self, manifest: Manifest) -> bool:
        """False if another commit came first: look at the table again."""

    def finish(self, manifest: Manifest) -> None:
        """Publish what was decided; may be repeated."""

    def files(self) -> list[str]:
        """Paths of the files of the table now, relative to its directory."""

    def hours(self) -> dict[str, str | None]:
        """All files that readers of the table read, with their hours."""

    def columns(self) -> pa.Schema | None:
        """None if there is no table."""

    def sweep(self, query: str) -> int:
        """Remove files of batches that are never committed any more; their number."""

    def rows(self, columns: list[str] | None = None) -> pa.Table:
        """All rows of the table, as its readers see them; without those of files that something
        has removed, where other readers fail."""


def added_columns(found: pa.Schema, wanted: pa.Schema, evolve: str, where: str) -> list[pa.Field]:
    """The columns to add. LakeError if types differ, or if columns may not be added."""
    changed = [
        f"{field.name} is {found.field(field.name).type} in the table and {field.type} in the "
        "declaration"
        for field in wanted
        if field.name in found.names and not same_type(found.field(field.name).type, field.type)
    ]
    if changed:
        raise LakeError(
            f"{where}: {'; '.join(changed)}. The type of a column cannot change: rename the "
            "column, or write another table"
        )
    new = [field for field in wanted if field.name not in found.names]
    if new and evolve != ADD:
        names = ", ".join(f"{field.name} {field.type}" for field in new)
        raise LakeError(
            f"{where}: the table has no columns {names}. Set `evolve: add` to add them, or remove "
            "them from the declaration"
        )
    return new


def same_type(one: pa.DataType, other: pa.DataType) -> bool:
    return normal_type(one) == normal_type(other)


def normal_type(kind: pa.DataType) -> str:
    """Formats read texts and lists back in their large forms, and name elements differently."""
    if pa.types.is_struct(kind):
        return f"struct<{','.join(f'{f.name}:{normal_type(f.type)}' for f in kind)}>"
    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        return f"list<{normal_type(kind.value_type)}>"
    if pa.types.is_map(kind):
        return f"map<{normal_type(kind.key_type)},{normal_type(kind.item_type)}>"
    return str(kind).removeprefix("large_").replace("string_view", "string")


def check_removed(manifest: Manifest, found: Collection[str], where: str) -> None:
    """BatchRefused if files that a commit replaces are not in the table: their rows may be in
    others now, and would be there twice."""
    replaced_files = sorted(set(manifest.removed) - set(found))
    if manifest.kind in REWRITES and replaced_files:
        raise BatchRefused(
            f"{where}: another program has replaced {replaced_files[0]} meanwhile: nothing was "
            "written. Run the command again"
        )


def unwritable(where: str, error: OSError) -> LakeUnavailable:
    """Libraries of formats say that something cannot be written, and not which table it is."""
    reason = error.strerror or " ".join(str(error).split())
    return LakeUnavailable(
        f"{where}: the commit cannot be written: {reason}; nothing was committed. "
        "It is tried again when the batch or the command is repeated"
    )


def chain(table: LakeTable) -> Iterable[Manifest]:
    """All commits, the newest first."""
    manifest = table.last()
    while manifest is not None:
        yield manifest
        previous = manifest.previous
        manifest = None if previous is None else table.read_manifest(previous)


def last_batch(table: LakeTable, last: Manifest | None) -> Manifest | None:
    """The newest commit that read new offsets; backfills and compactions read none."""
    if last is None or last.kind == BATCH:
        return last
    return next((each for each in chain(table) if each.kind == BATCH), None)


def committed_files(table: LakeTable) -> set[str]:
    """The files of the table now, and of its older versions, which readers may need."""
    old = {file.path for manifest in chain(table) for file in manifest.files}
    return old | set(table.files())


def current_files(commits: Sequence[Manifest]) -> dict[str, LakeFile]:
    """The files of the table by their paths, from its commits; the oldest commit first."""
    found: dict[str, LakeFile] = {}
    for each in commits:
        for path in (*each.removed, *each.forgotten):
            found.pop(path, None)
        found |= {file.path: file for file in each.files}
    return found


def missing_files(table: LakeTable) -> list[str]:
    """Files of the table that something has removed; their paths."""
    return [path for path in table.files() if not (Path(table.directory) / path).exists()]


def remaining_rows(
    table: LakeTable, columns: pa.Schema, names: list[str] | None = None
) -> pa.Table:
    """Rows of the files that are there, read without the format's own library."""
    paths = [Path(table.directory) / path for path in table.files()]
    found = [str(path) for path in paths if path.exists()]
    return ds.dataset(found, schema=columns, format="parquet").to_table(names)
