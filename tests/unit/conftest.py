"""Fixtures for tests that need files: each such test runs on both disks."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.support.volumes import Volume

from ottla.base.files.disk import DiskFileSystem
from ottla.testing.filesystem import MemoryDisk


@pytest.fixture(params=["real disk", "memory"])
def volume(request: pytest.FixtureRequest, tmp_path: Path) -> Volume:
    """An empty directory. On the real disk only two descriptors may stay open."""
    if request.param == "real disk":
        return Volume(DiskFileSystem(open_files_max=2), str(tmp_path))
    return memory_volume()


def memory_volume() -> Volume:
    disk = MemoryDisk()
    disk.make_directory("/data")
    disk.sync_directory("/")
    return Volume(disk, "/data")


@pytest.fixture
def disk() -> MemoryDisk:
    """The failing disk, with an empty and durable directory /data."""
    disk = MemoryDisk()
    disk.make_directory("/data")
    disk.sync_directory("/")
    return disk
