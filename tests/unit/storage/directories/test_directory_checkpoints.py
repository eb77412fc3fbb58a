"""Checkpoints that are written in a thread, while the event loop makes the next."""

from __future__ import annotations

import threading
from collections.abc import Mapping

import pytest

from ottla.base.ids import TopicPartition
from ottla.base.steps import run_here
from ottla.storage.directories.checkpoints import OffsetCheckpoint
from ottla.storage.directories.directory_checkpoints import DirectoryCheckpoints
from ottla.testing.filesystem import MemoryDisk

PATIENCE_S = 30.0


def test_nobody_waits_for_a_write_under_way_to_make_the_next_job(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    disk = MemoryDisk()
    disk.make_directory("/data")
    checkpoints = DirectoryCheckpoints(disk, "/data")
    is_writing, may_end = threading.Event(), threading.Event()

    def write_slowly(_self: OffsetCheckpoint, _offsets: Mapping[TopicPartition, int]) -> None:
        is_writing.set()
        may_end.wait(PATIENCE_S)

    monkeypatch.setattr(OffsetCheckpoint, "write", write_slowly)
    writing = threading.Thread(target=run_here(checkpoints.making_job(())).run)
    writing.start()
    assert is_writing.wait(PATIENCE_S)
    making = threading.Thread(
        target=lambda: run_here(checkpoints.making_urgent_job(())), daemon=True
    )
    making.start()
    making.join(PATIENCE_S)
    is_waiting = making.is_alive()
    may_end.set()
    writing.join()
    assert not is_waiting
