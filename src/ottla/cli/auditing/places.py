"""Where the tables of an audit are: named on the command line, or declared in a file of pipelines.

Owns      finding them in the declaration: the directory, the catalog of an Iceberg table, and the
          topics for bad and late records.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ottla.cli.errors import USAGE, CommandFailed

if TYPE_CHECKING:
    from ottla.pipelines.audit.lake_tables import CatalogTable
    from ottla.pipelines.declaration.tree import Declaration, Lake


@dataclass(frozen=True)
class LakePlace:
    """A directory, and for an Iceberg table of a declared catalog where it is there."""

    directory: str
    catalog: CatalogTable | None = None
    side_topics: tuple[str, ...] = ()
    is_declared: bool = False

    def open(self) -> Any:
        """AuditError if it is not there, or cannot be read."""
        from ottla.pipelines.audit.lake_tables import open_lake

        return open_lake(self.directory, self.catalog)


def declared_lakes(file: str) -> dict[str, LakePlace]:
    """By the names of their pipelines."""
    from ottla.pipelines.declaration.loading import load
    from ottla.pipelines.errors import DeclarationError

    try:
        return lakes_in(load(file))
    except DeclarationError as error:
        raise CommandFailed(str(error), code=USAGE) from error


def lakes_in(declared: Declaration) -> dict[str, LakePlace]:
    from ottla.pipelines.declaration.tree import Lake

    return {
        name: LakePlace(
            pipeline.to.lake,
            catalog_of(pipeline.to, name),
            tuple(each.topic for each in (pipeline.bad, pipeline.late) if each is not None),
            is_declared=True,
        )
        for name, pipeline in declared.pipelines.items()
        if isinstance(pipeline.to, Lake)
    }


def catalog_of(lake: Lake, pipeline: str) -> CatalogTable | None:
    """None if the catalog is in the directory of the table."""
    from ottla.pipelines.audit.lake_tables import CatalogTable

    if not lake.catalog:
        return None
    return CatalogTable(lake.catalog, lake.table or f"lake.{pipeline.replace('.', '_')}")


def place_of(directory: str, places: Mapping[str, LakePlace]) -> LakePlace:
    """The declared table in this directory, or the directory alone."""
    wanted = Path(directory).resolve()
    same = (each for each in places.values() if Path(each.directory).resolve() == wanted)
    return next(same, LakePlace(directory))
