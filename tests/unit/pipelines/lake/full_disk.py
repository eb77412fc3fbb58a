"""A batch is committed where nothing more can be written, as on a full disk.

    python -m tests.unit.pipelines.lake.full_disk FORMAT DIRECTORY BATCH [manifest]

Its files are written before, and with `manifest` its manifest, too. Prints the name of the
exception and its message.
"""

from __future__ import annotations

import resource
import sys

from tests.unit.pipelines.lake.writing import opened, staged

from ottla.pipelines.lake.committing import commit
from ottla.pipelines.lake.manifest import Manifest
from ottla.pipelines.lake.manifest_files import ManifestFiles


def fill_disk() -> None:
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))


class FullAfterManifest(ManifestFiles):
    def write_new(self, manifest: Manifest) -> bool:
        is_new = super().write_new(manifest)
        fill_disk()
        return is_new


def main() -> None:
    kind, directory, batch, *more = sys.argv[1:]
    table = opened(kind, directory)
    table.last()  # with all libraries loaded
    wanted = staged(table, int(batch))
    if more:
        table._files = FullAfterManifest(directory)  # type: ignore[attr-defined]
    else:
        fill_disk()
    try:
        commit(table, wanted)
    except Exception as error:
        print(type(error).__name__, str(error).partition("\n")[0])


if __name__ == "__main__":
    main()
