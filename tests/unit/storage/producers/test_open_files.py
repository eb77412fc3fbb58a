"""Snapshots are written and read often: none of that leaves a file open, also where it fails."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from ottla.base.files.disk import DiskFileSystem
from ottla.storage.errors import CorruptLogError
from ottla.storage.producers.producer_snapshot import read_snapshot, write_snapshot


@pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="counts what the process has open")
@pytest.mark.parametrize("sync", [False, True])
def test_snapshots_leave_no_file_open(tmp_path: Path, sync: bool) -> None:
    files = DiskFileSystem()
    before = len(os.listdir("/proc/self/fd"))
    for number in range(5):
        path = tmp_path / f"{number}.snapshot"
        write_snapshot(files, str(path), {}, sync=sync)
        assert read_snapshot(files, str(path)) == {}
        path.write_bytes(b"damaged")
        with pytest.raises(CorruptLogError):
            read_snapshot(files, str(path))
    assert len(os.listdir("/proc/self/fd")) == before
