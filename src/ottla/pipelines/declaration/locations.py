"""Directories that a declaration names: relative ones belong to the directory of the file."""

from __future__ import annotations

from pathlib import Path


def absolute(location: str, base: Path) -> str:
    """One text for one directory, however it is written. A URL stays as it is."""
    return location.rstrip("/") if ":/" in location else str((base / location).resolve())
