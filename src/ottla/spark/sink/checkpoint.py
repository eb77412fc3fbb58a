"""What the checkpoint of a stream contains, where it is a directory of a local file system.

Promises  a location elsewhere, or a file that is missing or unreadable, is never an error: the
          result is that nothing is known.
"""

from __future__ import annotations

import hashlib
import json
import uuid
from pathlib import Path
from urllib.parse import unquote, urlsplit

METADATA_FILE = "metadata"  # {"id": "<query id>"}
OFFSETS_DIRECTORY = "offsets"  # a file for each batch, named by its number


def query_of_checkpoint(location: str) -> str | None:
    """The query id that Spark wrote into it."""
    path = local_path(location)
    if path is None:
        return None
    try:
        found = json.loads((path / METADATA_FILE).read_text())
        return str(uuid.UUID(found["id"]))
    except (OSError, ValueError, KeyError, TypeError):
        return None


def offsets_digest(location: str | None, batch: int) -> str:
    """The same for a batch that Spark runs again, another for a batch that it planned again: Spark
    writes the offsets of every source and the time before a batch, and never changes the file.
    Empty if the file cannot be read."""
    path = None if location is None else local_path(location)
    if path is None:
        return ""
    try:
        content = (path / OFFSETS_DIRECTORY / str(batch)).read_bytes()
    except OSError:
        return ""
    return hashlib.sha256(content).hexdigest()[:32]


def local_path(location: str) -> Path | None:
    parts = urlsplit(location)
    if parts.scheme == "":
        return Path(location)
    if parts.scheme == "file" and parts.netloc in ("", "localhost"):
        return Path(unquote(parts.path))
    return None
