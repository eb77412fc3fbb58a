"""The owner of the table in a directory, and what never changes: format, column of the hours.

    _ottla/table.json    {"format": "delta", "pipeline": "orders_lake", "hourly": "timestamp", ...}

Owns      these fields of that file, and the refusals. It is created before the table itself, and
          only if there is none, so of two pipelines that begin at once one gets the directory.
Promises  the table of another pipeline is refused before anything of it is read or written. It
          would begin at the start of its topics, and every row would be in the table twice.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, ClassVar

from ottla.pipelines.errors import BatchRefused, LakeError
from ottla.pipelines.lake.manifest import Manifest
from ottla.pipelines.lake.manifest_files import ManifestFiles, new_name

RECORD_TIME = "timestamp"  # divides the table where no event time is declared


class OwnedTable:
    """The part of a table that is the same in all formats: its directory, owner and manifests."""

    format: ClassVar[str]

    def __init__(self, directory: str, pipeline: str, evolve: str, event_time: str) -> None:
        self.directory = directory
        self._pipeline = pipeline
        self._evolve = evolve
        self._event_time = event_time
        self._files = ManifestFiles(directory)

    @property
    def _identity(self) -> dict[str, Any]:
        return {"format": self.format, "pipeline": self._pipeline, "hourly": self._event_time}

    def check_claim(self) -> None:
        check_claim(self._files, self._identity)

    def owner(self) -> str | None:
        return owner_of(self._files)

    def read_manifest(self, name: str) -> Manifest:
        return self._files.read(name)

    def new_name(self, number: int) -> str:
        return new_name(number)


def owner_of(files: ManifestFiles) -> str | None:
    """The pipeline; None if there is no table. Older releases wrote it to manifests only."""
    fields = files.read_table()
    if fields is not None:
        return str(fields["pipeline"])
    names = files.names()
    return files.read(names[-1]).pipeline if names else None


def check_owner(owner: str | None, pipeline: str, where: str) -> None:
    if owner is not None and owner != pipeline:
        raise BatchRefused(
            f"{where}: the table belongs to the pipeline {owner}, not to {pipeline}: a table has "
            f"one pipeline. Give {pipeline} another directory; if it is {owner} under a new name, "
            "give it the old name again"
        )


def claim(files: ManifestFiles, wanted: dict[str, Any]) -> None:
    """Make the directory the table of a pipeline, unless it is that already."""
    check_claim(files, wanted)
    found = files.read_table()
    if found is None and not files.write_new_table(wanted):
        check_claim(files, wanted)  # another one came first
    elif found is not None and not wanted.keys() <= found.keys():
        files.write_table({**wanted, **found})  # an older release has written it


def check_directory(lake: Path) -> None:
    """LakeError if no table can be there: it, or a directory above it, is a file."""
    for each in (lake, *lake.parents):
        if each.exists():
            if not each.is_dir():
                raise LakeError(f"{each} is a file: a table is a directory. Give another one")
            return


def check_claim(files: ManifestFiles, wanted: dict[str, Any]) -> None:
    """BatchRefused, or LakeError if the table was created otherwise. Nothing is changed."""
    where = str(files.lake)
    check_directory(files.lake)
    check_owner(owner_of(files), wanted["pipeline"], where)
    found = files.read_table() or {}
    kind = found.get("format", wanted["format"])
    if kind != wanted["format"]:
        raise LakeError(
            f"{where} is a table of the format {kind}, not {wanted['format']}: the format of a "
            "table cannot change. Give another directory, or the old format"
        )
    column = found.get("hourly", wanted["hourly"])
    if column != wanted["hourly"]:
        raise LakeError(
            f"{where}: its hours are those of the column {column}, not of {wanted['hourly']}: one "
            f"hour of the table would mean two things. Set `hourly: {column}`"
            f"{' or leave it out' if column == RECORD_TIME else ''}, or give another directory"
        )
