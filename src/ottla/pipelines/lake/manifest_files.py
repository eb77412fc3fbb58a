"""The directory `_ottla` of a table: its manifests, and staged files.

Owns      `_ottla/table.json`, `_ottla/manifests/`, `_ottla/staging/`. Readers of tables ignore
          directories whose names begin with an underscore.
Promises  a file appears whole and synced, and only if there was none of its name.
"""

from __future__ import annotations

import contextlib
import json
import os
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ottla.pipelines.errors import LakeError, LakeUnavailable
from ottla.pipelines.lake.manifest import Manifest, decode_manifest, encode_manifest

METADATA_DIRECTORY = "_ottla"


class ManifestFiles:
    def __init__(self, lake: str) -> None:
        self.lake = Path(lake)
        self.metadata = self.lake / METADATA_DIRECTORY
        self.manifests = self.metadata / "manifests"
        self.staging = self.metadata / "staging"

    def create(self) -> None:
        for directory in (self.manifests, self.staging):
            make_directories(directory)

    # What the table is

    def read_table(self) -> dict[str, Any] | None:
        try:
            found: dict[str, Any] = json.loads((self.metadata / "table.json").read_text())
        except FileNotFoundError:
            return None
        except ValueError as error:
            raise LakeError(f"{self.metadata / 'table.json'} is damaged: {error}") from None
        return found

    def write_new_table(self, fields: dict[str, Any]) -> bool:
        """Whether there was none."""
        return create_file(self.metadata / "table.json", json.dumps(fields, indent=1).encode())

    def write_table(self, fields: dict[str, Any]) -> None:
        replace_file(self.metadata / "table.json", json.dumps(fields, indent=1).encode())

    # Manifests

    def read(self, name: str) -> Manifest:
        path = self.manifests / f"{name}.json"
        try:
            return decode_manifest(path.read_bytes(), str(path))
        except FileNotFoundError:
            raise LakeError(
                f"{path} is missing: a commit of the table names it. Restore it from a backup"
            ) from None

    def write_new(self, manifest: Manifest) -> bool:
        """Whether there was none of this name."""
        return create_file(self.manifests / f"{manifest.name}.json", encode_manifest(manifest))

    def remove(self, name: str) -> None:
        (self.manifests / f"{name}.json").unlink(missing_ok=True)

    def names(self) -> list[str]:
        return sorted(path.stem for path in self.manifests.glob("[0-9]*.json"))


def new_name(number: int) -> str:
    return f"{number:020}-{uuid.uuid4().hex[:12]}"


def create_file(path: Path, content: bytes) -> bool:
    """A link fails if the name exists: of two processes one succeeds."""
    with _written_aside(path, content) as aside:
        try:
            os.link(aside, path)
        except FileExistsError:
            return False
        sync_directory(path.parent)
        return True


def replace_file(path: Path, content: bytes) -> None:
    with _written_aside(path, content) as aside:
        os.replace(aside, path)
        sync_directory(path.parent)


@contextlib.contextmanager
def _written_aside(path: Path, content: bytes) -> Iterator[Path]:
    aside = path.with_name(f".{path.name}.{uuid.uuid4().hex[:8]}")
    try:
        with open(aside, "xb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        yield aside
    except OSError as error:
        raise LakeUnavailable(
            f"{path} cannot be written: {error.strerror}; nothing was committed"
        ) from None
    finally:
        aside.unlink(missing_ok=True)


def make_directories(path: Path) -> None:
    """A new directory is an entry of the one above, which is synced, too: otherwise the files in it
    could be lost with a power failure, although they were synced themselves."""
    if path.is_dir():
        return
    make_directories(path.parent)
    path.mkdir(exist_ok=True)
    sync_directory(path.parent)


def sync_directory(path: Path) -> None:
    number = os.open(path, os.O_RDONLY)
    try:
        os.fsync(number)
    finally:
        os.close(number)
